"""Series within a replication, made up, and cases that have some."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from railgauge.base.intervals import Intervals, Readings, encode
from railgauge.plan.cases import Case, case_key
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

MS = 1_000_000


def readings(counts: Sequence[int], *, state: bool = False, last: int = 4 * MS) -> Readings:
    """Return a column of intervals of 10 ms whose first was omitted; the last has `last` ns."""
    ends = np.arange(1, len(counts) + 1) * 10 * MS
    ends[-1] += last - 10 * MS
    return Readings(ends, np.array(counts) if state else np.cumsum(counts), 1)


def tcp_series() -> Intervals:
    """Four intervals: 10 kB, 20, nothing, and 5 in 4 ms."""
    counts = [10_000, 20_000, 0, 5_000]
    columns = {
        "sent_bytes": readings(counts),
        "retransmits": readings([0, 3, 0, 0]),
        "congestion_window": readings([14_480, 28_960, 7_240, 7_240], state=True),
        "rtt": readings([200_000, 900_000, 250_000, 250_000], state=True),
        "received_bytes": readings(counts, last=6 * MS),
    }
    return Intervals(10 * MS, 10 * MS, columns)


def udp_series() -> Intervals:
    """A late datagram takes a loss back."""
    columns = {
        "sent_packets": readings([10, 10, 10]),
        "received_packets": readings([10, 7, 11]),
        "lost_packets": readings([0, 3, -1]),
    }
    return Intervals(10 * MS, 10 * MS, columns)


def series_case(engine: str = "tcp") -> Case:
    parameters = {"mode": "stream", "datagram": 1000, "series": 0.01, "omit": 0.01}
    key = case_key(engine, "a→b", "a", "b", parameters)
    return Case(key, engine, "a→b", "a", "b", parameters)


def store_series(store: Store, series: Intervals, engine: str = "tcp") -> int:
    """Store a run of one replication with that series."""
    case = series_case(engine)
    run = NewRun("inside", "text", "/home/me/plans", "", False, 7, "ctl", "0.1.0", "ab12", {})
    infos = {engine: {"throughput": MetricInfo("bit/s", "higher")}}
    number = store.begin_run(run, [PlannedCase("t", case, 1)], infos)
    outcome = Outcome(1, 1.0, {"throughput": 8e6}, trace=encode(series))
    store.add(number, "t", case.key, outcome, Launch(1.0))
    store.finish_run(number, "complete")
    return number
