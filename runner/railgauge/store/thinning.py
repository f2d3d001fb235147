"""Logs, traces and series of runs long past are deleted; all that was measured stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Select,
    Table,
    and_,
    delete,
    func,
    literal,
    or_,
    select,
    text,
    update,
)

from railgauge.base.errors import InputError
from railgauge.store.checksums import unsaid
from railgauge.store.copy_tables import TABLES, owned
from railgauge.store.log_models import LABEL, LABEL_SET, LOG, PORT_COUNTER_LOG, PORT_LOG
from railgauge.store.models import BaselineRun, LaunchRow, Replication, Run, RunCase
from railgauge.store.store import Store
from railgauge.store.write import chunks

_TRACES = (TABLES["trace"], TABLES["series"])
_PORTS = (PORT_COUNTER_LOG, PORT_LOG)
# In a transaction, with some hundred counters each: other writers wait for its end.
_LOGS = 1_000
# Where a greater share of an SQLite file is free, it is written anew without.
_MOST_FREE = 0.1


@dataclass(frozen=True, slots=True)
class Excess:
    """What may be deleted: of which runs, how many rows by table, and about how many bytes."""

    runs: tuple[int, ...]
    rows: Mapping[str, int]
    size: int


def excess(store: Store, before: str, *, baselines: bool = False) -> Excess:
    """Return what runs that began before that moment (ISO 8601, UTC) have of logs and traces.

    Runs of baselines are left out unless these are to go, too.
    """
    with store.reading() as connection:
        runs = select(Run.id).where(Run.started_at < before)
        if not baselines:
            runs = runs.where(Run.id.not_in(select(BaselineRun.run_id)))
        old = set(connection.scalars(runs))
        thinnable: set[int] = set()
        rows: Counter[str] = Counter()
        size = 0.0
        for table, query in _counts():
            of_run = {run: (count, length) for run, count, length in connection.execute(query)}
            all_rows = sum(count for count, _ in of_run.values())
            of_old = {run: of_run[run] for run in sorted(of_run) if run in old}
            if not of_old:
                continue
            thinnable |= of_old.keys()
            rows[table.name] = sum(count for count, _ in of_old.values())
            if table in _TRACES:
                size += sum(length for _, length in of_old.values())
            else:
                parts = owned("log") if table is LOG else [PORT_COUNTER_LOG]
                stored = sum(_size(connection, part) for part in (table, *parts))
                size += stored * rows[table.name] / all_rows
        return Excess(tuple(sorted(thinnable)), rows, round(size))


def _counts() -> Iterator[tuple[Table, Select[*tuple[Any, ...]]]]:
    """Yield queries of how many rows each run has, and how many bytes of data in them."""
    yield LOG, select(LOG.c.run_id, func.count(), literal(0)).group_by(LOG.c.run_id)
    by_run = select(RunCase.run_id, func.count(), literal(0)).group_by(RunCase.run_id)
    ports = by_run.join(LaunchRow, LaunchRow.run_case_id == RunCase.id)
    yield PORT_LOG, ports.join(PORT_LOG, PORT_LOG.c.launch_id == LaunchRow.id)
    for table in _TRACES:
        length = func.sum(func.length(table.c.data))
        query = select(RunCase.run_id, func.count(), length).group_by(RunCase.run_id)
        yield table, query.join(table, table.c.run_case_id == RunCase.id)


def _size(connection: Connection, table: Table) -> int:
    """Return how many bytes the table and its indexes take; 0 where SQLite can't say."""
    if connection.dialect.name != "sqlite":
        query = text("SELECT pg_total_relation_size(CAST(:name AS regclass))")
        return int(connection.execute(query, {"name": table.name}).scalar_one())
    if not connection.execute(text("SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'")).all():
        return 0
    names = connection.scalars(
        text("SELECT name FROM sqlite_master WHERE tbl_name = :name"), {"name": table.name}
    ).all()
    # Pages, as its sum of bytes is one of 32 bits.
    query = text("SELECT coalesce(sum(pageno), 0) FROM dbstat WHERE name = :name AND aggregate = 1")
    pages = sum(int(connection.execute(query, {"name": name}).scalar_one()) for name in names)
    return pages * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())


def thin(store: Store, runs: Iterable[int]) -> None:
    """Delete the logs, traces and series of these runs; what was deleted stays so if it's stopped.

    InputError, before anything is deleted, while one of the runs is measured.
    """
    run_ids = list(runs)
    for run in run_ids:
        with store.claim(run):
            pass
    for run in run_ids:
        with store.claim(run):
            with store.reading() as connection:
                logs = list(connection.scalars(_logs_of(run)))
            store.transact(partial(_unsay, run=run))
            for log_ids in chunks(logs, _LOGS):
                store.transact(partial(_delete_logs, log_ids=log_ids))
            store.transact(partial(_delete_rest, run=run))
    store.transact(_delete_label_sets)


def _launches_of(run: int) -> Select[*tuple[Any, ...]]:
    return select(LaunchRow.id).join(RunCase).where(RunCase.run_id == run)


def _logs_of(run: int) -> Select[*tuple[Any, ...]]:
    # By both indexes; the run's number alone would read all logs.
    idle = and_(LOG.c.run_id == run, LOG.c.launch_id.is_(None))
    return select(LOG.c.id).where(or_(LOG.c.launch_id.in_(_launches_of(run)), idle))


def _unsay(connection: Connection, run: int) -> None:
    """Have no checksum speak of what goes, before it goes."""
    cases = select(RunCase.id).where(RunCase.run_id == run)
    own = Replication.checksum.op("&")(unsaid(-1))
    connection.execute(
        update(Replication).where(Replication.run_case_id.in_(cases)).values(checksum=own)
    )


def _delete_logs(connection: Connection, log_ids: list[int]) -> None:
    for table in reversed(owned("log")):
        connection.execute(delete(table).where(table.c.log_id.in_(log_ids)))
    connection.execute(delete(LOG).where(LOG.c.id.in_(log_ids)))


def _delete_rest(connection: Connection, run: int) -> None:
    for table in _PORTS:
        connection.execute(delete(table).where(table.c.launch_id.in_(_launches_of(run))))
    cases = select(RunCase.id).where(RunCase.run_id == run)
    for table in (TABLES["loss_run"], *_TRACES):
        connection.execute(delete(table).where(table.c.run_case_id.in_(cases)))


def _delete_label_sets(connection: Connection) -> None:
    """Delete what no log is labelled with any more."""
    # On a server a run might just have looked one up that it stores a log with.
    if connection.dialect.name != "sqlite":
        return
    used = select(LOG.c.label_set_id).where(LOG.c.label_set_id.is_not(None))
    for table, column in ((LABEL, LABEL.c.label_set_id), (LABEL_SET, LABEL_SET.c.id)):
        connection.execute(delete(table).where(column.not_in(used)))


class GivenBack(NamedTuple):
    """By how many bytes a file shrank, and how many are free; `postponed` while a run is stored."""

    smaller: int
    free: int
    postponed: bool = False


def give_back(store: Store) -> GivenBack:
    """Give the space of what was deleted back.

    An SQLite file is written anew where more than a tenth of it is free, which takes as much room
    again as what is left; StoreError on a full disk, which loses nothing. Else, while a run is
    measured, and on a server (which reports no bytes), what is stored next takes the space.
    """
    pages, free, page = _file_pages(store)
    if pages and free <= pages * _MOST_FREE:
        return GivenBack(0, free * page)
    # Nobody stores anything meanwhile, and a run gives up before a large file is written.
    if pages and _is_measuring(store):
        return GivenBack(0, free * page, postponed=True)
    store.vacuum(table.name for table in (LOG, *owned("log"), *_PORTS, *_TRACES))
    left, free, _ = _file_pages(store)
    return GivenBack((pages - left) * page, free * page)


def _is_measuring(store: Store) -> bool:
    with store.reading() as connection:
        runs = list(connection.scalars(select(Run.id).where(Run.state == "unfinished")))
    for run in runs:
        try:
            with store.claim(run):
                pass
        except InputError:
            return True
    return False


def _file_pages(store: Store) -> tuple[int, int, int]:
    """Return how many pages an SQLite file has, how many are free, and their bytes; else zeros."""
    with store.reading() as connection:
        if connection.dialect.name != "sqlite":
            return 0, 0, 0
        query = (
            "SELECT page_count, freelist_count, page_size"
            " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        )
        pages, free, page = connection.exec_driver_sql(query).one()
        return pages, free, page
