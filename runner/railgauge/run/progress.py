"""How a run comes along, for a person: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from railgauge.base.characters import visible
from railgauge.base.number import best_unit, plural, scale
from railgauge.engine.outcome import Launch, Outcome
from railgauge.plan.catalogue import EngineInfo, MetricDescription
from railgauge.plan.schedule import Dispatch
from railgauge.run.execution import Namer, Observer, Outlook

if TYPE_CHECKING:
    from rich.console import Console

# A plain log gets a line at most this often, beside failures and warnings.
_PLAIN_SECONDS = 10.0
# Of many hosts that build, so many are named at a time.
_MOST_NAMED = 3
# A display that can't write (a closed terminal, a full disk) must not end a measurement.
_QUIETLY = contextlib.suppress(OSError)


def observer_for(
    stream: TextIO = sys.stderr, *, verbose: bool = False, further: Sequence[Observer] = ()
) -> Observer:
    """Return the observer that suits `stream`, which passes all on to `further` as well.

    A `verbose` one has a line for each replication.
    """
    live = stream.isatty() and not verbose
    progress = LiveProgress(console(stream)) if live else PlainProgress(stream, all_lines=verbose)
    return Observers([progress, *further]) if further else progress


class Observers(Observer):
    """Several observers, each given what a run reports to one."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers

    def say(self, text: str) -> None:
        """See `Observer.say`."""
        for observer in self._observers:
            observer.say(text)

    def building(self, hosts: Sequence[str], begun: int, steps: int) -> None:
        """See `Observer.building`."""
        for observer in self._observers:
            observer.building(hosts, begun, steps)

    def begin(self, outlook: Outlook) -> None:
        """See `Observer.begin`."""
        for observer in self._observers:
            observer.begin(outlook)

    def dispatched(self, dispatch: Dispatch) -> None:
        """See `Observer.dispatched`."""
        for observer in self._observers:
            observer.dispatched(dispatch)

    def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        """See `Observer.measured`."""
        for observer in self._observers:
            observer.measured(dispatch, outcome, launch)

    def remaining(self, total: int, still_open: int) -> None:
        """See `Observer.remaining`."""
        for observer in self._observers:
            observer.remaining(total, still_open)

    def lost(self, host: str, reason: str) -> None:
        """See `Observer.lost`."""
        for observer in self._observers:
            observer.lost(host, reason)

    def end(self) -> None:
        """See `Observer.end`."""
        for observer in self._observers:
            observer.end()


def console(stream: TextIO, **settings: Any) -> Console:
    """Return a console on `stream` that falls silent when nobody reads it any more."""
    from rich.console import Console

    class Patient(Console):
        def on_broken_pipe(self) -> None:
            """Do not exit, as rich would."""
            self.quiet = True

    return Patient(file=stream, **settings)


def headline(metrics: Mapping[str, float], infos: Mapping[str, MetricDescription]) -> str:
    """Return the metric that says most, with its unit: `9.41Gbit/s`; empty if none is known.

    `infos` are the engine's: a throughput may be in bit/s or in B/s.
    """
    candidates = [
        info
        for name, info in infos.items()
        if name in metrics and info.headline and info.kind not in ("ratio", "share")
    ]
    if not candidates:
        return ""
    first = min(candidates, key=lambda info: info.headline)
    unit = best_unit(first.unit, [metrics[first.name]])
    per_unit = scale(unit, first.unit)
    return f"{metrics[first.name] / float(per_unit or 1):.4g}{unit}"


def _headline(engines: Mapping[str, EngineInfo], dispatch: Dispatch, outcome: Outcome) -> str:
    engine = engines.get(dispatch.case.engine)
    return headline(outcome.metrics, engine.metrics) if engine is not None else ""


class _Progress(Observer, ABC):
    """What both kinds of progress print, and what they have printed already."""

    def __init__(self) -> None:
        self._name: Namer = str
        self._left: Callable[[], float] = float
        self._engines: Mapping[str, EngineInfo] = {}
        self._warned: set[str] = set()
        self._suspected: set[tuple[str, str | None]] = set()

    @abstractmethod
    def _print(self, text: str, style: str) -> None:
        """Write a line."""

    @abstractmethod
    def _begin(self, run: int, total: int) -> None:
        """Write, or show, what is to come."""

    def begin(self, outlook: Outlook) -> None:
        """Take note, and write what is to come."""
        self._name = outlook.name
        self._left = outlook.left
        self._engines = outlook.catalogue.engines
        self._begin(outlook.run, outlook.total)

    def say(self, text: str) -> None:
        """Write the stage, of which what a host said may be a part."""
        self._print("\n".join(map(visible, text.split("\n"))), "dim")

    def lost(self, host: str, reason: str) -> None:
        """Write which host is gone."""
        self._print(f"lost {host}: {visible(reason)}", "red")

    def _print_faults(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        """Write warnings and each kind of suspicion once, and failures always."""
        warnings = [warning for warning in launch.warnings if warning not in self._warned]
        self._warned.update(warnings)
        if not (warnings or outcome.suspicions or outcome.status == "failed"):
            return
        name = self._name(dispatch)
        for warning in warnings:
            self._print(f"warning: {name}: {visible(warning)}", "yellow")
        if outcome.status == "failed":
            self._print(failure(name, outcome), "red")
        kinds = {(suspicion.code, suspicion.host) for suspicion in outcome.suspicions}
        for suspicion in outcome.suspicions:
            if (suspicion.code, suspicion.host) not in self._suspected:
                subject = f"{name}, replication {outcome.replication}"
                words = visible(f"{suspicion.message} [{suspicion.code}, shown once]")
                self._print(f"suspect: {subject}: {words}", "yellow")
        self._suspected |= kinds


class PlainProgress(_Progress):
    """One line an event of note; for logs, cron and CI, which a line a case would drown.

    With `all_lines` it has a line for each replication, with `timed` each line begins with the time
    (UTC).
    """

    def __init__(self, stream: TextIO, *, all_lines: bool = False, timed: bool = False) -> None:
        super().__init__()
        self._stream = stream
        self._seconds = 0.0 if all_lines else _PLAIN_SECONDS
        self._timed = timed
        self._total = 0
        self._open: int | None = None
        self._measured = 0
        self._began = self._reported_at = time.monotonic()

    def _print(self, text: str, style: str) -> None:
        time_before = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} " if self._timed else ""
        with _QUIETLY:
            print(f"{time_before}{text}", file=self._stream, flush=True)

    def _begin(self, run: int, total: int) -> None:
        self._total = total
        self._began = self._reported_at = time.monotonic()
        self.say(f"run {run}: {plural(total, 'replication')} to measure")

    def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        """Write what went wrong, and now and then how far we are."""
        self._print_faults(dispatch, outcome, launch)
        self._measured += 0 if outcome.warmup else len(dispatch.cases)
        now = time.monotonic()
        if self._measured and now - self._reported_at >= self._seconds:
            self._reported_at = now
            still_open = (
                "" if self._open is None else f"{plural(self._open, 'case')} still open, at most "
            )
            figure = _headline(self._engines, dispatch, outcome) or outcome.status
            self.say(
                f"{self._measured}/{self._total} {self._name(dispatch)} {figure}, {still_open}"
                f"about {_clock(self._left())} left"
            )

    def remaining(self, total: int, still_open: int) -> None:
        """Note it for the next line."""
        self._total = total
        if self._open is None:
            self.say(
                f"{plural(still_open, 'case')} with a rule: measured until it says that is enough"
            )
        self._open = still_open

    def end(self) -> None:
        """Write how long it took."""
        took = time.monotonic() - self._began
        self.say(f"{self._measured}/{plural(self._total, 'replication')} in {_clock(took)}")


class LiveProgress(_Progress):
    """A bar with the case now running, done of total, its latest figure and the time left."""

    def __init__(self, console: Console) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
        )
        from rich.table import Column

        super().__init__()
        self._console = console
        self._bar = Progress(
            # A long name leaves room for how far it is.
            TextColumn(
                "{task.description}",
                table_column=Column(no_wrap=True, max_width=console.width // 2),
            ),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[open]}"),
            TextColumn("{task.fields[figure]}"),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, figure="", open="", left="")

    def _print(self, text: str, style: str) -> None:
        with _QUIETLY:
            self._console.print(text, markup=False, highlight=False, style=style)

    def _begin(self, run: int, total: int) -> None:
        self.say(f"run {run}")
        with _QUIETLY:
            self._bar.update(self._task, total=total)
            self._bar.start()

    def building(self, hosts: Sequence[str], begun: int, steps: int) -> None:
        """Show which hosts build, and how far they are."""
        more = f" and {len(hosts) - _MOST_NAMED:,} more" if len(hosts) > _MOST_NAMED else ""
        name = _unmarked(", ".join(hosts[:_MOST_NAMED]) + more)
        unit = "steps" if hosts else ""
        with _QUIETLY:
            if not hosts:
                self._bar.stop()
            self._bar.update(
                self._task, description=name, completed=begun, total=steps or None, open=unit
            )
            if hosts:
                self._bar.start()

    def dispatched(self, dispatch: Dispatch) -> None:
        """Show the case."""
        # The last case's figure isn't this one's.
        with _QUIETLY:
            self._bar.update(self._task, description=_unmarked(self._name(dispatch)), figure="")

    def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        """Move the bar; show above it what went wrong."""
        self._print_faults(dispatch, outcome, launch)
        advance = 0 if outcome.warmup else len(dispatch.cases)
        figure = _headline(self._engines, dispatch, outcome)
        with _QUIETLY:
            left = f"{_clock(self._left())} left"
            self._bar.update(self._task, advance=advance, figure=figure, left=left)

    def remaining(self, total: int, still_open: int) -> None:
        """Shorten the bar, and show how many cases are still open."""
        with _QUIETLY:
            self._bar.update(self._task, total=total, open=f"{plural(still_open, 'case')} open")

    def end(self) -> None:
        """Take the bar away."""
        with _QUIETLY:
            self._bar.stop()


def _unmarked(name: str) -> str:
    """Return a name out of a plan, in which nothing is rich's markup."""
    return name.replace("[", r"\[")


def failure(name: str, outcome: Outcome) -> str:
    """Return the sentence for a failed replication of the case called `name`."""
    words = visible(f"{outcome.error_message.strip()} [{outcome.error_code}]")
    return f"failed: {name}, replication {outcome.replication}: {words}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
