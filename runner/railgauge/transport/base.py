"""The one interface between railgauge and a host: start programs, stream their lines, put files.

Programs are argument vectors, never shell strings. Whoever starts a program holds its standard
input: closing it (or dying) is how everything we start on a host ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Exit:
    """How a program ended: its exit status (negative: by that signal) and the end of its stderr."""

    status: int
    stderr: str


class Process(Protocol):
    """A program running on a host."""

    def read_line(self, timeout: float | None = None) -> str | None:
        """Return the next line of its standard output without the newline, None at the end.

        Raises TimeoutError when `timeout` seconds pass without a whole line, HostUnreachableError
        when the host is lost. Lines longer than 4 MiB are an EngineError `contract`.
        """

    def send_line(self, text: str) -> None:
        """Write `text` and a newline to its standard input."""

    def close_stdin(self) -> None:
        """Close its standard input, which tells an engine to end; harmless when done twice."""

    def kill(self) -> None:
        """End it at once, with what it started; harmless when it has ended."""

    def wait(self, timeout: float | None = None) -> Exit:
        """Return how it ended; TimeoutError after `timeout` seconds."""


class Transport(Protocol):
    """A way to reach one host. Its methods may be called from several threads."""

    host: str

    def start(self, argv: Sequence[str]) -> Process:
        """Start a program; HostUnreachableError, or EnvironmentFailedError if it can't be started."""

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        """Write `files` (path below `directory` -> content), making folders as needed.

        A `~/` at the start of `directory` is the login's home folder.
        """

    def close(self) -> None:
        """Let go of the host; programs still running there lose their standard input."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A program that ran to its end: status, its whole standard output, the end of its stderr."""

    status: int
    stdout: str
    stderr: str


def run(transport: Transport, argv: Sequence[str], *, timeout: float) -> Completed:
    """Run `argv` on the transport's host to its end, with an empty standard input.

    Raises TimeoutError after `timeout` seconds (the program is killed) and what `start` raises.
    """
    raise NotImplementedError
