"""Runs, cases and outcomes for the store's tests, and other processes to use them in."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from railgauge.cases import Case, Value, case_key
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase
from railgauge.trace import Trace, encode

HERE = Path(__file__).parent
MOMENT = 1_763_690_400.25  # 2025-11-21T02:00:00.25Z
RUN = NewRun(
    plan="sharcnet-udp",
    plan_text="railgauge: 1\nname: sharcnet-udp\n",
    directory="/home/an/plans",
    git_commit="0123abcd",
    git_dirty=True,
    seed=2**40 + 1,
    controller="gw0",
    railgauge_version="0.1.0",
    engines_hash="feed",
    files={"hosts.yaml": "hosts:\n  gw1: {address: 10.0.0.1}\n", "engine fetch": "π\n"},
)
METRICS = {
    "udp": {"throughput": MetricInfo("bit/s", "higher"), "loss_rate": MetricInfo("1", "lower")}
}
LAUNCH = Launch(MOMENT, {"sockbuf": 10240}, {"sockbuf": 20480}, ("receive buffer clamped",))


def case(datagram: int = 1460, link: str = "gw→hh", **more: Value) -> Case:
    parameters: dict[str, Value] = {"mode": "stream", "datagram": datagram, "duration": 5.0, **more}
    key = case_key("udp", link, "gw1", "hh1", parameters)
    return Case(key, "udp", link, "gw1", "hh1", parameters)


def pair(client: str, server: str | None, members: tuple[str, ...], link: str = "") -> Case:
    """Return a pair of a group's hosts, as a matrix measures them; without a server, the group."""
    link = link or f"{client}→{server}"
    parameters: dict[str, Value] = {"mode": "matrix", "size": 65536}
    key = hashlib.sha256("|".join([link, client, str(server), *members]).encode()).hexdigest()
    return Case(key[:16], "udp", link, client, server, parameters, members)


def planned(*cases: Case, test: str = "stream", replications: int = 3) -> list[PlannedCase]:
    return [PlannedCase(test, each, replications) for each in cases]


def measured(number: int, throughput: float = 1e9, **more: object) -> Outcome:
    metrics = {"throughput": throughput, "loss_rate": 0.25}
    return Outcome(number, MOMENT + number, metrics, **more)  # type: ignore[arg-type]


def warmup() -> Outcome:
    return Outcome(0, MOMENT, {"throughput": 1.0, "loss_rate": 1.0}, warmup=True)


def failed(number: int) -> Outcome:
    return Outcome(
        number,
        MOMENT + number,
        {},
        status="failed",
        error_code="connection-refused",
        error_message="hh1 refused: is its firewall open?",
    )


def trace(sequence: Sequence[int], sent: int, gap: int = 1000) -> bytes:
    """Return the trace of arrivals `gap` ns apart, sent one µs apart."""
    count = len(sequence)
    numbers = np.array(sequence, np.int64)
    received = gap * np.arange(count, dtype=np.int64)
    sent_at = 1000 * (numbers - numbers[:1])
    return encode(Trace("monotonic", sent, count, numbers, received, sent_at, 5, 7))


def lossy(number: int) -> Outcome:
    """Return a replication with a trace: of 0 to 9, 0, 4, 5 and 9 were lost."""
    return replace(measured(number), trace=trace([1, 2, 3, 6, 7, 8], 10))


def script(body: str, *arguments: object) -> subprocess.Popen[str]:
    """Start Python on `body`, which finds the samples and its arguments in sys.argv."""
    path = os.pathsep.join([str(HERE), str(HERE.parents[1] / "runner")])
    return subprocess.Popen(
        [sys.executable, "-c", body, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
