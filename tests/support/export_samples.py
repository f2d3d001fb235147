"""A database whose rows have all that a row of the view can have."""

from __future__ import annotations

from dataclasses import replace

from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    MOMENT,
    RUN,
    case,
    failed,
    measured,
    planned,
    suspect,
    warmup,
)

from railgauge.plan.cases import Case
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo

HOSTILE = (
    "<script>alert(1)</script>",
    "100 % _under_ \\back & 'a' \"q\", b; c",
    "two\r\nlines\nand\ttabs",
    "\u202eright to left\u200f \u2028 line",
    *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1+1", "''", "＝1", "－", " "),
)
_DISK = MetricInfo("B/s", "higher")


def fill_export(store: Store) -> list[int]:
    """Store a run with ok, suspect, failed and warm-up replications, and one of hostile names."""
    first = _plain(store)
    hostile = [_named(name) for name in HOSTILE]
    run = replace(RUN, plan=HOSTILE[0], git_commit="-")
    second = store.begin_run(run, planned(*hostile, test=HOSTILE[1]), METRICS)
    for hostile_case in hostile:
        store.add(second, HOSTILE[1], hostile_case.key, measured(1, 1e9 / 3), Launch(MOMENT))
    store.finish_run(second, "complete")
    return [first, second]


def _plain(store: Store) -> int:
    stream, lone = case(), replace(case(512), engine="disk", link="gw1", server=None, key="f00d")
    plans = [*planned(stream), *planned(lone, test="disk", replications=1)]
    run = store.begin_run(RUN, plans, {**METRICS, "disk": {"throughput": _DISK}})
    launch = replace(LAUNCH)
    for outcome in (warmup(), measured(1), suspect(2), failed(3)):
        store.add(run, "stream", stream.key, outcome, launch)
    alone = replace(measured(1), metrics={"throughput": 5e-324}, started_at=None)
    store.add(run, "disk", lone.key, alone, Launch(MOMENT))
    store.finish_run(run, "complete")
    return run


def _named(name: str) -> Case:
    return replace(case(link=name, folder=name), client=name, server=name)
