"""Ships the engines to all hosts of a run and has them built, with no more sent than has to be.

Hosts that share a cache folder get them once. Where all nodes of a job lack them, its scheduler
passes them on from node to node. Other hosts get them from here, each: no ssh of ours leads from
one to the next.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Collection, Mapping

from railgauge.base.errors import EnvironmentFailedError
from railgauge.base.side_by_side import everywhere
from railgauge.engine.build_all import BuildObserver, LineTaker, build_all
from railgauge.engine.deploy import (
    PACKED,
    Bundle,
    EnginesPlace,
    build,
    bundle,
    deploy,
    look,
    ship,
)
from railgauge.engine.deploy_mpi import MpiInstallation, deploy_mpi
from railgauge.hosts.transport.allocation import broadcast
from railgauge.hosts.transport.interface import Transport
from railgauge.hosts.transport.local import LocalTransport

_HERE = "this machine"


def deploy_all(
    transports: Mapping[str, Transport], bundle: Bundle, observer: BuildObserver
) -> dict[str, str]:
    """Return machine -> the absolute folder there that holds the built engines.

    Raises what `everywhere` does.
    """
    mark = uuid.uuid4().hex
    places = everywhere(lambda machine: look(transports[machine], bundle, mark), transports)
    builders = {
        machine: transports[machine]
        for machine, place in places.items()
        if place.state == "missing"
    }
    if builders:
        packed = bundle.packed()
        shipped = _broadcast(
            builders.values(),
            {places[machine].fresh for machine in builders},
            packed,
            observer.say,
        )

        def equip(machine: str, on_line: LineTaker) -> None:
            if not shipped:
                ship(transports[machine], packed, places[machine])
            build(transports[machine], places[machine], on_line=on_line)

        build_all(equip, builders, "the engines", observer, builders)
    return everywhere(lambda machine: _folder(transports[machine], bundle, places[machine]), places)


def deploy_local(observer: BuildObserver, *, mpi: bool = False) -> str:
    """Return the folder of the engines on this machine; with `mpi` rail-mpi is built there, too.

    Raises BuildError.
    """
    with contextlib.closing(LocalTransport(_HERE)) as transport:
        transports = {_HERE: transport}
        folder = deploy_all(transports, bundle(), observer)[_HERE]
        if mpi:

            def equip(_: str, on_line: LineTaker) -> MpiInstallation:
                return deploy_mpi(transport, folder, None, on_line=on_line)

            build_all(equip, transports, "rail-mpi", observer)
    return folder


def _folder(transport: Transport, bundle: Bundle, place: EnginesPlace) -> str:
    return deploy(transport, bundle) if place.state == "shared" else f"{place.final}/build"


def _broadcast(
    transports: Collection[Transport],
    folders: Collection[str],
    packed: bytes,
    say: Callable[[str], None],
) -> bool:
    """Return whether a scheduler has put the sources on all these hosts."""
    if len(transports) < 2 or len(folders) > 1:
        return False
    (folder,) = folders
    try:
        return broadcast(transports, packed, f"{folder}/{PACKED}")
    except EnvironmentFailedError as error:
        say(f"the engines are sent to each node from here: {error}")
        return False
