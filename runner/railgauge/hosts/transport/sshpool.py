"""The connections to one host: as few as give all the sessions that are needed at a time."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from typing import TypeVar

import paramiko

from railgauge.base.errors import HostUnreachableError
from railgauge.hosts.transport.interface import closed_error
from railgauge.hosts.transport.sshconnect import ANSWER, SshConnection, is_transient

TRIES = 3
# Seconds before the second try; twice as long before each one more.
_PAUSE = 0.5
T = TypeVar("T")


def with_retries(
    connect: Callable[[], T],
    is_transient: Callable[[HostUnreachableError], bool],
    given_up: threading.Event,
) -> T:
    """Return what `connect` gives, which is called up to three times.

    Only connecting is tried again: what was begun over a connection is never begun again.
    After a HostUnreachableError that `is_transient` it's called again, about 0.5 and 1.5 s after
    the first, each pause up to half as long or longer, so that many who failed together don't all
    come back together. Setting `given_up` ends the waiting: the last error is raised.
    """
    pause = _PAUSE
    for _ in range(TRIES - 1):
        try:
            return connect()
        except HostUnreachableError as error:
            if not is_transient(error) or given_up.wait(pause * random.uniform(0.5, 1.5)):  # noqa: S311
                raise
        pause *= 2
    try:
        return connect()
    except HostUnreachableError as error:
        if not is_transient(error):
            raise
        raise HostUnreachableError(f"{error} (tried {TRIES} times)") from error


class SshPool:
    """Connections to `host` by the ssh `destination`; any thread may call any method."""

    def __init__(self, host: str, destination: str, keepalive: float) -> None:
        self._host = host
        self._destination = destination
        self._keepalive = keepalive
        self._connecting = threading.Lock()  # held as long as that takes
        self._lock = threading.Lock()  # for what follows; never held for long
        self._connections: list[SshConnection] = []
        self._pending: Future[SshConnection] | None = None
        self._closed = threading.Event()

    def session(self, timeout: float = ANSWER) -> tuple[SshConnection, paramiko.Channel]:
        """Return a new session, on a connection we have or on a new one if those are full.

        `timeout` (seconds) is for each connection that we have. Raises HostUnreachableError.
        """
        if session := self._session_at_hand(timeout):
            return session
        with self._connecting:
            # Another thread may have connected meanwhile.
            if session := self._session_at_hand(timeout):
                return session
            connection = self._connect()
        if channel := connection.session():
            return connection, channel
        raise HostUnreachableError(
            f"{self._host}: the ssh server gives us no session; see MaxSessions in its "
            "sshd_config and whether this account may run commands"
        )

    def alive(self) -> list[SshConnection]:
        """Return the connections we have, after letting go of those that were lost."""
        with self._lock:
            connections = self._connections
            self._connections = [connection for connection in connections if connection.alive]
            alive = list(self._connections)
        for connection in connections:
            if connection not in alive:
                connection.close()
        return alive

    def close(self) -> None:
        """Close all connections and make no more; who waits for one comes back at once."""
        with self._lock:
            self._closed.set()
            if self._pending is not None:
                self._pending.cancel()
        for connection in self.alive():
            connection.close()

    def _session_at_hand(self, timeout: float) -> tuple[SshConnection, paramiko.Channel] | None:
        for connection in self.alive():
            try:
                channel = connection.session(timeout)
            except HostUnreachableError:
                if connection.alive:
                    raise
                continue  # lost since it was looked at: the next or a new one may do
            if channel:
                return connection, channel
        return None

    def _connect(self) -> SshConnection:
        """Connect in a thread of its own, for nothing interrupts a look-up or a connect()."""
        pending: Future[SshConnection] = Future()
        with self._lock:
            if self._closed.is_set():
                raise closed_error(self._host)
            self._pending = pending
        threading.Thread(target=self._deliver, args=(pending,), daemon=True).start()
        try:
            return pending.result()
        except CancelledError:
            raise closed_error(self._host) from None

    def _connection(self) -> SshConnection:
        return SshConnection(self._host, self._destination, self._keepalive)

    def _deliver(self, pending: Future[SshConnection]) -> None:
        """Connect and deliver the connection or the error, unless the pool was closed meanwhile."""
        try:
            connection = with_retries(self._connection, is_transient, self._closed)
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            with contextlib.suppress(InvalidStateError):
                pending.set_exception(error)
            return
        with self._lock:
            closed = self._closed.is_set()
            if not closed:
                self._connections.append(connection)
        if closed:
            connection.close()
        with contextlib.suppress(InvalidStateError):
            pending.set_result(connection)
