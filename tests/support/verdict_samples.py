"""Runs in a store whose cases are slower or not, for the tests of what compares them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from tests.support.store_samples import LAUNCH, RUN, failed, measured

from railgauge.compare.compare import compare
from railgauge.compare.reading import read
from railgauge.compare.select import Selection
from railgauge.compare.verdict import Verdict, find_reasons
from railgauge.plan.cases import Case, case_key
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, Outcome, PlannedCase


def lane(number: int = 1, link: str = "gw→hh", client: str = "gw1", server: str = "hh1") -> Case:
    parameters = {"mode": "stream", "lane": number}
    key = case_key("udp", link, client, server, parameters)
    return Case(key, "udp", link, client, server, parameters)


def noisy(level: float = 1e9, n: int = 10, *, seed: int = 1, noise: float = 0.002) -> list[float]:
    draw = random.Random(f"{level}/{seed}")
    return [level * (1 + noise * draw.gauss(0, 1)) for _ in range(n)]


def add_run(
    database: Store | Path | str,
    values: Mapping[int, Sequence[float] | Sequence[Outcome]],
    *,
    new: NewRun = RUN,
    test: str = "stream",
    facts: Mapping[str, Mapping[str, str]] | None = None,
    fails: int = 0,
    smallest: float | None = None,
    skipped: str = "",
    link: str = "gw→hh",
    unit: str = "bit/s",
    better: str = "higher",
) -> int:
    """Store a run with these throughputs, or outcomes, of these lanes.

    Of one without any, `fails` replications failed.
    """
    info = MetricInfo(unit, better, smallest=smallest)
    opened = (
        nullcontext(database)
        if isinstance(database, Store)
        # What only tests have written needs no check each time.
        else Store.open(str(database), check=False)
    )
    with opened as store:
        planned = [
            PlannedCase(test, lane(number, link), 10, "" if lane_values else skipped)
            for number, lane_values in values.items()
        ]
        run = store.begin_run(new, planned, {"udp": {"throughput": info}})
        with store.together():
            for case, lane_values in zip(
                [planned_case.case for planned_case in planned], values.values(), strict=True
            ):
                for number, value in enumerate(lane_values, 1):
                    outcome = value if isinstance(value, Outcome) else measured(number, value)
                    metrics = {"throughput": outcome.metrics["throughput"]}
                    store.add(run, test, case.key, replace(outcome, metrics=metrics), LAUNCH)
                if not lane_values:
                    for number in range(1, fails + 1):
                        store.add(run, test, case.key, failed(number), LAUNCH)
        for host, host_facts in (facts or {}).items():
            store.add_facts(run, host, host_facts)
        store.finish_run(run, "complete")
    return run


def verdict(
    database: Path,
    first: Sequence[int] = (1,),
    second: Sequence[int] = (2,),
    plan: str = "fabric",
    problems: Sequence[str] = (),
) -> Verdict:
    """Compare runs as the commands do."""
    with Store.open(str(database)) as store:
        sides = [
            Selection(f"run {', '.join(map(str, runs))}", tuple(runs)) for runs in (first, second)
        ]
        reading = read(store, [*first, *second])
        compared = compare(reading, sides[0], sides[1])
        reasons = find_reasons(store, compared, compared.of("slower"))
    return Verdict(compared, plan, problems=tuple(problems), reasons=reasons)
