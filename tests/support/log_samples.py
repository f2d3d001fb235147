"""System logs as a cluster's hosts would give them, for the tests of reports."""

from __future__ import annotations

import numpy as np

from railgauge.base.systemlog import SoakLoad, SystemLog, TimeSeries

TICKS = 100


def system_log(
    host: str = "gw1",
    *,
    elapsed: float = 5.0,
    cpus: int = 2,
    busy: float = 0.5,
    samples: int = 0,
    soak: bool = False,
    **more: int,
) -> SystemLog:
    """Return a log of a host whose CPUs were each `busy` so much, a fifth of that in softirqs.

    `more` are counts by name with `__` for `/`.
    """
    ticks = round(elapsed * TICKS)
    softirq = round(ticks * busy / 5)
    system = round(ticks * busy) - softirq
    cpu_ticks = {"system": system, "softirq": softirq, "idle": ticks - system - softirq}
    counts = {f"cpu/all/{kind}": number * cpus for kind, number in cpu_ticks.items()}
    for cpu in range(cpus):
        counts |= {f"cpu/{cpu}/{kind}": number for kind, number in cpu_ticks.items()}
        counts |= {f"softirq/NET_RX/{cpu}": 4000 + cpu, f"interrupt/24/{cpu}": 9000 * (1 - cpu % 2)}
    counts |= {
        "stat/interrupts": 20_000,
        "stat/context_switches": 31_000,
        "interrupt/LOC/0": 512,
        "interface/eth0/rx_packets": 1204,
        "interface/eth0/rx_bytes": 1_800_000,
        "interface/eth0/tx_packets": 428_123,
        "interface/eth0/tx_bytes": 643_000_000,
        "interface/lo/rx_packets": 12,
        "interface/lo/rx_bytes": 1200,
        "protocol/Udp/OutDatagrams": 428_100,
        "protocol/Ip/OutRequests": 428_123,
        "vm/pgmajfault": 3,
        "pressure/cpu/some": 25_000,
    }
    counts |= {name.replace("__", "/"): number for name, number in more.items()}
    gauges = {
        "memory/MemTotal": 8 * 2**30,
        "memory/MemAvailable": 6 * 2**30,
        "frequency/0": 2_600_000_000,
        "frequency/1": 4_200_000_000,
    }
    soaked = tuple(SoakLoad(cpu, 0.62, 0.6, 0.05) for cpu in range(cpus)) if soak else ()
    return SystemLog(
        host,
        "replication",
        1_795_260_000.0,
        elapsed,
        TICKS,
        {name: number for name, number in counts.items() if number},
        gauges,
        {"interrupt/24": "virtio0-input.0", "interrupt/LOC": "Local timer interrupts"},
        _series(counts, elapsed, samples) if samples else None,
        soaked,
    )


def _series(counts: dict[str, int], elapsed: float, samples: int) -> TimeSeries:
    names = tuple(
        name
        for name in counts
        if name.startswith(("cpu/all/", "interface/", "stat/interrupts", "stat/context"))
    )
    times = np.arange(1, samples + 1) * elapsed / (samples + 0.5)
    ends = np.array([counts[name] for name in names], np.float64)
    # Not quite steady, so that there is something to see.
    grown = (times / elapsed) ** 1.2
    values = np.floor(grown[:, None] * ends[None, :]).astype(np.int64)
    return TimeSeries(times, names, values)
