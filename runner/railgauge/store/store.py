"""The store: one object for all that is written to and read from the database."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

from railgauge.store import (
    counts,
    digest,
    extras,
    heads,
    inventory,
    log_read,
    log_rows,
    log_write,
    outcomes,
    read,
    write,
)
from railgauge.store.baselines import (
    delete_baseline,
    insert_baseline,
    stored_baseline,
    stored_baselines,
)
from railgauge.store.case_values import case_histories, case_history, cases_like
from railgauge.store.certificates import insert_certificate, stored_certificates
from railgauge.store.checksums import check_checksums
from railgauge.store.database import Database, reading, writing
from railgauge.store.peak_rows import insert_peaks
from railgauge.store.records import (
    CaseEnd,
    Launch,
    LaunchResults,
    MetricInfo,
    NewRun,
    Outcome,
    Peak,
    PlannedCase,
    RunState,
    SystemLog,
    imported_at,
)
from railgauge.store.run_checksums import changed_runs
from railgauge.store.series import all_series
from railgauge.store.stored_replications import (
    case_moments,
    case_replications,
    granted_settings,
    launch_seconds,
    launch_times,
    logged_cases,
)
from railgauge.store.traces import (
    load_intervals,
    load_trace,
    stored_intervals,
    stored_traces,
    trace_age,
    trace_settings,
)

_T = TypeVar("_T")


class Store(Database):
    """A database to write measurements to and to read them from.

    Every method raises StoreError when the database fails, InputError for a run it doesn't have.
    What a method has stored when it returns survives the end of this process.
    """

    def __init__(self, engine: Engine, name: str, busy_seconds: float) -> None:
        super().__init__(engine, name, busy_seconds)
        self._runs: dict[int, write.OpenRun] = {}
        self._launches: WeakKeyDictionary[Launch, int] = WeakKeyDictionary()
        self._counters: dict[str, int] = {}
        self._together: Connection | None = None

    def begin_run(
        self,
        run: NewRun,
        cases: Sequence[PlannedCase],
        metrics: Mapping[str, Mapping[str, MetricInfo]],
    ) -> int:
        """Store a run that starts now, and return its id. `metrics`: engine -> metric -> info."""
        begun: list[int] = []

        def begin(connection: Connection) -> write.OpenRun:
            begun[:] = [write.insert_run(connection, run, cases, metrics)]
            return read.open_run(connection, begun[0])

        def is_begun(connection: Connection) -> bool:
            return begun[0] in read.run_ids(connection)

        opened = self.transact(begin, is_begun, is_own=True)
        self._runs[opened.id] = opened
        return opened.id

    @contextmanager
    def together(self) -> Iterator[None]:
        """Store all that is added while inside in one go, or nothing; durable when this returns.

        A transaction for each costs a wait for the disk for each, which is more than the rest.
        """
        try:
            with self.writing() as self._together:
                yield
        except BaseException:
            # They were stored no more than their outcomes.
            self._launches.clear()
            raise
        finally:
            self._together = None

    def add(self, run_id: int, test: str, case_key: str, outcome: Outcome, launch: Launch) -> None:
        """Store one replication and all that belongs to it, as `add_all` does."""
        self.add_all(run_id, test, [(case_key, outcome)], launch)

    def add_all(
        self, run_id: int, test: str, results: Iterable[tuple[str, Outcome]], launch: Launch
    ) -> None:
        """Store what one launch measured of many cases, all of it or nothing, as `add_results`."""
        self.add_results(run_id, [LaunchResults(test, list(results), launch)])

    def add_results(self, run_id: int, launches: Iterable[LaunchResults]) -> None:
        """Store what launches measured and the ends of their cases, all of it or nothing.

        Durable when this returns (or `together` does). System logs and ports that the outcomes of a
        launch share are stored once.
        """
        run = self._open_run(run_id)
        prepared = []
        for result in launches:
            rows = [(result.test, key, outcome) for key, outcome in result.results]
            prepared.append((result, rows, extras.prepare_all(run, rows)))
        stored: list[tuple[int, int]] = []

        def insert(connection: Connection) -> dict[Launch, int]:
            ids: dict[Launch, int] = {}
            stored.clear()
            for result, rows, extra in prepared:
                if rows:
                    launch_id = self._launches.get(result.launch) or ids.get(result.launch)
                    if launch_id is None:
                        first, _ = outcomes.run_case(run, result.test, rows[0][1])
                        launch_id = outcomes.insert_launch(connection, first, result.launch)
                        ids[result.launch] = launch_id
                    keys = outcomes.insert_outcomes(connection, run, rows, launch_id)
                    stored.extend(keys)
                    extras.insert_all(connection, run, rows, keys, extra, launch_id, self._counters)
                for key, ended in result.ended.items():
                    write.set_ended(connection, run_id, result.test, key, ended)
            return ids

        # Only now: a transaction that failed stored no launch either.
        is_stored = partial(outcomes.are_stored, keys=stored)
        self._launches.update(self._add(insert, is_stored))

    def add_logs(self, run_id: int, logs: Sequence[SystemLog]) -> None:
        """Store logs of the idle stretches around the run: phases before and after."""
        idle = log_write.LogGroup(None, False, log_rows.prepare(logs))

        def insert(connection: Connection) -> None:
            read.find_run(connection, run_id)
            log_write.insert_logs(connection, run_id, None, [idle], self._counters)

        self._add(insert, partial(log_write.has_idle_logs, run_id=run_id, logs=idle.logs))

    def add_peaks(self, run_id: int, peaks: Iterable[Peak]) -> None:
        """Store what hosts could do at most; what the run already knows and is the same stays."""
        new = list(peaks)

        def insert(connection: Connection) -> None:
            read.find_run(connection, run_id)
            insert_peaks(connection, run_id, new)

        self._add(insert)

    def skip_cases(self, run_id: int, reasons: Mapping[tuple[str, str], str | None]) -> None:
        """Store why cases (test, key) aren't measured, or (None) that they are; all or nothing."""
        self._set(run_id, write.set_skipped, reasons)

    def end_cases(self, run_id: int, ends: Mapping[tuple[str, str], CaseEnd | None]) -> None:
        """Store why cases (test, key) get no more replications, or (None) that they go on.

        All of it or nothing.
        """
        self._set(run_id, write.set_ended, ends)

    def _set(
        self,
        run_id: int,
        set_value: Callable[[Connection, int, str, str, _T], None],
        values: Mapping[tuple[str, str], _T],
    ) -> None:
        if not values:
            return
        self._open_run(run_id)

        def change(connection: Connection) -> None:
            for (test, case_key), value in values.items():
                set_value(connection, run_id, test, case_key, value)

        self._add(change)

    def finish_run(self, run_id: int, state: RunState) -> None:
        """Store that the run ended, and how."""

        def finish(connection: Connection) -> None:
            read.find_run(connection, run_id)
            write.set_state(connection, run_id, state)
            counts.store_counts(connection, run_id)

        self.transact(finish)
        self._runs.pop(run_id, None)

    def reopen_run(self, run_id: int) -> None:
        """Store that the run goes on."""

        def reopen(connection: Connection) -> write.OpenRun:
            opened = read.open_run(connection, run_id)
            write.set_state(connection, run_id, "unfinished")
            counts.forget_counts(connection, run_id)
            return opened

        self._runs[run_id] = self.transact(reopen)

    def import_run(
        self,
        run: NewRun,
        cases: Sequence[PlannedCase],
        metrics: Mapping[str, Mapping[str, MetricInfo]],
        results: Iterable[tuple[str, str, Outcome]],
        logs: Sequence[SystemLog] = (),
        settings: Mapping[tuple[str, str], extras.BothSettings] | None = None,
        at: float | None = None,
    ) -> int:
        """Store a whole run that others measured, all of it or nothing, and return its id.

        `results`: (test, case key, outcome). `logs` are of the idle stretches before and after the
        run, `settings` by test and case key what is known of the client's and the server's. A case
        that has settings, system logs or ports gets a launch that they belong to. The run began
        when its first replication did. Where none says, and only there, `at` may (seconds since
        1970); else it begins now. Several runs are stored `together`.
        """
        rows = list(results)
        began = imported_at((outcome.started_at for *_, outcome in rows), at)
        began = time.time() if began is None else began
        idle = log_write.LogGroup(None, False, log_rows.prepare(logs))

        def insert(connection: Connection) -> int:
            run_id = write.insert_run(connection, run, cases, metrics, began)
            ids = read.open_run(connection, run_id)
            by_launch = extras.by_launch(rows, settings or {}, began)
            extras.insert_imported(connection, ids, by_launch, self._counters)
            log_write.insert_logs(connection, run_id, None, [idle], self._counters)
            write.set_state(connection, run_id, "complete")
            counts.store_counts(connection, run_id)
            return run_id

        return self._add(insert)

    # Questions; their functions say what they return.
    run = reading(read.stored_run)
    run_conditions = reading(read.run_conditions)
    runs = reading(heads.run_summaries)
    run_ids = reading(read.run_ids)
    run_heads = reading(heads.run_heads)
    plan_text = reading(heads.plan_text)
    peaks = reading(read.run_peaks)
    replication_numbers = reading(read.replication_numbers)
    failures = reading(read.failures)
    smallest_changes = reading(read.smallest_changes)
    series = reading(all_series)
    history = reading(case_history)
    histories = reading(case_histories)
    find_cases = reading(cases_like)
    replications = reading(case_replications)
    moments = reading(case_moments)
    granted_settings = reading(granted_settings)
    launch_times = reading(launch_times)
    launch_seconds = reading(launch_seconds)
    launch_settings = reading(counts.launch_settings)
    replication_counts = reading(counts.replication_counts)
    changed_facts = reading(counts.changed_facts)
    all_cases = reading(inventory.all_cases)
    case_names = reading(inventory.case_names)
    case_tests = reading(inventory.case_tests)
    plan_cases = reading(inventory.plan_cases)
    run_plans = reading(inventory.run_plans)
    metric_names = reading(inventory.metric_names)
    directed_metrics = reading(inventory.directed_metrics)
    has_start_times = reading(inventory.has_start_times)
    logged_cases = reading(logged_cases)
    logged_runs = reading(inventory.logged_runs)
    logs = reading(log_read.logs)
    run_logs = reading(log_read.run_logs)
    ports = reading(extras.ports)
    suspicions = reading(extras.suspicions)
    warnings = reading(extras.warnings)
    traces = reading(stored_traces)
    trace = reading(load_trace)
    interval_series = reading(stored_intervals)
    intervals = reading(load_intervals)
    trace_age = reading(trace_age)
    trace_settings = reading(trace_settings)
    baselines = reading(stored_baselines)
    baseline = reading(stored_baseline)
    certificates = reading(stored_certificates)
    digests = reading(digest.digests)
    log_digest = reading(digest.log_digest)
    checksums = reading(check_checksums)
    miscounted_runs = reading(counts.miscounted_runs)
    changed_runs = reading(changed_runs)

    set_baseline = writing(insert_baseline)
    drop_baseline = writing(delete_baseline)
    add_certificate = writing(insert_certificate)
    add_facts = writing(write.insert_facts)
    settle_imported = writing(write.settle_imported)

    def _open_run(self, run_id: int) -> write.OpenRun:
        if run_id not in self._runs:

            def open_run(connection: Connection) -> write.OpenRun:
                opened = read.open_run(connection, run_id)
                counts.forget_counts(connection, run_id)
                return opened

            self._runs[run_id] = self._add(open_run)
        return self._runs[run_id]

    def _add(
        self,
        change: Callable[[Connection], _T],
        is_stored: Callable[[Connection], bool] = lambda _: False,
    ) -> _T:
        if self._together is not None:
            return change(self._together)
        return self.transact(change, is_stored)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction: all that is done inside is stored, or nothing."""
        try:
            with super().writing() as connection:
                yield connection
        except BaseException:
            # Some of them may have been given in this transaction.
            self._counters.clear()
            raise
