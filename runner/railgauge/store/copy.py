"""One database's runs into another: all that belongs to them, nothing twice, nothing changed.

Each transaction leaves the other database whole: a run that is half copied counts as unfinished
there, and the next copy goes on with it. Runs are known by their uid, cases by their keys, launches
by what they say; ids are different in each database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, Table, event, func, insert, select, update
from sqlalchemy.engine import ExceptionContext

from railgauge.base.errors import InputError
from railgauge.store.baselines import store_baseline, stored_baselines, take_turns
from railgauge.store.copy_logs import LogCopier
from railgauge.store.copy_replications import ReplicationCopier, spans
from railgauge.store.copy_tables import (
    ROWS,
    TABLES,
    Translator,
    Values,
    fetch_rows,
    insert_rows,
    insert_with_ids,
    owned,
    same_keys,
    some_of,
)
from railgauge.store.explain import explained
from railgauge.store.models import Replication
from railgauge.store.records import Baseline
from railgauge.store.store import Store
from railgauge.store.write import plain_text

_RUN = TABLES["run"]
_RUN_CASE = TABLES["run_case"]
# What of a run changes while it goes on; all else is as it was when it began.
_STATE = ("state", "ended_at")
_CASE_STATE = ("skipped", "ended")
# What two databases have differently, said of so many.
_TOLD = 100


@dataclass(slots=True)
class Copied:
    """What a copy came to.

    Runs that were `new`, that got `more` than they had, or that were the `same`; `replications`
    copied (warm-ups too), `baselines` that were new. `differences` are sentences on what both
    databases have differently, which stays as it is; of more than a hundred in a run, a number.
    """

    new: int = 0
    more: int = 0
    same: int = 0
    replications: int = 0
    baselines: int = 0
    differences: list[str] = field(default_factory=list)


def copy(source: Store, target: Store, tell: Callable[[str], None] = lambda _: None) -> Copied:
    """Copy all of the source's runs and baselines to the target, and tell of each run.

    What the target has already is compared and stays. InputError when both are one database, or
    when another process is measuring (or copying) one of these runs in the target.
    """
    if source.name == target.name or _same_file(source.name, target.name):
        raise InputError(f"{target.name} can't be copied to itself: name two databases")
    source.check()
    target.check()
    copied = Copied()
    runs: dict[int, int] = {}
    with source.reading() as old, _explained_as(source.name, old):
        translator = Translator(old)
        ended = _ended(target)
        query = select(_RUN).order_by(_RUN.c.started_at, _RUN.c.id)
        for run in old.execute(query).all():
            # Whatever is added to a run that has ended makes it end again, at another moment.
            if (run.uid, run.state, run.ended_at) in ended:
                runs[run.id] = ended[run.uid, run.state, run.ended_at]
                copied.same += 1
                continue
            runs[run.id] = _RunCopier(old, translator, run, target, copied, tell).copy()
            translator.forget()
        for baseline in stored_baselines(old):
            _copy_baseline(target, baseline, runs, copied)
    return copied


@contextmanager
def _explained_as(name: str, connection: Connection) -> Iterator[None]:
    """Let what fails in this database be told as its failure, also while the other is written."""

    def explain(context: ExceptionContext) -> None:
        with explained(name):
            raise context.sqlalchemy_exception or context.original_exception

    event.listen(connection.engine, "handle_error", explain)
    try:
        yield
    finally:
        event.remove(connection.engine, "handle_error", explain)


def _ended(target: Store) -> dict[tuple[str, str, str], int]:
    """Return the ids of the target's runs that aren't going on, by their uid and how they ended."""
    columns = (_RUN.c.id, _RUN.c.uid, _RUN.c.state, _RUN.c.ended_at)
    query = select(*columns).where(_RUN.c.state != "unfinished")
    with target.reading() as new:
        return {(run.uid, run.state, run.ended_at): run.id for run in new.execute(query)}


def _same_file(one: str, other: str) -> bool:
    paths = Path(one), Path(other)
    return all(path.is_file() for path in paths) and paths[0].samefile(paths[1])


class _RunCopier:
    def __init__(
        self,
        old: Connection,
        translator: Translator,
        run: Row[*tuple[Any, ...]],
        target: Store,
        copied: Copied,
        tell: Callable[[str], None],
    ) -> None:
        self._old = old
        self._translator = translator
        self._run = run
        self._target = target
        self._copied = copied
        self._tell = tell
        self._told: list[str] = []

    def copy(self) -> int:
        """Copy the run, or what of it is missing; return its id in the target."""
        with self._target.writing() as new:
            query = select(_RUN.c.id).where(_RUN.c.uid == self._run.uid)
            known = new.execute(query).scalar()
            run_id = self._begin(new) if known is None else int(known)
        with self._target.claim(run_id):
            replications, others = self._copy_parts(run_id, begun=known is None)
        name = f"run {self._run.id} ({self._run.plan}, {self._run.started_at[:19]}Z)"
        copied = self._copied
        copied.replications += replications
        if known is None:
            copied.new += 1
            self._tell(f"{name}: {replications:,} replications, run {run_id} there")
        elif replications or others:
            copied.more += 1
            self._tell(f"{name}: {replications:,} more replications for run {run_id} there")
        else:
            copied.same += 1
        copied.differences += self._told[:_TOLD]
        if len(self._told) > _TOLD:
            copied.differences.append(f"and {len(self._told) - _TOLD:,} more of {name}")
        return run_id

    def _begin(self, new: Connection) -> int:
        """Store the run as one that isn't finished, with its cases in their order."""
        (values,) = self._translator.rows(new, _RUN, [self._run], {})
        values |= {"state": "unfinished", "ended_at": None}
        (run_id,) = insert_with_ids(new, _RUN, [values])
        query = select(_RUN_CASE).where(_RUN_CASE.c.run_id == self._run.id)
        for some in fetch_rows(self._old, query.order_by(_RUN_CASE.c.id)):
            rows = self._translator.rows(new, _RUN_CASE, some, {"run": {self._run.id: run_id}})
            new.execute(insert(_RUN_CASE), rows)
            self._translator.forget()
        return run_id

    def _copy_parts(self, run_id: int, *, begun: bool) -> tuple[int, int]:
        """Copy all but the run's own row; return how many replications, and other rows."""
        runs = {self._run.id: run_id}
        others = 0
        with self._target.writing() as new:
            if not begun:
                self._compare_run(new, run_id)
                self._compare_cases(new, run_id)
            for table in owned("run"):
                others += self._copy_table(new, table, run_id)
        logs = LogCopier(self._old, self._translator, runs, self._told)
        copier = ReplicationCopier(self._old, self._translator, runs, logs, self._told)
        replications = 0
        for span in spans(self._old, self._run.id):
            with self._target.writing() as new:
                replications += copier.copy(new, span)
        with self._target.writing() as new:
            others += logs.copy_idle(new)
            others += self._finish(new, run_id, copier.differing)
        return replications, others

    def _copy_table(self, new: Connection, table: Table, run_id: int) -> int:
        """Copy the rows of a table that belong to the run itself; return how many."""
        runs = {self._run.id: run_id}
        keys = list(table.primary_key)
        count = 0
        for some in fetch_rows(self._old, select(table).where(table.c.run_id.in_(runs))):
            rows = self._translator.rows(new, table, some, {"run": runs})
            for part in some_of(rows):
                by_key = {tuple(row[key.name] for key in keys): row for row in part}
                query = select(table).where(same_keys(keys, list(by_key)))
                for row in new.execute(query):
                    key = tuple(row._mapping[each.name] for each in keys)
                    if dict(row._mapping) != by_key.pop(key):
                        named = " ".join(str(value) for value in key[1:])
                        self._differ(run_id, f"{table.name} {named}")
                insert_rows(new, table, list(by_key.values()))
                count += len(by_key)
        return count

    def _differ(self, run_id: int, what: str) -> None:
        self._told.append(
            f"run {self._run.id} differs from run {run_id} there in {what}, which stays as it is"
        )

    def _compare_run(self, new: Connection, run_id: int) -> None:
        there = new.execute(select(_RUN).where(_RUN.c.id == run_id)).one()
        (values,) = self._translator.rows(new, _RUN, [self._run], {})
        differ = [
            name
            for name, value in values.items()
            if name not in _STATE and value != getattr(there, name)
        ]
        if differ:
            self._differ(run_id, ", ".join(differ))

    def _compare_cases(self, new: Connection, run_id: int) -> None:
        """Add cases that are missing, and tell of those that were asked for otherwise."""
        runs = {self._run.id: run_id}
        query = select(_RUN_CASE).where(_RUN_CASE.c.run_id == self._run.id)
        for some in fetch_rows(self._old, query.order_by(_RUN_CASE.c.id), ROWS // 10):
            rows = self._translator.rows(new, _RUN_CASE, some, {"run": runs})
            there = self._cases_there(new, run_id, rows)
            missing = []
            for row in rows:
                known = there.get((row["test"], row["case_id"]))
                if known is None:
                    missing.append(row)
                elif any(
                    known._mapping[name] != value
                    for name, value in row.items()
                    if name not in _CASE_STATE
                ):
                    self._differ(run_id, f"what is asked of a case of test {row['test']!r}")
            insert_rows(new, _RUN_CASE, missing)
            self._translator.forget()

    def _cases_there(
        self, new: Connection, run_id: int, rows: list[Values]
    ) -> dict[tuple[str, int], Row[*tuple[Any, ...]]]:
        found: dict[tuple[str, int], Row[*tuple[Any, ...]]] = {}
        for some in some_of({row["case_id"] for row in rows}):
            query = select(_RUN_CASE).where(
                _RUN_CASE.c.run_id == run_id, _RUN_CASE.c.case_id.in_(some)
            )
            found |= {(row.test, row.case_id): row for row in new.execute(query)}
        return found

    def _finish(self, new: Connection, run_id: int, differing: Collection[int]) -> int:
        """Store how the run and its cases stand, unless the target is ahead; 1 if that is new.

        Of cases that are `differing` there, what stands there is about other values.
        """
        there = new.execute(select(_RUN).where(_RUN.c.id == run_id)).one()
        if there.state != "unfinished" and (self._run.ended_at or "") <= (there.ended_at or ""):
            return 0
        changed, ahead = 0, False
        query = select(_RUN_CASE).where(_RUN_CASE.c.run_id == self._run.id)
        for some in fetch_rows(self._old, query.order_by(_RUN_CASE.c.id), ROWS // 10):
            rows = self._translator.rows(new, _RUN_CASE, some, {"run": {self._run.id: run_id}})
            known = self._cases_there(new, run_id, rows)
            given = _given(self._old, [row.id for row in some])
            given_there = _given(new, [row.id for row in known.values()])
            for old, row in zip(some, rows, strict=True):
                case = known[row["test"], row["case_id"]]
                if case.id in differing or given_there[case.id] > given[old.id]:
                    ahead = True
                    continue
                # A case that goes on here without having more yet doesn't undo its end there.
                state = {
                    name: row[name]
                    for name in _CASE_STATE
                    if case._mapping[name] != row[name]
                    and (row[name] is not None or self._run.ended_at is not None)
                }
                if state:
                    changed = 1
                    new.execute(update(_RUN_CASE).where(_RUN_CASE.c.id == case.id).values(**state))
            self._translator.forget()
        if ahead and there.state == "unfinished":
            return changed
        state = {name: getattr(self._run, name) for name in _STATE}
        if any(there._mapping[name] != value for name, value in state.items()):
            changed = 1
            new.execute(update(_RUN).where(_RUN.c.id == run_id).values(**state))
        return changed


def _given(connection: Connection, cases: Iterable[int]) -> Counter[int]:
    """Return how many replications each of these run cases has."""
    found: Counter[int] = Counter()
    for some in some_of(cases):
        query = select(Replication.run_case_id, func.count())
        query = query.where(Replication.run_case_id.in_(some), Replication.number > 0)
        found.update(dict(connection.execute(query.group_by(Replication.run_case_id)).all()))
    return found


def _copy_baseline(
    target: Store, baseline: Baseline, runs: Mapping[int, int], copied: Copied
) -> None:
    wanted = sorted(runs[run] for run in baseline.runs)
    with target.writing() as new:
        take_turns(new)
        there = stored_baselines(new, plain_text(baseline.name))
        if there:
            if sorted(there[0].runs) != wanted:
                copied.differences.append(
                    f"the baseline {baseline.name!r} has other runs there, and stays as it is"
                )
            return
        store_baseline(new, replace(baseline, runs=tuple(wanted)))
    copied.baselines += 1
