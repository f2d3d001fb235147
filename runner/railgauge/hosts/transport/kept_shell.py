"""A shell on a host that runs one program after another: only it is paid for with a start.

rail-exec, rail-tcp and rail-udp do so by themselves (`launches`): they are loaded once.
"""

from __future__ import annotations

import secrets
import shlex
import time
from collections import deque
from collections.abc import Sequence

from railgauge.base.errors import EngineError, HostUnreachableError
from railgauge.hosts.transport.interface import Exit, Process, Transport, shell_status

# Each line of input is a program with its arguments, quoted; the program has the same input. $1 is
# the mark that says that it ended well, and where its standard error begins; a shell whose program
# did not end well ends as it did. $n stands for a newline in an argument.
_LOOP = (
    'n="\n" mark=$1; while read -r line; do echo "$mark" >&2; eval "set -- $line"; '
    '"$@" || exit $?; echo "$mark"; done'
)

SHELL = ("sh", "-c", _LOOP, "sh")

# What a program writes that doesn't come to its end.
_MOST_LINES = 100_000


def engine_shell(path: str) -> tuple[str, ...]:
    """Return the engine at `path` as a shell, which does its own launches alone."""
    # Started by a shell, whose statuses say why where that can't be done.
    return ("sh", "-c", 'exec "$0" launches "$1"', path)


class KeptShell:
    """The program that runs in a shell of its own on a host; another one once that ended well.

    See `Process`, but what closes its standard input ends the shell too. Unless that was done, only
    the thread that reads it may wait for it.
    """

    def __init__(self, transport: Transport, argv: Sequence[str] = SHELL) -> None:
        """Start the shell by `argv`, which its mark is added to.

        Raises what `Transport.start` does.
        """
        self._host = transport.host
        self._mark = f"railgauge-{secrets.token_hex(8)}"
        self._process: Process = transport.start([*argv, self._mark])
        self._lines: deque[str] = deque()  # that came while its end was waited for
        self._ended = True
        self._closed = False

    def run(self, argv: Sequence[str]) -> None:
        """Start a program; one that can't be started ends with status 127 or 126."""
        self._lines.clear()
        self._ended = False
        self._process.send_line(shlex.join(argv).replace("\n", "'\"$n\"'"))

    @property
    def ready(self) -> bool:
        """Whether another program can be started."""
        if not self._ended or self._closed:
            return False
        try:
            self._process.wait(0)
        except TimeoutError:
            return True
        except HostUnreachableError:
            pass
        return False

    def read_line(self, timeout: float | None = None) -> str | None:
        """See `Process.read_line`."""
        return self._lines.popleft() if self._lines else self._next(timeout)

    def send_line(self, text: str) -> None:
        """See `Process.send_line`."""
        self._process.send_line(text)

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        self._closed = True
        self._process.close_stdin()

    def kill(self) -> None:
        """See `Process.kill`."""
        self._closed = True
        self._process.kill()

    def wait(self, timeout: float | None = None) -> Exit:
        """See `Process.wait`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._closed and (line := self._next(_left(deadline))) is not None:
            self._lines.append(line)
            if len(self._lines) > _MOST_LINES:
                raise EngineError(
                    "contract", f"{self._host}: a program wrote more than {_MOST_LINES:,} lines"
                )
        if self._ended and not self._closed:
            return Exit(0, "")
        ended = self._process.wait(_left(deadline))
        return Exit(shell_status(ended.status), ended.stderr.rpartition(f"{self._mark}\n")[2])

    def _next(self, timeout: float | None) -> str | None:
        """Return the next line that the program writes, None at its end."""
        if self._ended:
            return None
        line = self._process.read_line(timeout)
        if line != self._mark:
            return line
        self._ended = True
        return None


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())
