"""Examines hosts side by side, then the ways between them."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from railgauge.base.errors import BuildError, EnvironmentFailedError
from railgauge.base.stop_signals import result_interruptibly
from railgauge.engine.build_all import BuildObserver, LineTaker, build_all
from railgauge.engine.deploy import Bundle, bundle, deploy
from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.engine.measure import EquippedHost
from railgauge.hosts.transport import open_transport
from railgauge.hosts.transport.interface import Transport, run
from railgauge.lab.doctor import clock_offset, mpi
from railgauge.lab.doctor.choice import choose, distinct
from railgauge.lab.doctor.diagnosis import Diagnosis, HostFindings, LinkFindings
from railgauge.lab.doctor.firewall import Firewall, LinkEnd
from railgauge.lab.doctor.host_differences import compare
from railgauge.lab.doctor.needs import Needs
from railgauge.lab.doctor.probe import CHECKS, probe
from railgauge.lab.doctor.targets import Targets
from railgauge.plan.links import Link
from railgauge.plan.model import Host

# So many that those that wait for dead hosts leave room for the others.
_AT_ONCE = 64
_REACH_SECONDS = 60.0
_VERSION_SECONDS = 10.0
# Each of a host's exchanges is a program there; sshd takes ten sessions on one connection.
_EXCHANGES = 4
# A host that so many can't reach is behind a firewall: to wait for the rest of them helps nobody.
_ENOUGH_FAILURES = 3
K = TypeVar("K")
T = TypeVar("T")


def examine(targets: Targets, most_links: int, observer: BuildObserver) -> Diagnosis:
    """Return what is found of the hosts and of at most `most_links` of their links.

    Nothing is left running there. The `observer` follows where engines are built.
    """
    needs = targets.needs
    links = distinct(targets.links, targets.hosts)
    tried = choose(links, most_links)
    linked = {host for link in tried.values() for host in (link.client, link.server)}
    machines = {name: host.machine for name, host in targets.hosts.items()}
    first = {machine: name for name, machine in reversed(machines.items())}
    equipping = {machines[name] for name in linked}
    sources = bundle()
    with contextlib.ExitStack() as stack:
        transports = _open(targets.hosts, first, stack)

        def look(machine: str, on_line: LineTaker) -> tuple[HostFindings, EquippedHost | None]:
            engine_sources = sources if machine in equipping or needs.needs_mpi else None
            return _host(transports[machine], needs, engine_sources, on_line)

        examined = build_all(look, transports, "the engines", observer)
        hosts = {name: examined[machine][0] for name, machine in machines.items()}
        firewall = Firewall(targets.catalogue, needs)
        stack.callback(firewall.programs.end_all)
        sites = {name: site for name, machine in machines.items() if (site := examined[machine][1])}
        trial = _Trial(targets.hosts, sites, firewall)
        findings = list(_side_by_side(trial.try_link, tried.items()))
    problems, notes = compare(hosts, mpi=needs.needs_mpi)
    notes += trial.notes()
    if 0 < len(tried) < len(links):
        notes.append(f"of {len(links):,} links {len(tried):,} were tried: --links changes that")
    return Diagnosis(hosts, findings, len(links), problems, notes)


def _open(
    hosts: Mapping[str, Host], first: Mapping[str, str], stack: contextlib.ExitStack
) -> dict[str, Transport]:
    """Return machine -> transport, all of which `stack` closes."""
    transports: dict[str, Transport] = {}

    def close_all() -> None:
        list(_side_by_side(lambda transport: transport.close(), transports.values()))

    stack.callback(close_all)
    for machine, name in first.items():
        transports[machine] = open_transport(name, hosts[name])
    return transports


def _host(
    transport: Transport, needs: Needs, sources: Bundle | None, on_line: LineTaker
) -> tuple[HostFindings, EquippedHost | None]:
    """Return what is found of a host and, if it got the engines that `sources` are, its site."""
    try:
        run(transport, ["true"], timeout=_REACH_SECONDS)
    except (EnvironmentFailedError, TimeoutError) as error:
        return HostFindings(False, problems=[_sentence(transport, error)]), None
    try:
        facts = probe(transport, needs)
        offset = clock_offset.clock_offset(transport)
    except EnvironmentFailedError as error:
        return HostFindings(True, problems=[_sentence(transport, error)]), None
    problems = [sentence for check in CHECKS for sentence in check.judge(facts, needs)]
    if offset is not None:
        problems += clock_offset.judge(offset)
    site = None
    # What is missing for building them has been reported by then.
    if sources is not None and {"compiler", "make"} <= facts.keys():
        try:
            site = _equip(transport, needs, sources, on_line, with_mpi="mpicc" in facts)
            facts |= _mpi_facts(site, facts)
        except EnvironmentFailedError as error:
            problems.append(_sentence(transport, error))
    return HostFindings(True, facts, offset, problems), site


def _equip(
    transport: Transport, needs: Needs, sources: Bundle, on_line: LineTaker, *, with_mpi: bool
) -> EquippedHost:
    folder = deploy(transport, sources, on_line=on_line)
    if with_mpi and needs.needs_mpi:
        installed = deploy_mpi(transport, folder, needs.mpi.prefix, on_line=on_line)
        return EquippedHost(transport, folder, installed)
    return EquippedHost(transport, folder)


def _mpi_facts(site: EquippedHost, facts: Mapping[str, str]) -> dict[str, str]:
    """Return `rail_mpi`, where it is, and of the MPI that it was built with what differs."""
    if site.mpi is None:
        return {}
    mpi_facts = {"rail_mpi": site.mpi.program}
    mpirun = f"{site.mpi.folder}/mpirun"
    if mpirun != facts.get("mpirun"):
        # The first one in PATH has no headers, say.
        with contextlib.suppress(TimeoutError):
            completed = run(site.transport, [mpirun, "--version"], timeout=_VERSION_SECONDS)
            lines = [f"version {line}" for line in completed.stdout.splitlines()]
            mpi_facts |= mpi.CHECK.read([f"mpirun {mpirun}", *lines])
    return mpi_facts


def _sentence(transport: Transport, error: Exception) -> str:
    lines = str(error).removeprefix(f"{transport.host}: ").splitlines()
    # Of a build's last lines the one that says what is wrong, which is seldom the last.
    wrong = [line.strip() for line in lines[1:] if isinstance(error, BuildError) and line.strip()]
    return lines[0] + (f" ({wrong[0]})" if wrong else "")


class _Trial:
    """Tries links, on no machine too many at once."""

    def __init__(
        self, hosts: Mapping[str, Host], sites: Mapping[str, EquippedHost], firewall: Firewall
    ) -> None:
        self._hosts = hosts
        self._sites = sites
        self._firewall = firewall
        fixed = firewall.needs.control_port or firewall.needs.data_ports
        machines = {host.machine for host in hosts.values()}
        self._rooms = {
            machine: threading.BoundedSemaphore(1 if fixed else _EXCHANGES) for machine in machines
        }
        self._failed: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()

    def try_link(self, item: tuple[str, Link]) -> LinkFindings:
        name, link = item
        ends = [self._end(link.client, link), self._end(link.server, link)]
        client, server = ends
        if client is None or server is None:
            return LinkFindings(name, link.client, link.server)
        with self._room({self._hosts[end.name].machine for end in (client, server)}):
            if self._failed[server.name] >= _ENOUGH_FAILURES:
                self._left_out[server.name] += 1
                return LinkFindings(name, link.client, link.server)
            try:
                findings = self._firewall.try_link(name, client, server)
            except EnvironmentFailedError as error:
                return LinkFindings(name, link.client, link.server, problems=[str(error)])
        self._failed[server.name] += findings.tcp is False
        return findings

    def notes(self) -> list[str]:
        return [
            f"{count} more links to {host} were not tried, as {_ENOUGH_FAILURES} already failed"
            for host, count in self._left_out.items()
        ]

    def _end(self, name: str, link: Link) -> LinkEnd | None:
        site = self._sites.get(name)
        return LinkEnd(name, self._hosts[name].address_on(link.network), site) if site else None

    @contextlib.contextmanager
    def _room(self, machines: Iterable[str]) -> Iterator[None]:
        # In one order, so that no two wait for each other.
        with contextlib.ExitStack() as stack:
            for machine in sorted(machines):
                stack.enter_context(self._rooms[machine])
            yield


def _side_by_side(action: Callable[[K], T], items: Iterable[K]) -> Iterator[T]:
    """Yield what `action` gives for each item, in order, many at once."""
    workers = ThreadPoolExecutor(_AT_ONCE)
    try:
        futures = [workers.submit(action, item) for item in items]
        yield from [result_interruptibly(future) for future in futures]
    finally:
        # Not waited for after Ctrl-C: what runs there ends when its transport is closed.
        workers.shutdown(wait=False, cancel_futures=True)
