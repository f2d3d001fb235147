"""One launch of an engine: start its programs, follow their events, yield each replication.

Nothing outlives a launch: all programs end when their standard input closes, and are ended here
when they don't.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from railgauge.base.errors import EngineError, HostUnreachableError
from railgauge.base.number import plural
from railgauge.engine.command_lines import (
    Terms,
    client_argv,
    executor_argv,
    guarded_argv,
    host_argv,
    mpi_argv,
    server_argv,
)
from railgauge.engine.deploy_mpi import MpiInstallation
from railgauge.engine.events import (
    Done,
    Event,
    Failed,
    Listening,
    PairRow,
    Replicated,
    Settings,
    Traced,
    Warned,
)
from railgauge.engine.follow import RunningProgram, events, listening_port, naming_lost_host
from railgauge.engine.outcome import Launch, Outcome
from railgauge.engine.pair_rows import PairRows
from railgauge.engine.patience import patience_for
from railgauge.engine.running_programs import RunningPrograms
from railgauge.engine.trace_parts import TraceParts
from railgauge.engine.validity import require_agreement
from railgauge.hosts.transport.interface import Transport, end
from railgauge.hosts.transport.kept_shell import SHELL, engine_shell
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import EngineInfo

# Starting, connecting and agreeing on settings; generous, since a loaded host is no failure.
_START_SECONDS = 30.0
# No engine takes a longer --deadline. What that leaves of a launch is launched again.
_LONGEST_SECONDS = 30 * 86_400.0
# Settings, warnings and warm-ups before a replication: a rank of an MPI job has a warning or two.
_MOST_BESIDE = 10_000


@dataclass(frozen=True, slots=True)
class EquippedHost:
    """A host that is ready: how to reach it, the folder of its engines, and its MPI if needed."""

    transport: Transport
    engines: str
    mpi: MpiInstallation | None = None


@dataclass(slots=True)
class _Progress:
    """How far a launch has come: the numbers still to measure, what its settings said."""

    numbers: Sequence[int]
    started_at: float
    trace: TraceParts
    rows: PairRows
    measured: int = 0
    beside: int = 0
    launch: Launch | None = None
    settings: Settings | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return self.measured == len(self.numbers)

    def count(self, event: Event, engine: EngineInfo) -> None:
        """Raise EngineError `contract` where what measures nothing comes without end."""
        if isinstance(event, Replicated) and not event.warmup:
            self.beside = 0
        elif isinstance(event, Settings | Warned | Replicated):
            self.beside += 1
        if self.beside > _MOST_BESIDE:
            raise EngineError(
                "contract",
                f"{engine.name} gave {_MOST_BESIDE:,} settings, warnings and warm-ups, and goes on",
            )

    def begun_launch(self) -> Launch:
        """Return the launch; its settings and warnings are complete at its first outcome."""
        if self.launch is None:
            ends = self.settings or Settings({}, {}, {})
            self.launch = Launch(self.started_at, ends.client, ends.server, tuple(self.warnings))
        return self.launch


def measure(
    engine: EngineInfo,
    case: Case,
    numbers: Sequence[int],
    sites: Sequence[EquippedHost],
    *,
    terms: Terms,
    programs: RunningPrograms,
) -> Iterator[tuple[Outcome, Launch]]:
    """Yield the outcome of replications `numbers` of `case`, up to the first that failed.

    `sites` are the client and the server if there is one, or a group's in the order of their ranks.
    In a mode that needs no server nothing is started at the server, which only has the address.
    Raises HostUnreachableError (with `host`) when a host is lost; the replication that was under
    way is yielded as failed before that. What goes wrong after the last replication changes
    nothing: each has its outcome. Of an engine that is launched singly only the first is measured.
    """
    if engine.launched_singly:
        numbers = numbers[:1]
    progress = _Progress(numbers, time.time(), TraceParts(engine, case), PairRows(engine, case))
    try:
        with contextlib.ExitStack() as stack:
            for event in _start(engine, case, len(numbers), sites, terms, programs, stack):
                outcome = _take(event, engine, case, progress)
                if outcome is not None:
                    yield outcome, progress.begun_launch()
                    if outcome.status == "failed":
                        return
    except EngineError as error:
        if not progress.complete:
            yield _failed(progress, error.code, str(error)), progress.begun_launch()
    except HostUnreachableError as error:
        if progress.settings is not None and not progress.complete:
            yield _failed(progress, "host-lost", str(error)), progress.begun_launch()
        raise


def _start(
    engine: EngineInfo,
    case: Case,
    count: int,
    sites: Sequence[EquippedHost],
    terms: Terms,
    programs: RunningPrograms,
    stack: contextlib.ExitStack,
) -> Iterator[Event]:
    """Start what the engine needs and return the client's events; `stack` ends the programs."""
    if engine.program is not None:
        return _start_program(engine, case, count, sites, terms, programs, stack)
    patience = patience_for(engine, case, terms.limit)
    deadline = _deadline(count, patience)
    secret: str | None = None
    port: int | None = None
    listening: RunningProgram | None = None
    client = sites[0]
    if engine.parallel:
        assert client.mpi is not None
        argv = mpi_argv(engine, case, client.mpi, count=count, terms=terms, deadline=deadline)
    elif case.server is None:
        argv = host_argv(engine, case, client.engines, count=count, terms=terms, deadline=deadline)
    else:
        if case.parameters.get("mode") not in engine.solo_modes:
            secret = secrets.token_hex(16)
            argv = server_argv(engine, sites[1].engines, terms, deadline)
            listening = _launch(sites[1], argv, programs, stack, secret, engine_shell(argv[0]))
            port = listening_port(listening, engine.name, _START_SECONDS)
        argv = client_argv(
            engine, case, client.engines, port=port, count=count, terms=terms, deadline=deadline
        )
    if engine.parallel:  # its launcher, which minds the input of ranks, gets one of its own
        with naming_lost_host(client.transport.host):
            process = stack.enter_context(programs.hold(client.transport.start(argv)))
        programs.note_start()
        return events(RunningProgram(client.transport.host, process), None, patience)
    running = _launch(
        client, argv, programs, stack, secret, engine_shell(argv[0]) if secret else SHELL
    )
    programs.note_start()
    return events(running, listening, patience)


def _start_program(
    engine: EngineInfo,
    case: Case,
    count: int,
    sites: Sequence[EquippedHost],
    terms: Terms,
    programs: RunningPrograms,
    stack: contextlib.ExitStack,
) -> Iterator[Event]:
    """Start somebody else's program, with its server first if it has one."""
    assert engine.program is not None
    patience = patience_for(engine, case, terms.limit)
    server: RunningProgram | None = None
    port: int | None = None
    if engine.program.server:
        deadline = _deadline(1, patience)
        argv = guarded_argv(engine, case, sites[1].engines, terms, deadline)
        server = _launch(sites[1], argv, programs, stack)
        port = listening_port(server, engine.name, _START_SECONDS)
    argv = executor_argv(engine, case, sites[0].engines, count, terms, port)
    client = _launch(sites[0], argv, programs, stack, shell_argv=engine_shell(argv[0]))
    programs.note_start()
    for event in events(client, server, patience):
        if server is not None and isinstance(event, Replicated):
            # Its watcher's log is complete when it has ended.
            with naming_lost_host(server.host):
                end((server.process,))
        yield event


def _deadline(count: int, patience: float) -> float:
    """Return the seconds after which a launch of so many replications ends by itself."""
    return min(_START_SECONDS + count * patience, _LONGEST_SECONDS)


def _launch(
    site: EquippedHost,
    argv: list[str],
    programs: RunningPrograms,
    stack: contextlib.ExitStack,
    secret: str | None = None,
    shell_argv: tuple[str, ...] = SHELL,
) -> RunningProgram:
    with naming_lost_host(site.transport.host):
        process = stack.enter_context(programs.start(site.transport, argv, shell_argv))
        if secret is not None:
            process.send_line(secret)
        return RunningProgram(site.transport.host, process)


def _take(event: Event, engine: EngineInfo, case: Case, progress: _Progress) -> Outcome | None:
    """Note the event; return an outcome if it is one."""
    progress.count(event, engine)
    match event:
        case Settings():
            progress.settings = event
        case Warned():
            progress.warnings.append(f"{event.side}: {event.message}")
        case Traced():
            progress.trace.add(event)
        case PairRow():
            progress.rows.add(event)
        case Failed() if not progress.complete:
            return _failed(progress, event.code, event.message)
        case Replicated():
            return _replicated(event, engine, case, progress)
        case Done() if not progress.complete:
            raise EngineError(
                "contract",
                f"{engine.name} said done after {progress.measured} "
                f"of {plural(len(progress.numbers), 'replication')}",
            )
        case Listening():
            raise EngineError("contract", f"{engine.name}: a client can't be listening")
    return None


def _replicated(event: Replicated, engine: EngineInfo, case: Case, progress: _Progress) -> Outcome:
    pairs = progress.rows.take(event)
    metrics: Mapping[str, float] = {}
    if pairs is None:
        metrics = engine.read_metrics(
            event.metrics, event.output, case.parameters.get("mode"), warmup=event.warmup
        )
        engine.check_confirmed(case.parameters, event.output)
    trace = progress.trace.take(event.number)
    if event.warmup:
        return Outcome(0, event.started_at, metrics, warmup=True, pairs=pairs or {})
    if event.number != progress.measured + 1 or progress.complete:
        raise EngineError(
            "contract",
            f"{engine.name} reported replication {event.number} after {progress.measured}",
        )
    if engine.program is None:
        require_agreement(engine.name, metrics, case.parameters)
    number = progress.numbers[progress.measured]
    outcome = Outcome(
        number,
        event.started_at,
        metrics,
        trace=trace,
        pairs=pairs or {},
        user_time=None if engine.program is None else event.metrics.get("user_time"),
    )
    progress.measured += 1
    return outcome


def _failed(progress: _Progress, code: str, message: str) -> Outcome:
    return Outcome(
        progress.numbers[progress.measured],
        time.time(),
        {},
        status="failed",
        error_code=code,
        error_message=message,
    )
