"""Runs of a grid of datagrams and socket buffers in a store, for the tests of figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from railgauge.base.systemlog import Suspicion
from railgauge.plan.cases import Case, case_key
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

# 2026-11-20 00:00:00 UTC
MIDNIGHT = 1795132800.0
_METRICS = {
    "throughput": MetricInfo("bit/s", "higher"),
    "lost_packets": MetricInfo("", "lower"),
    "loss_rate": MetricInfo("1", "lower"),
}
# What stands for a replication that failed, and what marks one as suspect.
FAILED = None
Values = Sequence[float | None]


def store_values(
    store: Store,
    values: Mapping[Any, Values],
    *,
    metric: str = "throughput",
    suspect: Callable[[int], bool] = lambda number: False,
    start: float = MIDNIGHT,
    measured: bool = True,
    total: int | None = None,
) -> int:
    """Store a run of a case for each (link, datagram[, sockbuf]) with a replication a value.

    A replication takes a second; those whose number is `suspect` are. FAILED is a failed one.
    Without `measured` there are the cases only. Unless `total` is given, there are as many
    replications as values.
    """
    cases = {}
    for link, datagram, *rest in values:
        parameters = {"mode": "stream", "datagram": datagram, "sockbuf": (rest or [102400])[0]}
        client, server = link.split("→")
        key = case_key("udp", link, client, server, parameters)
        cases[(link, datagram, *rest)] = Case(key, "udp", link, client, server, parameters)
    planned = [PlannedCase("stream", case, total or len(values[at])) for at, case in cases.items()]
    new = NewRun("fabric", "text", "/home/me/plans", "", False, 7, "ctl", "0.1.0", "ab12", {})
    run = store.begin_run(new, planned, {"udp": _METRICS})
    now = start
    for at, case in cases.items():
        outcomes = []
        for number, value in enumerate(values[at], 1):
            now += 1
            outcomes.append((case.key, _outcome(number, now, metric, value, suspect(number))))
        if measured:
            store.add_all(run, "stream", outcomes, Launch(start))
    store.finish_run(run, "complete")
    return run


def _outcome(number: int, now: float, metric: str, value: float | None, suspect: bool) -> Outcome:
    if value is None:
        return Outcome(number, now, {}, status="failed", error_code="x", error_message="x")
    if suspect:
        suspicions = (Suspicion("swapped", "a", "it swapped"),)
        return Outcome(number, now, {metric: value}, status="suspect", suspicions=suspicions)
    return Outcome(number, now, {metric: value})
