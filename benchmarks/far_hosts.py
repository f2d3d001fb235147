"""Hosts that aren't there, behind a network with a latency and a controller's link with a rate.

Each has a POSIX shell that knows what a run asks before it measures, a rail-hold and a rail-watch.
What the controller does for them is real, but for ssh's encryption; what they do takes no CPU.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.support import watch_samples

from railgauge.hosts.transport.archive import archive
from railgauge.hosts.transport.fake import LINE, FakeProcess, FakeTransport, Program
from railgauge.hosts.transport.interface import run
from railgauge.hosts.transport.local import LocalTransport

# Round trips of OpenSSH: TCP, versions, key exchange (2), service, public key (2), and of a
# program: a session, its start.
LOGIN_TRIPS = 7
START_TRIPS = 2
ENGINES = "/home/user/.cache/railgauge/engines/simulated"


@dataclass
class Network:
    """What all hosts share: a round trip in s, the controller's link in bit/s, s that make takes.

    `sent` counts the bytes that went out over the link for files. `engines`: they are there.
    """

    latency: float
    rate: float
    build: float
    engines: bool
    sent: int = 0
    _free: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _facts: str = ""

    def wait(self, trips: int) -> None:
        time.sleep(self.latency * trips)

    def carry(self, size: int) -> None:
        """Return when the link has carried so many bytes after all before them."""
        with self._lock:
            self.sent += size
            self._free = max(self._free, time.monotonic()) + 8 * size / self.rate
            until = self._free
        time.sleep(max(0.0, until - time.monotonic()))

    def facts(self, argv: Sequence[str]) -> str:
        """Return this machine's answer to the questions about facts, asked once."""
        with self._lock:
            if not self._facts:
                transport = LocalTransport("here")
                self._facts = run(transport, [*argv[:5], *argv[5:25]], timeout=60).stdout
                transport.close()
        return self._facts


class FarHost(FakeTransport):
    """A host at the other end of the network. Of many, nobody looks at what was started."""

    has_shell = True

    def __init__(self, host: str, network: Network) -> None:
        programs = {"sh": self._shell, "rail-hold": self._hold, "rail-watch": self._watch}
        super().__init__(host, programs)
        self._network = network
        self._equipped = network.engines
        self._connecting = threading.Lock()
        self._connected = False

    def start(self, argv: Sequence[str]) -> FakeProcess:
        """See `Transport.start`."""
        with self._connecting:
            self._network.wait(0 if self._connected else LOGIN_TRIPS)
            self._connected = True
        self._network.wait(START_TRIPS)
        process = super().start(argv)
        self.started.clear()
        return process

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        """See `Transport.put`."""
        self._network.wait(START_TRIPS)
        self._network.carry(len(archive(files)))

    def _shell(self, argv: Sequence[str]) -> Program:
        script = argv[2]
        if "railgauge-facts:" in script:
            boot = f"/proc/sys/kernel/random/boot_id:{self.host}"
            lines = self._network.facts(argv).splitlines()
            yield from (boot if "random/boot_id:" in line else line for line in lines)
        elif "boot_id" in script:
            yield from (self.host, "net:[1]")
        elif "stepwise -C" in script:
            time.sleep(self._network.build)
            self._equipped = True
            yield "railgauge-deploy: built"
        elif "railgauge-deploy:" in script:
            yield f"railgauge-deploy: {'ready' if self._equipped else 'missing'} {ENGINES}"
        return 0

    def _hold(self, _argv: Sequence[str]) -> Program:
        yield json.dumps({"event": "held"})
        while (yield LINE) is not None:
            pass
        return 0

    def _watch(self, _argv: Sequence[str]) -> Program:
        yield watch_samples.ready()
        yield watch_samples.counters([f"interrupt/{number}/0" for number in range(1000)], gauges=())
        while (line := (yield LINE)) is not None:
            if line != "mark idle":
                self._network.wait(1)
            yield watch_samples.own_mark(time.monotonic(), line.removeprefix("mark "))
        self._network.wait(1)
        yield json.dumps({"event": "done"})
        return 0
