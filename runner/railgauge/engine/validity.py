"""Whether a replication can be trusted: what the system logs and its own figures say against it.

Pure functions: what was counted and measured in, reasons for suspicion out, or the error that it
is no measurement. Each allows for what the counters can't distinguish, and so may miss a little,
but accuses nobody for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from railgauge.base.derived import cpu_ticks
from railgauge.base.errors import EngineError
from railgauge.base.number import plural
from railgauge.base.systemlog import Suspicion, SystemLog
from railgauge.base.units import format_rate
from railgauge.plan.system_log import Suspect

# Ticks are counted by sampling: of n, about the root of n more or fewer is chance; three of that.
_CHANCE = 3.0
# Ethernet with a VLAN tag, IPv6, and UDP or TCP with all its options: the most around a payload.
_DATAGRAM_HEADERS = 18 + 40 + 8
_SEGMENT_HEADERS = 18 + 40 + 60
_UDP_HEADER = 8
_LEAST_SEGMENT = 536
# What belongs to no test: neighbours asking for addresses, the control channel's few segments.
_SPARE_BYTES = 20_000
# Bytes that one read of a stream takes at most unless `read` says otherwise, and one of datagrams
# that the kernel holds together.
_MOST_READ = 1 << 20
_MOST_HELD = 1 << 16


class Agreement(NamedTuple):
    """Two sums of products that a replication's figures have to make `=` or `<=`.

    They may miss it by the share `tolerance` of the greater one. Names are metrics', and those of
    `_bounds`.
    """

    left: str
    relation: str
    right: str
    tolerance: float = 0.005


AGREEMENTS = (
    Agreement("local_throughput * client_elapsed", "=", "8 * sent_bytes"),
    Agreement("throughput * server_elapsed", "<=", "8 * received_bytes"),
    # Time begins with what arrives first.
    Agreement("throughput * server_elapsed + 8 * untimed_bytes", "=", "8 * received_bytes"),
    # What has a rate took some time.
    Agreement("untimed_bytes + least", "<=", "received_bytes", 0),
    Agreement("reverse_untimed_bytes + least", "<=", "reverse_received_bytes", 0),
    Agreement("connection_rate * client_elapsed", "=", "connections"),
    Agreement("throughput * operations", "=", "bytes * iops"),
    Agreement("throughput * sent_messages", "=", "8 * sent_bytes * message_rate"),
    Agreement("loss_rate * sent_packets", "=", "lost_packets"),
    Agreement("reverse_loss_rate * reverse_sent_packets", "=", "reverse_lost_packets"),
    Agreement("loss_rate * round_trips + loss_rate * lost_packets", "=", "lost_packets"),
    # Duplicates are counted apart: what was received was received once.
    Agreement("received_packets + lost_packets", "=", "sent_packets", 0),
    Agreement("reverse_received_packets + reverse_lost_packets", "=", "reverse_sent_packets", 0),
    Agreement("received_packets", "<=", "sent_packets", 0),
    Agreement("reverse_received_packets", "<=", "reverse_sent_packets", 0),
    # Each end of a connection begins to count by its own clock.
    Agreement(
        "received_bytes + omitted_received_bytes", "<=", "sent_bytes + omitted_sent_bytes", 0
    ),
    Agreement("reverse_received_bytes", "<=", "reverse_sent_bytes", 0),
    Agreement("throughput + reverse_throughput", "=", "total_throughput"),
    Agreement("local_throughput + reverse_local_throughput", "=", "total_local_throughput"),
    Agreement("operation_rate_per_thread * threads", "=", "operation_rate"),
    Agreement("slowest_thread * threads", "<=", "throughput"),
    Agreement("slowest_thread * threads", "<=", "operation_rate"),
    Agreement("slowest_share * operation_rate_per_thread", "=", "slowest_thread"),
)
"""What holds of any replication of our engines that has these metrics, whatever was measured."""


@dataclass(frozen=True, slots=True)
class HostActivity:
    """What a test itself did on one host, as far as its engine reported; None: it didn't.

    `user_time` in seconds of the programs on the host's kernel. On the test's `interface` at most
    so many bytes were the test's. It `measures_loss` if losses are among its results.
    """

    user_time: float | None
    interface: str | None
    most_bytes: float | None
    measures_loss: bool = False


def require_agreement(
    engine: str, metrics: Mapping[str, float], parameters: Mapping[str, Any]
) -> None:
    """Raise EngineError `inconsistent` if the figures of a replication contradict one another."""
    values = {**_bounds(parameters), **metrics}
    for left, relation, right, tolerance in _applicable(frozenset(values)):
        first, second = _evaluated(left, values), _evaluated(right, values)
        excess = first - second if relation == "<=" else abs(first - second)
        # What is infinite agrees with nothing.
        agrees = excess <= tolerance * max(abs(first), abs(second)) and math.isfinite(excess)
        if not agrees:
            wrong = "exceeds" if relation == "<=" else "differs from"
            allowed = f" by more than {tolerance:.1%}" if tolerance else ""
            raise EngineError(
                "inconsistent",
                f"engine {engine} contradicts itself: {left}, which is {first:.8g}, {wrong} "
                f"{right}, which is {second:.8g}{allowed}; none of this replication's figures can "
                "be relied on. Are the engines on the hosts those of this railgauge? If so, "
                "please report it as a defect of the engine",
            )


@lru_cache(maxsize=64)
def _applicable(names: frozenset[str]) -> tuple[Agreement, ...]:
    """Return the agreements that are about nothing but `names`."""
    return tuple(
        agreement
        for agreement in AGREEMENTS
        if names.issuperset(
            name
            for text in (agreement.left, agreement.right)
            for product in _products(text)
            for name in product
        )
    )


def _evaluated(text: str, values: Mapping[str, float]) -> float:
    """Return a sum of products of `values`."""
    return sum(math.prod(values[name] for name in names) for names in _products(text))


@cache
def _products(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(product.split(" * ")) for product in text.split(" + "))


def _bounds(parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return what else than metrics stands in agreements, by the names that it has there.

    `least` bytes come at a time: a datagram's. Without `omit` nothing was omitted.
    """
    return {
        **dict.fromkeys(("omitted_sent_bytes", "omitted_received_bytes"), 0),
        "8": 8,
        "threads": int(parameters.get("threads", 1)),
        "least": int(parameters.get("datagram", 1)),
    }


def judge(log: SystemLog, part: HostActivity, limits: Suspect) -> list[Suspicion]:
    """Return why the replication that `log` is of can't be trusted, in order of the limits."""
    drops = limits.receive_drops
    if drops is None:
        # What finds no room on its way to the socket is part of the losses that the test reports.
        drops = not part.measures_loss
    return [
        *_steal(log, limits.steal),
        *_foreign_cpu(log, part, limits.foreign_cpu),
        *_foreign_traffic(log, part, limits.foreign_traffic),
        *(_swapped(log) if limits.swap else ()),
        *(_throttled(log) if limits.throttle else ()),
        *(_receive_drops(log) if drops else ()),
    ]


def _steal(log: SystemLog, limit: float | None) -> Iterator[Suspicion]:
    ticks = cpu_ticks(log)
    total, stolen = sum(ticks.values()), ticks["steal"]
    if limit is not None and stolen > limit * total + _CHANCE * math.sqrt(limit * total + 1):
        yield _about(
            log, "steal", f"the hypervisor took {stolen / total:.1%} of the CPUs' time (steal)"
        )


def _foreign_cpu(log: SystemLog, part: HostActivity, limit: float | None) -> Iterator[Suspicion]:
    if limit is None or part.user_time is None or log.elapsed <= 0:
        return
    ticks = cpu_ticks(log)
    busy = ticks["user"] + ticks["nice"]
    own = part.user_time * log.ticks_per_second
    allowed = limit * log.elapsed * log.ticks_per_second
    if busy - own > allowed + _CHANCE * math.sqrt(own + allowed + 1):
        foreign = (busy - own) / log.ticks_per_second / log.elapsed
        yield _about(log, "foreign-cpu", f"other programs kept {foreign:.2f} CPUs busy")


def _foreign_traffic(
    log: SystemLog, part: HostActivity, limit: float | None
) -> Iterator[Suspicion]:
    if limit is None or part.interface is None or part.most_bytes is None:
        return
    name = f"interface/{part.interface}"
    total = log.counts.get(f"{name}/rx_bytes", 0) + log.counts.get(f"{name}/tx_bytes", 0)
    foreign = total - part.most_bytes - _SPARE_BYTES
    if foreign > limit * total:
        yield _about(
            log,
            "foreign-traffic",
            f"at least {foreign / total:.1%} of the {total:,} bytes on {part.interface} were not "
            "the test's",
        )


def _swapped(log: SystemLog) -> Iterator[Suspicion]:
    pages = log.counts.get("vm/pswpin", 0) + log.counts.get("vm/pswpout", 0)
    if pages:
        yield _about(log, "swapped", f"{plural(pages, 'page was', 'pages were')} swapped")


def _throttled(log: SystemLog) -> Iterator[Suspicion]:
    hot = _sum(log, "throttle/", ("core_count", "package_count"))
    if hot:
        yield _about(
            log, "throttled", f"its CPUs were throttled {plural(hot, 'time')}, being too hot"
        )
    capped = log.counts.get("cgroup/nr_throttled", 0)
    if capped:
        yield _about(
            log, "throttled", f"its cgroup had used up its CPU time {plural(capped, 'time')}"
        )


def _receive_drops(log: SystemLog) -> Iterator[Suspicion]:
    # At least: the kernel counts as one what its offloads hold together.
    full = sum(
        log.counts.get(f"protocol/{protocol}/RcvbufErrors", 0)
        for protocol in ("Udp", "UdpLite", "Udp6", "UdpLite6")
    ) + log.counts.get("protocol/TcpExt/TCPRcvQDrop", 0)
    if full:
        were = plural(full, "packet was", "packets were")
        finding = f"at least {were} dropped, the receive buffer being full"
        yield _about(log, "receive-drops", finding)
    backlog = _sum(log, "softnet/", ("dropped",))
    if backlog:
        were = plural(backlog, "packet was", "packets were")
        finding = f"at least {were} dropped, a CPU's backlog being full"
        yield _about(log, "receive-drops", finding)


def under_rate(
    parameters: Mapping[str, Any],
    metrics: Mapping[str, float],
    hosts: tuple[str, str | None],
    limit: float | None,
) -> Iterator[Suspicion]:
    """Yield a reason for each of `hosts`, client and server, that sent below the `rate` asked.

    By more than `limit`, a share of that rate: payload bits over the sender's own time. Of
    datagrams, what the last call of each thread takes is allowed for, as that may have been due
    just as time was up; a stream's last call is made all the same.
    """
    target = parameters.get("rate", 0)
    if limit is None or not target:
        return
    threads, batch, gso = (max(1, parameters.get(name, 1)) for name in ("threads", "batch", "gso"))
    for way, host in zip(("", "reverse_"), hosts, strict=True):
        packets = metrics.get(f"{way}sent_packets", 0)
        rate = metrics.get(f"{way}local_throughput", 0)
        if host is None or not metrics.get(f"{way}sent_bytes", packets):
            continue
        allowed = 1 + threads * batch * gso / packets if packets else 1
        if rate * allowed < (1 - limit) * target:
            advice = (
                "send larger datagrams, more of them in a call (batch, gso) or more threads"
                if packets
                else "use more threads, or larger socket buffers"
            )
            yield Suspicion(
                "under-rate",
                host,
                f"{host}: sent {format_rate(rate, 6)} of the {format_rate(target)} that were asked "
                f"for: ask for less, or {advice}",
            )


def untimed(
    parameters: Mapping[str, Any],
    metrics: Mapping[str, float],
    hosts: tuple[str, str | None],
    limit: float | None,
) -> Iterator[Suspicion]:
    """Yield a reason for each of `hosts`, client and server, that timed too little of a stream.

    More than `limit`, a share of what it received, came before its time began or after it ended.
    What one read of each thread takes is allowed for, as time begins after it.
    """
    if limit is None:
        return
    stream = parameters.get("read") or _MOST_READ
    read = _MOST_HELD if parameters.get("gro") else parameters.get("datagram", stream)
    allowed = parameters.get("threads", 1) * read
    for way, host in zip(("reverse_", ""), hosts, strict=True):
        received = metrics.get(f"{way}received_bytes", 0)
        missed = metrics.get(f"{way}untimed_bytes", 0)
        if host is not None and missed - allowed > limit * received:
            yield Suspicion(
                "untimed",
                host,
                f"{host}: {missed / received:.1%} of what it received lay there when it got its "
                "CPU late, so that its rate is of the rest alone: measure for longer, or keep "
                "others off its CPUs",
            )


def most_bytes(
    metrics: Mapping[str, float], segment: float, *, packets: bool, write: float = 0
) -> float | None:
    """Return the most bytes that these metrics can have been on the wire, both ways; None: unknown.

    Of datagrams (`packets`) what was sent is known to the packet, in fragments of at least
    `segment` bytes. Streams are bounded by segments, each of them acknowledged: those that the
    client's TCP counted, or else as many as there are if no `write` shares one with another.
    """
    sent = sum(metrics.get(f"{way}sent_bytes", 0) for way in ("", "omitted_", "reverse_"))
    turns = 2 * metrics.get("round_trips", 0)
    if packets:
        count = sum(metrics.get(f"{way}sent_packets", 0) for way in ("", "omitted_", "reverse_"))
        # Each fragment of a datagram has headers of its own.
        if not count:
            return None
        fragments = math.ceil((sent / count + _UDP_HEADER) / max(segment, _LEAST_SEGMENT))
        return sent + _DATAGRAM_HEADERS * count * fragments
    if not sent or turns:
        return None
    again = sum(metrics.get(f"{way}retransmits", 0) for way in ("", "omitted_", "reverse_"))
    segment = segment or _LEAST_SEGMENT
    piece = min(segment, write or segment)
    segments = metrics.get("sent_segments") or _segments(metrics, piece)
    segments += metrics.get("omitted_sent_segments", 0) or _segments(metrics, piece, "omitted_")
    segments += _segments(metrics, piece, "reverse_")
    return sent + again * segment + 2 * _SEGMENT_HEADERS * segments


def _segments(metrics: Mapping[str, float], piece: float, way: str = "") -> float:
    """Return how many segments were sent one way, if each but a message's last has a `piece`."""
    sent, messages, again = (
        metrics.get(f"{way}{name}", 0) for name in ("sent_bytes", "sent_messages", "retransmits")
    )
    return sent / piece + messages + again


def _sum(log: SystemLog, prefix: str, names: tuple[str, ...]) -> int:
    return sum(
        count
        for name, count in log.counts.items()
        if name.startswith(prefix) and name.rpartition("/")[2] in names
    )


def _about(log: SystemLog, code: str, finding: str) -> Suspicion:
    return Suspicion(code, log.host, f"{log.host}: {finding} in these {log.elapsed:.3g} s")
