"""How far a host's clock is from ours.

One program over there says its time whenever it gets a line. Of some exchanges the quickest says
most: the clock was read somewhere between our question and the answer, so half of that exchange's
time is how wrong the offset may be (Cristian, Probabilistic clock synchronization, 1989).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from railgauge.base.errors import EngineError
from railgauge.hosts.transport.interface import Transport, end

EXCHANGES = 12
# What NTP keeps by far, and what spoils nothing that is measured: logs can still be compared.
LARGEST = 0.1
_SECONDS = 10.0
_SCRIPT = 'while read -r line; do date "+%s.%N"; done'


@dataclass(frozen=True, slots=True)
class Offset:
    """The host's clock less ours, and how wrong that may be, in seconds."""

    seconds: float
    error: float


def clock_offset(transport: Transport) -> Offset | None:
    """Return the offset of the host's clock; None where it has no date of whole nanoseconds.

    Raises what `start` and `read_line` raise.
    """
    process = transport.start(["sh", "-c", _SCRIPT])
    exchanges = []
    try:
        for _ in range(EXCHANGES):
            sent, began = time.time(), time.monotonic()
            process.send_line("")
            line = process.read_line(_SECONDS)
            exchanges.append((sent, line, sent + time.monotonic() - began))
    except (TimeoutError, EngineError):
        return None
    finally:
        end((process,))
    return best(exchanges)


def best(exchanges: list[tuple[float, str | None, float]]) -> Offset | None:
    """Return the offset by the quickest of (sent, what it said, answered); None without any."""
    offsets = [
        Offset(host_time - (sent + answered) / 2, (answered - sent) / 2)
        for sent, line, answered in exchanges
        if (host_time := _time(line)) is not None
    ]
    return min(offsets, key=lambda offset: offset.error, default=None)


def judge(offset: Offset) -> list[str]:
    """Return a sentence about a clock that is surely wrong."""
    if abs(offset.seconds) - offset.error <= LARGEST:
        return []
    way = "ahead of" if offset.seconds > 0 else "behind"
    return [
        f"its clock is {abs(offset.seconds):.3f} s {way} this machine's (± {offset.error:.3f} s): "
        "let NTP keep both (see chronyc tracking)"
    ]


def _time(line: str | None) -> float | None:
    whole, _, fraction = (line or "").strip().partition(".")
    # Where date knows no %N it says so by an N, or by nothing.
    return float(f"{whole}.{fraction}") if whole.isdigit() and fraction.isdigit() else None
