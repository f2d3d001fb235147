"""The works of the network benchmark: who does them, and what railgauge should reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from benchmarks import network_round_trips as round_trips
from benchmarks.network_engines import (
    BATCH,
    SEGMENTS,
    Poll,
    probe_round_trip,
    probe_tcp_stream,
    probe_udp_stream,
    rail_generator,
    rail_round_trip,
    rail_tcp_stream,
    rail_udp_stream,
)
from benchmarks.network_job import Contender
from benchmarks.network_tools import (
    NETPIPE_TRIALS,
    iperf3_tcp,
    iperf3_udp,
    iperf_tcp,
    iperf_udp,
    netperf_tcp,
    netperf_udp,
    netpipe_tcp,
    nuttcp_tcp,
    nuttcp_udp,
    qperf_tcp,
    qperf_udp,
    sockperf_udp,
)

GENERATOR_RATE = 3_000_000_000
KIB, MIB = 1024, 1024**2


@dataclass(frozen=True)
class View:
    """The medians a target is judged by; None where there is no number."""

    rail: float
    our_loss: float | None
    best_ratio: float | None  # ours to the best tool's, of which the probe is none
    by_name: dict[str, float]
    losses: dict[str, float | None]


@dataclass(frozen=True)
class Target:
    text: str
    # None: what it is measured by has no number in this run.
    met: Callable[[View], bool | None]


@dataclass(frozen=True)
class Work:
    key: str
    title: str
    unit: Literal["bit/s", "packet/s", "s"]
    contenders: tuple[Contender, ...]
    target: Target | None = None

    @property
    def higher(self) -> bool:
        """Whether more is better."""
        return self.unit != "s"


def _against_best(text: str, factor: float, *, higher: bool) -> Target:
    def met(view: View) -> bool | None:
        if view.best_ratio is None:
            return None
        return view.best_ratio >= factor if higher else view.best_ratio <= factor

    return Target(text, met)


def _against(text: str, name: str, factor: float, *, higher: bool) -> Target:
    def met(view: View) -> bool | None:
        other = view.by_name.get(name)
        if other is None:
            return None
        return view.rail >= factor * other if higher else view.rail <= factor * other

    return Target(text, met)


def _udp_target(text: str, name: str, factor: float, most_lost: float) -> Target:
    def met(view: View) -> bool | None:
        other = view.by_name.get(name)
        if other is None or view.our_loss is None:
            return None
        return view.rail >= factor * other and view.our_loss <= most_lost

    return Target(text, met)


def _tcp_stream(key: str, message: int, title: str) -> Work:
    half = str(message // 2)
    contenders = (
        rail_tcp_stream(message),
        rail_tcp_stream(message, "with rcvlowat", "--rcvlowat", half),
        rail_tcp_stream(message, f"best of {NETPIPE_TRIALS}", trials=NETPIPE_TRIALS),
        iperf3_tcp(message),
        iperf_tcp(message),
        nuttcp_tcp(message),
        qperf_tcp(message),
        netpipe_tcp(message),
        netperf_tcp(message),
        probe_tcp_stream(message),
    )
    target = _against_best("at least 1.05 x the best tool", 1.05, higher=True)
    return Work(key, f"TCP stream, {title} a call", "bit/s", contenders, target)


def _round_trip(
    key: str, protocol: round_trips.Protocol, poll: Poll, target: Target, *tools: Contender
) -> Work:
    how = "busy polling" if poll == "busy" else "blocking"
    rail, probe = rail_round_trip(protocol, poll), probe_round_trip(protocol, poll)
    trials = {tool.trials for tool in tools} - {1}
    best_of = [rail_round_trip(protocol, poll, f"best of {n}", n) for n in sorted(trials)]
    title = f"{protocol.upper()} round trip, 64 B, {how}"
    return Work(key, title, "s", (rail, *best_of, *tools, probe), target)


WORKS = (
    _tcp_stream("tcp-128k", 128 * KIB, "128 KiB"),
    _tcp_stream("tcp-1m", MIB, "1 MiB"),
    Work(
        "udp-single",
        "UDP stream, 1460 B, one datagram a call",
        "packet/s",
        (
            rail_udp_stream("rail-udp"),
            rail_udp_stream("with truncate", "--truncate", "true"),
            rail_udp_stream("with adaptive", "--receive", "adaptive"),
            iperf3_udp(),
            iperf_udp(),
            nuttcp_udp(),
            qperf_udp(),
            sockperf_udp(),
            netperf_udp(),
            probe_udp_stream("probe"),
        ),
        _udp_target("at least 1.2 x iperf3's received rate, none lost", "iperf3", 1.2, 0.0),
    ),
    Work(
        "udp-batch",
        f"UDP stream, 1460 B, {BATCH} datagrams a call (sendmmsg)",
        "packet/s",
        (
            rail_udp_stream("rail-udp", "--batch", str(BATCH)),
            probe_udp_stream("probe", batch=BATCH),
        ),
    ),
    Work(
        "udp-gso",
        f"UDP stream, 1460 B, GSO ({SEGMENTS} segments a call) and GRO",
        "packet/s",
        (
            rail_udp_stream("rail-udp", "--gso", str(SEGMENTS), "--gro", "true"),
            iperf3_udp(gsro=True),
            probe_udp_stream("probe", segments=SEGMENTS),
        ),
        _udp_target(
            "at least 1.5 x iperf3 --gsro, at most 0.1 % lost", "iperf3 --gsro", 1.5, 0.001
        ),
    ),
    _round_trip(
        "udp-trip",
        "udp",
        "block",
        _against_best("at most 1.02 x the best tool", 1.02, higher=False),
        round_trips.sockperf("udp", "block"),
        round_trips.qperf("udp"),
        round_trips.netperf("udp"),
    ),
    _round_trip(
        "udp-trip-poll",
        "udp",
        "busy",
        _against("at most 1.05 x sockperf", "sockperf", 1.05, higher=False),
        round_trips.sockperf("udp", "busy"),
    ),
    _round_trip(
        "tcp-trip",
        "tcp",
        "block",
        _against_best("at most 1.02 x the best tool", 1.02, higher=False),
        round_trips.sockperf("tcp", "block"),
        round_trips.qperf("tcp"),
        round_trips.netpipe(),
        round_trips.netperf("tcp"),
    ),
    _round_trip(
        "tcp-trip-poll",
        "tcp",
        "busy",
        _against_best("at most 1.05 x the best tool", 1.05, higher=False),
        round_trips.sockperf("tcp", "busy"),
    ),
    Work(
        "generator",
        "UDP held at 3 Gbit/s of 1460 B, sent by one CPU",
        "bit/s",
        (
            rail_generator(GENERATOR_RATE),
            iperf3_udp(rate=GENERATOR_RATE),
            iperf_udp(rate=GENERATOR_RATE),
            nuttcp_udp(rate=GENERATOR_RATE),
        ),
        Target(
            "at least 99.5 % of the rate asked for",
            lambda view: view.rail >= 0.995 * GENERATOR_RATE,
        ),
    ),
)
