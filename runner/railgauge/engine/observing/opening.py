"""Sets the scene of a run: starts a watcher on each machine, finds out which hosts are one."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.engine.measure import EquippedHost
from railgauge.engine.observing.scene import Pause, Ports, Scene, TrafficWay
from railgauge.engine.watch.watcher import Watcher
from railgauge.hosts.equipment.path_counters import PathCounters
from railgauge.plan.links import Link
from railgauge.plan.load import LoadedPlan
from railgauge.plan.schedule import Dispatch

_Everywhere = Callable[[Callable[[str], Watcher | None], Iterable[str]], dict[str, Watcher | None]]
Facts = Mapping[str, Mapping[str, str]]


def set_scene(
    loaded: LoadedPlan,
    dispatches: Iterable[Dispatch],
    sites: Mapping[str, EquippedHost],
    machines: Mapping[str, str],
    facts: Facts,
    *,
    everywhere: _Everywhere,
    say: Callable[[str], None],
) -> Scene:
    """Return the scene of these dispatches, with a watcher on each machine that is to have one.

    `everywhere` does something with each of many machines, side by side; whoever calls this closes
    the watchers. What can't be watched is told with `say`, and measured all the same.
    """
    plan = loaded.plan
    token = f"railgauge-{secrets.token_hex(6)}"
    tests = {test.name: test for test in plan.tests}
    bare = Scene(
        loaded.catalogue,
        tests,
        sites,
        machines,
        {host: facts.get(host, {}).get("boot_id") or machines[host] for host in sites},
        alone=plan.concurrency == 1,
        token=token,
        way=partial(_way, loaded, facts),
        ports=partial(_ports, loaded),
    )
    logging = {name: test.system_log for name, test in tests.items() if test.system_log}
    if not logging:
        return bare
    wanted = {
        machines[host]: host
        for dispatch in dispatches
        if dispatch.test in logging
        for host in bare.measuring(dispatch)
    }
    places = {machine: place for place, machine in enumerate(wanted)}
    interval = min(each.interval for each in logging.values())

    def start(machine: str) -> Watcher | None:
        site = sites[wanted[machine]]
        try:
            return Watcher(site.transport, site.engines, f"{token}-{places[machine]}", interval)
        except HostUnreachableError:
            return None  # What is launched there will tell.
        except EnvironmentFailedError as error:
            say(str(error))
            return None

    started = everywhere(start, wanted)
    watchers = {machine: each for machine, each in started.items() if each is not None}
    return bare.with_watchers(watchers)


@contextlib.contextmanager
def closing(scene: Scene) -> Iterator[Scene]:
    """Close the scene's watchers in the end."""
    try:
        yield scene
    finally:
        for watcher in scene.watchers.values():
            watcher.close()


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
