"""What every transport needs of a stream: whole lines of stdout, the end of stderr."""

from __future__ import annotations

from railgauge.base.errors import EngineError

# A command's output of 1 MiB, each byte of it written as one that is no text.
MAX_LINE = 8 * 1024 * 1024
TAIL = 64 * 1024


class LineBuffer:
    """Cuts a stream of bytes into lines; one thread uses it."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._pending = bytearray()
        self._searched = 0
        self.ended = False

    def feed(self, chunk: bytes) -> None:
        """Add what was read; an empty chunk is the stream's end."""
        self._pending += chunk
        self.ended = self.ended or not chunk

    def take(self) -> str | None:
        """Return the next line without its newline, None if there's no whole one yet.

        After the end the rest counts as a line. Invalid UTF-8 becomes U+FFFD. Raises EngineError
        `contract` if a line is longer than 8 MiB.
        """
        end = self._pending.find(b"\n", self._searched)
        if end < 0 and len(self._pending) <= MAX_LINE:
            self._searched = len(self._pending)
            if not self.ended or not self._pending:
                return None
            end = len(self._pending)
        if end < 0 or end > MAX_LINE:
            raise EngineError(
                "contract",
                f"{self._host}: a program wrote a line of more than {MAX_LINE >> 20} MiB; "
                "check that its output is what the plan's engine should write",
            )
        line = self._pending[:end].decode(errors="replace")
        del self._pending[: end + 1]
        self._searched = 0
        return line


class Tail:
    """The last 64 KiB of a stream."""

    def __init__(self) -> None:
        self._end = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Add what was read."""
        self._end += chunk
        if len(self._end) > 2 * TAIL:
            del self._end[:-TAIL]

    def text(self) -> str:
        """Return the end of what was written; invalid UTF-8 becomes U+FFFD."""
        return self._end[-TAIL:].decode(errors="replace")
