"""Sets the scene of a run: starts a watcher on each machine, finds out which hosts are one."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.base.side_by_side import everywhere
from railgauge.engine.measure import EquippedHost
from railgauge.engine.observing.scene import Holds, Pause, Ports, Scene, TrafficWay
from railgauge.engine.watch.watcher import Watcher
from railgauge.hosts.equipment.path_counters import PathCounters
from railgauge.plan.links import Link
from railgauge.plan.load import LoadedPlan
from railgauge.plan.schedule import Dispatch

Facts = Mapping[str, Mapping[str, str]]


def set_scene(
    loaded: LoadedPlan,
    dispatches: Iterable[Dispatch],
    sites: Mapping[str, EquippedHost],
    machines: Mapping[str, str],
    facts: Facts,
    holds: Holds,
    say: Callable[[str], None],
) -> Scene:
    """Return the scene of these dispatches, with a watcher on each machine that is to have one.

    Whoever calls this closes the watchers. What can't be watched is reported with `say`, and
    measured all the same.
    """
    plan = loaded.plan
    bare = Scene(
        loaded.catalogue,
        {test.name: test for test in plan.tests},
        sites,
        machines,
        {host: facts.get(host, {}).get("boot_id") or machines[host] for host in sites},
        alone=plan.concurrency == 1,
        token=f"railgauge-{secrets.token_hex(6)}",
        holds=holds,
        way=partial(_way, loaded, facts),
        ports=partial(_ports, loaded),
    )
    if not any(test.system_log for test in plan.tests):
        return bare
    return replace(bare, watchers=_start_watchers(bare, dispatches, say))


def _start_watchers(
    scene: Scene, dispatches: Iterable[Dispatch], say: Callable[[str], None]
) -> dict[str, Watcher]:
    """Return machine -> watcher, of the machines that measure cases with a system log."""
    hosts = {
        scene.machines[host]: host
        for dispatch in dispatches
        if scene.tests[dispatch.test].system_log
        for host in scene.measuring(dispatch)
    }
    places = {machine: place for place, machine in enumerate(hosts)}
    logs = (test.system_log for test in scene.tests.values())
    interval = min(log.interval for log in logs if log)

    failures: list[str] = []

    def start(machine: str) -> Watcher | None:
        site = scene.sites[hosts[machine]]
        name = f"{scene.token}-{places[machine]}"
        try:
            return Watcher(site.transport, site.engines, name, interval)
        except HostUnreachableError:
            return None  # What is launched there will report it.
        except EnvironmentFailedError as error:
            failures.append(str(error))
            return None

    started = everywhere(start, hosts)
    for failure in failures:
        say(failure)
    return {machine: watcher for machine, watcher in started.items() if watcher is not None}


@contextlib.contextmanager
def closing(scene: Scene) -> Iterator[Scene]:
    """Close the scene's watchers in the end."""
    try:
        yield scene
    finally:
        Watcher.close_all(scene.watchers.values())


def _way(loaded: LoadedPlan, facts: Facts, dispatch: Dispatch, host: str, peer: str) -> TrafficWay:
    """Return the way from `host` to `peer`, by the route found there."""
    case = dispatch.case
    link = loaded.plan.links.get(case.link)
    network = link.network if link is not None and not case.members else None
    address = loaded.plan.hosts[peer].address_on(network)
    interface, *rest = facts.get(host, {}).get(f"route.{address}", "").split(", ")
    mtu = next((word for word in rest if word.startswith("mtu ")), "").removeprefix("mtu ")
    return TrafficWay(interface or None, int(mtu) if mtu.isdecimal() else 0)


def _ports(loaded: LoadedPlan, dispatch: Dispatch, pause: Pause) -> Ports | None:
    """Return the ports on the path of the link that the dispatch is about, if it has some."""
    case = dispatch.case
    link = loaded.plan.links.get(case.link) if case.server and not case.members else None
    if not isinstance(link, Link) or not link.path:
        return None
    return PathCounters(link.path, loaded.plan.equipment, pause)
