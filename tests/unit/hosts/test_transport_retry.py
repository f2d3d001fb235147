"""Connecting again: what may pass by itself, how often, and that nobody waits in vain."""

from __future__ import annotations

import errno
import socket
import threading

import pytest
from paramiko.ssh_exception import (
    AuthenticationException,
    ChannelException,
    NoValidConnectionsError,
    PasswordRequiredException,
    SSHException,
)

from railgauge.base.errors import HostKeyError, HostUnreachableError
from railgauge.hosts.transport.sshconnect import is_transient, translated
from railgauge.hosts.transport.sshpool import TRIES, with_retries


class Door:
    """Something to connect to that lets in at the try with this number."""

    def __init__(self, opens_at: int) -> None:
        self.tries = 0
        self._opens_at = opens_at

    def connect(self) -> str:
        self.tries += 1
        if self.tries < self._opens_at:
            raise HostUnreachableError(f"n1: closed at try {self.tries}")
        return "in"


def test_a_host_that_lets_us_in_at_the_third_try_is_reached() -> None:
    door = Door(opens_at=3)
    assert with_retries(door.connect, lambda error: True, threading.Event()) == "in"
    assert door.tries == 3


def test_the_last_error_is_told_with_the_number_of_tries() -> None:
    door = Door(opens_at=99)
    with pytest.raises(HostUnreachableError, match=r"closed at try 3 \(tried 3 times\)"):
        with_retries(door.connect, lambda error: True, threading.Event())
    assert door.tries == TRIES == 3


def test_what_can_not_pass_is_tried_once() -> None:
    door = Door(opens_at=2)
    with pytest.raises(HostUnreachableError, match=r"closed at try 1$"):
        with_retries(door.connect, lambda error: False, threading.Event())
    assert door.tries == 1


def test_giving_up_ends_the_pause_between_two_tries() -> None:
    door, given_up = Door(opens_at=2), threading.Event()
    given_up.set()
    with pytest.raises(HostUnreachableError):
        with_retries(door.connect, lambda error: True, given_up)
    assert door.tries == 1


PASSING: list[Exception] = [
    ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
    ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
    NoValidConnectionsError({("192.0.2.1", 22): ConnectionRefusedError(111, "refused")}),
    TimeoutError("timed out"),
    OSError(errno.EHOSTUNREACH, "No route to host"),
    SSHException("Error reading SSH protocol banner"),
    SSHException("Negotiation failed."),
    AuthenticationException("Authentication failed: transport shut down or saw EOF"),
    AuthenticationException("Authentication timeout."),
    EOFError(),
    socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
    ChannelException(2, "Connect failed"),
]
LASTING: list[Exception] = [
    AuthenticationException("Authentication failed."),
    PasswordRequiredException("Private key file is encrypted"),
    SSHException("No authentication methods available"),
    SSHException("not a valid OPENSSH private key file"),
    socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
    ChannelException(1, "Administratively prohibited"),
    PermissionError(errno.EACCES, "Permission denied"),
    ValueError("Could not deserialize key data"),
]


def failed_by(cause: Exception) -> HostUnreachableError:
    with pytest.raises(HostUnreachableError) as excinfo, translated("n1", "reaching it"):
        raise cause
    return excinfo.value


@pytest.mark.parametrize("cause", PASSING, ids=repr)
def test_what_may_pass_by_itself_is_worth_another_try(cause: Exception) -> None:
    assert is_transient(failed_by(cause))


@pytest.mark.parametrize("cause", LASTING, ids=repr)
def test_what_stays_as_it_is_is_not(cause: Exception) -> None:
    assert not is_transient(failed_by(cause))


def test_a_wrong_host_key_is_never_tried_again() -> None:
    assert not is_transient(HostKeyError("n1: its key changed"))
