"""`python -m railgauge`, a benchmark or a script, started without the second of importing."""

from __future__ import annotations

import array
import inspect
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support import ROOT
from tests.support.fork_server import CLONE, LENGTH, Request

COMMAND = (sys.executable, "-m", "railgauge")
# Runs a text: as `python -c` does, of this checkout's folder.
SCRIPT = (sys.executable, "-m", "tests.support.script")
# Variables that Python or a library reads when it starts: who changes one gets a real start.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "OMP_", "OPENBLAS_", "MALLOC_", "COVERAGE")
_START = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]
# What a forked process has as one that was started has it, and what it can't have but as here.
_SERVED = {"self", "args", "cwd", "env", "start_new_session", "startupinfo", "creationflags"}
_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
_ONLY = {
    "executable": (None,),
    "preexec_fn": (None,),
    "close_fds": (True,),
    "pass_fds": ((),),
    "shell": (False,),
    "restore_signals": (True,),
    "gid": (None,),
    "gids": (None,),
    "uid": (None,),
    "umask": (-1,),
    "process_group": (-1, None),
}


def _is_ours(command: Sequence[str]) -> bool:
    """Whether it begins with COMMAND, with that of a benchmark of this checkout, or SCRIPT."""
    *start, module = command[:3]
    is_ours = module in (COMMAND[2], SCRIPT[2]) or module.startswith("benchmarks.")
    return (*start,) == COMMAND[:2] and is_ours


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_READ_AT_START)}


def _inherited() -> list[object]:
    """Return what a child takes over from who starts it, and a forked one from the server."""
    ignored = {
        number for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN
    }
    own = Path("/proc/thread-self")
    status = (own / "status").read_text().splitlines()
    return [
        ignored,
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        os.sched_getaffinity(0),
        os.getpriority(os.PRIO_PROCESS, 0),
        (os.getpgid(0), os.getsid(0)),
        (os.getresuid(), os.getresgid(), os.getgroups()),
        Path("/proc/self/limits").read_text(),
        [line for line in status if line.startswith(("Umask:", "CapEff:", "NoNewPrivs:"))],
        (own / "cgroup").read_text(),
        sorted(entry.readlink() for entry in (own / "ns").iterdir()),
        (own / "root").readlink(),
    ]


class _Server:
    """The fork server of this process: what it began with, and the way to ask it."""

    def __init__(self) -> None:
        self.environment = _read_at_start(os.environ)
        self.inherited = _inherited()
        self._asking = threading.Lock()
        self._connection, server_end = socket.socketpair()
        script = ROOT / "tests" / "support" / "fork_server.py"
        with server_end:
            self._process = subprocess.Popen(
                [sys.executable, script, str(server_end.fileno())],
                pass_fds=[server_end.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
            )

    def fork(self, request: Request, streams: Sequence[int]) -> int:
        """Return the process id of a new railgauge; OSError if it can't be made."""
        content = pickle.dumps(tuple(request))
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))
        with self._asking:
            self._connection.sendmsg([LENGTH.pack(len(content))], [rights])
            self._connection.sendall(content)
            (length,) = LENGTH.unpack(self._receive(LENGTH.size))
            answer = pickle.loads(self._receive(length))
        if isinstance(answer, OSError):
            raise answer
        assert isinstance(answer, int)
        return answer

    def _receive(self, length: int) -> bytes:
        content = self._connection.recv(length, socket.MSG_WAITALL)
        assert len(content) == length, "the fork server ended: its message stands above"
        return content


_servers: dict[int, _Server] = {}


class Popen(subprocess.Popen[Any]):
    """subprocess.Popen, which forks what is ours (`_is_ours`) where that makes no difference."""

    def _execute_child(self, *arguments: Any) -> None:
        """Stand for the one of Popen, which forks and executes."""
        options = _START.bind(self, *arguments).arguments
        if not self._fork(options):
            super()._execute_child(*arguments)  # type: ignore[misc]

    def _fork(self, options: Mapping[str, Any]) -> bool:
        """Ask the server for this process, if it would be the same."""
        folder = Path(options["cwd"] or ".").resolve()
        environment = {
            os.fsdecode(name): os.fsdecode(value)
            for name, value in (os.environ if options["env"] is None else options["env"]).items()
        }
        command = [os.fspath(word) for word in options["args"]]
        other = options.keys() - _SERVED - set(_PIPES)
        supported = all(options[name] in _ONLY.get(name, ()) for name in other)
        supported = supported and _is_ours(command) and folder.is_dir()
        if CLONE is None or not supported:
            return False
        server = _servers.get(os.getpid())
        if server is None:
            server = _servers[os.getpid()] = _Server()
        if _read_at_start(environment) != server.environment or _inherited() != server.inherited:
            return False
        pipes = {name: options[name] for name in _PIPES}
        descriptors = (pipes["p2cread"], pipes["c2pwrite"], pipes["errwrite"])
        streams = [number if stream == -1 else stream for number, stream in enumerate(descriptors)]
        new_session = bool(options["start_new_session"])
        request = Request(command[2], command[3:], str(folder), environment, new_session)
        self.pid = server.fork(request, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes.values())  # type: ignore[attr-defined]
        return True


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    input: str | None = None,  # noqa: A002 - as subprocess.run names it
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Stand for subprocess.run, with a Popen as above."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    completed = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        completed.check_returncode()
    return completed


def railgauge(
    *arguments: str | os.PathLike[str], timeout: float | None = 300, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run `railgauge` with these arguments to its end, and return what it says."""
    command = [*COMMAND, *arguments]
    return run(command, capture_output=True, text=True, timeout=timeout, **options)
