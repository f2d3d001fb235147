"""A calibration: truth by truth, and the certificate of what came out."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from railgauge import __version__
from railgauge.base.certificate import Certificate, CertificateCheck
from railgauge.base.errors import InputError
from railgauge.calibrate.machine import machine_truths
from railgauge.calibrate.mpi import mpi_truths
from railgauge.calibrate.network import network_truths
from railgauge.calibrate.rig import Fault
from railgauge.calibrate.stamps import stamp_truths
from railgauge.calibrate.transfers import BLOCK, transfer_truths
from railgauge.calibrate.truth import Truth
from railgauge.engine.deploy import bundle

_KERNEL = Path("/proc/sys/kernel")
_CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


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
)

_TRUTHS = (network_truths, stamp_truths, mpi_truths, machine_truths, transfer_truths)


def chosen_truths(names: Iterable[str] = ()) -> list[Truth]:
    """Return the truths whose checks have one of these words in their names; all without any.

    InputError for a word that none has.
    """
    truths = _truths()
    words = list(names)
    for word in words:
        if not any(word in truth.check.name for truth in truths):
            checks = ", ".join(truth.check.name for truth in truths)
            raise InputError(f"no check has {word!r} in its name; there are: {checks}")
    return [t for t in truths if not words or any(word in t.check.name for word in words)]


def calibrate(truths: Iterable[Truth], tell: Callable[[CertificateCheck], None]) -> Certificate:
    """Hold the instrument against each of the truths, and tell of each as it comes."""
    checks = []
    for truth in truths:
        checks.append(truth.hold())
        tell(checks[-1])
    return Certificate(
        uid=secrets.token_hex(16),
        made_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        version=__version__,
        engines_hash=bundle().digest,
        host=os.uname().nodename,
        kernel=os.uname().release,
        boot_id=_text(_KERNEL / "random/boot_id"),
        clock_source=_text(_CLOCK_SOURCE),
        load=os.getloadavg()[0],
        checks=tuple(checks),
    )


def broken_check(broken: BrokenInstrument) -> CertificateCheck:
    """Return what becomes of its check with an instrument that is broken so."""
    (truth,) = (truth for truth in _truths() if truth.check.name == broken.check)
    return replace(truth, fault=broken.fault).hold()


def _truths() -> list[Truth]:
    return [truth for truths in _TRUTHS for truth in truths()]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
