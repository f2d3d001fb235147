"""Reads public views and series run by run, a stretch of rows at a time, however many there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, collate, column, select, table

from railgauge.base.intervals import STATES, UNITS
from railgauge.store.read import find_run
from railgauge.store.traces import load_intervals, stored_intervals

# The view's columns in its order, which docs/database.md promises.
COLUMNS = (
    "run",
    "plan",
    "git_commit",
    "started_at",
    "test",
    "engine",
    "link",
    "client_host",
    "server_host",
    "case_key",
    "parameters",
    "replication",
    "metric",
    "value",
    "unit",
    "status",
)
# The first columns of the other views.
_CASE = ("run", "plan", "test", "engine", "link", "case_key")


@dataclass(frozen=True, slots=True)
class PublicView:
    """A view that is exported: its columns in its order, and those by which rows are sorted.

    `series` is none of the database, whose rows hold whole series.
    """

    name: str
    columns: Sequence[str]
    order: Sequence[str]


VIEWS: Mapping[str, PublicView] = {
    view.name: view
    for view in (
        PublicView("measurement", COLUMNS, ("test", "case_key", "metric", "replication")),
        PublicView(
            "granted_setting",
            (*_CASE, "launch", "started_at", "side", "host", "setting", "value", "unit", "text"),
            ("test", "case_key", "launch", "side", "setting"),
        ),
        PublicView(
            "series",
            (
                *_CASE,
                "replication",
                "quantity",
                "interval",
                "omitted",
                "begin",
                "end",
                "value",
                "unit",
            ),
            ("test", "case_key", "replication", "quantity", "interval"),
        ),
    )
}
MEASUREMENT = VIEWS["measurement"]
SERIES = VIEWS["series"]
# Columns of whole numbers, and of others.
INTEGERS = ("run", "replication", "launch", "interval", "omitted")
REALS = ("value", "begin", "end")
# A row in the columns' order, with None where the view has NULL.
Row = Sequence[Any]
# Fewer cost a call each, more cost memory: 16 columns of a row are some 1.5 KB.
_STRETCH = 5_000


def stretches(
    connection: Connection, runs: Iterable[int], view: PublicView = MEASUREMENT
) -> Iterator[Sequence[Row]]:
    """Yield rows of one run at a time, in the order of `runs`; a stretch never holds two runs'.

    Within a run by the view's order (a failed replication, which has no metric, comes last), texts
    by their code points: the same rows in any database come in the same order.
    InputError for a run that isn't there, before the first row.
    """
    run_ids = [find_run(connection, run).id for run in runs]
    if view is SERIES:
        for run in run_ids:
            yield from _series_of(connection, run)
        return
    for run in run_ids:
        query = _rows_of(connection, run, view)
        # PostgreSQL would else send all of a run's rows at once. The query's own option: a
        # connection would keep it, and `fetch` of what is streamed gives no rows.
        streamed = query.execution_options(stream_results=True, max_row_buffer=_STRETCH)
        yield from connection.execute(streamed).partitions(_STRETCH)


def _series_of(connection: Connection, run: int) -> Iterator[Sequence[Row]]:
    """Yield a row for each quantity and interval: what was counted in it, a state as it ended."""
    all_series = stored_intervals(connection, [run])
    all_series.sort(key=lambda stored: (stored.test, stored.case.key, stored.replication))
    for stored in all_series:
        case, number = stored.case, stored.replication
        start = (run, stored.plan, stored.test, case.engine, case.link, case.key, number)
        for quantity, readings in sorted(load_intervals(connection, stored).columns.items()):
            unit, scale = UNITS.get(quantity, ("", 1))
            values = (readings.readings if quantity in STATES else readings.counts) * scale
            ends = readings.ends * 1e-9
            rows = [
                (*start, quantity, place + 1, int(place < readings.omitted), *numbers, unit)
                for place, numbers in enumerate(
                    zip([0.0, *ends[:-1].tolist()], ends.tolist(), values.tolist(), strict=True)
                )
            ]
            for place in range(0, len(rows), _STRETCH):
                yield rows[place : place + _STRETCH]


def _rows_of(connection: Connection, run: int, public: PublicView) -> Select[tuple[Any, ...]]:
    view = table(public.name, *map(column, public.columns))

    def sorted_by(name: str) -> ColumnElement[Any]:
        if name in (*INTEGERS, *REALS):
            return view.c[name]
        # A site's PostgreSQL sorts by its language's rules; SQLite by code points already.
        plain = connection.dialect.name != "postgresql"
        text = view.c[name] if plain else collate(view.c[name], "C")
        return text.nulls_last() if name == "metric" else text

    return select(view).where(view.c.run == run).order_by(*map(sorted_by, public.order))
