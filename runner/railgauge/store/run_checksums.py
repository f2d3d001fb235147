"""A checksum of what describes each run that is over: what changed in a file later shows.

Of its own row, files, labels, facts, peaks, metrics, its cases with what is asked of them, and its
launches with what they were granted. Replications have checksums of their own (checksums.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Select, func, select, update

from railgauge.base.errors import StoreError
from railgauge.base.number import plural
from railgauge.store.models import (
    BenchCase,
    HostFact,
    HostList,
    LaunchRow,
    Metric,
    PeakRow,
    Run,
    RunCase,
    RunFile,
    RunLabel,
    RunMetric,
)

# Each database has its own id, and `db check` counts anew what a run came to.
_OWN = {"id", "checksum", "case_count", "skipped_count", "asked_count"}
_OWN |= {"measured_count", "failed_count"}
_RUN = [column for column in Run.__table__.c if column.name not in _OWN]
_CASE = (
    *(RunCase.test, BenchCase.key, BenchCase.engine, BenchCase.link),
    *(BenchCase.client_host, BenchCase.server_host, BenchCase.parameters, HostList.key),
    *(RunCase.replications, RunCase.skipped, RunCase.least, RunCase.rule, RunCase.ended),
)
_CASES = (
    select(RunCase.run_id, *_CASE)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .join(HostList, HostList.id == BenchCase.members_id, isouter=True)
)
_HOST_LISTS = (
    select(RunCase.run_id, HostList.key, HostList.hosts)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
    .join(HostList, HostList.id == BenchCase.members_id)
    .distinct()
)
_METRIC = (Metric.engine, Metric.name, Metric.unit, Metric.better)
_METRICS = select(RunMetric.run_id, *_METRIC, RunMetric.smallest_change, RunMetric.kind).join(
    Metric, Metric.id == RunMetric.metric_id
)
_GRANTED = (LaunchRow.started_at, LaunchRow.client, LaunchRow.server, LaunchRow.warnings)
_LAUNCHES = (
    select(RunCase.run_id, RunCase.test, BenchCase.key, *_GRANTED)
    .join(RunCase, RunCase.id == LaunchRow.run_case_id)
    .join(BenchCase, BenchCase.id == RunCase.case_id)
)
# What a row is of -> all of them, each with its run's number first.
_DESCRIPTIONS: dict[str, tuple[Any, Any]] = {
    "run": (select(Run.id, *_RUN), Run.id),
    "file": (select(RunFile.run_id, RunFile.name, RunFile.text), RunFile.run_id),
    "label": (select(RunLabel.run_id, RunLabel.key, RunLabel.value), RunLabel.run_id),
    "fact": (select(*HostFact.__table__.c), HostFact.run_id),
    "peak": (select(*PeakRow.__table__.c), PeakRow.run_id),
    "metric": (_METRICS, RunMetric.run_id),
    "hosts": (_HOST_LISTS, RunCase.run_id),
    "case": (_CASES, RunCase.run_id),
    "launch": (_LAUNCHES, RunCase.run_id),
}
_BITS = 64
_AT_ONCE = 10_000


def store_run_checksum(connection: Connection, run_id: int) -> None:
    """Store the checksum of a run that is over; all that describes it is stored."""
    own = _sums(connection, [run_id])[run_id]
    over = update(Run).where(Run.id == run_id, Run.state != "unfinished")
    connection.execute(over.values(checksum=own))


def forget_run_checksum(connection: Connection, run_id: int) -> None:
    """Have the run without one, as something is added to what describes it."""
    stored = update(Run).where(Run.id == run_id, Run.checksum.is_not(None))
    connection.execute(stored.values(checksum=None))


def changed_runs(connection: Connection) -> list[int]:
    """Return the runs that have a checksum and aren't what was stored, in their order."""
    query = select(Run.id, Run.checksum).where(Run.checksum.is_not(None)).order_by(Run.id)
    stored = {row.id: row.checksum for row in connection.execute(query)}
    sums = _sums(connection, stored) if stored else {}
    return [run for run, own in stored.items() if own != sums[run]]


def refuse_changed_runs(connection: Connection, database: str, most: int | None = None) -> None:
    """Raise StoreError if what describes a run has changed.

    With `most` nothing is looked at where there are more facts, cases or launches.
    """
    if most is not None and _is_larger(connection, most):
        return
    if changed := changed_runs(connection):
        runs = plural(len(changed), "run whose description is", "runs whose descriptions are")
        raise StoreError(
            f"the database {database} has {runs} not what was stored, such as run {changed[0]}: "
            "its texts, facts, labels, cases or settings; `railgauge db check` lists them: restore "
            "a backup, or copy the database without them by `railgauge db copy`"
        )


def _is_larger(connection: Connection, most: int) -> bool:
    for column in (HostFact.run_id, RunCase.id, LaunchRow.id):
        rows = select(column).limit(most + 1).subquery()
        if connection.execute(select(func.count()).select_from(rows)).scalar_one() > most:
            return True
    return False


def _sums(connection: Connection, runs: Collection[int]) -> dict[int, int]:
    """Return run -> 64 bits, signed: the same in each database, in whatever order rows come."""
    sums: dict[int, int] = dict.fromkeys(runs, 0)
    single = next(iter(runs)) if len(runs) == 1 else None
    for name, (query, run_of) in _DESCRIPTIONS.items():
        for run, *row in _rows(
            connection, query if single is None else query.where(run_of == single)
        ):
            digest = blake2b(f"{name} {row}".encode("utf-8", "surrogatepass"), digest_size=8)
            if run in sums:
                sums[run] += int.from_bytes(digest.digest(), "little")
    half = 1 << (_BITS - 1)
    return {run: (total + half) % (1 << _BITS) - half for run, total in sums.items()}


def _rows(connection: Connection, query: Select[*tuple[Any, ...]]) -> Iterator[Any]:
    for part in connection.execute(query, execution_options={"yield_per": _AT_ONCE}).partitions():
        yield from part
