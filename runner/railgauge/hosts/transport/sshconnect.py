"""One ssh connection: made by Fabric the way the user's configuration says, watched, closed.

Nothing here ever asks the user: keys come from the agent or from files without passphrase.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import errno
import logging
import socket
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fabric
import paramiko
from paramiko.ssh_exception import (
    AuthenticationException,
    ChannelException,
    NoValidConnectionsError,
    PasswordRequiredException,
    SSHException,
)

from railgauge.base.errors import HostUnreachableError
from railgauge.hosts.transport.interface import advice
from railgauge.hosts.transport.knownhosts import KnownKeys
from railgauge.hosts.transport.sshconfig import SshOptions, resolve

# paramiko logs what it also raises; without this it would end up on the terminal.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

_MOST_HOPS = 8
ANSWER = 15.0
# sshd drops logins at random when more than ten are under way (MaxStartups), and a jump host sees
# those for all hosts behind it. How many there are in all is for those who connect to say.
_LOGINS = 8
_gates: defaultdict[tuple[str, int], threading.BoundedSemaphore] = defaultdict(
    lambda: threading.BoundedSemaphore(_LOGINS)
)
_gates_changing = threading.Lock()
# What passes by itself: nobody there yet, too many at once, a path that changes.
_PASSING_ERRORS = (ConnectionError, TimeoutError, EOFError, NoValidConnectionsError)
_PASSING_NUMBERS = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)
# paramiko says by words alone that the other side hung up or fell silent during the login.
_PASSING_WORDS = (
    "protocol banner",
    "Negotiation failed",
    "No existing session",
    "session not active",
    "saw EOF",
    "Authentication timeout",
    "Timeout opening channel",
)
_CONNECT_FAILED = 2  # RFC 4254, 5.1: the jump host could not reach what is behind it


class _BatchTransport(paramiko.Transport):
    """Never asks for a one-time password on the terminal."""

    def auth_interactive_dumb(self, *_: Any, **__: Any) -> Any:
        raise AuthenticationException("it wants a second factor")


class SshConnection:
    """An open connection to `host`. A thread asks it for a sign of life every `keepalive` s.

    ServerAliveInterval, where the user's configuration has it, goes before that.
    """

    def __init__(self, host: str, destination: str, keepalive: float) -> None:
        options = resolve(destination)
        self._host = host
        self._keepalive = options.alive_interval or keepalive
        self._closing = threading.Event()
        self.loss_reason = "the connection broke"
        self._hops = contextlib.ExitStack()
        self._hops_closing = threading.Lock()
        try:
            self._client = _open(host, options, self._hops, _MOST_HOPS)
        except BaseException:
            self._hops.close()
            raise
        transport = self._client.get_transport()
        assert transport is not None
        self._transport: paramiko.Transport = transport
        threading.Thread(target=self._watch, name=f"railgauge-ssh {host}", daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether it is still open, as far as we know."""
        return self._transport.is_active()

    def still_alive(self) -> bool:
        """The same, once a loss under way has had the time to show."""
        self._transport.join(0.2)
        return self._transport.is_active()

    def session(self, timeout: float = ANSWER) -> paramiko.Channel | None:
        """Return a new session, None if the server gives no more of them on one connection."""
        with translated(self._host, "opening a session"):
            return self._session(timeout)

    def _session(self, timeout: float) -> paramiko.Channel | None:
        try:
            return self._transport.open_session(timeout=timeout)
        except ChannelException:
            return None
        except SSHException as error:
            # paramiko keeps one refusal a connection: of two at a time, the second has none.
            if self.alive and str(error).startswith("Unable to open channel"):
                return None
            raise

    def close(self) -> None:
        """Close it and the connections to the hops before it."""
        self._closing.set()
        with self._hops_closing:
            self._hops.close()

    def _watch(self) -> None:
        while not self._closing.wait(self._keepalive) and self.alive:
            try:
                # A session that runs nothing: whatever the answer, it is one.
                if session := self._session(self._keepalive):
                    session.close()
            except (SSHException, OSError, EOFError):
                self.loss_reason = f"it gave no sign of life for {self._keepalive:g} s"
                self.close()


def _open(
    host: str, options: SshOptions, hops: contextlib.ExitStack, hops_left: int
) -> paramiko.SSHClient:
    """Connect to `options`, through its hops; whatever gets opened is left to `hops` to close."""
    if hops_left == 0:
        raise HostUnreachableError(
            f"{host}: more than {_MOST_HOPS} jump hosts; look for a loop of ProxyJump in the ssh "
            "configuration"
        )
    endpoint = f"{options.user}@{options.hostname} port {options.port}"
    with translated(host, f"reaching {endpoint} by ssh"):
        return _connect(host, options, hops, hops_left)


def _connect(
    host: str, options: SshOptions, hops: contextlib.ExitStack, hops_left: int
) -> paramiko.SSHClient:
    gateway_socket = _gateway_socket(host, options, hops, hops_left)
    known_keys = KnownKeys(host, options)
    timeout = options.connect_timeout
    connect_kwargs: dict[str, Any] = {
        **identities(options, hops),
        "banner_timeout": timeout + ANSWER,
        "auth_timeout": timeout + ANSWER,
        "channel_timeout": ANSWER,
        "transport_factory": partial(_transport, known_keys),
    }
    if gateway_socket is not None:
        connect_kwargs["sock"] = gateway_socket
    connection = fabric.Connection(
        options.hostname,
        user=options.user,
        port=options.port,
        # Empty on purpose: what ssh's files say is in `options`.
        config=fabric.Config(ssh_config=paramiko.SSHConfig(), lazy=True),
        gateway=False,
        connect_timeout=max(1, round(timeout)),
        connect_kwargs=connect_kwargs,
    )
    connection.client.set_missing_host_key_policy(known_keys)
    hops.callback(connection.client.close)
    with _gate(options):
        connection.open()
    client: paramiko.SSHClient = connection.client
    return client


def _gateway_socket(
    host: str, options: SshOptions, hops: contextlib.ExitStack, hops_left: int
) -> paramiko.Channel | socket.socket | None:
    """Return a way to `options` through its jump hosts or its ProxyCommand, None without any."""
    if options.jumps:
        *first_jumps, last_jump = options.jumps
        hop = resolve(last_jump, jumps=tuple(first_jumps) if first_jumps else None)
        if (hop.hostname, hop.port) == (options.hostname, options.port):
            return None
        return _tunnel(host, _open(host, hop, hops, hops_left - 1), options)
    return _proxy(options.proxy_command, hops) if options.proxy_command else None


def _transport(known_keys: KnownKeys, sock: Any, **settings: Any) -> paramiko.Transport:
    if isinstance(sock, socket.socket) and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # 40 ms less per program
    transport = _BatchTransport(sock, **settings)
    transport.daemon = True
    security = transport.get_security_options()
    security.key_types = known_keys.preferred(tuple(security.key_types))
    return transport


def _gate(options: SshOptions) -> threading.BoundedSemaphore:
    """Return what lets so many through to log in there at a time as its sshd takes.

    Where a ProxyCommand leads through is not ours to know, so those share one.
    """
    key = ("", 0) if options.proxy_command else (options.hostname, options.port)
    with _gates_changing:
        return _gates[key]


def _tunnel(host: str, gateway: paramiko.SSHClient, options: SshOptions) -> paramiko.Channel:
    """Return a tunnel from the jump host `gateway` to the next hop."""
    transport = gateway.get_transport()
    assert transport is not None
    target = (options.hostname, options.port)
    with translated(host, f"reaching {target[0]} port {target[1]} from its jump host"):
        return transport.open_channel("direct-tcpip", target, ("", 0), timeout=ANSWER)


def _proxy(command: str, hops: contextlib.ExitStack) -> socket.socket:
    """Return a socket to a ProxyCommand, run as ssh runs it."""
    near_end, far_end = socket.socketpair()
    hops.enter_context(near_end)
    with far_end:
        proxy = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command}"],
            stdin=far_end.fileno(),
            stdout=far_end.fileno(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end() -> None:
        proxy.kill()
        proxy.wait()

    hops.callback(end)
    return near_end


def is_transient(error: HostUnreachableError) -> bool:
    """Return whether a connection that failed with `error` is worth another try.

    Keys that are wrong or not accepted, a bad name or configuration stay what they are.
    """
    cause = error.__cause__
    if isinstance(cause, ChannelException):
        return cause.code == _CONNECT_FAILED
    if isinstance(cause, SSHException):
        return any(phrase in str(cause) for phrase in _PASSING_WORDS)
    if isinstance(cause, socket.gaierror):
        return cause.errno == socket.EAI_AGAIN
    if isinstance(cause, OSError) and cause.errno in _PASSING_NUMBERS:
        return True
    return isinstance(cause, _PASSING_ERRORS)


@contextlib.contextmanager
def translated(host: str, action: str) -> Iterator[None]:
    """Turn what paramiko and the socket raise into HostUnreachableError."""
    try:
        yield
    # ValueError: a key file or an answer that the cryptography library can't make sense of.
    except (SSHException, OSError, EOFError, ValueError) as error:
        raise HostUnreachableError(f"{host}: {action} failed: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Say what went wrong and what to do about it."""
    text = str(error) or type(error).__name__
    if isinstance(error, PasswordRequiredException):
        return "the key has a passphrase; load it into the agent first (ssh-add)"
    if isinstance(error, AuthenticationException) or "No authentication methods" in text:
        return (
            f"it accepts none of our keys ({text}); see that `ssh -o BatchMode=yes` gets in, "
            "with ssh-add, ssh-copy-id or IdentityFile"
        )
    if isinstance(error, ChannelException):
        return f"{error.text}; is the name right, and may the jump host forward connections?"
    if isinstance(error, socket.gaierror):
        return f"its name is unknown ({error.strerror}); check HostName or the plan's ssh: entry"
    if isinstance(error, NoValidConnectionsError):
        causes = error.errors.values()
        reasons = sorted({getattr(cause, "strerror", "") or str(cause) for cause in causes})
        return f"{' and '.join(reasons)}; is the machine up, sshd running and the port right?"
    if "protocol banner" in text:
        return "what answers there is no ssh server, or it hung up at once; check the port"
    if isinstance(error, TimeoutError) or "imed out" in text or "imeout" in text:
        return "no answer in time; is the machine up, and does a firewall let us through?"
    return f"{text}; {advice(error, 'see whether `ssh` by hand gets in')}"


def identities(options: SshOptions, hops: contextlib.ExitStack) -> dict[str, Any]:
    """Return what Fabric's connect_kwargs say about keys; `hops` lets go of the agent.

    With IdentitiesOnly the agent's keys that aren't named stay out, but a named one may well be
    in the agent alone: its file has a passphrase then, or only the public half is there.
    """
    files = [path for path in options.identity_files if Path(path).is_file()]
    chosen: dict[str, Any] = {
        "key_filename": files,
        "allow_agent": options.agent and options.other_identities,
        "look_for_keys": options.other_identities,
    }
    if options.agent and not options.other_identities:
        agent = paramiko.Agent()
        hops.callback(agent.close)
        agent_keys = {key.asbytes(): key for key in agent.get_keys()}
        for path in options.identity_files:
            if (key := agent_keys.get(_public_half(path))) is not None:
                chosen["pkey"] = key
                break
    return chosen


def _public_half(path: str) -> bytes:
    """Return the public key that belongs to an identity file, b"" if there is none."""
    public = Path(path if path.endswith(".pub") else f"{path}.pub")
    try:
        return base64.b64decode(public.read_text().split()[1])
    except (OSError, UnicodeDecodeError, IndexError, binascii.Error):
        return b""
