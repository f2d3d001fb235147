"""rail-wire between two network namespaces, and sockets in either: for root on Linux."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support import long_way
from tests.support.processes import end_process
from tests.support.wire import PATIENCE

LEFT, RIGHT = "10.99.0.1", "10.99.0.2"
LEFT6, RIGHT6 = "fd99::1", "fd99::2"
DEVICE = "wire0"

either = pytest.mark.parametrize("lab", ["tap", "packet"], indirect=True)

Event = dict[str, Any]
Counts = dict[str, float]


def ip(namespace: str, *arguments: str) -> str:
    completed = subprocess.run(["ip", "-n", namespace, *arguments], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


class Relay:
    """A rail-wire process under way; it ends with its standard input."""

    def __init__(self, argv: list[str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self.pid = self.process.pid
        self.ready = self.event()
        assert self.ready["event"] == "ready", self.ready

    def event(self) -> Event:
        assert self.process.stdout
        event: Event = json.loads(self.process.stdout.readline() or '{"event": "none"}')
        return event

    def counts(self) -> Event:
        """Return both directions' counts of this moment."""
        self.process.send_signal(signal.SIGUSR1)
        event = self.event()
        assert event["event"] == "counts", event
        check(event)
        return event

    def wait_for(self, condition: Callable[[Event], object]) -> Event:
        """Wait until the counts are so; return them."""
        end = time.monotonic() + PATIENCE
        while not condition(counts := self.counts()):
            assert time.monotonic() < end, counts
            time.sleep(0.01)
        return counts

    def finish(self) -> Event:
        """Close its standard input; return the last counts."""
        output, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, output + errors
        event: Event = json.loads(output.splitlines()[-1])
        check(event)
        return event

    def stop(self) -> None:
        end_process(self.process)


def check(counts: Event) -> None:
    """Hold the rule that every frame that was read, and every copy, is in exactly one count."""
    for direction in ("left_to_right", "right_to_left"):
        c = counts[direction]
        parts = ("passed", "lost", "overflowed", "refused", "queued")
        assert c["read"] + c["duplicated"] == sum(c[part] for part in parts), c


@dataclass
class Lab:
    """Two namespaces with nothing between them yet; `device` is how they shall be joined."""

    program: str
    left: str
    right: str
    device: str = "auto"

    def argv(self, *options: object) -> list[str]:
        ends = ("--left", f"{self.left}/{DEVICE}", "--right", f"{self.right}/{DEVICE}")
        flags = ("--device", self.device, *(str(option) for option in options))
        return [self.program, "--json", *ends, *flags]

    def refused(self, *options: object, prefix: tuple[str, ...] = ()) -> Event:
        """Run it where it must not start; return the error that it tells, with its exit status."""
        argv = [*prefix, *self.argv(*options)]
        completed = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
        )
        (line,) = completed.stdout.splitlines()
        event: Event = json.loads(line)
        assert event["event"] == "error", completed.stdout + completed.stderr
        return {**event, "status": completed.returncode}

    @contextlib.contextmanager
    def joined(self, *options: object, acquainted: bool = True) -> Iterator[Relay]:
        """Join them; both ends have addresses that are usable at once.

        acquainted: neither end has to ask for the other's hardware address, during which Linux may
        send datagrams in another order than they were written in.
        """
        relay = Relay(self.argv(*options))
        try:
            for name, four, six in ((self.left, LEFT, LEFT6), (self.right, RIGHT, RIGHT6)):
                ip(name, "addr", "add", f"{four}/24", "dev", DEVICE)
                ip(name, "addr", "add", f"{six}/64", "dev", DEVICE, "nodad")
            if acquainted:
                self._introduce(self.left, self.right, (RIGHT, RIGHT6))
                self._introduce(self.right, self.left, (LEFT, LEFT6))
            yield relay
        finally:
            relay.stop()

    def _introduce(self, namespace: str, other: str, addresses: tuple[str, ...]) -> None:
        (link,) = json.loads(ip(other, "-j", "link", "show", "dev", DEVICE))
        for address in addresses:
            neighbour = (address, "lladdr", link["address"], "dev", DEVICE, "nud", "permanent")
            ip(namespace, "neigh", "replace", *neighbour)

    def exists(self, namespace: str) -> bool:
        links = json.loads(ip(namespace, "-j", "link", "show"))
        return any(link["ifname"] == DEVICE for link in links)

    def wait_until_gone(self, *namespaces: str) -> None:
        """Wait until no end is there any more; the kernel ends a namespace in its own time."""
        end = time.monotonic() + PATIENCE
        while any(self.exists(name) for name in namespaces):
            assert time.monotonic() < end
            time.sleep(0.01)

    @contextlib.contextmanager
    def inside(self, namespace: str) -> Iterator[None]:
        """Put this thread into the namespace, where sockets are opened; and back afterwards."""
        library = ctypes.CDLL(None, use_errno=True)
        with Path("/proc/thread-self/ns/net").open() as home:
            with Path(f"/run/netns/{namespace}").open() as place:
                assert library.setns(place.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
            try:
                yield
            finally:
                assert library.setns(home.fileno(), 0) == 0

    def open_socket(
        self, namespace: str, family: int, kind: int, protocol: int = 0
    ) -> socket.socket:
        """Open a socket in the namespace."""
        with self.inside(namespace):
            sock = socket.socket(family, kind, protocol)
        sock.settimeout(PATIENCE)
        return sock

    def udp(self, namespace: str, family: int = socket.AF_INET) -> socket.socket:
        """Open a UDP socket at the namespace's address, with room for what a test sends."""
        sock = self.open_socket(namespace, family, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, 33, 4 << 20)  # SO_RCVBUFFORCE
        four, six = (LEFT, LEFT6) if namespace == self.left else (RIGHT, RIGHT6)
        sock.bind((six if family == socket.AF_INET6 else four, 0))
        return sock

    def raw(self, namespace: str) -> socket.socket:
        """Open a socket for whole Ethernet frames on the wire's end."""
        sock = self.open_socket(namespace, socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
        sock.bind((DEVICE, 0))
        return sock


@contextlib.contextmanager
def lab(program: str, device: str = "auto") -> Iterator[Lab]:
    with long_way.namespaces() as (left, right):
        yield Lab(program, left, right, device)


def lab_fixture(folder: Path, require: Any, device: str) -> Iterator[Lab]:
    """Give a test a lab with that device, where this machine allows it."""
    may = os.geteuid() == 0 and (device == "packet" or Path("/dev/net/tun").exists())
    require(may, "root, to make network namespaces, and /dev/net/tun")
    with lab(str(folder / "rail-wire"), device) as new_lab:
        yield new_lab


def numbers(received: socket.socket, count: int = 0) -> list[int]:
    """Return the numbers of the datagrams: waits for `count` of them, and takes what else came.

    What a relay has handed to the kernel may take a moment to reach the socket.
    """
    datagrams = [received.recv(65536) for _ in range(count)]
    timeout = received.gettimeout()
    received.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            datagrams.append(received.recv(65536))
    received.settimeout(timeout)
    return [int.from_bytes(datagram[:8], "big") for datagram in datagrams]


def send_numbers(sender: socket.socket, to: socket.socket, count: int, size: int = 100) -> None:
    """Send datagrams numbered from 1."""
    for number in range(1, count + 1):
        sender.sendto(number.to_bytes(8, "big").ljust(size, b"."), to.getsockname())
