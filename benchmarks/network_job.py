"""What the network benchmark measures once: a server and a client program, and what they said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.network_process import Ended, Program, RunError, complaint, free_ports

HOST = "127.0.0.1"
CONGESTION = "cubic"
DATAGRAM = 1460
SMALL = 64  # bytes of a round trip's message


@dataclass(frozen=True)
class Setting:
    """What all contenders of a work have in common."""

    seconds: float
    client_cpu: int
    server_cpu: int
    buffer: int  # bytes asked of SO_SNDBUF and SO_RCVBUF in UDP streams
    engines: Path
    probe: Path

    @property
    def whole_seconds(self) -> int:
        """For the tools that know no shorter time; equal to `seconds` unless that is below 1."""
        return max(1, math.ceil(self.seconds))


@dataclass(frozen=True)
class Reading:
    """A result in base units: bit/s, datagrams/s or s. A stream's is the receiver's, always."""

    value: float
    amount: float  # bytes received or round trips made, which the CPU seconds are divided by
    lost: float | None = None  # share of the datagrams sent, 0 to 1
    server_cpu: float | None = None  # s, where the server's process doesn't tell


@dataclass(frozen=True)
class Measured:
    reading: Reading
    client_cpu: float  # s
    server_cpu: float  # s


@dataclass(frozen=True)
class Job:
    """Command lines of one measurement, and how to read what they print."""

    server: list[str]
    client: list[str]
    ready: tuple[Literal["tcp", "udp"], int]  # the server is up when this port is bound
    read: Callable[[Ended, Ended], Reading]
    server_ends: bool = False  # by itself, after one client
    taskset: bool = True  # else they pin themselves


@dataclass(frozen=True)
class Contender:
    name: str
    kind: Literal["ours", "tool", "probe"]
    job: Callable[[Setting, list[int]], Job]
    needs: tuple[str, ...] = ()  # programs that must be installed
    option: str = ""  # must be in the --help of the first of them
    trials: int = 1  # of which it gives the best: held beside ours of as many


def measure(contender: Contender, setting: Setting) -> Measured:
    """Run a contender once."""
    job = contender.job(setting, free_ports(3))
    server_cpu = setting.server_cpu if job.taskset else None
    client_cpu = setting.client_cpu if job.taskset else None
    with Program(job.server, server_cpu) as server:
        server.ready(*job.ready)
        with Program(job.client, client_cpu) as client:
            outcome = client.wait(setting.whole_seconds * 3 + 15)
        if outcome.code != 0:
            raise RunError(f"{' '.join(job.client)}: {complaint(outcome)}")
        served = server.wait(5) if job.server_ends else server.stop()
    try:
        reading = job.read(outcome, served)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise RunError(
            f"{' '.join(job.client)}: its output has no result ({error!r}): {complaint(outcome)}"
        ) from error
    if not (math.isfinite(reading.value) and reading.value > 0 and reading.amount > 0):
        raise RunError(f"{' '.join(job.client)}: no number: {reading}")
    if reading.lost is not None and not 0 <= reading.lost <= 1:
        raise RunError(f"{' '.join(job.client)}: more came than was sent: {reading}")
    server_seconds = served.cpu if reading.server_cpu is None else reading.server_cpu
    return Measured(reading, outcome.cpu, server_seconds)
