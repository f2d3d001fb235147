"""Whether TCP and UDP get through between two hosts, tried with the engines themselves.

A server is started on one host and a client on the other, with the plan's ports where it fixes
them. rail-udp says whether datagrams arrive and whether they come back, so that a firewall on
either side can be distinguished from one on the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from railgauge.engine.command_lines import Terms
from railgauge.engine.measure import EquippedHost, measure
from railgauge.engine.running_programs import RunningPrograms
from railgauge.lab.doctor.diagnosis import LinkFindings
from railgauge.lab.doctor.needs import Needs
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import Catalogue, EngineInfo, Value

# Counted, as a busy host gets little done in a time: small datagrams within a tenth of a second if
# it has its CPU, and round trips, each of which has a second.
_SENDING: dict[str, Value] = {"mode": "stream", "datagram": 64, "rate": 1e6, "count": 200}
_RETURNING: dict[str, Value] = {"mode": "latency", "datagram": 64, "count": 1}
_CONNECTING: dict[str, Value] = {"mode": "latency", "message": 1, "count": 1}
# Over a lossy link, or to a busy host, a single one may be lost.
_MORE = {**_RETURNING, "count": 5}
# What says that not one of them got through. That few did (`too-short`) is no firewall.
_LOST = "no-data"
# How long an exchange may say nothing (s).
_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """One end of a link: the host's name, its address on the link's network, its engines."""

    name: str
    address: str
    site: EquippedHost


@dataclass(frozen=True, slots=True)
class EngineFailure:
    """The engine's code and sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Firewall:
    """Tries links; `programs` ends what runs when the user stops it."""

    catalogue: Catalogue
    needs: Needs
    programs: RunningPrograms = field(default_factory=RunningPrograms)

    def try_link(self, name: str, client: LinkEnd, server: LinkEnd) -> LinkFindings:
        """Return what gets through from `client` to `server` and back.

        Raises EnvironmentFailedError when a program can't be started, or a host is lost.
        """
        tcp = self._exchange("tcp", _CONNECTING, client, server)
        if tcp is not None:
            return LinkFindings(
                name, client.name, server.name, False, problems=[self._tcp(tcp, client, server)]
            )
        udp = self._exchange("udp", _RETURNING, client, server)
        arrives = True
        if _is_lost(udp):
            arrives = not _is_lost(self._exchange("udp", _SENDING, client, server))
            udp = self._exchange("udp", _MORE, client, server) if arrives else udp
        problems = []
        if udp is not None and not _is_lost(udp):
            arrives = False
            problems.append(f"UDP from {client.name} to {server.name} fails: {udp.message}")
        elif not arrives:
            problems.append(_udp(client, server, ""))
        elif udp is not None:
            problems.append(_udp(server, client, " (the way back of what arrived)"))
        back = udp is None if arrives else None
        return LinkFindings(name, client.name, server.name, True, arrives, back, problems)

    def _tcp(self, failure: EngineFailure, client: LinkEnd, server: LinkEnd) -> str:
        """Return the sentence about a failed exchange by TCP, and about the other direction."""
        turned = self._exchange("tcp", _CONNECTING, server, client)
        other = "works" if turned is None else "fails as well"
        return (
            f"TCP from {client.name} to {server.name} ({server.address}) fails: {failure.message} "
            f"(from {server.name} to {client.name} it {other})"
        )

    def _exchange(
        self, name: str, settings: dict[str, Value], client: LinkEnd, server: LinkEnd
    ) -> EngineFailure | None:
        engine = self.catalogue.engine(name)
        case = Case("", name, "", client.name, server.name, self._parameters(engine, settings))
        at = client.address, server.address
        terms = Terms(self.needs.control_port, at=at, limit=_PATIENCE)
        sites = (client.site, server.site)
        for outcome, _ in measure(engine, case, [1], sites, terms=terms, programs=self.programs):
            if outcome.status == "failed":
                return EngineFailure(outcome.error_code, outcome.error_message)
        return None

    def _parameters(self, engine: EngineInfo, settings: dict[str, Value]) -> dict[str, Value]:
        """Return all parameters, those of `settings` among them."""
        if self.needs.data_ports:
            settings = {**settings, "data_port": self.needs.data_ports[0]}
        defaults = {
            parameter.name: parameter.default
            for parameter in engine.parameters.values()
            if parameter.default is not None and parameter.name not in settings
        }
        return {**defaults, **settings}


def _is_lost(failure: EngineFailure | None) -> bool:
    return failure is not None and failure.code == _LOST


def _udp(sender: LinkEnd, receiver: LinkEnd, way: str) -> str:
    return (
        f"UDP from {sender.name} to {receiver.name} ({receiver.address}){way} doesn't arrive: "
        "let it through the firewalls of both and between them"
    )
