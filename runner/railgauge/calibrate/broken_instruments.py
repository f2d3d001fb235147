"""Instruments that are broken on purpose: each of them has to be shown to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.analysis import one_rank_more
from railgauge.calibrate.calibration import all_truths
from railgauge.calibrate.pair_truths import PairMeasurement, pair_truths
from railgauge.calibrate.rig import Fault
from railgauge.calibrate.transfers import BLOCK


@dataclass(frozen=True, slots=True)
class BrokenInstrument:
    """An instrument that is broken on purpose, and the check that has to show it."""

    name: str
    check: str
    fault: Fault


def _instruments(
    *rows: tuple[str, str, str, Callable[[float], float]],
) -> tuple[BrokenInstrument, ...]:
    """Return instruments by their names, checks, and what becomes of which metric's values."""
    return tuple(
        BrokenInstrument(name, check, Fault(metric, change)) for name, check, metric, change in rows
    )


# Counts are summed over four replications, so that a quarter of each is one in all.
BROKEN_INSTRUMENTS = _instruments(
    ("udp rate × 0.97", "udp throughput at 50 Mbit/s", "throughput", lambda rate: rate * 0.97),
    ("tcp rate × 0.97", "tcp throughput at 200 Mbit/s", "throughput", lambda rate: rate * 0.97),
    ("one loss not counted", "udp lost datagrams", "lost_packets", lambda lost: lost - 0.25),
    ("one loss run not counted", "udp loss runs", "loss_runs", lambda runs: runs - 0.25),
    (
        "one duplicate not counted",
        "udp duplicate datagrams",
        "duplicate_packets",
        lambda count: count - 0.25,
    ),
    (
        "one reordered datagram too many",
        "udp reordered datagrams",
        "reordered_packets",
        lambda count: count + 0.25,
    ),
    ("round trip + 20 us", "udp round trip over 0 ms", "rtt_mean", lambda seconds: seconds + 20e-6),
    ("round trip × 1.1", "udp round trip over 2 ms", "rtt_mean", lambda seconds: seconds * 1.1),
    ("round trip × 1.03", "udp round trip over 20 ms", "rtt_mean", lambda seconds: seconds * 1.03),
    ("one retransmit too many", "tcp retransmits", "retransmits", lambda count: count + 0.25),
    ("cpu rate × 1.10", "cpu integer rate", "operation_rate", lambda rate: rate * 1.10),
    ("mem rate in GiB for GB", "mem reading rate", "throughput", lambda rate: rate * 1e9 / 2**30),
    ("bytes written × 0.98", "disk bytes written", "bytes", lambda count: count * 0.98),
    ("one block not counted", "disk bytes read", "bytes", lambda count: count - BLOCK),
    ("load + 5 points", "cpu load by /proc/stat", "client_cpu_load", lambda load: load + 0.05),
    (
        "soakers' load + 5 points",
        "cpu load by soakers",
        "client_cpu_load_soak",
        lambda load: load + 0.05,
    ),
    ("arrivals 2 us late", "udp trace arrivals", "received", lambda stamp: stamp + 2_000),
    ("arrival gaps × 1.01", "udp trace arrival gaps", "received", lambda stamp: stamp * 1.01),
    ("sending gaps × 1.01", "udp trace sending gaps", "sent_at", lambda stamp: stamp * 1.01),
    ("pace × 0.99", "udp pace", "rate", lambda rate: rate * 0.99),
    ("mpi rate × 0.97", "mpi throughput at 200 Mbit/s", "throughput", lambda rate: rate * 0.97),
    (
        "mpi round trip × 1.03",
        "mpi round trip over 20 ms",
        "rtt_mean",
        lambda seconds: seconds * 1.03,
    ),
    ("one message too many", "mpi messages", "sent_messages", lambda count: count + 0.25),
    ("Mbit/s printed for Gbit/s", "report means", "means", lambda rate: rate * 1e-3),
    ("median off by one rank", "report medians", "medians", one_rank_more),
    ("interval off by one rank", "report intervals", "intervals", one_rank_more),
    ("slower called faster", "compare verdicts", "verdicts", lambda direction: -direction),
    (
        "an alarm in every tenth night more",
        "gate false alarms",
        "alarms",
        lambda share: share + 0.1,
    ),
    (
        "every other shift overlooked",
        "gate finds a shift of 3 %",
        "alarms",
        lambda share: share / 2,
    ),
)


# Of a pair of hosts, where one datagram more may be another program's.
BROKEN_PAIR_INSTRUMENTS = _instruments(
    ("udp rate × 0.97", "udp throughput", "throughput", lambda rate: rate * 0.97),
    ("tcp rate × 0.97", "tcp throughput", "throughput", lambda rate: rate * 0.97),
    ("datagrams sent × 0.97", "udp datagrams sent", "sent_packets", lambda count: count * 0.97),
    (
        "datagrams received × 0.97",
        "udp datagrams received",
        "received_packets",
        lambda count: count * 0.97,
    ),
    (
        "round trip × 1.1 + 20 us",
        "udp round trip",
        "rtt_mean",
        lambda seconds: seconds * 1.1 + 20e-6,
    ),
)


def broken_check(broken: BrokenInstrument) -> CertificateCheck:
    """Return what becomes of its check with an instrument that is broken so."""
    (truth,) = (truth for truth in all_truths() if truth.check.name == broken.check)
    return replace(truth, fault=broken.fault).hold()


def broken_pair_check(broken: BrokenInstrument, measurement: PairMeasurement) -> CertificateCheck:
    """Return the same of a pair of hosts: what was measured counts as if that instrument had."""
    (truth,) = (truth for truth in pair_truths() if truth.check.name == broken.check)
    return truth.hold(measurement.broken(broken.fault))
