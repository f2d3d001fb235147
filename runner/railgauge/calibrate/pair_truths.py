"""Truths about udp and tcp between two real hosts: what the counters of both interfaces say."""

from __future__ import annotations

import contextlib
import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EngineError, EnvironmentFailedError
from railgauge.base.number import plural
from railgauge.calibrate.host_pair import HostPair, PairHost
from railgauge.calibrate.idle_states import HALTED
from railgauge.calibrate.interface_counters import (
    CountedStream,
    CounterRecord,
    DatagramBounds,
    DirectionCounts,
    FrameLength,
    counted_streams,
    counting,
    datagram_bounds,
    datagrams,
    foreign_share,
    frame_length,
    idle_share,
)
from railgauge.calibrate.network import FIRST_LOOK, LATE_LOOK, trip_budget, untimed_bytes
from railgauge.calibrate.packets import recording, timed_round_trips
from railgauge.calibrate.rig import Fault, RigResult
from railgauge.calibrate.uncertainty import compared, counted, without_value

_REPLICATIONS = 4
_SECONDS = 0.8
# Payload, in bytes: no length that other traffic has.
_DATAGRAM = 1390
_PACE = 100e6
# The share of a link's known rate that datagrams take at most.
_FILLED = 0.8
# Seconds without a stream, so that each of them can be distinguished from the next.
_REST = 0.3
_THROUGHPUT_LIMIT = 0.003
# Other programs' share of the traffic above which it is a reason.
_OTHERS = 0.001
# By how much of them the counters of both ends, or of a card and of IP, may differ.
_AGREEING = 0.001
# Bytes of TCP's header with time stamps (RFC 7323), and without.
_TCP_HEADERS = {True: 32, False: 20}
_INITIAL_WINDOW = 10 * 1460
_ROUND_TRIPS = 100
_TRIP_BYTES = 64
# What round trips may differ by: so many s, and this share of them.
_ROUND_TRIP_LIMIT = 10e-6
_ROUND_TRIP_SHARE = 0.01
# Seconds by which an engine may see a packet later than the kernel counts it.
_WAKE_UP = 50e-6
_RECORDED = 1 << 14
_PYTHON = "python3"


@dataclass(frozen=True, slots=True)
class PairTruth:
    """A check without a value yet, and how it is measured on a pair of hosts."""

    check: CertificateCheck
    measure: Callable[[PairMeasurement, CertificateCheck], CertificateCheck]

    def hold(self, measurement: PairMeasurement) -> CertificateCheck:
        """Measure; what the hosts refuse is the reason why nothing is certified."""
        try:
            return self.measure(measurement, self.check)
        except (EnvironmentFailedError, EngineError) as error:
            return without_value(self.check, str(error))


@dataclass(frozen=True, slots=True)
class CountedRun:
    """What a run gave, and what both interfaces counted meanwhile."""

    measured: RigResult
    sent: CounterRecord
    received: CounterRecord


@dataclass(slots=True)
class PairMeasurement:
    """The streams of a pair: each engine's are measured once, for all the checks of them.

    With a `fault` what was measured is as a broken instrument would have given it.
    """

    pair: HostPair
    fault: Fault | None = None
    _runs: dict[str, CountedRun] = field(default_factory=dict)

    def broken(self, fault: Fault) -> PairMeasurement:
        """Return the same streams as an instrument with this fault would have measured them."""
        return replace(self, fault=fault)

    def streams(self, engine: str) -> CountedRun:
        """Return the engine's streams; EnvironmentFailedError where they can't be counted."""
        if engine not in self._runs:
            self._runs[engine] = _counted_run(self.pair, engine, _settings(self.pair, engine))
        run = self._runs[engine]
        return replace(run, measured=run.measured.broken(self.fault))

    def frame(self) -> FrameLength:
        """Return what the receiver's interface counts of a datagram."""
        run = self.streams("udp")
        return frame_length(_streams(run.received.received, run), _DATAGRAM)


def pair_truths() -> Iterator[PairTruth]:
    """Yield the truths about a pair of hosts, in the order of their certificate."""
    rate = partial(CertificateCheck, unit="bit/s", limit=_THROUGHPUT_LIMIT, relative=True)
    count = partial(CertificateCheck, engine="udp", unit="", limit=0.0, relative=False)
    yield PairTruth(rate("udp throughput", engine="udp"), _udp_throughput)
    yield PairTruth(count("udp datagrams sent"), _datagrams_sent)
    yield PairTruth(count("udp datagrams received"), _datagrams_received)
    yield PairTruth(rate("tcp throughput", engine="tcp"), _tcp_throughput)
    trip = CertificateCheck("udp round trip", "udp", "s", _ROUND_TRIP_LIMIT, relative=False)
    yield PairTruth(trip, _round_trips)


def _udp_throughput(measurement: PairMeasurement, check: CertificateCheck) -> CertificateCheck:
    """Compare with the frames that the receiver's interface counted, times their payload."""
    run, frame = measurement.streams("udp"), measurement.frame()
    streams = _streams(run.received.received, run)
    # The first datagram is where both begin to count.
    payloads = [float(datagrams(s, frame).sum() - 1) * _DATAGRAM for s in streams]
    foreign = {
        measurement.pair.server.interface: max(
            foreign_share(streams, frame), idle_share(run.received.received, streams)
        ),
        "only one of the two": _excess(run, streams),
        "dropped at the socket": _dropped(run) / sum(int(s.packets.sum()) for s in streams),
    }
    first_look = untimed_bytes(run.measured, _DATAGRAM) / min(payloads)
    return compared_rates(check, run, streams, payloads, foreign, first_look)


def _excess(run: CountedRun, streams: Sequence[CountedStream]) -> float:
    """Return by how much more came than was sent, as a share."""
    sent = sum(int(s.octets.sum()) for s in _streams(run.sent.sent, run))
    came = sum(int(s.octets.sum()) for s in streams)
    return max(0.0, (came - sent) / came)


def _dropped(run: CountedRun) -> int:
    return run.received.protocols.get("Udp.RcvbufErrors", 0)


def _tcp_throughput(measurement: PairMeasurement, check: CertificateCheck) -> CertificateCheck:
    """Compare with the bytes that the receiver's interface counted, less those of headers.

    What a header is, the datagrams of the same way show; how many there are, the counters of IP.
    """
    pair, frame = measurement.pair, measurement.frame()
    run = measurement.streams("tcp")
    stamps = all(
        host.facts.get("net.ipv4.tcp_timestamps") != "0" for host in (pair.client, pair.server)
    )
    header = frame.ip_header + _TCP_HEADERS[stamps]
    shares = [
        payload_share(record, counts, direction, frame.link, header, host.name)
        for record, counts, direction, host in (
            (run.received, run.received.received, "In", pair.server),
            (run.sent, run.sent.sent, "Out", pair.client),
        )
    ]
    came, sent = _streams(run.received.received, run), _streams(run.sent.sent, run)
    payloads = [float(stream.octets.sum()) * shares[0] for stream in came]
    left = sum(float(stream.octets.sum()) for stream in sent) * shares[1]
    protocols = run.sent.protocols
    foreign = {
        pair.server.interface: idle_share(run.received.received, came),
        "only one of the two": abs(sum(payloads) - left) / left,
        "sent again": protocols.get("Tcp.RetransSegs", 0) / max(1, protocols.get("Tcp.OutSegs", 0)),
    }
    first_look = max(_INITIAL_WINDOW / payload for payload in payloads)
    return compared_rates(check, run, came, payloads, foreign, first_look)


def payload_share(
    record: CounterRecord,
    counts: DirectionCounts,
    direction: str,
    link: int,
    header: int,
    name: str,
) -> float:
    """Return which share of the bytes of a direction is payload.

    A card has a header in its bytes for each packet that it counts, or for each segment, though it
    counts many as one. IP counts a header for each of its own packets, and shows which.
    EnvironmentFailedError if neither agrees with it.
    """
    octets = int(counts.octets[-1] - counts.octets[0])
    packets = int(counts.packets[-1] - counts.packets[0])
    protocols = record.protocols
    requests = "InReceives" if direction == "In" else "OutRequests"
    try:
        by_ip = protocols[f"IpExt.{direction}Octets"] - header * protocols[f"Ip.{requests}"]
        segments = protocols[f"Tcp.{direction}Segs"]
    except KeyError as error:
        raise EnvironmentFailedError(f"{name}: the kernel doesn't count {error}") from error
    payloads = [octets - number * (header + link) for number in (packets, segments)]
    payload = min(payloads, key=lambda payload: abs(payload - by_ip))
    if payload <= 0 or abs(payload - by_ip) > _AGREEING * payload:
        raise EnvironmentFailedError(
            f"{name}: the interface counted {octets} bytes in {packets} packets, and IP "
            f"{protocols[f'IpExt.{direction}Octets']} in {protocols[f'Ip.{requests}']}: other "
            "traffic, or a card that counts in a way of its own"
        )
    return payload / octets


def compared_rates(
    check: CertificateCheck,
    run: CountedRun,
    streams: Sequence[CountedStream],
    payloads: Sequence[float],
    foreign: Mapping[str, float],
    first_look: float,
) -> CertificateCheck:
    """Return `check` with the streams' rates; `foreign` are shares of traffic that isn't theirs."""
    truths = [8 * payload / s.seconds for payload, s in zip(payloads, streams, strict=True)]
    wake_up = _WAKE_UP * math.sqrt(2 / 12)
    budget = {
        "the time between two looks at the counters": statistics.mean(
            s.spread / s.seconds for s in streams
        ),
        LATE_LOOK: max(wake_up / s.seconds for s in streams),
        FIRST_LOOK: first_look / math.sqrt(3),
        "other traffic": max(foreign.values()) / math.sqrt(3),
    }
    reasons = [run.measured.reason]
    reasons += [
        f"{share:.2%} of the traffic isn't the test's ({where})"
        for where, share in foreign.items()
        if share > _OTHERS
    ]
    values = run.measured.values("throughput")
    return compared(check, values, truths, budget, "; ".join(filter(None, reasons)))


def _datagrams_sent(measurement: PairMeasurement, check: CertificateCheck) -> CertificateCheck:
    run = measurement.streams("udp")
    bounds = datagram_bounds(_streams(run.sent.sent, run), measurement.frame())
    return compared_datagrams(check, sum(run.measured.values("sent_packets")), bounds)


def _datagrams_received(measurement: PairMeasurement, check: CertificateCheck) -> CertificateCheck:
    run = measurement.streams("udp")
    if dropped := _dropped(run):
        lost = plural(dropped, "datagram")
        return without_value(check, f"the receiver's sockets had no room for {lost}")
    values = run.measured.values("received_packets") + run.measured.values("duplicate_packets")
    bounds = datagram_bounds(_streams(run.received.received, run), measurement.frame())
    return compared_datagrams(check, sum(values), bounds)


def compared_datagrams(
    check: CertificateCheck, value: float, bounds: DatagramBounds
) -> CertificateCheck:
    """Compare with the frames of a datagram's length that an interface counted.

    Small ones pass among them, as the control channel ends and begins. Where value and truth differ
    by less than might be in the same windows, nobody can say who is wrong.
    """
    if value != bounds.likely and bounds.least <= value <= bounds.most:
        return without_value(
            check,
            f"{plural(round(value), 'datagram')}, and by the counters {bounds.least} to "
            f"{bounds.most}: other packets came between them",
        )
    return counted(check, [value], bounds.likely)


def _round_trips(measurement: PairMeasurement, check: CertificateCheck) -> CertificateCheck:
    """Compare with the times between datagrams that leave and come at the client's interface."""
    pair = measurement.pair
    settings = f"mode: latency, count: {_ROUND_TRIPS}, datagram: {_TRIP_BYTES}, poll: busy"
    interface = _interface(pair.client)
    # A client that lacks its CPU shows in its own times: so short, no system log would show it.
    test = _test(pair, "trips", "udp", settings, f"replications: {_REPLICATIONS}, system_log: off")
    with recording(pair.client.transport, interface, python=_PYTHON, slots=_RECORDED) as record:
        measured = pair.measure(test).broken(measurement.fault)
    values, recorded = measured.values("rtt_mean"), record.round_trips(_TRIP_BYTES)
    trips = timed_round_trips(recorded, len(values), _ROUND_TRIPS)
    if len(trips) != len(values):
        scarce = f"{len(values)} × {_ROUND_TRIPS + 1} round trips, and {len(recorded)} recorded"
        return without_value(check, measured.reason or scarce)
    truths = [statistics.mean(replication) for replication in trips]
    if not truths:
        return without_value(check, measured.reason or "no round trip was measured")
    check = replace(check, limit=check.limit + _ROUND_TRIP_SHARE * statistics.mean(truths))
    # The client polls, so that its CPU isn't idle; a virtual one may be taken from it all the same.
    wake_up = 0.0 if pair.client.facts.get("virtual_machine") == "none" else HALTED
    budget = trip_budget(measured, wake_up, record, truths)
    return compared(check, values, truths, budget, measured.reason)


def _streams(counts: DirectionCounts, run: CountedRun) -> list[CountedStream]:
    return counted_streams(counts, len(run.measured.values("throughput")))


def _counted_run(pair: HostPair, engine: str, settings: str) -> CountedRun:
    """Measure with the counters of both hosts beside it."""
    with contextlib.ExitStack() as stack:
        readers = [
            stack.enter_context(counting(host.transport, host.engines, _interface(host)))
            for host in (pair.client, pair.server)
        ]
        measured = pair.measure(_streams_apart(pair, engine, settings))
        sent, received = (end() for end in readers)
    if len(measured.values("throughput")) != _REPLICATIONS:
        raise EnvironmentFailedError(measured.reason or "replications are missing")
    return CountedRun(measured, sent, received)


def _interface(host: PairHost) -> str:
    if not host.interface:
        raise EnvironmentFailedError(
            f"{host.name}: nobody says by which interface it reaches the other: install iproute2"
        )
    return host.interface


def _settings(pair: HostPair, engine: str) -> str:
    if engine == "tcp":
        return f"duration: {_SECONDS}s"
    pace = min(_PACE, _FILLED * (pair.chosen.link.rate or math.inf))
    return f"duration: {_SECONDS}s, datagram: {_DATAGRAM}, sockbuf: 4MiB, rate: {pace:.0f}bit/s"


def _streams_apart(pair: HostPair, engine: str, settings: str) -> str:
    """Return tests of a replication each, with a rest between them."""
    client = json.dumps(pair.client.name)
    rest = (
        f"  - {{name: rest-%d, engine: command, hosts: [{client}], replications: 1, "
        f"system_log: off, set: {{command: sleep {_REST}}}}}\n"
    )
    tests = [
        _test(pair, f"{engine}-{n}", engine, settings, "replications: 1")
        for n in range(_REPLICATIONS)
    ]
    return "".join(tests[:1] + [rest % n + test for n, test in enumerate(tests[1:])])


def _test(pair: HostPair, name: str, engine: str, settings: str, terms: str) -> str:
    link = json.dumps(pair.chosen.name)
    return (
        f"  - {{name: {name}, engine: {engine}, links: [{link}], {terms}, set: {{{settings}}}}}\n"
    )
