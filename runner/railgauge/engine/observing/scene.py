"""The hosts of a run and what watches them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from railgauge.base.systemlog import PortLog
from railgauge.engine.measure import EquippedHost
from railgauge.engine.watch.watcher import Watcher
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.model import Test
from railgauge.plan.schedule import Dispatch

Pause = Callable[[float], object]
"""Waits for some seconds."""


class Ports(Protocol):
    """The ports of the switches on one link's path, read before and after a replication."""

    def before(self, idle: float = 0.0) -> None:
        """Read them, all traffic having ended `idle` seconds ago."""

    def after(self) -> tuple[tuple[PortLog, ...], tuple[str, ...]]:
        """Read them again and return what they counted in between, and warnings."""


class Holds(Protocol):
    """What keeps other runs off the machines, which are known by the names that `Scene` has."""

    def renew(self, machine: str) -> None:
        """Take it again if it was lost; no launch is on it.

        HostUnreachableError where another run has it.
        """

    def failure(self, machine: str) -> str:
        """Return why another run may have been on it since it was renewed, "" if none was."""


@dataclass(frozen=True, slots=True)
class TrafficWay:
    """The interface that a host's traffic to another takes, and its MTU; None and 0: unknown."""

    interface: str | None
    mtu: int


@dataclass(frozen=True, slots=True)
class Scene:
    """The hosts of a run: the `machines` behind them, as `watchers` and `holds` know them.

    Hosts whose `kernels` are the same are one computer, whatever they are called. `way` says
    which way a host's traffic to another takes in a launch, and `ports` what of its link's path is
    read. `alone`: there is never more than one launch at a time. `token` begins
    the names of what is started.
    """

    catalogue: Catalogue
    tests: Mapping[str, Test]
    sites: Mapping[str, EquippedHost]
    machines: Mapping[str, str]
    kernels: Mapping[str, str]
    alone: bool
    token: str
    holds: Holds
    watchers: dict[str, Watcher] = field(default_factory=dict)
    way: Callable[[Dispatch, str, str], TrafficWay] = lambda *_: TrafficWay(None, 0)
    ports: Callable[[Dispatch, Pause], Ports | None] = lambda *_: None

    def measuring(self, dispatch: Dispatch) -> tuple[str, ...]:
        """Return the hosts that an engine runs on, the client first."""
        case = dispatch.case
        engine = self.catalogue.engine(case.engine)
        # Of somebody else's MPI job, only its first host's rail-exec can report replications.
        alone = case.parameters.get("mode") in engine.solo_modes or (
            engine.parallel and engine.program is not None
        )
        return dispatch.hosts[:1] if alone else dispatch.hosts

    def renew(self, dispatch: Dispatch) -> None:
        """Take again what was lost of machines and watchers; no other launch is on these.

        HostUnreachableError where another run has a machine: both would measure each other.
        """
        for machine in {self.machines[host] for host in dispatch.hosts}:
            self.holds.renew(machine)
        for machine in {self.machines[host] for host in self.watching(dispatch)}:
            self.watchers[machine] = self.watchers[machine].renewed()

    def watching(self, dispatch: Dispatch) -> dict[str, Watcher]:
        """Return the watcher of each host that measures, of those that have one."""
        if self.tests[dispatch.test].system_log is None:
            return {}
        return {
            host: self.watchers[self.machines[host]]
            for host in self.measuring(dispatch)
            if self.machines[host] in self.watchers
        }
