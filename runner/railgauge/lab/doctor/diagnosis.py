"""What was found of the hosts, of the ways between them, and of all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from railgauge.lab.doctor.clock_offset import Offset


@dataclass(frozen=True, slots=True)
class HostFindings:
    """A host: whether it was reached, its facts by name, its clock, and a sentence a problem."""

    reachable: bool
    facts: Mapping[str, str] = field(default_factory=dict)
    clock: Offset | None = None
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LinkFindings:
    """A link: what got through, None where that wasn't tried, and a sentence a problem.

    `tcp` is a connection from the client with an exchange on it, `udp` are datagrams to the server,
    `udp_back` those from it.
    """

    name: str
    client: str
    server: str
    tcp: bool | None = None
    udp: bool | None = None
    udp_back: bool | None = None
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, hosts by name; `problems` are of several hosts together, `notes` no problems.

    `links` are those that were tried, of as many as `links_known`.
    """

    hosts: Mapping[str, HostFindings]
    links: Sequence[LinkFindings] = ()
    links_known: int = 0
    problems: Sequence[str] = ()
    notes: Sequence[str] = ()

    def sentences(self) -> list[str]:
        """Return every problem, with the host or link that it is about."""
        return [
            *(f"{name}: {text}" for name, host in self.hosts.items() for text in host.problems),
            *(f"{link.name}: {text}" for link in self.links for text in link.problems),
            *self.problems,
        ]
