"""Runs, cases and outcomes for the store's tests, and other processes to use them in."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, create_engine, text
from tests.support import ROOT, command_line

from railgauge.base.systemlog import PortLog, SoakLoad, Suspicion, SystemLog, TimeSeries
from railgauge.base.trace import Trace, encode
from railgauge.plan.cases import Case, Value, case_key
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, Peak, PlannedCase

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
PEAK = Peak("gw1", "memory", 68.256e9, "B/s", "declared: hosts file")


@contextmanager
def connected(where: str) -> Iterator[Connection]:
    """Give a transaction of a database without railgauge, as any other program has it."""
    engine = create_engine(where if "://" in where else f"sqlite:///{where}")
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def execute(where: str, statement: str, **values: object) -> list[tuple[Any, ...]]:
    """Execute a statement so, and return the rows that it gives."""
    with connected(where) as connection:
        result = connection.execute(text(statement), values)
        return [tuple(row) for row in result] if result.returns_rows else []


def rows(where: str, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query so, by the names of their columns."""
    with connected(where) as connection:
        return [dict(row) for row in connection.execute(text(query)).mappings()]


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
    return [PlannedCase(test, test_case, replications) for test_case in cases]


def measured(number: int, throughput: float = 1e9, **more: object) -> Outcome:
    metrics = {"throughput": throughput, "loss_rate": 0.25}
    return Outcome(number, MOMENT + number, metrics, **more)  # type: ignore[arg-type]


def warmup() -> Outcome:
    return Outcome(0, MOMENT, {"throughput": 1.0, "loss_rate": 1.0}, warmup=True)


SUSPICIONS = (
    Suspicion("swapped", "hh1", "hh1 swapped 12 pages"),
    Suspicion("calibration-drift", None, "the machine's clock drifted"),
)
# A counter of each table and kind of column.
COUNTS = {
    "cpu/all/user": 123,
    "cpu/all/idle": 777,
    "stat/interrupts": 4321,
    "stat/context_switches": 99,
    "vm/pgpgin": 7,
    "vm/pgalloc_normal": 11,
    "pressure/cpu/some": 1_234_567,
    "cgroup/throttled_usec": 1,
    "cpu/0/user": 100,
    "cpu/1/softirq": 3,
    "softnet/0/processed": 12,
    "softnet/1/dropped": 2,
    "throttle/0/core_time_ms": 17,
    "interface/lo/rx_packets": 1000,
    "interface/eth0/rx_packets": 500,
    "interface/eth0/rx_bytes": 750_000,
    "interface/eth1/rx_packets": 7,
    "interface/eth1/tx_dropped": 1,
    "interrupt/24/0": 480,
    "interrupt/LOC/1": 1250,
    "softirq/NET_RX/0": 500,
    "protocol/Udp/RcvbufErrors": 4,
    "protocol/Udp6/RcvbufErrors": 1,
    "protocol/Ip/ReasmFails": 40,
    "protocol/Tcp/RetransSegs": 3,
    "fabric/mlx5_0/1/port_xmit_data": 2**40,
    "new/in the kernel": 2**63 - 1,
}
GAUGES = {
    "memory/MemTotal": 2**33,
    "memory/MemAvailable": 2**32,
    "memory/HugePages_Total": 0,
    "memory/NewLine": 5,
    "frequency/0": 3_200_000_000,
    "stat/running": 2,
    "protocol/Tcp/CurrEstab": 9,
    "cgroup/cpu_max_quota": -1,
}


def suspect(number: int, *suspicions: Suspicion) -> Outcome:
    reasons = suspicions or SUSPICIONS[:1]
    return replace(measured(number), status="suspect", suspicions=reasons)


def system_log(host: str = "gw1", **changes: object) -> SystemLog:
    samples = 4
    values = np.arange(3 * samples, dtype=np.int64).reshape(samples, 3) ** 2
    log = SystemLog(
        host=host,
        phase="replication",
        started_at=MOMENT + 0.000123,
        elapsed=5.000000119,
        ticks_per_second=100,
        counts=COUNTS,
        gauges=GAUGES,
        labels={"interrupt/24": "virtio0-input.0", "interrupt/25": "virtio0-output.0"},
        series=TimeSeries(np.linspace(0.1, 5, samples), ("cpu/0/user", "new/a", "x"), values),
        soak=(SoakLoad(0, 0.5, 0.25, 0.1), SoakLoad(1, 0.7, 0.3, -0.001)),
    )
    return replace(log, **changes)  # type: ignore[arg-type]


def assert_same_log(actual_log: SystemLog, log: SystemLog) -> None:
    assert replace(actual_log, series=None) == replace(log, series=None)
    if log.series is None or actual_log.series is None:
        assert actual_log.series is log.series
        return
    assert actual_log.series.names == log.series.names
    # As bits: also a NaN comes back.
    assert (
        actual_log.series.times.view(np.int64).tolist() == log.series.times.view(np.int64).tolist()
    )
    assert actual_log.series.values.shape == log.series.values.shape
    assert actual_log.series.values.tolist() == log.series.values.tolist()


def logged(number: int, *logs: SystemLog, ports: tuple[PortLog, ...] = ()) -> Outcome:
    return replace(measured(number), logs=logs, ports=ports)


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
    return command_line.Popen(
        [*command_line.SCRIPT, body, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
