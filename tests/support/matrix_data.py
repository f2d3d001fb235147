"""Runs of all pairs of hosts in a store, for the tests of heat maps and slow hosts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from railgauge.plan.cases import Case, Value, case_key
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

RUN = NewRun("fabric", "text", "/home/me/plans", "", False, 7, "ctl", "0.1.0", "ab12", {})


def rates(count: int, noise: float = 0.02, seed: int = 1) -> NDArray[np.float64]:
    """Return the throughput of each ordered pair of `count` hosts around 10 Gbit/s."""
    values: NDArray[np.float64] = 1e10 * np.exp(
        noise * np.random.default_rng(seed).standard_normal((count, count))
    )
    np.fill_diagonal(values, np.nan)
    return values


def store_matrix(
    store: Store,
    values: NDArray[np.float64],
    *,
    hosts: list[str] | None = None,
    replications: int = 1,
    sizes: tuple[int, ...] = (65536,),
    better: str = "higher",
    engine: str = "tcp",
) -> int:
    """Store a run of all pairs; NaN is a failed replication, and the diagonal has no case.

    Replication r of k measures r / ((k + 1) / 2) times the value; latency is 1e5 bit over it.
    Of the engine mpi it is a matrix, otherwise as many links.
    """
    names = hosts or [f"n{i:02}" for i in range(1, len(values) + 1)]
    members = tuple(names) if engine == "mpi" else ()
    planned, outcomes = [], []
    for size in sizes:
        parameters: dict[str, Value] = {"mode": "stream", "message": size}
        if engine == "mpi":
            parameters = {"mode": "matrix", "size": size}
        for i, client in enumerate(names):
            for j, server in enumerate(names):
                if i == j:
                    continue
                link = f"{client}→{server}"
                key = case_key(engine, link, client, server, parameters, members)
                case = Case(key, engine, link, client, server, parameters, members)
                planned.append(PlannedCase("all-pairs", case, replications))
                for number in range(1, replications + 1):
                    rate = values[i, j] * number / ((replications + 1) / 2)
                    outcomes.append((key, _outcome(number, float(rate))))
    metrics = {"throughput": MetricInfo("bit/s", better), "latency": MetricInfo("s", "lower")}
    run = store.begin_run(RUN, planned, {engine: metrics})
    store.add_all(run, "all-pairs", outcomes, Launch(1.0))
    store.finish_run(run, "complete")
    return run


def _outcome(number: int, rate: float) -> Outcome:
    if np.isnan(rate):
        return Outcome(
            number, 1.0, {}, status="failed", error_code="timeout", error_message="no answer"
        )
    return Outcome(number, 1.0, {"throughput": rate, "latency": 1e5 / max(rate, 1.0)})
