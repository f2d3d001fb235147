"""One database's runs into another: all that belongs to them, nothing twice, nothing changed.

Each transaction leaves the other database whole: a run that is half copied counts as unfinished
there, and the next copy goes on with it. Runs are known by their uid, cases by their keys, launches
by what they say; ids are different in each database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, event, func, select, update
from sqlalchemy.engine import ExceptionContext

from railgauge.base.errors import InputError
from railgauge.base.number import plural
from railgauge.store.baselines import store_baseline, stored_baselines, take_turns
from railgauge.store.certificates import stored_certificates
from railgauge.store.checksums import check_checksums
from railgauge.store.copy_logs import LogCopier
from railgauge.store.copy_replications import ReplicationCopier
from railgauge.store.copy_tables import (
    KEYS,
    ROWS,
    TABLES,
    DatabaseRow,
    Translator,
    Values,
    fetch_rows,
    owned,
    same_keys,
    spans,
)
from railgauge.store.counts import COUNT_COLUMNS, forget_counts, store_counts
from railgauge.store.explain import explained
from railgauge.store.models import Replication
from railgauge.store.records import Baseline
from railgauge.store.run_checksums import changed_runs
from railgauge.store.store import Store
from railgauge.store.write import chunks, insert_rows, insert_with_ids, plain_text

_RUN = TABLES["run"]
_RUN_CASE = TABLES["run_case"]
_LAUNCH = TABLES["launch"]
# What of a run changes while it goes on; all else is as it was when it began.
_STATE = ("state", "ended_at")
_UNFINISHED = {"state": "unfinished", "ended_at": None, **dict.fromkeys(COUNT_COLUMNS)}
_CASE_STATE = ("skipped", "ended")
# Differences between two databases that are listed of each run.
_MOST_DIFFERENCES = 100


@dataclass(slots=True)
class Copied:
    """What a copy came to.

    Runs that were `new`, that got `more` than they had, or that were the `same`; `replications`
    copied (warm-ups too), `baselines` and `certificates` that were new. `differences` are sentences
    on what both databases have differently, which stays as it is; of more than a hundred in a run,
    a number.
    """

    new: int = 0
    more: int = 0
    same: int = 0
    replications: int = 0
    baselines: int = 0
    certificates: int = 0
    differences: list[str] = field(default_factory=list)


def copy_runs(source: Store, target: Store, run_ids: Collection[int]) -> None:
    """Copy these runs, and all certificates, to an empty database, where they keep their ids."""
    with source.reading() as old, _explained_as(source.name, old):
        translator = Translator(old)
        query = select(_RUN).where(_RUN.c.id.in_(run_ids)).order_by(_RUN.c.id)
        for run in old.execute(query).all():
            _RunCopier(old, translator, run, target, Copied(), _nobody, keep_id=True).copy()
            translator.forget()
        for certificate in stored_certificates(old):
            target.add_certificate(certificate)


def _nobody(_: str) -> None:
    """Leave it unsaid."""


def copy(source: Store, target: Store, say: Callable[[str], None] = _nobody) -> Copied:
    """Copy all of the source's runs, baselines and certificates to the target.

    `say` gets a sentence on each run that was added to. What the target has already is compared and
    stays; another copy to it is waited for. InputError when both are one database, or when another
    process is measuring one of these runs there.
    """
    paths = Path(source.name), Path(target.name)
    if source.name == target.name or (
        all(path.is_file() for path in paths) and paths[0].samefile(paths[1])
    ):
        raise InputError(f"{target.name} can't be copied to itself: name two databases")
    source.check(checksums=False)
    target.check()
    with target.in_turn():
        return _copy_all(source, target, say)


def _copy_all(source: Store, target: Store, say: Callable[[str], None]) -> Copied:
    copied = Copied()
    runs: dict[int, int] = {}
    with source.reading() as old, _explained_as(source.name, old):
        translator = Translator(old)
        changed = check_checksums(old).changed
        copied.differences += [f"{row} isn't what was stored, and is left out" for row in changed]
        left_out = {(row.table, row.run_case, row.number) for row in changed}
        other_runs = set(changed_runs(old))
        ended = _ended(target)
        query = select(_RUN).order_by(_RUN.c.started_at, _RUN.c.id)
        for run in old.execute(query).all():
            if run.id in other_runs:
                copied.differences.append(f"run {run.id} isn't what was stored, and is left out")
                continue
            # Whatever is added to a run that has ended makes it end again, at another moment.
            if (end := _end(run)) in ended:
                runs[run.id] = ended[end]
                copied.same += 1
                continue
            runs[run.id] = _RunCopier(old, translator, run, target, copied, say, left_out).copy()
            translator.forget()
        for baseline in stored_baselines(old):
            if other_runs.isdisjoint(baseline.runs):
                _copy_baseline(target, baseline, runs, copied)
            else:
                copied.differences.append(
                    f"the baseline {baseline.name!r} has a run that is left out, and so is it"
                )
        for certificate in stored_certificates(old):
            copied.certificates += target.add_certificate(certificate)
    return copied


@contextmanager
def _explained_as(name: str, connection: Connection) -> Iterator[None]:
    """Report what fails in this database as its failure, also while the other is written."""

    def explain(context: ExceptionContext) -> None:
        with explained(name):
            raise context.sqlalchemy_exception or context.original_exception

    event.listen(connection.engine, "handle_error", explain)
    try:
        yield
    finally:
        event.remove(connection.engine, "handle_error", explain)


def _ended(target: Store) -> dict[tuple[Any, ...], int]:
    """Return the ids of the target's runs that aren't going on, by their uid and how they ended."""
    query = select(_RUN).where(_RUN.c.state != "unfinished")
    with target.reading() as new:
        return {_end(run): run.id for run in new.execute(query)}


def _end(run: DatabaseRow) -> tuple[Any, ...]:
    """Return how a run ended, with its counts: a copy that left something out has others."""
    return tuple(run._mapping[name] for name in ("uid", *_UNFINISHED))


@dataclass(slots=True)
class _RunCopier:
    """Copies one run of the database that `old` is connected to."""

    old: Connection
    translator: Translator
    run: DatabaseRow
    target: Store
    copied: Copied
    say: Callable[[str], None]
    left_out: Collection[tuple[str, int, int]] = ()
    differences: list[str] = field(default_factory=list)
    keep_id: bool = False

    def copy(self) -> int:
        """Copy the run, or what of it is missing; return its id in the target."""
        with self.target.writing() as new:
            query = select(_RUN.c.id).where(_RUN.c.uid == self.run.uid)
            target_id = new.execute(query).scalar()
            run_id = self._begin(new) if target_id is None else int(target_id)
        with self.target.claim(run_id):
            replications, other_rows = self._copy_parts(run_id, begun=target_id is None)
        name = f"run {self.run.id} ({self.run.plan}, {self.run.started_at[:19]}Z)"
        copied = self.copied
        copied.replications += replications
        if target_id is None:
            copied.new += 1
            self.say(f"{name}: {plural(replications, 'replication')}, run {run_id} there")
        elif replications or other_rows:
            copied.more += 1
            self.say(f"{name}: {replications:,} more replications for run {run_id} there")
        else:
            copied.same += 1
        copied.differences += self.differences[:_MOST_DIFFERENCES]
        if len(self.differences) > _MOST_DIFFERENCES:
            copied.differences.append(
                f"and {len(self.differences) - _MOST_DIFFERENCES:,} more of {name}"
            )
        return run_id

    def _begin(self, new: Connection) -> int:
        """Store the run as one that isn't finished, with its cases in their order."""
        (values,) = self.translator.rows(new, _RUN, [self.run], {})
        values |= _UNFINISHED | {"checksum": None}
        if self.keep_id:
            values["id"] = self.run.id
        (run_id,) = insert_with_ids(new, _RUN, [values])
        self._compare_cases(new, run_id)
        return run_id

    def _cases(
        self, new: Connection, run_id: int
    ) -> Iterator[tuple[Sequence[DatabaseRow], list[Values]]]:
        """Yield the run's cases in their order, many at once: as they are, and as the target's."""
        query = select(_RUN_CASE).where(_RUN_CASE.c.run_id == self.run.id)
        for chunk in fetch_rows(self.old, query.order_by(_RUN_CASE.c.id), ROWS // 10):
            ids = {"run": {self.run.id: run_id}}
            yield chunk, self.translator.rows(new, _RUN_CASE, chunk, ids)
            self.translator.forget()

    def _copy_parts(self, run_id: int, *, begun: bool) -> tuple[int, int]:
        """Copy all but the run's own row; return how many replications, and other rows."""
        runs = {self.run.id: run_id}
        other_rows = 0
        with self.target.writing() as new:
            if not begun:
                forget_counts(new, run_id)
                self._compare_run(new, run_id)
                self._compare_cases(new, run_id)
            for table in owned("run"):
                other_rows += self._copy_table(new, table, run_id)
        logs = LogCopier(self.old, self.translator, runs, self.differences)
        copier = ReplicationCopier(
            self.old, self.translator, runs, logs, self.differences, self.left_out
        )
        for launches in chunks(self._missing_launches(copier, begun=begun), ROWS // 10):
            with self.target.writing() as new:
                copier.copy_launches(new, launches)
        replications = 0
        for span in spans(self.old, self.run.id):
            with self.target.writing() as new:
                replications += copier.copy(new, span)
        with self.target.writing() as new:
            other_rows += logs.copy_idle(new)
            other_rows += self._finish(new, run_id, copier.differing, grew=replications > 0)
            store_counts(new, run_id)
        return replications, other_rows

    def _missing_launches(self, copier: ReplicationCopier, *, begun: bool) -> list[int]:
        """Return all launches in their order but those of which the target has each replication.

        It may have measured these itself: then what the launch was granted is of nothing there.
        Of a run that it has just `begun` it has none.
        """
        complete: set[int] = set()
        incomplete: set[int] = set()
        for span in () if begun else spans(self.old, self.run.id):
            with self.target.reading() as new:
                for launch, is_there in copier.launched(new, span):
                    (complete if is_there else incomplete).add(launch)
        query = select(_LAUNCH.c.id).join(_RUN_CASE).where(_RUN_CASE.c.run_id == self.run.id)
        launches = self.old.scalars(query.order_by(_LAUNCH.c.id))
        return [launch for launch in launches if launch in incomplete or launch not in complete]

    def _copy_table(self, new: Connection, table: Table, run_id: int) -> int:
        """Copy the rows of a table that belong to the run itself; return how many."""
        runs = {self.run.id: run_id}
        columns = list(table.primary_key)
        count = 0
        for chunk in fetch_rows(self.old, select(table).where(table.c.run_id.in_(runs))):
            rows = self.translator.rows(new, table, chunk, {"run": runs})
            for part in chunks(rows, KEYS):
                by_key = {tuple(row[column.name] for column in columns): row for row in part}
                query = select(table).where(same_keys(columns, list(by_key)))
                for row in new.execute(query):
                    key = tuple(row._mapping[column.name] for column in columns)
                    if dict(row._mapping) != by_key.pop(key):
                        self._differ(run_id, f"{table.name} {' '.join(map(str, key[1:]))}")
                insert_rows(new, table, list(by_key.values()))
                count += len(by_key)
        return count

    def _differ(self, run_id: int, subject: str) -> None:
        self.differences.append(
            f"run {self.run.id} differs from run {run_id} there in {subject}, which stays as it is"
        )

    def _compare_run(self, new: Connection, run_id: int) -> None:
        target_run = new.execute(select(_RUN).where(_RUN.c.id == run_id)).one()
        (values,) = self.translator.rows(new, _RUN, [self.run], {})
        differ = [
            name
            for name, value in values.items()
            if name not in (*_UNFINISHED, "checksum") and value != getattr(target_run, name)
        ]
        if differ:
            self._differ(run_id, ", ".join(differ))

    def _compare_cases(self, new: Connection, run_id: int) -> None:
        """Add cases that are missing, and note those that were asked for differently."""
        for _, rows in self._cases(new, run_id):
            target_cases = self._target_cases(new, run_id, rows)
            missing = []
            for row in rows:
                target_case = target_cases.get((row["test"], row["case_id"]))
                if target_case is None:
                    missing.append(row)
                elif any(
                    target_case._mapping[name] != value
                    for name, value in row.items()
                    if name not in _CASE_STATE
                ):
                    self._differ(run_id, f"what is asked of a case of test {row['test']!r}")
            insert_rows(new, _RUN_CASE, missing)

    def _target_cases(
        self, new: Connection, run_id: int, rows: list[Values]
    ) -> dict[tuple[str, int], DatabaseRow]:
        cases: dict[tuple[str, int], DatabaseRow] = {}
        for case_ids in chunks({row["case_id"] for row in rows}, KEYS):
            query = select(_RUN_CASE).where(
                _RUN_CASE.c.run_id == run_id, _RUN_CASE.c.case_id.in_(case_ids)
            )
            cases |= {(row.test, row.case_id): row for row in new.execute(query)}
        return cases

    def _finish(
        self, new: Connection, run_id: int, differing: Collection[int], *, grew: bool
    ) -> int:
        """Store how the run and its cases stand, unless the target is ahead; 1 if that is new.

        Of cases that are `differing` there, what stands there is about other values. A run that
        `grew` there went on here, whatever the clock said when it ended.
        """
        target_run = new.execute(select(_RUN).where(_RUN.c.id == run_id)).one()
        is_open = target_run.state == "unfinished"
        is_later = is_open or (self.run.ended_at or "") > (target_run.ended_at or "")
        if not is_later and not grew:
            return 0
        changed, ahead = 0, False
        for old_cases, rows in self._cases(new, run_id):
            target_cases = self._target_cases(new, run_id, rows)
            counts = _replication_counts(self.old, [case.id for case in old_cases])
            target_counts = _replication_counts(new, [case.id for case in target_cases.values()])
            for old, row in zip(old_cases, rows, strict=True):
                case = target_cases[row["test"], row["case_id"]]
                if case.id in differing or target_counts[case.id] > counts[old.id]:
                    ahead = True
                    continue
                # A case that goes on here without having more yet doesn't undo its end there.
                state = {
                    name: row[name]
                    for name in _CASE_STATE
                    if case._mapping[name] != row[name]
                    and (row[name] is not None or self.run.ended_at is not None)
                }
                if state:
                    changed = 1
                    new.execute(update(_RUN_CASE).where(_RUN_CASE.c.id == case.id).values(**state))
        if ahead and (is_open or not is_later):
            return changed
        state = {name: getattr(self.run, name) for name in _STATE}
        if any(target_run._mapping[name] != value for name, value in state.items()):
            changed = 1
            new.execute(update(_RUN).where(_RUN.c.id == run_id).values(**state))
        return changed


def _replication_counts(connection: Connection, cases: Iterable[int]) -> Counter[int]:
    """Return how many replications each of these run cases has."""
    counts: Counter[int] = Counter()
    for chunk in chunks(cases, KEYS):
        query = select(Replication.run_case_id, func.count())
        query = query.where(Replication.run_case_id.in_(chunk), Replication.number > 0)
        counts.update(dict(connection.execute(query.group_by(Replication.run_case_id)).all()))
    return counts


def _copy_baseline(
    target: Store, baseline: Baseline, runs: Mapping[int, int], copied: Copied
) -> None:
    run_ids = sorted(runs[run] for run in baseline.runs)
    with target.writing() as new:
        take_turns(new)
        existing = stored_baselines(new, plain_text(baseline.name))
        if existing:
            if sorted(existing[0].runs) != run_ids:
                copied.differences.append(
                    f"the baseline {baseline.name!r} has other runs there, and stays as it is"
                )
            return
        store_baseline(new, replace(baseline, runs=tuple(run_ids)))
    copied.baselines += 1
