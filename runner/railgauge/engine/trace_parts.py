"""Puts the pieces of traces together; nothing passes that isn't one whole trace."""

from __future__ import annotations

from railgauge.base import intervals
from railgauge.base.errors import EngineError
from railgauge.base.trace import MAX_BYTES, decode
from railgauge.engine.events import Traced
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import EngineInfo


class TraceParts:
    """What has come so far of the next replication's trace, of a launch of `case`.

    Whatever is no trace, or none that was asked for, is an EngineError `contract`.
    """

    def __init__(self, engine: EngineInfo, case: Case) -> None:
        # Somebody else's program may call anything a trace.
        wanted_records = [
            name
            for name in ("trace", "series")
            if engine.program is None
            and engine.has_effect(name, case.parameters)
            and float(case.parameters.get(name, 0)) > 0
        ]
        self._expected = bool(wanted_records)
        self._decode = intervals.decode if "series" in wanted_records else decode
        self._engine = engine.name
        self._number = 0
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, event: Traced) -> None:
        """Add a piece, which has to be the next one of the same replication."""
        if not self._expected:
            raise self._broken("sent a trace that nobody asked for")
        if not self._parts:
            self._number = event.replication
        if event.replication != self._number or event.part != len(self._parts):
            raise self._broken(
                f"sent part {event.part} of the trace of replication {event.replication} after "
                f"{len(self._parts)} parts of that of {self._number}"
            )
        self._size += len(event.data)
        if self._size > MAX_BYTES:
            raise self._broken(f"sent a trace of more than {MAX_BYTES:,} bytes")
        self._parts.append(event.data)

    def take(self, number: int) -> bytes:
        """Return the trace of replication `number`, which has just ended; none of a warm-up."""
        data, parts = b"".join(self._parts), len(self._parts)
        self._parts.clear()
        self._size = 0
        if parts and self._number != number:
            raise self._broken(f"sent the trace of {self._number} with replication {number}")
        if parts:
            self._decode(data)
        elif self._expected and number:
            raise self._broken(f"sent no trace of replication {number}")
        return data if number else b""

    def _broken(self, problem: str) -> EngineError:
        return EngineError(
            "contract",
            f"engine {self._engine} {problem}: is the engine on the host older or newer than this "
            "railgauge?",
        )
