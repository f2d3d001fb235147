"""Which connection to a host a new session is on."""

from __future__ import annotations

from typing import Any

import pytest

from railgauge.base.errors import HostUnreachableError
from railgauge.hosts.transport.sshpool import SshPool


class _Connection:
    """One that is lost, or doesn't answer, as its second session is opened."""

    def __init__(self, *, is_lost: bool) -> None:
        self.alive, self.sessions, self.is_lost = True, 0, is_lost

    def session(self, timeout: float = 0) -> object:
        self.sessions += 1
        if self.sessions == 1:
            return object()
        self.alive = not self.is_lost
        raise HostUnreachableError("n1: opening a session: connection reset")

    def close(self) -> None:
        self.alive = False


def _pool(monkeypatch: pytest.MonkeyPatch, *, is_lost: bool) -> tuple[SshPool, list[Any]]:
    connections: list[Any] = []

    def connect(_: SshPool) -> _Connection:
        connections.append(_Connection(is_lost=is_lost))
        return connections[-1]

    monkeypatch.setattr(SshPool, "_connection", connect)
    return SshPool("n1", "n1", keepalive=10), connections


def test_a_connection_that_is_lost_as_a_session_is_opened_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, connections = _pool(monkeypatch, is_lost=True)
    assert pool.session()[0] is connections[0]
    assert pool.session()[0] is connections[1]
    assert pool.alive() == [connections[1]]


def test_a_connection_that_stands_and_gives_no_session_in_time_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, connections = _pool(monkeypatch, is_lost=False)
    pool.session()
    with pytest.raises(HostUnreachableError, match="opening a session"):
        pool.session()
    assert len(connections) == 1
