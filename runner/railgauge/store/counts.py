"""What a run came to: how its replications ended, also by test, and its launches' settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields

from sqlalchemy import ColumnElement, Connection, case, func, or_, select, update

from railgauge.plan.cases import Value
from railgauge.store.models import BenchCase, HostFact, LaunchRow, Replication, Run, RunCase
from railgauge.store.read import fetch, find_run, json_texts
from railgauge.store.run_checksums import store_run_checksum

_WARMUPS = "warmups"


@dataclass(frozen=True, slots=True)
class Counts:
    """Replications that are ok, suspect or failed; `warmups` are none of them."""

    ok: int = 0
    suspect: int = 0
    failed: int = 0
    warmups: int = 0


@dataclass(frozen=True, slots=True)
class RunCounts:
    """How many cases and replications a run has, as RunSummary says; columns of the table `run`."""

    case_count: int = 0
    skipped_count: int = 0
    asked_count: int = 0
    measured_count: int = 0
    failed_count: int = 0


COUNT_COLUMNS = tuple(column.name for column in fields(RunCounts))


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """The settings that both sides' engines had, as launches came.

    Name -> its distinct values -> the keys of the cases that had them.
    """

    client: dict[str, dict[Value, dict[str, None]]] = field(default_factory=dict)
    server: dict[str, dict[Value, dict[str, None]]] = field(default_factory=dict)


def replication_counts(connection: Connection, run_id: int) -> Mapping[str, Counts]:
    """Return the counts of each test of the run that has any replication."""
    find_run(connection, run_id)
    status = case((Replication.number < 0, _WARMUPS), else_=Replication.status)
    query = (
        select(RunCase.test, status, func.count())
        .join(RunCase, RunCase.id == Replication.run_case_id)
        .where(RunCase.run_id == run_id)
        .group_by(RunCase.test, status)
    )
    by_test: dict[str, dict[str, int]] = {}
    for test, name, count in connection.execute(query):
        by_test.setdefault(test, {})[name] = count
    return {test: Counts(**counts) for test, counts in by_test.items()}


def count_runs(connection: Connection, runs: Collection[int]) -> dict[int, RunCounts]:
    """Return the counts of each of the runs, by reading its cases and replications."""
    of_runs = RunCase.run_id.in_(runs)
    planned = {
        run: numbers
        for run, *numbers in connection.execute(
            select(
                RunCase.run_id,
                func.count(),
                func.count(RunCase.skipped),
                func.sum(RunCase.replications),
            )
            .where(of_runs)
            .group_by(RunCase.run_id)
        )
    }
    unasked = _unasked(connection, of_runs)
    over = _count_replications(connection, of_runs, Replication.number > 0)
    # Both terms, as SQLite knows the partial index by the first.
    failed = _count_replications(
        connection,
        of_runs,
        Replication.number > 0,
        Replication.status != "ok",
        Replication.status == "failed",
    )
    counts = {}
    for run in runs:
        cases, skipped, replications = planned.get(run, (0, 0, 0))
        failures = failed.get(run, 0)
        counts[run] = RunCounts(
            case_count=cases,
            skipped_count=skipped,
            asked_count=int(replications) - unasked.get(run, 0),
            measured_count=over.get(run, 0) - failures,
            failed_count=failures,
        )
    return counts


def _unasked(connection: Connection, of_runs: ColumnElement[bool]) -> dict[int, int]:
    """Return run -> the replications that skipped cases and those that ended early don't need."""
    replication_count = (
        select(func.count())
        .where(Replication.run_case_id == RunCase.id, Replication.number > 0)
        .scalar_subquery()
    )
    # A case that ended before it had its least was cut short.
    least = case((RunCase.skipped.is_(None), func.coalesce(RunCase.least, 0)), else_=0)
    needed = case((replication_count < least, least), else_=replication_count)
    query = (
        select(RunCase.run_id, func.sum(RunCase.replications - needed))
        .where(of_runs, RunCase.skipped.is_not(None) | RunCase.ended.is_not(None))
        .group_by(RunCase.run_id)
    )
    return {run: int(unasked) for run, unasked in connection.execute(query)}


def _count_replications(connection: Connection, *conditions: ColumnElement[bool]) -> dict[int, int]:
    counted = (
        select(RunCase.run_id, func.count())
        .join(Replication, Replication.run_case_id == RunCase.id)
        .where(*conditions)
        .group_by(RunCase.run_id)
    )
    return dict(connection.execute(counted).all())


def store_counts(connection: Connection, run_id: int) -> None:
    """Store the counts of a run that is over, and the checksum of what describes it."""
    counts = count_runs(connection, [run_id])[run_id]
    over = update(Run).where(Run.id == run_id, Run.state != "unfinished")
    connection.execute(over.values(**asdict(counts)))
    store_run_checksum(connection, run_id)


def forget_counts(connection: Connection, run_id: int) -> None:
    """Have the run counted when it's asked for, as something is to be added to it."""
    is_stored = or_(Run.case_count.is_not(None), Run.checksum.is_not(None))
    stored = update(Run).where(Run.id == run_id, is_stored)
    connection.execute(stored.values(**dict.fromkeys((*COUNT_COLUMNS, "checksum"))))


def miscounted_runs(connection: Connection) -> list[int]:
    """Return the runs whose stored counts aren't those of their cases and replications."""
    columns = (Run.__table__.c[name] for name in COUNT_COLUMNS)
    query = select(Run.id, *columns).where(Run.case_count.is_not(None)).order_by(Run.id)
    return [
        run
        for run, *stored in connection.execute(query).all()
        if RunCounts(*stored) != count_runs(connection, [run])[run]
    ]


def launch_settings(connection: Connection, run_id: int) -> Mapping[str, LaunchSettings]:
    """Return by test what the settings of the run's launches were."""
    query = (
        select(RunCase.test, BenchCase.key, LaunchRow.client, LaunchRow.server)
        .join(RunCase, RunCase.id == LaunchRow.run_case_id)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .where(RunCase.run_id == run_id)
        .order_by(LaunchRow.id)
    )
    # Of many launches of a case most are alike.
    distinct = dict.fromkeys(fetch(connection, query))
    texts = dict.fromkeys(text for *_, client, server in distinct for text in (client, server))
    by_text = dict(zip(texts, json_texts(texts), strict=True))
    by_test: dict[str, LaunchSettings] = {}
    for test, case_key, client, server in distinct:
        settings = by_test.setdefault(test, LaunchSettings())
        for side, text in ((settings.client, client), (settings.server, server)):
            for name, value in by_text[text].items():
                side.setdefault(name, {}).setdefault(value, {})[case_key] = None
    return by_test


def granted_by_case(
    settings: LaunchSettings,
) -> dict[str, dict[str, dict[str, list[Value]]]]:
    """Return by case key, side and name the distinct values that were granted."""
    granted: dict[str, dict[str, dict[str, list[Value]]]] = {}
    for side, of_side in (("client", settings.client), ("server", settings.server)):
        for name, values in of_side.items():
            for value, keys in values.items():
                for key in keys:
                    sides = granted.setdefault(key, {"client": {}, "server": {}})
                    sides[side].setdefault(name, []).append(value)
    return granted


def changed_facts(connection: Connection, run_id: int) -> list[tuple[str, str]]:
    """Return (host, name) of the facts of which the run has more than one value, as a resumed one.

    In the order of hosts and names.
    """
    query = (
        select(HostFact.host, HostFact.name)
        .where(HostFact.run_id == run_id)
        .group_by(HostFact.host, HostFact.name)
        .having(func.count() > 1)
        .order_by(HostFact.host, HostFact.name)
    )
    return [(host, name) for host, name in connection.execute(query)]
