"""Two network namespaces and what lies between them: for root on Linux.

As a program, it is the way itself: `long_way.py A B DELAY EVERY` hands each packet between the
namespaces over DELAY seconds later, drops one of EVERY (0: none) large ones from A to B, and once
its standard input ends says how many it dropped.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

NEAR, FAR = "10.98.0.1", "10.98.0.2"
TUN_SET = 0x400454CA
PLAIN_PACKETS = 0x1001  # IFF_TUN | IFF_NO_PI
LARGE = 500  # bytes: no mere acknowledgement


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@dataclass
class Way:
    """Two namespaces, joined."""

    near: str
    far: str
    between: subprocess.Popen[str] | None = None
    dropped: int = field(default=0, init=False)

    def inside(self, namespace: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", namespace)

    def close_up(self) -> None:
        """End the program between them, which tells how much it dropped."""
        if self.between:
            output, _ = self.between.communicate(timeout=30)
            self.dropped = int(output)
            self.between = None


@contextlib.contextmanager
def namespaces() -> Iterator[tuple[str, str]]:
    """Make two network namespaces; both are gone afterwards."""
    names = (f"rgt{os.getpid()}a", f"rgt{os.getpid()}b")
    try:
        for name in names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)


@contextlib.contextmanager
def delayed(delay: float, drop_interval: int = 0) -> Iterator[Way]:
    with namespaces() as (near, far):
        argv = [sys.executable, __file__, near, far, str(delay), str(drop_interval)]
        between = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        way = Way(near, far, between)
        try:
            assert between.stdout
            assert between.stdout.readline() == "ready\n"
            yield way
        finally:
            way.close_up()


@contextlib.contextmanager
def limited(rate: str) -> Iterator[Way]:
    """Join them by a link of that rate (in tc's words)."""
    with namespaces() as (near, far):
        _ip(
            "link", "add", "way", "netns", near, "type", "veth", "peer", "name", "way", "netns", far
        )
        for name, address in ((near, NEAR), (far, FAR)):
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", "way")
            _ip("-n", name, "link", "set", "way", "up")
            # What several CPUs take from the queue in turn may overtake: one hands all of it on.
            steer = "echo 1 >/sys/class/net/way/queues/rx-0/rps_cpus"
            _ip("netns", "exec", name, "sh", "-c", steer)
        shape = ["qdisc", "add", "dev", "way", "root", "tbf", "rate", rate, "burst", "32k"]
        subprocess.run(["tc", "-n", near, *shape, "latency", "20ms"], check=True)
        yield Way(near, far)


def _enter(namespace: str, address: str) -> int:
    """Make a tun device in the namespace; this process is back where it was afterwards."""
    library = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/self/ns/net").open() as home, Path(f"/run/netns/{namespace}").open() as place:
        if library.setns(place.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUN_SET, struct.pack("16sH22x", b"way", PLAIN_PACKETS))
        library.setns(home.fileno(), 0)
    _ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "way")
    _ip("-n", namespace, "link", "set", "way", "txqueuelen", "10000", "up")
    return device


class _Between:
    def __init__(self, near: int, far: int, delay: float, drop_interval: int) -> None:
        self.near, self.other = near, {near: far, far: near}
        self.delay, self.drop_interval = delay, drop_interval
        self.under_way: deque[tuple[float, int, bytes]] = deque()
        self.large = self.dropped = 0

    def run(self) -> None:
        while True:
            self._hand_over()
            left = self.under_way[0][0] - time.monotonic() if self.under_way else 1
            # The last moments by looking again and again: sleeping would take longer.
            ready, _, _ = select.select(
                [sys.stdin, *self.other], [], [], left if left > 0.0003 else 0
            )
            if sys.stdin in ready:
                return
            for device in ready:
                self._take(device)

    def _hand_over(self) -> None:
        while self.under_way and self.under_way[0][0] <= time.monotonic():
            _, device, packet = self.under_way.popleft()
            with contextlib.suppress(OSError):  # a full queue drops it, as on any way
                os.write(device, packet)

    def _take(self, device: int) -> None:
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                packet = os.read(device, 65536)
                if not self._drops(device, packet):
                    due = time.monotonic() + self.delay
                    self.under_way.append((due, self.other[device], packet))

    def _drops(self, device: int, packet: bytes) -> bool:
        if device != self.near or len(packet) < LARGE or not self.drop_interval:
            return False
        self.large += 1
        dropped = self.large % self.drop_interval == 0
        self.dropped += dropped
        return dropped


def _main() -> None:
    near, far, delay, interval = sys.argv[1:]
    between = _Between(_enter(near, NEAR), _enter(far, FAR), float(delay), int(interval))
    print("ready", flush=True)
    between.run()
    print(between.dropped)


if __name__ == "__main__":
    _main()
