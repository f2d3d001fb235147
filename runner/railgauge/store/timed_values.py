"""One metric of every replication of a few cases, with its status and when it was measured."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, cast

from sqlalchemy import Connection, and_, bindparam, select

from railgauge.engine.outcome import Status
from railgauge.store.models import BenchCase, Measurement, Metric, Replication, RunCase
from railgauge.store.read import fetch

# Made once, as in read.py.
_MOMENTS = (
    select(
        RunCase.test,
        BenchCase.key,
        Replication.number,
        Replication.status,
        Replication.started_at,
        Measurement.value,
    )
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .join(Replication, Replication.run_case_id == RunCase.id)
    .outerjoin(
        Measurement,
        and_(
            Measurement.run_case_id == Replication.run_case_id,
            Measurement.number == Replication.number,
            Measurement.metric_id.in_(select(Metric.id).where(Metric.name == bindparam("metric"))),
        ),
    )
    .where(
        RunCase.run_id == bindparam("run_id"),
        BenchCase.key.in_(bindparam("keys", expanding=True)),
        Replication.number > 0,
    )
    .order_by(RunCase.id, Replication.number)
)


class Moment(NamedTuple):
    """A replication: when it began (ISO 8601, UTC; empty where nobody knows), and its value.

    Failed ones have None, and so have those that lack the metric.
    """

    number: int
    status: Status
    started_at: str
    value: float | None


def case_moments(
    connection: Connection, run_id: int, case_keys: Collection[str], metric: str
) -> dict[tuple[str, str], list[Moment]]:
    """Return the replications of a run's cases by test and case key, in order, no warm-ups.

    Values are in the metric's base unit.
    """
    by_case: dict[tuple[str, str], list[Moment]] = {}
    rows = fetch(connection, _MOMENTS, run_id=run_id, keys=sorted(case_keys), metric=metric)
    for test, key, number, status, began, value in rows:
        mark = Moment(number, cast(Status, status), began or "", value)
        by_case.setdefault((test, key), []).append(mark)
    return by_case
