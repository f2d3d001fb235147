"""Where truths are made: a testbed of two hosts on this machine, and runs of plans on it.

The runs are those of `railgauge run`, with a database of their own that goes with the rig.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from railgauge.base.errors import EnvironmentFailedError
from railgauge.base.trace import Trace
from railgauge.hosts.transport.netns import NetnsTransport
from railgauge.lab.testbed.down import down
from railgauge.lab.testbed.relay import counts
from railgauge.lab.testbed.state import ClusterRecord, State
from railgauge.lab.testbed.up import up
from railgauge.run.execution import Observer
from railgauge.run.job import Request
from railgauge.run.pipeline import execute, read
from railgauge.store import Store

SENDER, RECEIVER = "sender", "receiver"
LINK = f"{SENDER}→{RECEIVER}"
# Of a rig with a link, at both ends of it; of one with a switch.
INTERFACE, SWITCH_INTERFACE = "link0", "net0"
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Fault:
    """What a broken instrument does to each value of a metric, or of a trace's `received` or
    `sent_at`, in ns since the first one; or to the `rate` that it is asked for.
    """

    metric: str
    change: Callable[[float], float]

    def changed(self, trace: Trace) -> Trace:
        """Return what the broken instrument would have made of the trace."""
        match self.metric:
            case "received":
                return replace(trace, received=self._changed(trace.received))
            case "sent_at":
                return replace(trace, sent_at=self._changed(trace.sent_at))
            case _:
                return trace

    def _changed(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([round(self.change(float(time))) for time in times], np.int64)


@dataclass(frozen=True, slots=True)
class RigResult:
    """What a plan gave: its values by metric, what made replications fail or suspect, and their
    traces.
    """

    series: dict[str, list[float]]
    suspicions: tuple[str, ...]
    traces: tuple[Trace, ...] = ()

    def values(self, metric: str) -> list[float]:
        """Return the values of a metric, by replication; none if it was not measured."""
        return self.series.get(metric, [])

    def broken(self, fault: Fault | None) -> RigResult:
        """Return what an instrument with this fault would have measured."""
        if fault is None:
            return self
        changed = [fault.change(value) for value in self.values(fault.metric)]
        traces = tuple(fault.changed(trace) for trace in self.traces)
        return replace(self, series={**self.series, fault.metric: changed}, traces=traces)

    @property
    def reason(self) -> str:
        """What may have kept the measurement from being a good one."""
        return "; ".join(self.suspicions)


class Instrument:
    """railgauge as it measures: plans on the hosts of a hosts file, with a `fault` or without."""

    def __init__(self, hosts_file: Path, folder: Path, fault: Fault | None) -> None:
        self._fault = fault
        self._hosts_file = hosts_file
        self._folder = folder
        self._runs = 0

    def effective_rate(self, rate: float) -> float:
        """Return the rate, in bit/s, that the instrument makes of the one it is asked for."""
        if self._fault is None or self._fault.metric != "rate":
            return rate
        return self._fault.change(rate)

    def measure(self, test: str) -> RigResult:
        """Run a plan of these tests, in YAML; a metric has all their values, in their order."""
        self._runs += 1
        plan = self._folder / f"plan-{self._runs}.yaml"
        database = str(self._folder / f"measured-{self._runs}.db")
        hosts_file = json.dumps(str(self._hosts_file))
        plan.write_text(
            f"railgauge: 1\nname: calibrate\nhosts_file: {hosts_file}\ntests:\n{test}",
            encoding="utf-8",
        )
        with Request(database, plan=plan) as request, contextlib.ExitStack() as cleanup:
            run = execute(read(request, Observer(), cleanup)).run
            return _read(request.store, run).broken(self._fault)


class Rig(Instrument):
    """Two hosts and what is between them; made by `rig`."""

    def __init__(self, state: State, folder: Path, fault: Fault | None) -> None:
        super().__init__(Path(state.hosts_file), folder, fault)
        self._state = state

    @property
    def record(self) -> ClusterRecord:
        """What the testbed was made of."""
        assert self._state.record is not None
        return self._state.record

    def transport(self, host: str) -> NetnsTransport:
        """Return a way to start programs on one of the two hosts."""
        return NetnsTransport(host, self.record.layout.namespaces[host], self.record.holder)

    def relayed(self) -> dict[str, int]:
        """Return what the relay of the link counted from sender to receiver so far.

        EnvironmentFailedError if it doesn't say so.
        """
        counted: dict[str, int] | None = counts(self._state)[0].get("left_to_right")
        if counted is None:
            raise EnvironmentFailedError("the link's relay doesn't say soon what it counted")
        return counted


def _read(store: Store, run: int) -> RigResult:
    series: dict[str, list[float]] = {}
    for entry in store.series([run]):
        series.setdefault(entry.metric, []).extend(float(value) for value in entry.values)
    traces = tuple(store.trace(stored) for stored in store.traces([run]))
    suspicions = (stored.suspicion for stored in store.suspicions(run))
    reasons = {suspicion.code: suspicion.message for suspicion in suspicions}
    reasons |= {failure.error_code: failure.error_message for failure in store.failures(run)}
    return RigResult(series, tuple(reasons.values()), traces)


def _name() -> str:
    return f"calib{os.getpid()}_{next(_numbers)}"


def link(properties: str) -> str:
    """Return the wiring of one link with these properties (`rate: 1Gbit/s, queue: 64KiB`)."""
    return f"links: [{{between: [{SENDER}, {RECEIVER}], {properties}}}]"


@contextlib.contextmanager
def rig(wiring: str, fault: Fault | None = None) -> Iterator[Rig]:
    """Build two hosts joined by `wiring`: a testbed's `links` or `switches`, in YAML.

    With a `fault` what it measures is as a broken instrument would give it.
    EnvironmentFailedError if this machine doesn't let us.
    """
    with tempfile.TemporaryDirectory(prefix="railgauge-calibrate-") as name:
        folder = Path(name)
        file = folder / "testbed.yaml"
        file.write_text(
            f"railgauge_testbed: 1\nname: {_name()}\nhosts: [{SENDER}, {RECEIVER}]\n{wiring}\n",
            encoding="utf-8",
        )
        try:
            state = up(file, Observer())
        except OSError as error:
            raise EnvironmentFailedError(f"can't build two hosts here: {error}") from error
        try:
            yield Rig(state, folder, fault)
        finally:
            down(state)
