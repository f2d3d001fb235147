"""The queueing disciplines that make a cable as slow and as long as asked: tc's arguments."""

from __future__ import annotations

import subprocess

from railgauge.testbed.layout import Cable
from railgauge.testbed.tools import environment

# On the wire a frame takes its own bytes, at least 60, and 24 more: preamble, checksum and gap.
# rail-wire counts so, too.
_OVERHEAD = 24
_LEAST_ON_WIRE = 84
_SINGLE_FRAMES = 2.5e9  # bit/s: faster, and the kernel's batches of frames have to stay together
_TICK = 0.001  # seconds of the rate that may pass at once: the kernel may wake up that late
_ETHERNET = 14  # bytes before a packet
_QUEUE_TIME = 0.010  # seconds that a full queue holds
_LEAST_QUEUE = 128 * 1024


def queue_of(cable: Cable) -> int:
    """Return the bytes that wait at most for the cable's rate: as asked, or 10 ms of it."""
    assert cable.rate is not None
    usual = max(_LEAST_QUEUE, int(cable.rate * (_QUEUE_TIME + cable.delay) / 8))
    return cable.queue or usual


def single_frames(cable: Cable) -> bool:
    """Tell whether the cable takes no batches of frames, so that each counts with its overhead."""
    return cable.rate is not None and cable.rate <= _SINGLE_FRAMES


def discipline(cable: Cable) -> tuple[str, ...]:
    """Return the root discipline of both of the cable's interfaces, () for none."""
    if cable.by == "netem":
        return _netem(cable)
    if cable.by == "veth" and cable.rate is not None:
        frame = cable.mtu + _ETHERNET + _OVERHEAD
        burst = max(2 * frame, int(cable.rate * _TICK / 8))
        limit = max(queue_of(cable), 2 * frame)
        wire = ("overhead", str(_OVERHEAD), "mpu", str(_LEAST_ON_WIRE))
        return (
            *("tbf", "rate", f"{cable.rate:.0f}bit", *wire),
            *("burst", str(burst), "limit", str(limit)),
        )
    return ()


def _netem(cable: Cable) -> tuple[str, ...]:
    """Netem holds both what waits and what is under way, and counts them in packets."""
    words = ["netem", "delay", f"{cable.delay * 1e6:.3f}us"]
    packets = 100_000
    if cable.rate is not None:
        under_way = queue_of(cable) + int(cable.rate * cable.delay / 8)
        packets = max(16, under_way // cable.mtu)
        words += ["rate", f"{cable.rate:.0f}bit", str(_OVERHEAD)]
    return (*words, "limit", str(packets))


def kernel_has_netem(*, privileged: bool) -> bool:
    """Tell by trying, in a namespace that goes with the command."""
    user = () if privileged else ("-U", "-r")
    argv = ["unshare", *user, "-n", "tc", "qdisc", "add", "dev", "lo", "root", "netem"]
    try:
        done = subprocess.run(
            [*argv, "delay", "1ms"], capture_output=True, check=False, env=environment()
        )
    except OSError:
        return False
    return done.returncode == 0
