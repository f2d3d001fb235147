"""Where on a link's path the packets of a UDP stream vanished, by what was counted on their way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from railgauge.base.number import plural
from railgauge.base.systemlog import PortLog, SystemLog
from railgauge.plan.cases import Case
from railgauge.report.pages.path_stations import (
    Station,
    host_station,
    ip_trouble,
    other_packets,
    other_port_packets,
    per_datagram,
    port_stations,
)

# What the metrics of a stream begin with, from client to server and back.
_WAYS = ("", "reverse_")


@dataclass(frozen=True, slots=True)
class PathLoss:
    """One direction of a UDP stream: what was counted along its path, and what that shows.

    `sent` and `lost` are datagrams, of `per_datagram` IP packets each (None if unknown).
    `tolerance` is how many packets of other traffic may be in a count of packets: no difference up
    to it is blamed on anything. `sentences` say where packets vanished, the most important first.
    """

    sender: str
    receiver: str
    sent: int
    lost: int
    per_datagram: int | None
    tolerance: int
    stations: tuple[Station, ...]
    sentences: tuple[str, ...]


def path_losses(
    case: Case, logs: Sequence[SystemLog], ports: Sequence[PortLog], metrics: Mapping[str, float]
) -> tuple[PathLoss, ...]:
    """Return the losses of one replication: of a stream, or of one each way; none of other cases.

    `logs` and `ports` are the replication's, so far as there are any.
    """
    if case.server is None:
        return ()
    by_host = {log.host: log for log in logs}
    received = {prefix: round(metrics.get(f"{prefix}received_packets", 0)) for prefix in _WAYS}
    losses = []
    for prefix, (sender, receiver), other in (
        ("", (case.client, case.server), "reverse_"),
        ("reverse_", (case.server, case.client), ""),
    ):
        if f"{prefix}sent_packets" in metrics and f"{prefix}received_packets" in metrics:
            own = {
                name.removeprefix(prefix): round(number)
                for name, number in metrics.items()
                if name.startswith(prefix) and name.endswith(("_packets", "_drops"))
            }
            logged = (by_host.get(sender), by_host.get(receiver))
            stream = _Stream(case, sender, receiver, *logged, own, received[other])
            losses.append(stream.loss(port_stations(ports, reverse=bool(prefix))))
    return tuple(losses)


@dataclass(frozen=True, slots=True)
class _Stream:
    case: Case
    sender: str
    receiver: str
    sender_log: SystemLog | None
    receiver_log: SystemLog | None
    metrics: Mapping[str, int]
    other_stream: int

    @property
    def sent(self) -> int:
        return self.metrics["sent_packets"]

    @property
    def dropped(self) -> int | None:
        """Datagrams that came up to the socket and found no room there; None if unknown."""
        return self.metrics.get("receiver_drops")

    @property
    def copies(self) -> int:
        """Datagrams that came although they had come before: something on the way made them."""
        return self.metrics.get("duplicate_packets", 0)

    @property
    def arrived(self) -> int:
        """Datagrams that came up to the socket, as far as that is known."""
        return self.metrics["received_packets"] + self.copies + (self.dropped or 0)

    @property
    def lost(self) -> int:
        return max(0, self.sent - self.metrics["received_packets"])

    def loss(self, ports: Sequence[Station]) -> PathLoss:
        size = self.case.parameters.get("datagram", 0)
        pieces = per_datagram(self.sender_log, size if isinstance(size, int) else 0)
        tolerance = max(
            other_packets(self.sender_log, "out", self.sent),
            other_packets(self.receiver_log, "in", self.arrived),
            other_port_packets(ports, self.other_stream),
        )
        network = self._network(ports)
        if pieces is not None:
            # Stations before the place where copies were made haven't counted them, others have.
            least = (self.arrived - self.copies) * pieces
            copies = self.copies * pieces
            network = _with_notes(network, self.sent * pieces, least, tolerance, copies)
        first = Station(f"the socket on {self.sender}", "sent_packets", self.sent, "datagrams")
        arrived = Station(
            f"the socket on {self.receiver}",
            "received_packets + receiver_drops",
            self.arrived if self.dropped is not None else None,
            "datagrams",
            (("receiver_drops", self.dropped),) if self.dropped else (),
            note="" if self.dropped is not None else "not known",
        )
        received = Station(
            f"the receiver on {self.receiver}",
            "received_packets",
            self.metrics["received_packets"],
            "datagrams",
        )
        return PathLoss(
            self.sender,
            self.receiver,
            self.sent,
            self.lost,
            pieces,
            tolerance,
            (first, *network, arrived, received),
            tuple(self._sentences(first, network, arrived, pieces, tolerance)),
        )

    def _network(self, ports: Sequence[Station]) -> list[Station]:
        if self.case.parameters.get("warmup"):
            note = "has counted the warm-up as well"
            ports = [replace(station, note=station.note or note) for station in ports]
        first = None if self.sender_log is None else host_station(self.sender_log, "out")
        last = None if self.receiver_log is None else host_station(self.receiver_log, "in")
        stations = [station for station in (first, *ports, last) if station is not None]
        if self.case.parameters.get("gso") or self.case.parameters.get("gro"):
            # An interface may have counted what is split, or merged, as one.
            note = "may count several datagrams as one (gso, gro)"
            stations = [replace(station, note=station.note or note) for station in stations]
        return stations

    def _sentences(
        self,
        first: Station,
        network: Sequence[Station],
        arrived: Station,
        pieces: int | None,
        tolerance: int,
    ) -> list[str]:
        if not self.sent:
            return ["No datagram was sent."]
        sent = plural(self.sent, "datagram")
        if not self.lost:
            return [f"All {sent} arrived."]
        if self.dropped is None:
            reason = "its drops are not known"
            if self.case.parameters.get("gro"):
                reason = "with gro it counts several datagrams as one"
            return [
                f"{self.lost:,} of {sent} vanished: how many of them at the socket on "
                f"{self.receiver} can't be determined, as {reason}."
            ]
        sentences: list[str] = []
        usable = [station for station in network if not station.note]
        if pieces is not None and usable:
            start = replace(first, packets=self.sent * pieces)
            trouble = ip_trouble(self.receiver_log)
            if pieces == 1:
                end = replace(arrived, trouble=trouble)
                sentences = self._gap_sentences([start, *usable, end], 1, tolerance)
            else:
                sentences = self._gap_sentences([start, *usable], pieces, tolerance)
                sentences += self._reassembly_sentences([start, *usable][-1], pieces, tolerance)
        if self.dropped:
            sentences.append(
                f"{self.dropped:,} of {sent} reached {self.receiver} and were dropped at the "
                "socket, whose receive buffer was full."
            )
        sentences = sentences or [self._unlocated_sentence(network, pieces, tolerance)]
        if self.copies:
            sentences.append(
                f"{plural(self.copies, 'copy of a datagram was', 'copies of datagrams were')} made"
                " on the way, and counts that include them hide as many losses:"
                f" {self.lost:,} different datagrams are missing."
            )
        return sentences

    def _gap_sentences(self, stations: Sequence[Station], pieces: int, tolerance: int) -> list[str]:
        """Return between which stations more packets vanished than the tolerance, most first.

        How many is known exactly where all that is missing vanished in one place.
        """
        gaps = [
            (_packets(before) - _packets(after), before, after)
            for before, after in pairwise(stations)
        ]
        gaps = [gap for gap in gaps if gap[0] > tolerance]
        vanished = self.sent - self.arrived
        exact = (
            pieces == 1
            and not self.copies
            and len(gaps) == 1
            and abs(gaps[0][0] - vanished) <= tolerance
        )
        kind = "packets" if pieces == 1 else "IP packets"
        return [
            f"{f'{vanished:,}' if exact else f'About {number:,}'} of {self.sent * pieces:,} {kind} "
            f"vanished between {before.place} and {after.place}{_station_trouble(before, after)}."
            for number, before, after in sorted(gaps, key=lambda gap: -gap[0])
        ]

    def _reassembly_sentences(self, last: Station, pieces: int, tolerance: int) -> list[str]:
        """Return which datagrams were not reassembled; `last` counted their packets last."""
        vanished = self.sent - self.arrived
        missing = self.sent * pieces - _packets(last)
        if vanished <= 0 or max(vanished, missing) <= tolerance:
            return []
        trouble = _trouble_words([(self.receiver, ip_trouble(self.receiver_log))])
        losses = f"{vanished:,} of {plural(self.sent, 'datagram')}, of {pieces} packets each,"
        if missing <= tolerance:
            return [
                f"{losses} were not put together again on {self.receiver}, although their packets "
                f"were counted as far as {last.place}{trouble}."
            ]
        more = ", which is more than the missing packets explain" * (vanished > missing + tolerance)
        return [f"So {losses} could not be put together again{more}{trouble}."]

    def _unlocated_sentence(
        self, network: Sequence[Station], pieces: int | None, tolerance: int
    ) -> str:
        lost = f"{self.lost:,} of {plural(self.sent, 'datagram')} vanished"
        trouble = _station_trouble(*network)
        if pieces is None:
            return f"{lost}: where is unknown, as their numbers of IP packets differ{trouble}."
        if all(station.note for station in network):
            return f"{lost}: where is unknown, as nothing on their way was counted{trouble}."
        packets = plural(tolerance, "packet")
        return (
            f"{lost}: where is unknown, as the counts on their way may differ by {packets} of "
            f"other traffic{' and by the copies' if self.copies else ''}{trouble}."
        )


def _with_notes(
    stations: Sequence[Station], most: int, least: int, tolerance: int, copies: int
) -> list[Station]:
    """Note which counts can't be right or are of more than the stream.

    Between `least` packets, which arrived, and `most`, which were sent, passed each station, and no
    station more than one before it, but for the `copies` that something on the way made of them.
    """
    noted = []
    for station in stations:
        if station.note or station.packets is None:
            noted.append(station)
        elif station.packets < least - tolerance:
            arrived = plural(least, "packet")
            note = f"has not counted all of {arrived} that arrived: old, or not on the path"
            noted.append(replace(station, note=note))
        elif station.packets > most + copies + tolerance:
            excess = station.packets - most
            noted.append(
                replace(station, note=f"has counted {plural(excess, 'packet')} of other traffic")
            )
        else:
            noted.append(station)
    wrong: set[int] = set()
    usable = [index for index, station in enumerate(noted) if not station.note]
    for before, after in pairwise(usable):
        if _packets(noted[after]) > _packets(noted[before]) + copies + tolerance:
            wrong |= {before, after}
    note = "contradicts its neighbour: one of the two is old, or has counted other traffic"
    return [
        replace(station, note=note) if index in wrong else station
        for index, station in enumerate(noted)
    ]


def _packets(station: Station) -> int:
    return station.packets or 0


def _station_trouble(*stations: Station) -> str:
    return _trouble_words([(station.place, station.trouble) for station in stations])


def _trouble_words(places: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> str:
    """Return the discards and errors that were counted, in brackets; empty if there were none."""
    counts = [
        f"{place} counted {', '.join(f'{number:,} {name}' for name, number in trouble)}"
        for place, trouble in places
        if trouble
    ]
    return f" ({'; '.join(counts)})" if counts else ""
