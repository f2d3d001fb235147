"""A program on a host that records what passes an interface, until it is asked to end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from railgauge.base.errors import EnvironmentFailedError
from railgauge.hosts.transport.interface import Transport

_SECONDS = 30.0


@contextlib.contextmanager
def recording_program(
    transport: Transport, argv: Sequence[str], subject: str
) -> Iterator[Callable[[], list[str]]]:
    """Run the program for as long as the block; call what it gives to end it and get its lines.

    It says `ready` first, and its lines, of the interface's `subject`, once it is asked to end.
    EnvironmentFailedError if it can't record them.
    """
    process = transport.start(argv)

    def failed(stderr: str) -> EnvironmentFailedError:
        words = stderr.strip().splitlines() or ["it says nothing"]
        return EnvironmentFailedError(
            f"{transport.host}: can't record an interface's {subject}: {words[-1]}"
        )

    def end() -> list[str]:
        process.send_line("")
        lines = []
        while (line := process.read_line(_SECONDS)) is not None:
            lines.append(line)
        ended = process.wait(_SECONDS)
        if ended.status != 0 or not lines:
            raise failed(ended.stderr)
        return lines

    try:
        if process.read_line(_SECONDS) != "ready":
            raise failed(process.wait(_SECONDS).stderr)
        yield end
    except TimeoutError as error:
        raise EnvironmentFailedError(
            f"{transport.host}: the record of {subject} didn't begin, or end, in time"
        ) from error
    finally:
        process.kill()
