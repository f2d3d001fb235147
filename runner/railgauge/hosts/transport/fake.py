"""A host that isn't there: its programs are Python generators. For tests and for trying things out.

A script is called with the argument vector and gives a generator. What it yields happens in turn:
a string is a line of output; `LINE` waits for a line of standard input and evaluates to it (None
once that is closed); `NEVER` hangs until the program is killed; `LOSS` makes the host vanish. What
it returns is its end: an exit status, an `Exit`, or None for status 0. A server, for example:

    def server(argv):
        yield '{"event": "listening", ...}'
        while (yield LINE) is not None:
            pass
"""

from __future__ import annotations

import enum
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import PurePosixPath

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport.interface import Exit


class Wait(enum.Enum):
    """What a script may wait for."""

    LINE = "a line of standard input, or its end"
    NEVER = "nothing: it hangs until it is killed"
    LOSS = "the loss of its host"


LINE, NEVER, LOSS = Wait.LINE, Wait.NEVER, Wait.LOSS

Program = Generator[str | Wait, str | None, int | Exit | None]
Script = Callable[[Sequence[str]], Program]

_KILLED = Exit(-9, "")


class FakeProcess:
    """A script going on. It goes on only while somebody reads or waits.

    `argv` is what it was started with, `sent` the lines it was sent, for tests to look at.
    """

    def __init__(self, transport: FakeTransport, argv: Sequence[str], program: Program) -> None:
        self.argv = tuple(argv)
        self.sent: list[str] = []
        self.stdin_closed = False
        self._transport = transport
        self._program = program
        self._changed = threading.Condition()
        self._input: deque[str] = deque()
        self._output: deque[str] = deque()
        self._waits_for: Wait | None = None
        self._killed = False
        self._exit: Exit | None = None

    def read_line(self, timeout: float | None = None) -> str | None:
        """See `Process.read_line`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._output and self._exit is None:
                self._advance(deadline)
            return self._output.popleft() if self._output else None

    def send_line(self, text: str) -> None:
        """See `Process.send_line`."""
        with self._changed:
            if not self.stdin_closed and self._exit is None:
                self.sent.append(text)
                self._input.append(text)
            self._changed.notify_all()

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        with self._changed:
            self.stdin_closed = True
            self._changed.notify_all()

    def kill(self) -> None:
        """See `Process.kill`."""
        with self._changed:
            self._killed = True
            self.stdin_closed = True
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> Exit:
        """See `Process.wait`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while self._exit is None:
                self._advance(deadline)
            return self._exit

    def wake(self) -> None:
        """Let whoever waits look again: the host is lost."""
        with self._changed:
            self._changed.notify_all()

    def _advance(self, deadline: float | None) -> None:
        """Take one step, or wait for what the script waits for."""
        self._transport.check()
        if self._killed:
            self._program.close()
            self._exit = _KILLED
        elif self._blocked():
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0:
                raise TimeoutError
            self._changed.wait(remaining)
        else:
            self._step(self._input.popleft() if self._waits_for and self._input else None)

    def _blocked(self) -> bool:
        if self._waits_for is LINE:
            return not self._input and not self.stdin_closed
        return self._waits_for is NEVER

    def _step(self, answer: str | None) -> None:
        self._waits_for = None
        try:
            step = self._program.send(answer)
        except StopIteration as stop:
            value = stop.value
            self._exit = value if isinstance(value, Exit) else Exit(value or 0, "")
            self._changed.notify_all()  # who reads while another thread waits
            return
        if isinstance(step, str):
            self._output.append(step)
        elif step is LOSS:
            self._transport.lost = True
        else:
            self._waits_for = step


class FakeTransport:
    """A host with nothing but `programs`: name of a program (without folders) -> its script.

    `started` lists every program started, `files` what `put` wrote.
    """

    has_shell = False

    def __init__(self, host: str, programs: Mapping[str, Script]) -> None:
        self.host = host
        self.started: list[FakeProcess] = []
        self.files: dict[str, bytes] = {}
        self.lost = False
        self._programs = dict(programs)

    def start(self, argv: Sequence[str]) -> FakeProcess:
        """See `Transport.start`."""
        self.check()
        script = self._programs.get(PurePosixPath(argv[0]).name)
        if script is None:
            raise EnvironmentFailedError(
                f"{self.host}: can't start {argv[0]!r}: this fake host has only "
                + ", ".join(sorted(self._programs))
            )
        process = FakeProcess(self, argv, script(argv))
        self.started.append(process)
        return process

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        """See `Transport.put`."""
        self.check()
        for name, content in files.items():
            self.files[f"{directory}/{name}"] = content

    def close(self) -> None:
        """See `Transport.close`."""
        for process in self.started:
            process.close_stdin()

    def lose(self) -> None:
        """Make the host vanish now: everything from here on is HostUnreachableError."""
        self.lost = True
        for process in list(self.started):
            process.wake()

    def check(self) -> None:
        """Raise HostUnreachableError if the host is lost."""
        if self.lost:
            raise HostUnreachableError(f"{self.host}: this fake host is lost")
