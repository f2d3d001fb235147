"""Programs of the network benchmark: started, bounded in time, ended by process id, their CPU told.

CPU seconds come from wait4, so they are those of exactly this program, of its threads and of the
children it waited for, from its start to its end.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 5.0
_LISTENING = {"tcp": "0A", "udp": "07"}  # states in /proc/net/tcp and /proc/net/udp


class RunError(Exception):
    """A program that didn't do its work; the text says which and why."""


@dataclass(frozen=True)
class Ended:
    """What a program printed, and the CPU seconds (user and system) it took."""

    code: int
    output: str
    errors: str
    cpu: float


class Program:
    """A running program, in a process group of its own; leaving the context ends it."""

    def __init__(self, command: list[str], cpu: int | None = None) -> None:
        self.command = command if cpu is None else ["taskset", "--cpu-list", str(cpu), *command]
        self._ended: Ended | None = None
        # Files, as a pipe that nobody empties would stop the program.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._errors,
            start_new_session=True,
        )

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._output.close()
        self._errors.close()

    def wait(self, seconds: float) -> Ended:
        """Return how it ended, or raise RunError if it is still running after `seconds`."""
        if not self._wait(seconds):
            self.stop()
            raise RunError(f"{self._name} did not end within {seconds:.0f} s and was stopped")
        assert self._ended is not None
        return self._ended

    def stop(self) -> Ended:
        """Interrupt it, which is how servers are ended by hand, and kill it if that isn't heard."""
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if self._ended is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, how)
                self._wait(1.0)
        if self._ended is None:
            raise RunError(f"{self._name} (process {self._process.pid}) cannot be stopped")
        return self._ended

    def ready(self, protocol: str, port: int) -> None:
        """Return once `port` is bound. Connecting would use up a server that serves one client."""
        deadline = time.monotonic() + START_SECONDS
        while not _is_bound(protocol, port):
            if self._wait(0.01):
                assert self._ended is not None
                raise RunError(f"{self._name} ended at once: {complaint(self._ended)}")
            if time.monotonic() > deadline:
                raise RunError(f"{self._name} did not listen on port {port}")

    @property
    def _name(self) -> str:
        return " ".join(self.command)

    def _wait(self, seconds: float) -> bool:
        if self._ended is not None:
            return True
        # No polling: this process must not take CPU time from what it measures.
        handle = os.pidfd_open(self._process.pid)
        try:
            if not select.select([handle], [], [], seconds)[0]:
                return False
        finally:
            os.close(handle)
        _, status, usage = os.wait4(self._process.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self._process.returncode = code  # so that Popen doesn't look for it any more
        self._ended = Ended(
            code, _text(self._output), _text(self._errors), usage.ru_utime + usage.ru_stime
        )
        return True


def complaint(ended: Ended) -> str:
    """The last lines a program left, in one."""
    lines = [line.strip() for line in (ended.errors + "\n" + ended.output).splitlines()]
    tail = " | ".join([line for line in lines if line][-3:])[:400]
    return f"exit code {ended.code}: {tail or 'it said nothing'}"


def free_ports(count: int) -> list[int]:
    """Ports that were free for TCP and UDP a moment ago."""
    ports: list[int] = []
    with contextlib.ExitStack() as stack:
        while len(ports) < count:
            stream = stack.enter_context(socket.socket())
            stream.bind(("127.0.0.1", 0))
            port = stream.getsockname()[1]
            datagrams = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                datagrams.bind(("127.0.0.1", port))
                ports.append(port)
    return ports


def _text(file: object) -> str:
    file.seek(0)  # type: ignore[attr-defined]
    return file.read().decode(errors="replace")  # type: ignore[attr-defined,no-any-return]


def _is_bound(protocol: str, port: int) -> bool:
    for name in (protocol, protocol + "6"):
        table = Path(f"/proc/self/net/{name}")
        rows = table.read_text().splitlines()[1:] if table.exists() else []
        for row in rows:
            fields = row.split()
            if int(fields[1].rsplit(":", 1)[1], 16) == port and fields[3] == _LISTENING[protocol]:
                return True
    return False
