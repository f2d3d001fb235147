"""Instruments that are broken on purpose: each of them has to be shown to be wrong."""

from __future__ import annotations

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


# Counts are summed over four replications, so that a quarter of each is one in all.
BROKEN_INSTRUMENTS = (
    BrokenInstrument(
        "udp rate × 0.97",
        "udp throughput at 50 Mbit/s",
        Fault("throughput", lambda rate: rate * 0.97),
    ),
    BrokenInstrument(
        "tcp rate × 0.97",
        "tcp throughput at 200 Mbit/s",
        Fault("throughput", lambda rate: rate * 0.97),
    ),
    BrokenInstrument(
        "one loss not counted",
        "udp lost datagrams",
        Fault("lost_packets", lambda lost: lost - 0.25),
    ),
    BrokenInstrument(
        "one loss run not counted",
        "udp loss runs",
        Fault("loss_runs", lambda runs: runs - 0.25),
    ),
    BrokenInstrument(
        "one duplicate not counted",
        "udp duplicate datagrams",
        Fault("duplicate_packets", lambda duplicates: duplicates - 0.25),
    ),
    BrokenInstrument(
        "one reordered datagram too many",
        "udp reordered datagrams",
        Fault("reordered_packets", lambda reordered: reordered + 0.25),
    ),
    BrokenInstrument(
        "round trip + 20 us",
        "udp round trip over 0 ms",
        Fault("rtt_mean", lambda seconds: seconds + 20e-6),
    ),
    BrokenInstrument(
        "round trip × 1.1",
        "udp round trip over 2 ms",
        Fault("rtt_mean", lambda seconds: seconds * 1.1),
    ),
    BrokenInstrument(
        "round trip × 1.03",
        "udp round trip over 20 ms",
        Fault("rtt_mean", lambda seconds: seconds * 1.03),
    ),
    BrokenInstrument(
        "one retransmit too many",
        "tcp retransmits",
        Fault("retransmits", lambda count: count + 0.25),
    ),
    BrokenInstrument(
        "cpu rate × 1.10",
        "cpu integer rate",
        Fault("operation_rate", lambda rate: rate * 1.10),
    ),
    BrokenInstrument(
        "mem rate in GiB for GB",
        "mem reading rate",
        Fault("throughput", lambda rate: rate * 1e9 / 2**30),
    ),
    BrokenInstrument(
        "bytes written × 0.98",
        "disk bytes written",
        Fault("bytes", lambda count: count * 0.98),
    ),
    BrokenInstrument(
        "one block not counted",
        "disk bytes read",
        Fault("bytes", lambda count: count - BLOCK),
    ),
    BrokenInstrument(
        "load + 5 points",
        "cpu load by /proc/stat",
        Fault("client_cpu_load", lambda load: load + 0.05),
    ),
    BrokenInstrument(
        "soakers' load + 5 points",
        "cpu load by soakers",
        Fault("client_cpu_load_soak", lambda load: load + 0.05),
    ),
    BrokenInstrument(
        "arrivals 2 us late",
        "udp trace arrivals",
        Fault("received", lambda nanoseconds: nanoseconds + 2_000),
    ),
    BrokenInstrument(
        "arrival gaps × 1.01",
        "udp trace arrival gaps",
        Fault("received", lambda nanoseconds: nanoseconds * 1.01),
    ),
    BrokenInstrument(
        "sending gaps × 1.01",
        "udp trace sending gaps",
        Fault("sent_at", lambda nanoseconds: nanoseconds * 1.01),
    ),
    BrokenInstrument(
        "pace × 0.99",
        "udp pace",
        Fault("rate", lambda rate: rate * 0.99),
    ),
    BrokenInstrument(
        "mpi rate × 0.97",
        "mpi throughput at 200 Mbit/s",
        Fault("throughput", lambda rate: rate * 0.97),
    ),
    BrokenInstrument(
        "mpi round trip × 1.03",
        "mpi round trip over 20 ms",
        Fault("rtt_mean", lambda seconds: seconds * 1.03),
    ),
    BrokenInstrument(
        "one message too many",
        "mpi messages",
        Fault("sent_messages", lambda count: count + 0.25),
    ),
    BrokenInstrument(
        "Mbit/s printed for Gbit/s",
        "report means",
        Fault("means", lambda rate: rate * 1e-3),
    ),
    BrokenInstrument("median off by one rank", "report medians", Fault("medians", one_rank_more)),
    BrokenInstrument(
        "slower called faster",
        "compare verdicts",
        Fault("verdicts", lambda direction: -direction),
    ),
    BrokenInstrument(
        "an alarm in every tenth night more",
        "gate false alarms",
        Fault("alarms", lambda share: share + 0.1),
    ),
    BrokenInstrument(
        "every other shift overlooked",
        "gate finds a shift of 3 %",
        Fault("alarms", lambda share: share / 2),
    ),
)


# Of a pair of hosts, where one datagram more may be another program's.
BROKEN_PAIR_INSTRUMENTS = (
    BrokenInstrument(
        "udp rate × 0.97",
        "udp throughput",
        Fault("throughput", lambda rate: rate * 0.97),
    ),
    BrokenInstrument(
        "tcp rate × 0.97",
        "tcp throughput",
        Fault("throughput", lambda rate: rate * 0.97),
    ),
    BrokenInstrument(
        "datagrams sent × 0.97",
        "udp datagrams sent",
        Fault("sent_packets", lambda count: count * 0.97),
    ),
    BrokenInstrument(
        "datagrams received × 0.97",
        "udp datagrams received",
        Fault("received_packets", lambda count: count * 0.97),
    ),
    BrokenInstrument(
        "round trip × 1.1 + 20 us",
        "udp round trip",
        Fault("rtt_mean", lambda seconds: seconds * 1.1 + 20e-6),
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
