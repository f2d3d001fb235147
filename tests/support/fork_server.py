"""A process that has imported railgauge and forks one that runs it, or a benchmark, on request.

`tests.support.command_line` starts it by exec, as a script with the number of its socket, and asks
it. What it forks is a child of the asking process (CLONE_PARENT of clone(2)), which thus waits for
it, signals it and adds its CPU up as for any other.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import os
import pickle
import pkgutil
import runpy
import signal
import socket
import struct
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from railgauge.hosts.transport.drain import StderrDrain

LENGTH = struct.Struct("=Q")
# System call clone: its number, by machine. Elsewhere nothing is forked.
CLONE = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine)
_CLONE_PARENT = 0x00008000
_STREAMS = 3
# Of other packages: what railgauge imports when it needs it.
_OTHERS = ("alembic.command", "fabric", "jinja2", "rich.progress", "rich.table", "scipy.special")


class Request(NamedTuple):
    """What the child has of its own; its three streams travel beside this."""

    module: str
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    new_session: bool


def receive(connection: socket.socket) -> tuple[Request, list[int]] | None:
    """Return the next request and its streams, or None at the end."""
    space = socket.CMSG_SPACE(_STREAMS * array.array("i").itemsize)
    header, ancillary, _, _ = connection.recvmsg(LENGTH.size, space)
    if not header:
        return None
    streams = array.array("i")
    for _, _, data in ancillary:
        streams.frombytes(data)
    (length,) = LENGTH.unpack(header)
    content = connection.recv(length, socket.MSG_WAITALL)
    if len(content) < length:
        return None
    return Request(*pickle.loads(content)), list(streams)


def fork_sibling() -> int:
    """Fork as os.fork() does, but a child of this process's parent. Only without threads.

    OSError if the kernel refuses.
    """
    assert CLONE is not None
    api = ctypes.pythonapi
    call = ctypes.PyDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    api.PyOS_BeforeFork()
    pid = int(call(ctypes.c_long(CLONE), ctypes.c_ulong(_CLONE_PARENT), *[ctypes.c_void_p()] * 4))
    number = ctypes.get_errno()
    if pid == 0:
        api.PyOS_AfterFork_Child()
    else:
        api.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, os.strerror(number))
    return pid


def become(request: Request, streams: list[int]) -> None:
    """Make this process what `python -m MODULE` is when its first line is run."""
    if request.new_session:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    _stderr_drain().__init__()  # type: ignore[misc] - an epoll of its own
    sys.path[0] = request.folder
    sys.argv = ["-m", *request.arguments]
    sys.orig_argv = [sys.executable, "-m", request.module, *request.arguments]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = _text(number, getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _text(number: int, like: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a standard stream as Python opens it (create_stdio in CPython's pylifecycle.c)."""
    raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
    kind = type(like.buffer)  # with PYTHONUNBUFFERED the file itself
    buffered: Any = raw if kind is io.FileIO else kind(raw)
    raw.name = like.name
    lines = number == 2 or raw.isatty()
    text = io.TextIOWrapper(buffered, like.encoding, like.errors, "\n", lines, like.write_through)
    text.mode = like.mode  # type: ignore[misc]
    return text


def _stderr_drain() -> StderrDrain:
    """Return the only object of railgauge that opens a file when it is imported."""
    from railgauge.hosts.transport import local

    return local._DRAIN


def prepare(connection: socket.socket) -> None:
    """Import what commands need; afterwards there is no thread, and no file that children share.

    Without threads the linear algebra below numpy computes on one CPU.
    """
    threads = {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    os.environ |= dict.fromkeys(threads, "1")
    package = importlib.import_module("railgauge")
    for module in pkgutil.walk_packages(package.__path__, "railgauge."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    for name in _OTHERS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    _read_ahead()
    for name, value in threads.items():
        os.environ.pop(name)
        if value is not None:
            os.environ[name] = value
    running = sum(1 for _ in Path("/proc/self/task").iterdir())
    assert running == 1, f"{running} threads: what is forked would lack all but one"
    _stderr_drain()._epoll.close()
    names = [entry.name for entry in Path("/proc/self/fd").iterdir() if entry.exists()]
    files = set(map(int, names)) - {0, 1, 2, connection.fileno()}
    assert not files, f"the files {files} would be shared by all that is forked"
    # What is imported stays: looking at it again would copy its pages in each child.
    gc.collect()
    gc.freeze()


def _read_ahead() -> None:
    """Read what any command reads once: the shipped engines' descriptions, and the templates."""
    from railgauge.plan.catalogue import load_catalogue
    from railgauge.report.document import render
    from railgauge.report.figures import scripts

    load_catalogue()
    for environment in (render._plain(), render._latex(), render._html(), scripts._gnuplot()):
        for name in environment.list_templates():
            environment.get_template(name)


def serve(connection: socket.socket) -> str:
    """Fork for each request; return its module in the child and "" when nobody asks any more."""
    while (received := receive(connection)) is not None:
        request, streams = received
        answer: Any = None
        try:
            answer = fork_sibling()
        except OSError as error:
            answer = error
        if answer == 0:
            connection.close()
            become(request, streams)
            return request.module
        for stream in streams:
            os.close(stream)
        content = pickle.dumps(answer)
        connection.sendall(LENGTH.pack(len(content)) + content)
    return ""


def run(module: str) -> None:
    """Run the command line to its end, without taking apart what the server has imported."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        status = end.code
    else:
        return
    os._exit(_finish(status))


def _finish(status: int) -> int:
    """Do what Py_FinalizeEx does before it frees what was imported; return the exit status.

    What an exception's frames held, such as a connection to a database, is free by now.
    """
    gc.collect()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if not stream.closed:
                stream.flush()
        except OSError:
            status = 120
    return status


if __name__ == "__main__":
    # Ctrl-C is for those it forked, and for a new one as soon as that can answer.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    asking = socket.socket(fileno=int(sys.argv[1]))
    prepare(asking)
    if module := serve(asking):
        run(module)
