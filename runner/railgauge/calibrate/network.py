"""Truths about udp and tcp: packets at an interface, and what a relay and the kernel counted."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EnvironmentFailedError
from railgauge.base.number import plural
from railgauge.calibrate.idle_states import longest_wake_up
from railgauge.calibrate.packets import PacketRecord, Stream, recording, timed_round_trips
from railgauge.calibrate.rig import (
    INTERFACE,
    LINK,
    RECEIVER,
    SENDER,
    SWITCH_INTERFACE,
    Rig,
    RigResult,
    link,
)
from railgauge.calibrate.truth import Truth
from railgauge.calibrate.uncertainty import compared, counted, without_value
from railgauge.hosts.transport.interface import run

# bit/s of the links. Above the last one a machine of two CPUs is what limits.
RATES = (50e6, 200e6, 1e9)
REPLICATIONS = 10
_SECONDS = {"udp": 0.25, "tcp": 0.5}
_DATAGRAM = 1460
# What a datagram's frame takes on a link of a given rate in addition to its payload: headers of
# Ethernet, IPv4 and UDP, check sum, preamble and gap.
_FRAMING = 14 + 20 + 8 + 24
# The share of its link's rate that a paced sender takes.
_FILLED = 0.9
_THROUGHPUT_LIMITS = {"udp": 0.003, "tcp": 0.01}
# Parts of what is uncertain of a throughput.
LATE_LOOK = "how late the engine sees a packet"
FIRST_LOOK = "what the engine's first look takes in"
# What TCP may send before the first acknowledgement: ten segments (RFC 6928).
_INITIAL_WINDOW = 10 * 1460
# Seconds of its rate that a link of the testbed lets pass at once.
_BURST = 1e-3
# Seconds by which an engine may see a packet later than the kernel stamps it, on an idle machine.
_WAKE_UP = 50e-6
# From a polling client's clock reading to the kernel's stamp, and back, both together.
_POLLED = 6e-6
# A switch that drops what its short queue has no room for: a stream, which is faster, loses by
# itself, and the control channel is silent then.
_NARROW = (
    f"switches: {{switch: {{hosts: [{SENDER}, {RECEIVER}], "
    f"ports: {{{RECEIVER}: {{rate: 100Mbit/s, queue: 30000B}}}}}}}}"
)
# Datagrams of a replication, and of a second: few and small enough that a receiver which stands
# still for a tenth of a second finds them in its buffer, whatever size the kernel grants.
_IMPAIRED = 2_500
_IMPAIRED_PER_SECOND = 5_000
_IMPAIRED_BYTES = 64
_COUNTED_REPLICATIONS = 4
# Seconds one way of which round trips are certified, and what they may differ by, as a share of
# them and in s: without a delay nothing else is left.
_DELAYS = (0.0, 1e-3, 10e-3)
_ROUND_TRIPS = 50
_ROUND_TRIP_LIMIT = 0.01
_FLOOR = 10e-6


@dataclass(frozen=True, slots=True)
class _Impairment:
    """What a relay does to packets on purpose: a property of its link, its own count of it, and the
    metric that has to be the same. Neither a stretch of lost packets nor a packet that others have
    to overtake is at the end of a replication.
    """

    name: str
    properties: str
    count: str
    metric: str
    settings: str = ""


_IMPAIRMENTS = (
    _Impairment("udp lost datagrams", "loss: {every: 97, of: udp}", "lost", "lost_packets"),
    _Impairment(
        "udp loss runs",
        "loss: {random: 5%, seed: 1, of: udp}",
        "loss_runs",
        "loss_runs",
        f", trace: {_IMPAIRED}",
    ),
    _Impairment(
        "udp duplicate datagrams",
        "duplicate: {every: 97, of: udp}",
        "duplicated",
        "duplicate_packets",
    ),
    _Impairment(
        "udp reordered datagrams", "reorder: {every: 97, of: udp}", "reordered", "reordered_packets"
    ),
)


def network_truths() -> Iterator[Truth]:
    """Yield the truths about the engines udp and tcp."""
    for engine, limit in _THROUGHPUT_LIMITS.items():
        for rate in RATES:
            name = f"{engine} throughput at {rate / 1e6:.0f} Mbit/s"
            check = CertificateCheck(name, engine, "bit/s", limit, relative=True)
            yield Truth(check, link(f"rate: {rate:.0f}bit/s"), partial(_throughput, rate=rate))
    for impairment in _IMPAIRMENTS:
        count = CertificateCheck(impairment.name, "udp", "", 0.0, relative=False)
        wiring = link(impairment.properties)
        yield Truth(count, wiring, partial(_impaired, impairment=impairment))
    for delay in _DELAYS:
        limit = _ROUND_TRIP_LIMIT * 2 * delay + _FLOOR
        name = f"udp round trip over {2e3 * delay:g} ms"
        trip = CertificateCheck(name, "udp", "s", limit, relative=False)
        # Without a delay nothing is between the two that would have to be woken up.
        wiring = link(f"delay: {delay * 1e3:g}ms" if delay else "mtu: 1500")
        yield Truth(trip, wiring, partial(_round_trips, wake_up=longest_wake_up() if delay else 0))
    resent = CertificateCheck("tcp retransmits", "tcp", "", 0.0, relative=False)
    yield Truth(resent, _NARROW, _retransmits)


def _throughput(pair: Rig, check: CertificateCheck, *, rate: float) -> CertificateCheck:
    """Compare with the packets that the receiver's interface got over the same seconds."""
    settings = f"duration: {_SECONDS[check.engine]}s"
    if check.engine == "udp":
        payload = rate * _FILLED * _DATAGRAM / (_DATAGRAM + _FRAMING)
        settings += f", datagram: {_DATAGRAM}, sockbuf: 4MiB, rate: {payload:.0f}bit/s"
    else:
        settings += ", congestion: reno"
    with recording(pair.transport(RECEIVER), INTERFACE) as record:
        measured = pair.measure(_test(check.engine, settings, REPLICATIONS))
    streams = record.streams(check.engine)
    truths = [stream.payload * 8 / stream.seconds for stream in streams]
    values = measured.values("throughput")
    first_look = max(_INITIAL_WINDOW, rate * _BURST / 8)
    if check.engine == "udp":
        first_look = untimed_bytes(measured, _DATAGRAM)
    budget = _throughput_budget(streams, first_look) | record.clock_budget
    return compared(check, values, truths, budget, measured.reason)


def untimed_bytes(measured: RigResult, datagram: int) -> float:
    """Return how many bytes beside the first datagram weren't timed, on average.

    These are in a truth of all packets: they may have come faster than the others, or slower.
    Infinitely many where the engine doesn't say.
    """
    return statistics.mean(measured.values("untimed_bytes") or [math.inf]) - datagram


def _throughput_budget(streams: Sequence[Stream], first_look: float) -> dict[str, float]:
    """Return the standard uncertainties of the streams' mean rate, as shares of it.

    The engine's first look may take in `first_look` bytes that came at once, or none.
    """
    if not streams:
        return {}
    # The engine's first and last look, each up to so much after the kernel's.
    looks = [_WAKE_UP * math.sqrt(2 / 12) / stream.seconds for stream in streams]
    first = [first_look / stream.payload for stream in streams]
    return {LATE_LOOK: max(looks), FIRST_LOOK: max(first) / math.sqrt(3)}


def _impaired(pair: Rig, check: CertificateCheck, *, impairment: _Impairment) -> CertificateCheck:
    """Compare with what a relay did on purpose, unless packets got lost in another way."""
    rate = _IMPAIRED_PER_SECOND * _IMPAIRED_BYTES * 8
    settings = f"count: {_IMPAIRED}, datagram: {_IMPAIRED_BYTES}, sockbuf: 4MiB, rate: {rate}bit/s"
    before, errors = pair.relayed(), _kernel_count(pair, RECEIVER, "Udp", "RcvbufErrors")
    test = _test("udp", settings + impairment.settings, _COUNTED_REPLICATIONS)
    measured = pair.measure(test)
    relayed = pair.relayed()
    dropped = {name: relayed[name] - before[name] for name in ("overflowed", "refused", "unread")}
    dropped["at the receiver"] = _kernel_count(pair, RECEIVER, "Udp", "RcvbufErrors") - errors
    # Also if the relay was too busy to say what it has counted by now.
    numbers = relayed["counted"] - before["counted"]
    dropped["not counted by the relay"] = _COUNTED_REPLICATIONS * _IMPAIRED - numbers
    truth = relayed[impairment.count] - before[impairment.count]
    return exactly_counted(check, measured, impairment.metric, truth, dropped)


def exactly_counted(
    check: CertificateCheck,
    measured: RigResult,
    metric: str,
    truth: int,
    dropped: Mapping[str, int],
) -> CertificateCheck:
    """Return `check` with the sum of a metric and the count of it that is the `truth`.

    Without a value if a replication failed, whose packets were counted, too, or if packets were
    `dropped` on their way by the machine itself (how many, by where that was).
    """
    values = measured.values(metric)
    drops = ", ".join(f"{count} {where}" for where, count in dropped.items() if count)
    reasons = [measured.reason]
    if drops:
        reasons.insert(0, f"the machine itself dropped packets: {drops}")
    if len(values) != _COUNTED_REPLICATIONS:
        reasons.insert(0, f"{len(values)} of {_COUNTED_REPLICATIONS} replications were measured")
    reason = "; ".join(filter(None, reasons))
    if drops or len(values) != _COUNTED_REPLICATIONS:
        return without_value(check, reason)
    return counted(check, values, truth, reason)


def _round_trips(pair: Rig, check: CertificateCheck, *, wake_up: float) -> CertificateCheck:
    """Compare with the times between datagrams that leave and come at the client's interface.

    The client polls, or a sleeping CPU's wake-up would be part of each round trip. A CPU of the
    machine that was idle comes back within `wake_up` seconds.
    """
    settings = f"mode: latency, count: {_ROUND_TRIPS}, datagram: 64, poll: busy"
    with recording(pair.transport(SENDER), INTERFACE) as record:
        measured = pair.measure(_test("udp", settings, REPLICATIONS))
    values = measured.values("rtt_mean")
    trips = timed_round_trips(record.round_trips(), len(values), _ROUND_TRIPS)
    if len(trips) != len(values):
        return without_value(check, measured.reason or "some round trips took more than a packet")
    truths = [statistics.mean(replication) for replication in trips]
    budget = trip_budget(measured, wake_up, record, truths)
    return compared(check, values, truths, budget, measured.reason)


def trip_budget(
    measured: RigResult, wake_up: float, record: PacketRecord, truths: Sequence[float]
) -> dict[str, float]:
    """Return the standard uncertainties of a mean round trip of polling clients, in s.

    A client polled for as long as it had its CPU: the rest of the time it may have missed a packet.
    Without its CPU times that is unknown.
    """
    names = ("client_elapsed", "client_user_time", "client_system_time", "round_trips")
    lost = [
        max(0.0, elapsed - user - system) / trips
        for elapsed, user, system, trips in zip(*map(measured.values, names), strict=False)
    ]
    parts = {
        "the client's clock readings": _POLLED,
        "how late an idle CPU comes back": wake_up,
        "the time in which the client had no CPU": statistics.mean(lost or [math.inf]),
    }
    clocks = {name: share * max(truths) for name, share in record.clock_budget.items()}
    return {name: seconds / math.sqrt(3) for name, seconds in parts.items()} | clocks


def _retransmits(pair: Rig, check: CertificateCheck) -> CertificateCheck:
    """Compare with what the sender's kernel counted of all its connections (RFC 4022).

    On a busy machine an answer may be so late that the control channel sends again, too (a tail
    loss probe, RFC 8985): what the record has of that is no retransmit of the test. The end of a
    stream has no data: the engine may look before or after it is sent again.
    """
    settings = "duration: 500ms, congestion: reno"
    # Counted while it's recorded: to end a record takes long enough for another retransmit.
    with recording(pair.transport(SENDER), SWITCH_INTERFACE) as record:
        before = _kernel_count(pair, SENDER, "Tcp", "RetransSegs")
        measured = pair.measure(_test("tcp", settings, _COUNTED_REPLICATIONS))
        after = _kernel_count(pair, SENDER, "Tcp", "RetransSegs")
    if ends := record.repeated_ends():
        again = f"sent again {plural(ends, 'time')}"
        return without_value(check, f"the end of a stream was lost, and {again}")
    truth = after - before - record.control_retransmits()
    return exactly_counted(check, measured, "retransmits", truth, {})


def _kernel_count(pair: Rig, host: str, protocol: str, name: str) -> int:
    """Return what a host's kernel has counted so far (RFC 4022 and 4113)."""
    answer = run(pair.transport(host), ["cat", "/proc/self/net/snmp"], timeout=10.0)
    lines = [line.split() for line in answer.stdout.splitlines() if line.startswith(f"{protocol}:")]
    if len(lines) != 2 or name not in lines[0]:
        raise EnvironmentFailedError(f"the kernel's /proc/net/snmp doesn't count {name}")
    return int(dict(zip(*lines, strict=True))[name])


def _test(engine: str, settings: str, replications: int) -> str:
    return (
        f"  - {{name: {engine}, engine: {engine}, links: [{LINK}], replications: {replications}, "
        f"set: {{{settings}}}}}\n"
    )
