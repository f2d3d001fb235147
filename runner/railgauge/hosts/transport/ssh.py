"""Programs on another machine, by ssh: one connection for all of them, one channel for each.

The account's login shell reads what we start, be it sh, bash, zsh, fish or tcsh: it is given one
line that all of them read alike, and a POSIX sh does the rest. Whatever the login shell itself
prints first is dropped.

The program's output waits in the connection until somebody reads it, 2 MiB of it; then the program
blocks.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shlex
import string
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import paramiko
from paramiko.ssh_exception import SSHException

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport.archive import archive, unpack_command, write_failed, write_timed_out
from railgauge.hosts.transport.interface import Exit, StartedProcesses, shell_status
from railgauge.hosts.transport.line_buffer import LineBuffer, Tail
from railgauge.hosts.transport.sshconnect import SshConnection, translated
from railgauge.hosts.transport.sshpool import SshPool

_READ = 65536
_START_TIMEOUT = 60.0
_PUT_TIMEOUT = 60.0
_KILL_TIMEOUT = 5.0
_LAST_WORDS = 1.0
_LONGEST_INLINE = 100_000
_HARMLESS = (string.ascii_letters + string.digits + " _-./=:,+@").encode()

# $1 is a mark, $2 the program and its arguments, quoted for sh and then encoded; empty: they are
# the first line of standard input, as a command line of sshd's has 128 KiB at most. The shell
# stays, so that a program's death by a signal comes back as a status, which not every login shell
# would see to; all of them share a process group. No quote, backslash or exclamation mark may stand
# here: login shells disagree on them.
_START = (
    'mark=$1 coded=$2; test -n "$coded" || read -r coded; '
    'eval "set -- $(printf %b "$coded")"; '
    'command -v "$1" >/dev/null || { echo "$mark missing"; exit 127; }; '
    "read -r pid name state parent group rest </proc/$$/stat; "
    'echo "$mark ready $group"; "$@"; exit $?'
)
_READY = re.compile(r" ready ([0-9]{1,10})\s*")


def encode(argv: Sequence[str]) -> str:
    """Return `argv` quoted for sh, as printf's %b reads it: one line, harmless to any shell."""
    text = shlex.join(argv).encode()
    return "".join(chr(byte) if byte in _HARMLESS else f"\\0{byte:03o}" for byte in text)


class _Bell(threading.Event):
    """Rings when a channel has news; both of the channel's buffers ring it."""

    def clear(self) -> None:
        """Ignore it: a buffer says that it is empty, but the other one may not be."""

    def silence(self) -> None:
        """Stop ringing, before looking at what rang."""
        super().clear()


class SshProcess:
    """A program in a session of its own. One thread reads it; any may end it or wait for it."""

    def __init__(
        self,
        host: str,
        connection: SshConnection,
        channel: paramiko.Channel,
        kill_group: Callable[[int], bool],
    ) -> None:
        self._host = host
        self._connection = connection
        self._channel = channel
        self._kill_group = kill_group
        self._lines = LineBuffer(host)
        self._stderr = Tail()
        self._draining = threading.Lock()
        self._bell = _Bell()
        self._group = 0
        self._killed = False
        self.stdin_open = True
        channel.in_buffer.set_event(self._bell)
        channel.in_stderr_buffer.set_event(self._bell)

    def launch(self, argv: Sequence[str]) -> None:
        """Start `argv`; drops what the login shell says until our own says that it starts."""
        mark = f"railgauge-{secrets.token_hex(8)}"
        deadline = time.monotonic() + _START_TIMEOUT
        program = argv[0]
        with translated(self._host, "starting a program"):
            encoded = encode(argv)
            inline = encoded if len(encoded) <= _LONGEST_INLINE else ""
            self._channel.exec_command(f"exec sh -c '{_START}' sh {mark} '{inline}'")
            if not inline:
                self.send(f"{encoded}\n".encode())
        while True:
            try:
                line = self.read_line(max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                raise HostUnreachableError(
                    f"{self._host}: the login shell started nothing within {_START_TIMEOUT:g} s; "
                    "see what its start-up files wait for"
                ) from None
            if line is None:
                raise HostUnreachableError(
                    f"{self._host}: the login shell ended without starting {program!r}; see "
                    f"whether this account may run commands ({self._stderr_end()})"
                )
            _, marker, state = line.partition(mark)
            if marker:
                break
        if state.strip() == "missing":
            raise EnvironmentFailedError(
                f"{self._host}: can't start {program!r}: it isn't there or may not be run; "
                "check its spelling, PATH and permissions"
            )
        if (ready := _READY.fullmatch(state)) is None:
            raise EnvironmentFailedError(
                f"{self._host}: can't start {program!r}: the shell there said "
                f"{state.strip()[:100]!r} instead of its process group: is /proc mounted there?"
            )
        self._group = int(ready[1])

    def read_line(self, timeout: float | None = None) -> str | None:
        """See `Process.read_line`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (line := self._lines.take()) is None:
            if self._lines.ended:
                return None
            self._read(deadline)
        return line

    def send_line(self, text: str) -> None:
        """See `Process.send_line`."""
        self.send(text.encode() + b"\n")

    def send(self, data: bytes) -> None:
        """Write `data` to its standard input, unless that is closed."""
        with contextlib.suppress(OSError, EOFError, SSHException):
            self._channel.sendall(data)

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        self.stdin_open = False
        with contextlib.suppress(OSError, EOFError, SSHException):
            self._channel.shutdown_write()

    def kill(self) -> None:
        """See `Process.kill`: its whole process group gets SIGKILL, over a session of its own."""
        if self._channel.status_event.is_set():
            return
        self._killed = True
        if not (self._group and self._kill_group(self._group)):
            self._channel.close()  # What minds its standard input ends by this.
        self.close_stdin()

    def wait(self, timeout: float | None = None) -> Exit:
        """See `Process.wait`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._channel.status_event.wait(_pause(deadline)):
            self._drain_stderr()  # a full window would keep it from ending
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError
        self._await_rest()
        return Exit(self._status(), self._stderr.text())

    def _read(self, deadline: float | None) -> None:
        """Take what has come, waiting for something to come."""
        while True:
            self._bell.silence()
            ended = self._ended()  # asked first: what came before the end is there by then
            if self._channel.recv_ready() or self._channel.recv_stderr_ready() or ended:
                break
            remaining = None if deadline is None else deadline - time.monotonic()
            if (remaining is not None and remaining <= 0) or not self._bell.wait(remaining):
                raise TimeoutError
        self._drain_stderr()
        if self._channel.recv_ready():
            self._lines.feed(self._channel.recv(_READ))
        elif ended:
            if not self._channel.eof_received and not self._killed:
                raise self._lost()
            self._lines.feed(b"")

    def _ended(self) -> bool:
        return bool(self._channel.eof_received or self._channel.closed)

    def _drain_stderr(self) -> None:
        with self._draining:  # or another thread takes what this one then waits for
            while self._channel.recv_stderr_ready():
                self._stderr.feed(self._channel.recv_stderr(_READ))

    def _await_rest(self) -> None:
        """Take the rest of stderr: it may come after the status, but not long after."""
        deadline = time.monotonic() + _LAST_WORDS
        while not self._ended() and time.monotonic() < deadline:
            time.sleep(0.002)
        self._drain_stderr()

    def _status(self) -> int:
        status = self._channel.exit_status
        if status < 0 and self._killed:
            return -9
        if status < 0 and not (self._channel.eof_received and self._connection.still_alive()):
            raise self._lost()
        return shell_status(status)

    def _lost(self) -> HostUnreachableError:
        reason = self._connection.loss_reason
        return HostUnreachableError(
            f"{self._host}: lost while a program was running there: {reason}; see whether the "
            "machine and the network are up, then resume the run"
        )

    def _stderr_end(self) -> str:
        self._drain_stderr()
        return " ".join(self._stderr.text().split())[-200:] or "it said nothing"


def _pause(deadline: float | None) -> float:
    return 0.25 if deadline is None else min(0.25, max(0.0, deadline - time.monotonic()))


class SshTransport:
    """The machine that the ssh destination leads to, under the name `host` that the plan gives it.

    A connection that gives no answer for `keepalive` seconds counts as lost.
    """

    has_shell = True

    def __init__(self, host: str, destination: str, *, keepalive: float = 15.0) -> None:
        self.host = host
        self._pool = SshPool(host, destination, keepalive)
        self._started: StartedProcesses[SshProcess] = StartedProcesses(host)

    def start(self, argv: Sequence[str]) -> SshProcess:
        """See `Transport.start`."""
        self._started.check_open()
        connection, channel = self._pool.session()
        process = SshProcess(self.host, connection, channel, self._kill_group)
        self._started.add(process)
        try:
            self._started.check_open()
            process.launch(argv)
        except BaseException:
            channel.close()
            raise
        return process

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        """See `Transport.put`: one archive, unpacked by the tar over there."""
        process = self.start(unpack_command(directory))
        process.send(archive(files))
        process.close_stdin()
        try:
            ended = process.wait(_PUT_TIMEOUT)
        except TimeoutError:
            process.kill()
            raise write_timed_out(self.host, directory, _PUT_TIMEOUT) from None
        if ended.status != 0:
            raise write_failed(self.host, directory, ended)

    def close(self) -> None:
        """See `Transport.close`."""
        self._started.close()
        if self._pool.alive():
            self._started.end()
        self._pool.close()

    def _kill_group(self, group: int) -> bool:
        """Kill the process group over there; return whether that could be done."""
        try:
            _, channel = self._pool.session(_KILL_TIMEOUT)
            channel.exec_command(f"exec sh -c 'kill -s KILL -- -{group}'")
            channel.status_event.wait(_KILL_TIMEOUT)
            return bool(channel.exit_status == 0)
        except (HostUnreachableError, SSHException, OSError, EOFError):
            if self._started.closed:
                self._pool.close()  # so that the next one need not wait as long in vain
            return False
