"""The queueing disciplines that make a cable as slow and as long as asked: tc's arguments."""

from __future__ import annotations

import subprocess

from railgauge.lab.testbed.layout import Cable
from railgauge.lab.testbed.system_commands import environment

# On the wire a frame takes its own bytes, at least 60, and 24 more: preamble, checksum and gap.
# rail-wire counts so, too.
_OVERHEAD = 24
_LEAST_ON_WIRE = 84
_SINGLE_FRAMES = 2.5e9  # bit/s: faster, and the kernel's batches of frames have to stay together
_TICK = 0.001  # seconds of the rate that may pass at once: the kernel may wake up that late
_ETHERNET = 14  # bytes before a packet
_FRAMES = 1000  # that wait at an interface by default, as Linux has it
# A cable without a rate holds the shortest frames that come at so many bit/s, no fewer than a late
# timer may let pile up, and no more than take a gigabyte of the kernel's memory.
_UNLIMITED_RATE = 10e9
_FEWEST_PACKETS, _MOST_PACKETS = 100_000, 1_000_000


def queue_of(cable: Cable) -> int:
    """Return the bytes that wait at most at each end for the cable's rate."""
    return max(cable.queue or _FRAMES * _frame(cable), 2 * _frame(cable))


def burst_of(cable: Cable) -> int:
    """Return the bytes that may pass at once."""
    assert cable.rate is not None
    return max(2 * _frame(cable), int(cable.rate * _TICK / 8))


def _frame(cable: Cable) -> int:
    return cable.mtu + _ETHERNET + _OVERHEAD


def single_frames(cable: Cable) -> bool:
    """Return whether the cable takes only single frames, so that each counts with its overhead."""
    return cable.rate is not None and cable.rate <= _SINGLE_FRAMES


def discipline(cable: Cable) -> tuple[str, ...]:
    """Return the root discipline of both of the cable's interfaces, () for none.

    Also before a relay: frames that wait here hold up whoever sends them, as at a network card.
    """
    if cable.by == "netem":
        return _netem(cable)
    if cable.rate is None:
        return ()
    wire = ("overhead", str(_OVERHEAD), "mpu", str(_LEAST_ON_WIRE))
    return (
        *("tbf", "rate", f"{cable.rate:.0f}bit", *wire),
        *("burst", str(burst_of(cable)), "limit", str(queue_of(cable))),
    )


def _netem(cable: Cable) -> tuple[str, ...]:
    """Netem holds both what waits and what is under way, and counts them in packets."""
    words = ["netem", "delay", f"{cable.delay * 1e6:.3f}us"]
    under_way = int(_UNLIMITED_RATE * cable.delay / 8)
    packets = min(max(_FEWEST_PACKETS, under_way // _LEAST_ON_WIRE), _MOST_PACKETS)
    if cable.rate is not None:
        under_way = queue_of(cable) + int(cable.rate * cable.delay / 8)
        packets = max(16, under_way // cable.mtu)
        words += ["rate", f"{cable.rate:.0f}bit", str(_OVERHEAD)]
    return (*words, "limit", str(packets))


def kernel_has_netem(*, privileged: bool) -> bool:
    """Return whether it does, by trying in a namespace that ends with the command."""
    user = () if privileged else ("-U", "-r")
    argv = ["unshare", *user, "-n", "tc", "qdisc", "add", "dev", "lo", "root", "netem"]
    try:
        completed = subprocess.run(
            [*argv, "delay", "1ms"], capture_output=True, check=False, env=environment()
        )
    except OSError:
        return False
    return completed.returncode == 0
