"""One rail-watch on one machine, as long as a run lasts."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection
from functools import partial

from railgauge.base.errors import (
    EngineError,
    EnvironmentFailedError,
    HostUnreachableError,
    RailgaugeError,
)
from railgauge.base.systemlog import Phase, SystemLog
from railgauge.engine.watch.watch_events import Line, WatchDone, WatchFailed, parse
from railgauge.engine.watch.watch_record import WatchRecord
from railgauge.hosts.transport.interface import Process, Transport, end

_START_SECONDS = 30.0
# An engine goes on only after its mark was taken; the line about it has to come this far only.
_LINE_SECONDS = 5.0
# One that fails this often isn't started again: each time costs the seconds above.
_MOST_STARTS = 5
# It ends when its standard input does. Where nobody notices that the controller is gone, it ends
# then; a run that takes longer has no logs of the rest.
_LONGEST_SECONDS = 30 * 86_400


class Watcher:
    """A rail-watch that is notified of replications by the engines on its machine, and read here.

    `name` is what the engines find it by. A watcher that is lost, or was silent once, gives no more
    logs, `failure` says why.
    """

    def __init__(
        self, transport: Transport, engines: str, name: str, interval: float, starts: int = 1
    ) -> None:
        """Start one that samples every `interval` s and return when it watches.

        It is the one that takes the place of others after so many `starts`. EnvironmentFailedError
        when it doesn't start, HostUnreachableError when the host is lost.
        """
        self.name = name if starts == 1 else f"{name}-{starts}"
        self.failure = ""
        self._again = partial(Watcher, transport, engines, name, interval, starts + 1)
        self._starts = starts
        self._changed = threading.Condition()
        self._record = WatchRecord(transport.host)
        self._process = transport.start(
            [
                f"{engines}/rail-watch",
                "--json",
                f"--interval={interval:.9g}s",
                f"--marks={self.name}",
                f"--deadline={_LONGEST_SECONDS}s",
            ]
        )
        self._reader = threading.Thread(target=self._read, name=f"watch {self.name}", daemon=True)
        self._reader.start()
        with self._changed:
            self._changed.wait_for(lambda: self._record.ready or self.failure, _START_SECONDS)
            reason = self.failure or f"it said nothing for {_START_SECONDS:.0f} s"
            ready = self._record.ready
        if ready is None:
            self.close()
            raise EnvironmentFailedError(
                f"{transport.host}: the system logs can't be kept: {reason}: mend it, or say "
                "'system_log: off' in the plan's tests"
            )

    def expect(self, launch: int, ends: int) -> None:
        """Take note that so many ends on this machine will mark each replication of a launch."""
        with self._changed:
            self._record.expect(launch, ends)

    def log(self, launch: int, replication: int) -> SystemLog | None:
        """Return what was counted during a replication that has ended, None if it isn't known."""
        key = launch, replication
        with self._changed:
            if not self._changed.wait_for(
                lambda: key in self._record.logs or self.failure, _LINE_SECONDS
            ):
                self.failure = f"rail-watch said nothing for {_LINE_SECONDS:g} s"
            return self._record.logs.pop(key, None)

    def renewed(self) -> Watcher:
        """Return another in place of one that is lost; itself where that can't be started."""
        if not self.failure or self._starts >= _MOST_STARTS:
            return self
        self.close()
        try:
            return self._again()
        except (EnvironmentFailedError, HostUnreachableError):
            self._starts = _MOST_STARTS
            return self

    def forget(self, launch: int) -> None:
        """Drop what there is of a launch that is over."""
        with self._changed:
            self._record.forget(launch)

    def mark_idle(self) -> None:
        """Begin an idle stretch."""
        self._process.send_line("mark idle")

    def mark(self, phase: Phase) -> None:
        """End the idle stretch."""
        self._process.send_line(f"mark {phase}")

    def idle_log(self, phase: Phase) -> SystemLog | None:
        """Return what was counted in the stretch that `mark` ended, None if that isn't known."""
        with self._changed:
            self._changed.wait_for(lambda: phase in self._record.own or self.failure, _LINE_SECONDS)
            return self._record.own.pop(phase, None)

    def close(self) -> None:
        """End it; harmless when it has ended."""
        Watcher.close_all((self,))

    @staticmethod
    def close_all(watchers: Collection[Watcher]) -> None:
        """End them side by side."""
        with contextlib.suppress(RailgaugeError):
            end(watcher._process for watcher in watchers)
        for watcher in watchers:
            watcher._reader.join(_LINE_SECONDS)

    def _read(self) -> None:
        """Take note of all that it says; runs in a thread of its own."""
        reason = ""
        try:
            while (text := self._process.read_line()) is not None:
                line = parse(text)
                if isinstance(line, WatchDone):
                    break
                if isinstance(line, WatchFailed):
                    reason = f"{line.message} ({line.code})"
                    break
                self._take(line)
            reason = reason or _exit_text(self._process)
        except RailgaugeError as error:
            reason = str(error)
        with self._changed:
            self.failure = self.failure or reason or "rail-watch has ended"
            self._changed.notify_all()

    def _take(self, line: Line) -> None:
        with self._changed:
            self._record.take(line)
            self._changed.notify_all()


def _exit_text(process: Process) -> str:
    """Return how the program ended."""
    with contextlib.suppress(TimeoutError, EngineError):
        ended = process.wait(_LINE_SECONDS)
        words = f": {ended.stderr.strip()[-300:]}" if ended.stderr.strip() else ""
        return f"rail-watch ended with status {ended.status}{words}"
    return ""


def idle(watchers: list[Watcher], phase: Phase, seconds: float) -> list[SystemLog]:
    """Return what was counted on each machine while nothing of ours ran for some `seconds`."""
    for watcher in watchers:
        watcher.mark_idle()
    time.sleep(seconds)
    for watcher in watchers:
        watcher.mark(phase)
    logs = [watcher.idle_log(phase) for watcher in watchers]
    return [log for log in logs if log is not None]
