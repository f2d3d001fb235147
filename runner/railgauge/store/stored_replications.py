"""A case's replications one by one, and which cases have system logs."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, Connection, and_, bindparam, case, exists, func, select

from railgauge.engine.outcome import Status
from railgauge.plan.cases import Value
from railgauge.store.log_models import LOG
from railgauge.store.models import (
    BenchCase,
    LaunchRow,
    Measurement,
    Metric,
    Replication,
    Run,
    RunCase,
)
from railgauge.store.read import fetch, find_run

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


@dataclass(frozen=True, slots=True)
class StoredReplication:
    """One replication; `metrics` are values and units, as its engine lists them.

    `started_at` is ISO 8601, UTC, empty where nobody knows; `client` and `server` are the settings
    that both sides had in the launch that measured it.
    """

    number: int
    status: Status
    error_code: str
    metrics: Mapping[str, tuple[float, str]]
    started_at: str
    client: Mapping[str, Value]
    server: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class GrantedSettings:
    """What both ends had in the launch that measured a replication; those of a launch share it."""

    number: int
    status: Status
    client: Mapping[str, Value]
    server: Mapping[str, Value]

    def of(self, side: str) -> Mapping[str, Value]:
        """Return what the client or the server had."""
        return self.client if side == "client" else self.server


def granted_settings(
    connection: Connection, run_id: int
) -> dict[tuple[str, str], list[GrantedSettings]]:
    """Return by test and case key what was granted in each replication; warm-ups are left out."""
    find_run(connection, run_id)
    launches = {
        number: (json.loads(client), json.loads(server))
        for number, client, server in connection.execute(
            select(LaunchRow.id, LaunchRow.client, LaunchRow.server)
            .join(RunCase, RunCase.id == LaunchRow.run_case_id)
            .where(RunCase.run_id == run_id)
        )
    }
    rows = connection.execute(
        select(
            RunCase.test,
            BenchCase.key,
            Replication.number,
            Replication.status,
            Replication.launch_id,
        )
        .join(RunCase, RunCase.id == Replication.run_case_id)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .where(RunCase.run_id == run_id, Replication.number > 0)
        .order_by(RunCase.id, Replication.number)
    )
    granted: dict[tuple[str, str], list[GrantedSettings]] = {}
    for test, key, number, status, launch in rows:
        client, server = launches.get(launch or 0, ({}, {}))
        entry = GrantedSettings(number, cast(Status, status), client, server)
        granted.setdefault((test, key), []).append(entry)
    return granted


def case_replications(
    connection: Connection, run_id: int, test: str, case_key: str
) -> list[StoredReplication]:
    """Return the replications of a test's case in order; warm-ups are left out."""
    find_run(connection, run_id)
    this = (RunCase.run_id == run_id, RunCase.test == test, BenchCase.key == case_key)
    rows = connection.execute(
        select(
            Replication.number,
            Replication.status,
            Replication.error_code,
            Replication.started_at,
            LaunchRow.client,
            LaunchRow.server,
        )
        .join(RunCase, RunCase.id == Replication.run_case_id)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .outerjoin(LaunchRow, LaunchRow.id == Replication.launch_id)
        .where(*this, Replication.number > 0)
        .order_by(Replication.number)
    ).all()
    values = connection.execute(
        select(Measurement.number, Metric.name, Measurement.value, Metric.unit)
        .join(RunCase, RunCase.id == Measurement.run_case_id)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .join(Metric, Metric.id == Measurement.metric_id)
        .where(*this, Measurement.number > 0)
        .order_by(Measurement.number, Metric.id)
    )
    metrics: dict[int, dict[str, tuple[float, str]]] = {}
    for number, name, value, unit in values:
        metrics.setdefault(number, {})[name] = value, unit
    return [
        StoredReplication(
            row.number,
            cast(Status, row.status),
            row.error_code or "",
            metrics.get(row.number, {}),
            row.started_at or "",
            json.loads(row.client or "{}"),
            json.loads(row.server or "{}"),
        )
        for row in rows
    ]


def launch_times(connection: Connection, run_id: int) -> dict[tuple[str, str], tuple[str, str]]:
    """Return, by test and case key, when the launches of its first and last value began.

    ISO 8601, UTC, by the controller's clock, unlike the moments of replications, which are by their
    hosts' own. Failed replications have no value.
    """
    began = LaunchRow.started_at
    rows = connection.execute(
        select(RunCase.test, BenchCase.key, func.min(began), func.max(began))
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .join(Replication, Replication.run_case_id == RunCase.id)
        .join(LaunchRow, LaunchRow.id == Replication.launch_id)
        .where(RunCase.run_id == run_id, Replication.number > 0, Replication.status != "failed")
        .group_by(RunCase.id, RunCase.test, BenchCase.key)
    )
    return {(test, key): (first, last) for test, key, first, last in rows}


def launch_seconds(
    connection: Connection, run_id: int, waiting: Collection[str] = ()
) -> dict[tuple[str, str], list[float]]:
    """Return, by test and case key, the seconds from each launch to the next one of the run.

    For each replication of the launch its part, of those launches alone in which all went well.
    What was imported has none, nor has the last launch, nor one that a test which is `waiting` for
    its time follows, nor the last one before the run was resumed: that shows by the logs of its
    hosts at rest, and not where there are no system logs.
    """
    rows = connection.execute(
        select(
            LaunchRow.started_at,
            RunCase.test,
            BenchCase.key,
            func.count(Replication.number.distinct()),
            func.count(case((Replication.status == "failed", 1))),
        )
        .join(RunCase, RunCase.id == LaunchRow.run_case_id)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .join(Run, Run.id == RunCase.run_id)
        .join(Replication, Replication.launch_id == LaunchRow.id)
        .where(RunCase.run_id == run_id, Run.origin == "measured", Replication.number > 0)
        .group_by(LaunchRow.id, LaunchRow.started_at, RunCase.test, BenchCase.key)
        # Not by their times: the clock may have been set back.
        .order_by(LaunchRow.id)
    ).all()
    idle = select(LOG.c.started_at).where(
        LOG.c.run_id == run_id, LOG.c.launch_id.is_(None), LOG.c.phase == "before"
    )
    starts = sorted(connection.scalars(idle))
    seconds: dict[tuple[str, str], list[float]] = {}
    for (began, test, key, count, failed), following in pairwise(rows):
        passed = datetime.fromisoformat(following[0]) - datetime.fromisoformat(began)
        is_paused = bisect(starts, began) != bisect(starts, following[0])
        if not failed and not is_paused and following[1] not in waiting:
            seconds.setdefault((test, key), []).append(passed.total_seconds() / count)
    return seconds


def logged_cases(
    connection: Connection, run_id: int, most: int, *, suspect: bool = False
) -> list[tuple[str, str]]:
    """Return (test, case key) of the cases that have system logs, at most `most` of them.

    Those with suspect replications come first, or alone (`suspect`), each kind in the plan's order.
    """
    find_run(connection, run_id)
    any_log = (
        select(LOG.c.id)
        .join(LaunchRow, LaunchRow.id == LOG.c.launch_id)
        .join(RunCase, RunCase.id == LaunchRow.run_case_id)
        .where(RunCase.run_id == run_id)
    )
    if connection.execute(any_log.limit(1)).first() is None:
        # Else every replication would be asked for its log.
        return []
    # Both terms, as SQLite knows the partial index by the first.
    is_suspect = (Replication.status != "ok", Replication.status == "suspect")
    cases: dict[int, tuple[str, str]] = {}
    for conditions in (is_suspect,) if suspect else (is_suspect, ()):
        if len(cases) < most:
            for number, test, key in _logged(connection, run_id, most, conditions):
                cases.setdefault(number, (test, key))
    return list(cases.values())[:most]


def _logged(
    connection: Connection, run_id: int, most: int, conditions: Sequence[ColumnElement[bool]]
) -> list[tuple[int, str, str]]:
    logged = exists().where(
        Replication.run_case_id == RunCase.id,
        Replication.number > 0,
        LOG.c.launch_id == Replication.launch_id,
        LOG.c.number == Replication.number,
        *conditions,
    )
    rows = connection.execute(
        select(RunCase.id, RunCase.test, BenchCase.key)
        .join(BenchCase)
        .where(RunCase.run_id == run_id, logged)
        .order_by(RunCase.id)
        .limit(most)
    )
    return [(row[0], row[1], row[2]) for row in rows]


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
