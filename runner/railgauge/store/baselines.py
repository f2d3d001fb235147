"""Baselines: names for runs that others are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlalchemy import Connection, delete, select

from railgauge.base.errors import InputError
from railgauge.store.models import Base, BaselineRow, BaselineRun, Run
from railgauge.store.read import find_run
from railgauge.store.records import Baseline
from railgauge.store.write import chunks, insert_rows, insert_with_ids, now, plain_text

# What else may stand where a baseline is named: a run's number, a day, a commit, the latest run.
_RESERVED = re.compile(r"latest|[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}|(?=.*[0-9])[0-9a-f]{7,40}")


def stored_baselines(connection: Connection, name: str | None = None) -> list[Baseline]:
    """Return the baselines by name, or that one; their runs by the time they began."""
    query = select(BaselineRow.__table__).order_by(BaselineRow.name)
    runs = (
        select(BaselineRun.baseline_id, BaselineRun.run_id)
        .join(Run, Run.id == BaselineRun.run_id)
        .order_by(Run.started_at, Run.id)
    )
    if name is not None:
        query = query.where(BaselineRow.name == name)
        runs = runs.join(BaselineRow).where(BaselineRow.name == name)
    run_ids: dict[int, list[int]] = {}
    for baseline_id, run_id in connection.execute(runs):
        run_ids.setdefault(baseline_id, []).append(run_id)
    return [
        Baseline(row.name, row.description, row.created_at, tuple(run_ids.get(row.id, ())))
        for row in connection.execute(query)
    ]


def stored_baseline(connection: Connection, name: str) -> Baseline:
    """Return that baseline; InputError with the names that there are."""
    # PostgreSQL refuses to look for a name with a NUL.
    matches = stored_baselines(connection, plain_text(name))
    if not matches:
        raise _missing(connection, name)
    return matches[0]


def insert_baseline(
    connection: Connection,
    name: str,
    runs: Iterable[int],
    description: str = "",
    *,
    replace: bool = False,
) -> None:
    """Store under a name which runs others are compared with, in place of others if `replace`.

    InputError for a name that it can't have or that there is already, or without any run.
    """
    ids = sorted(set(runs))
    check_name(name)
    if not ids:
        raise InputError(f"the baseline {name!r} needs a run: `railgauge list` shows them")
    for run_id in ids:
        find_run(connection, run_id)
    take_turns(connection)
    if stored_baselines(connection, name):
        if not replace:
            raise InputError(
                f"there is a baseline {name!r} already: `railgauge baseline set --replace` puts "
                "these runs in the place of its own"
            )
        delete_baseline(connection, name)
    store_baseline(connection, Baseline(name, plain_text(description), now(), tuple(ids)))


def take_turns(connection: Connection) -> None:
    """Wait until no other transaction changes baselines: two might add the same name."""
    if connection.dialect.name == "postgresql":
        # SQLite has one writer at a time anyway.
        connection.exec_driver_sql("LOCK TABLE baseline IN SHARE ROW EXCLUSIVE MODE")


def store_baseline(connection: Connection, baseline: Baseline) -> None:
    """Store a baseline of a name that there is none of yet."""
    row = {
        "name": plain_text(baseline.name),
        "description": plain_text(baseline.description),
        "created_at": baseline.created_at,
    }
    table = Base.metadata.tables[BaselineRow.__tablename__]
    (baseline_id,) = insert_with_ids(connection, table, [row])
    for run_ids in chunks(baseline.runs):
        rows = [{"baseline_id": baseline_id, "run_id": run_id} for run_id in run_ids]
        insert_rows(connection, BaselineRun, rows)


def delete_baseline(connection: Connection, name: str) -> None:
    """Forget the baseline, not its runs; InputError if there is none of that name."""
    query = select(BaselineRow.id).where(BaselineRow.name == plain_text(name))
    baseline_id = connection.execute(query).scalar()
    if baseline_id is None:
        raise _missing(connection, name)
    connection.execute(delete(BaselineRun).where(BaselineRun.baseline_id == baseline_id))
    connection.execute(delete(BaselineRow).where(BaselineRow.id == baseline_id))


def check_name(name: str) -> None:
    """InputError for what can't be a baseline's name."""
    if not name or name != name.strip() or not name.isprintable():
        raise InputError(
            f"{name!r} can't be a baseline's name: write some letters, without spaces around them"
        )
    if _RESERVED.fullmatch(name):
        raise InputError(
            f"{name!r} can't be a baseline's name, as it means a run, the runs of a day or of a "
            "commit, or the latest run: write another name"
        )


def _missing(connection: Connection, name: str) -> InputError:
    names = list(connection.execute(select(BaselineRow.name).order_by(BaselineRow.name)).scalars())
    existing = f"there are {', '.join(names[:20])}" if names else "there is none at all"
    return InputError(
        f"there is no baseline {name!r}: {existing}; `railgauge baseline set NAME RUN…` makes one"
    )
