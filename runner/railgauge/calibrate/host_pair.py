"""Where truths about real hosts are made: two hosts of a hosts file, and the way between them."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.base.real_path import real_path
from railgauge.base.side_by_side import everywhere
from railgauge.calibrate.rig import Instrument
from railgauge.engine.build_all import BuildObserver
from railgauge.engine.deploy import bundle
from railgauge.engine.deploy_all import deploy_all
from railgauge.hosts import facts
from railgauge.hosts.transport import check_transports, open_transport
from railgauge.hosts.transport.closing import close_all
from railgauge.hosts.transport.interface import Transport, run
from railgauge.plan.links import Link
from railgauge.plan.model import Host
from railgauge.plan.topology import read_hosts_file

_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ChosenLink:
    """The link of a hosts file that is to be measured, by its name, and the hosts there."""

    file: Path
    name: str
    link: Link
    hosts: Mapping[str, Host]

    def address(self, name: str) -> str:
        """Return a host's address on the link's network."""
        return str(self.hosts[name].address_on(self.link.network))


def choose_link(file: Path, name: str | None) -> ChosenLink:
    """Return the link of a hosts file by its name; None: the first one.

    FileProblems for a wrong file, InputError where there is no such link.
    """
    topology = read_hosts_file(file)
    names = list(topology.links)
    if not names:
        raise InputError(f"{file} has no links: write one there, from one host to another")
    if name is not None and name not in names:
        raise InputError(f"{file} has no link {name!r}; there are: {', '.join(names[:20])}")
    chosen = names[0] if name is None else name
    return ChosenLink(real_path(file), chosen, topology.links[chosen], topology.hosts)


@dataclass(frozen=True, slots=True)
class PairHost:
    """One of the two: how programs start there, where its engines are, and what it is.

    `interface` is the one towards the other host, "" where nobody says which; `load` the machine's
    mean load over the minute before.
    """

    name: str
    transport: Transport
    engines: str
    facts: Mapping[str, str]
    interface: str
    load: float

    @property
    def release(self) -> str:
        """The kernel's release, as uname(1) shows it."""
        words = self.facts.get("kernel", "").split()
        return words[2] if words[:2] == ["Linux", "version"] and len(words) > 2 else " ".join(words)


class HostPair(Instrument):
    """A link's client and server, reached; made by `host_pair`."""

    def __init__(
        self,
        chosen: ChosenLink,
        client: PairHost,
        server: PairHost,
        folder: Path,
    ) -> None:
        super().__init__(chosen.file, folder, None)
        self.chosen = chosen
        self.client = client
        self.server = server


@contextlib.contextmanager
def host_pair(chosen: ChosenLink, observer: BuildObserver) -> Iterator[HostPair]:
    """Reach both hosts, and build the engines there where they are missing: `observer` follows.

    EnvironmentFailedError names the hosts that aren't ready.
    """
    names = (chosen.link.client, chosen.link.server)
    check_transports(chosen.hosts[name] for name in names)
    transports = {name: open_transport(name, chosen.hosts[name]) for name in names}

    def prepare(name: str) -> PairHost:
        peer = chosen.address(next(other for other in names if other != name))
        gathered = facts.gather(transports[name], [peer], engines=engines[name])
        interface = gathered.get(f"route.{peer}", "").partition(",")[0]
        load = float(_text(transports[name], "/proc/loadavg").split()[0])
        return PairHost(name, transports[name], engines[name], gathered, interface, load)

    try:
        engines = deploy_all(transports, bundle(), observer)
        hosts = everywhere(prepare, names)
        with tempfile.TemporaryDirectory(prefix="railgauge-calibrate-") as folder:
            client, server = (hosts[name] for name in names)
            yield HostPair(chosen, client, server, Path(folder))
    finally:
        close_all(transports.values())


def _text(transport: Transport, file: str) -> str:
    """Return a file's text on a host; EnvironmentFailedError if it can't be read."""
    try:
        answer = run(transport, ["cat", file], timeout=_SECONDS)
    except TimeoutError as error:
        raise EnvironmentFailedError(str(error)) from error
    if answer.status or not answer.stdout:
        raise EnvironmentFailedError(
            f"{transport.host}: can't read {file}: {answer.stderr.strip()}"
        )
    return answer.stdout
