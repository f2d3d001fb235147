"""Follows what the programs of a launch print, and notices when one of them falls silent."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from railgauge.base.errors import EngineError, HostUnreachableError
from railgauge.engine.events import Done, Event, Failed, Listening, parse
from railgauge.hosts.transport.interface import Exit, Process
from railgauge.hosts.transport.kept_shell import KeptShell

# How often we look after the server, and a Ctrl-C that woke nobody is heeded, while the client is
# silent, which it is as long as it measures.
_GLANCE = 1.0
# A server ends after its client has said everything, or because they have come to no end together;
# then what the client says may still be under way, and no more than that.
_LAST_WORDS = 10.0
# A program that is done ends at once; on a host that is busy, soon.
_END = 5.0
# A shell's statuses of what it can't start (POSIX), and the dynamic linker's.
_NOT_STARTED = (126, 127)
# Failures of an MPI job of which its standard error says more.
_SAID_BY_OTHERS = ("peer-lost", "mpi-failed")
# Of a server, in which its failure stands.
_MOST_LINES = 1000
# Characters of a program's standard error that are shown of its beginning, and of its end.
_PART = 500


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A program of a launch, and the name of the host that it runs on."""

    host: str
    process: Process


def listening_port(server: RunningProgram, engine: str, patience: float) -> int:
    """Return the port of its control channel; EngineError when the server doesn't come to that.

    Raises HostUnreachableError (with `host`) where it can't be started, as `events` does.
    """
    with naming_lost_host(server.host):
        try:
            event = _read(server, patience)
        except TimeoutError as error:
            raise _silent(server, patience) from error
    if isinstance(event, Failed):
        where = f"the {engine} server on {server.host}"
        raise EngineError(event.code, f"{where}: {event.message}")
    if not isinstance(event, Listening):
        raise _lost(server)
    return event.port


def events(
    client: RunningProgram, server: RunningProgram | None, patience: float
) -> Iterator[Event]:
    """Yield the client's events to `Done` or `Failed`; EngineError when they stop before.

    They stop too when nothing comes for `patience` seconds, or not soon after the server has ended.
    Raises HostUnreachableError (with `host`) as soon as either host is known to be lost, or where
    the client can't be started: nothing can be measured there until somebody has seen to it.
    """
    while True:
        event = _next(client, server, patience)
        if event is None:
            raise _lost(client)
        if isinstance(event, Failed):
            event = (
                _with_other_ranks(event, client)
                if server is None
                else _with_server_failure(event, server)
            )
        yield event
        if isinstance(event, Done):
            _await_end(client)
            if server is not None and isinstance(server.process, KeptShell):
                _await_end(server)
        if isinstance(event, Done | Failed):
            return


def _next(client: RunningProgram, server: RunningProgram | None, patience: float) -> Event | None:
    """Return the client's next event, None at its end, with an eye on the server meanwhile."""
    deadline = time.monotonic() + patience
    ended: Exit | None = None
    while True:
        left = deadline - time.monotonic()
        try:
            with naming_lost_host(client.host):
                return _read(client, max(0.0, min(left, _GLANCE)))
        except TimeoutError as error:
            if time.monotonic() >= deadline:
                if ended is not None and server is not None:
                    raise _server_ended(client, server, ended) from error
                raise _silent(client, patience) from error
        if server is not None and ended is None:
            ended = _ended(server)
            if ended is not None:
                deadline = min(deadline, time.monotonic() + _LAST_WORDS)


def _read(program: RunningProgram, timeout: float) -> Event | None:
    line = program.process.read_line(timeout=timeout)
    return None if line is None else parse(line)


def _ended(program: RunningProgram) -> Exit | None:
    """Return how it ended, None if it still runs."""
    with naming_lost_host(program.host), contextlib.suppress(TimeoutError):
        return program.process.wait(0)
    return None


def _await_end(program: RunningProgram) -> None:
    """Give a program that is done the time to end by itself.

    That keeps its shell; and mpirun, whose input ended first, would not end before it is killed.
    """
    with contextlib.suppress(TimeoutError, EngineError, HostUnreachableError):
        program.process.wait(_END)


def _with_server_failure(event: Failed, server: RunningProgram) -> Failed:
    """Add what the server said about it, if it says anything soon.

    A client can't distinguish a lost host from an engine that ended; we can.
    """
    words = _server_failure(server)
    if not words:
        return event
    message = f"{event.message} (server on {server.host}: {words})"
    return Failed(event.code, message, event.replication)


def _with_other_ranks(event: Failed, launcher: RunningProgram) -> Failed:
    """Add what an MPI job's other ranks, MPI and its launcher wrote: the first doesn't know it."""
    with contextlib.suppress(TimeoutError, HostUnreachableError):
        if event.code in _SAID_BY_OTHERS and (words := _own_words(launcher.process.wait(_END))):
            return Failed(event.code, f"{event.message}{words}", event.replication)
    return event


def _server_failure(server: RunningProgram) -> str:
    """Return the failure that the server reports, "" if it reports none soon."""
    with naming_lost_host(server.host), contextlib.suppress(TimeoutError, EngineError):
        for _ in range(_MOST_LINES):
            if (line := server.process.read_line(timeout=0.5)) is None:
                break
            event = parse(line)
            if isinstance(event, Failed):
                return event.message
    return ""


def _silent(program: RunningProgram, patience: float) -> EngineError:
    return EngineError(
        "no-answer",
        f"the engine on {program.host} said nothing for {patience:g} s and was ended: is the host "
        "overloaded, or a firewall between the two? If it needs longer, give its test a longer "
        "'limit'",
    )


def _server_ended(client: RunningProgram, server: RunningProgram, ended: Exit) -> EngineError:
    words = _server_failure(server) or f"it ended with status {ended.status}"
    return EngineError(
        "no-answer",
        f"the engine on {client.host} said nothing more after its server on {server.host} had "
        f"ended ({words}), and was ended too: was it stopped, or is the host overloaded?",
    )


def _lost(program: RunningProgram) -> EngineError | HostUnreachableError:
    with contextlib.suppress(TimeoutError, HostUnreachableError):
        end = program.process.wait(timeout=5.0)
        # An MPI job's launcher may say the same of one of its many hosts.
        if isinstance(program.process, KeptShell) and end.status in _NOT_STARTED:
            error = HostUnreachableError(
                f"{program.host}: can't start the engine{_own_words(end)}; `railgauge resume` "
                "builds again what is missing there; where its cache is mounted with noexec, "
                "XDG_CACHE_HOME moves it"
            )
            error.host = program.host
            return error
        return EngineError(
            "engine-lost",
            f"the engine on {program.host} ended with status {end.status} "
            f"before it had finished{_own_words(end)}",
        )
    return EngineError("engine-lost", f"the engine on {program.host} closed its output")


def _own_words(end: Exit) -> str:
    """Return its standard error after a colon, without the middle of a long one, "" if empty.

    What failed first stands at the beginning, what came of it at the end.
    """
    words = end.stderr.strip()
    if len(words) > 2 * _PART:
        words = f"{words[:_PART]} … {words[-_PART:]}"
    return f": {words}" if words else ""


@contextlib.contextmanager
def naming_lost_host(host: str) -> Iterator[None]:
    """Note on a lost connection which host it was."""
    try:
        yield
    except HostUnreachableError as error:
        error.host = host
        raise
