"""The store: one object for all that is written to and read from the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

from railgauge.base.trace import Trace
from railgauge.store import (
    baselines,
    extras,
    extras_read,
    history,
    log_read,
    log_rows,
    log_write,
    moments,
    outcomes,
    peaks,
    read,
    replications,
    series,
    traces,
    write,
)
from railgauge.store.database import Database
from railgauge.store.moments import Moment
from railgauge.store.records import (
    Baseline,
    CaseEnd,
    Failure,
    FoundCase,
    Launch,
    MetricInfo,
    NewRun,
    Outcome,
    Peak,
    PlannedCase,
    RunState,
    RunSummary,
    Series,
    StoredLog,
    StoredPort,
    StoredRun,
    StoredSuspicion,
    StoredTrace,
    StoredWarning,
    SystemLog,
    imported_at,
)
from railgauge.store.replications import StoredReplication


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
        with self.writing() as connection:
            run_id = write.insert_run(connection, run, cases, metrics)
            self._runs[run_id] = read.open_run(connection, run_id)
        return run_id

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
        """Store what one launch measured of many cases, all of it or nothing.

        `results`: (case key, outcome). Durable when this returns (or `together` does). System logs
        and ports that the outcomes share are stored once.
        """
        run = self._open_run(run_id)
        rows = [(test, case_key, outcome) for case_key, outcome in results]
        if not rows:
            return
        prepared = extras.prepare_all(run, rows)
        launch_id = self._launches.get(launch)
        with self._adding() as connection:
            if launch_id is None:
                first, _ = outcomes.run_case(run, test, rows[0][1])
                launch_id = outcomes.insert_launch(connection, first, launch)
            keys = outcomes.insert_outcomes(connection, run, rows, launch_id)
            extras.insert_all(connection, run, rows, keys, prepared, launch_id, self._counters)
        # Only now: a transaction that failed stored no launch either.
        self._launches[launch] = launch_id

    def add_logs(self, run_id: int, logs: Sequence[SystemLog]) -> None:
        """Store logs of the idle stretches around the run: phases before and after."""
        idle = log_write.LogsOf(None, False, [log_rows.prepare(log) for log in logs])
        with self._adding() as connection:
            read.find_run(connection, run_id)
            log_write.insert_logs(connection, run_id, None, [idle], self._counters)

    def add_facts(self, run_id: int, host: str, facts: Mapping[str, str]) -> None:
        """Store what a host is; what the run already knows of it and is the same stays once."""
        with self.writing() as connection:
            write.insert_facts(connection, run_id, host, facts)

    def add_peaks(self, run_id: int, found: Iterable[Peak]) -> None:
        """Store what hosts could do at most; what the run already knows and is the same stays."""
        with self.writing() as connection:
            read.find_run(connection, run_id)
            peaks.insert_peaks(connection, run_id, found)

    def skip(self, run_id: int, test: str, case_key: str, reason: str | None) -> None:
        """Store why a case isn't measured, or (None) that it is after all.

        Many at once are stored `together`.
        """
        with self._adding() as connection:
            write.set_skipped(connection, run_id, test, case_key, reason)

    def end_case(self, run_id: int, test: str, case_key: str, ended: CaseEnd | None) -> None:
        """Store why a case gets no more replications, or (None) that it goes on.

        Many at once are stored `together`.
        """
        with self._adding() as connection:
            write.set_ended(connection, run_id, test, case_key, ended)

    def finish_run(self, run_id: int, state: RunState) -> None:
        """Store that the run ended, and how."""
        with self.writing() as connection:
            read.find_run(connection, run_id)
            write.set_state(connection, run_id, state)
        self._runs.pop(run_id, None)

    def reopen_run(self, run_id: int) -> None:
        """Store that the run goes on."""
        with self.writing() as connection:
            self._runs[run_id] = read.open_run(connection, run_id)
            write.set_state(connection, run_id, "unfinished")

    def import_run(
        self,
        run: NewRun,
        cases: Sequence[PlannedCase],
        metrics: Mapping[str, Mapping[str, MetricInfo]],
        results: Iterable[tuple[str, str, Outcome]],
        logs: Sequence[SystemLog] = (),
        launches: Mapping[tuple[str, str], Launch] | None = None,
        at: float | None = None,
    ) -> int:
        """Store a whole run that others measured, all of it or nothing, and return its id.

        `results`: (test, case key, outcome). A case that has system logs or ports gets a launch
        that they belong to. `logs` are of the idle stretches before and after the run. `launches`
        by test and case key hold what is known of both sides' settings. The run began when its
        first replication did. Where none tells, and only there, `at` may (seconds since 1970); else
        it begins now.
        """
        rows = list(results)
        began = imported_at((outcome.started_at for *_, outcome in rows), at)
        idle = log_write.LogsOf(None, False, [log_rows.prepare(log) for log in logs])
        with self.writing() as connection:
            run_id = write.insert_run(connection, run, cases, metrics, began)
            ids = read.open_run(connection, run_id)
            extras.insert_imported(connection, ids, rows, launches or {}, self._counters)
            log_write.insert_logs(connection, run_id, None, [idle], self._counters)
            write.set_state(connection, run_id, "complete")
        return run_id

    def run(self, run_id: int) -> StoredRun:
        """Return all about one run but its values."""
        with self.reading() as connection:
            return read.stored_run(connection, run_id)

    def peaks(self, run_id: int) -> tuple[Peak, ...]:
        """Return what the run's hosts and links could do at most, by name and resource."""
        with self.reading() as connection:
            read.find_run(connection, run_id)
            return peaks.stored_peaks(connection, run_id)

    def runs(self) -> list[RunSummary]:
        """Return a line for each run, oldest first."""
        with self.reading() as connection:
            return read.run_summaries(connection)

    def run_ids(self) -> list[int]:
        """Return the id of each run, oldest first."""
        with self.reading() as connection:
            return read.run_ids(connection)

    def done(self, run_id: int) -> dict[tuple[str, str], set[int]]:
        """Return (test, case key) -> numbers of the replications that have an outcome.

        A failed one has its outcome, too; warm-ups don't count. Cases without any are left out.
        """
        with self.reading() as connection:
            return read.done(connection, run_id)

    def failures(self, run_id: int) -> list[Failure]:
        """Return the run's failed replications, case by case in the plan's order."""
        with self.reading() as connection:
            return read.failures(connection, run_id)

    def tests(self, runs: Sequence[int]) -> set[str]:
        """Return the names of the tests that these runs have cases of."""
        with self.reading() as connection:
            return series.test_names(connection, runs)

    def series(self, runs: Sequence[int], metrics: Collection[str] | None = None) -> list[Series]:
        """Return every case's values of the named metrics (None: of all), run by run.

        A case without any value has empty series: of the metrics its test's other cases have
        or, where none has any, of those named. So a table can tell what is missing from what was
        never asked. A case that gave values, but none of those named, has no series.
        """
        with self.reading() as connection:
            return series.all_series(connection, dict.fromkeys(runs), metrics)

    def history(
        self, case_key: str, metric: str, *, test: str | None = None, plan: str | None = None
    ) -> list[Series]:
        """Return the case's series of the metric, one a run (and test), the oldest run first.

        With `test` and `plan` of those only. Runs that have no value of it are left out; a metric
        whose unit or direction has changed keeps in each series what it was then.
        """
        with self.reading() as connection:
            return history.case_history(connection, case_key, metric, test, plan)

    def find_cases(self, text: str) -> list[FoundCase]:
        """Return the cases that `text` may mean, those measured last first.

        It is the start of a case's key (four characters or more), or words that all are to be
        found in its engine, link, hosts, test, plan or parameters, such as `gw→hh datagram=1460`.
        """
        with self.reading() as connection:
            return history.cases_like(connection, text)

    def smallest_changes(self, run_id: int) -> dict[tuple[str, str], float]:
        """Return (engine, metric) -> the smallest change that matters to the run's plan, a share.

        Only of those metrics for which it says one.
        """
        with self.reading() as connection:
            return read.smallest_changes(connection, run_id)

    def set_baseline(
        self, name: str, runs: Iterable[int], description: str = "", *, replace: bool = False
    ) -> None:
        """Store under a name which runs others are compared with, in place of others if `replace`.

        InputError for a name that it can't have or that there is already, or without any run.
        """
        with self.writing() as connection:
            baselines.insert_baseline(connection, name, runs, description, replace=replace)

    def baselines(self) -> list[Baseline]:
        """Return the baselines by name."""
        with self.reading() as connection:
            return baselines.stored_baselines(connection)

    def baseline(self, name: str) -> Baseline:
        """Return that baseline; InputError tells which there are."""
        with self.reading() as connection:
            return baselines.stored_baseline(connection, name)

    def drop_baseline(self, name: str) -> None:
        """Forget the baseline; its runs stay. InputError if there is none of that name."""
        with self.writing() as connection:
            baselines.delete_baseline(connection, name)

    def traces(self, runs: Sequence[int], *, replication: int | None = None) -> list[StoredTrace]:
        """Return which traces there are, run by run: cases in the plan's order, then replications.

        With `replication` those of that number only. The traces themselves are read by `trace`,
        one at a time, as each may have millions of arrivals.
        """
        with self.reading() as connection:
            return traces.stored_traces(connection, dict.fromkeys(runs), replication)

    def trace(self, stored: StoredTrace) -> Trace:
        """Return the trace that `traces` told of; StoreError when its bytes are damaged."""
        with self.reading() as connection:
            return traces.load(connection, stored)

    def logs(
        self,
        run_id: int,
        *,
        test: str | None = None,
        case_key: str | None = None,
        series: bool = False,
    ) -> list[StoredLog]:
        """Return the system logs of the run's replications: by case, replication, then host.

        The client's comes first, a group's are by rank; of a group's pair only the pair's two hosts
        come. Warm-ups are left out. Time series come with `series`; StoreError for a damaged one.
        """
        with self.reading() as connection:
            return log_read.logs(connection, run_id, test, case_key, series=series)

    def run_logs(self, run_id: int) -> list[StoredLog]:
        """Return the system logs of the idle stretches before and after the run, as they came."""
        with self.reading() as connection:
            return log_read.run_logs(connection, run_id)

    def ports(
        self, run_id: int, *, test: str | None = None, case_key: str | None = None
    ) -> list[StoredPort]:
        """Return what equipment counted: by case, replication, then as it came."""
        with self.reading() as connection:
            return extras_read.ports(connection, run_id, test, case_key)

    def suspicions(self, run_id: int) -> list[StoredSuspicion]:
        """Return why replications are suspect: by case, replication, then as they came."""
        with self.reading() as connection:
            return extras_read.suspicions(connection, run_id)

    def warnings(self, run_id: int) -> list[StoredWarning]:
        """Return what engines warned of, and what of system logs could not be stored, by case."""
        with self.reading() as connection:
            return extras_read.warnings(connection, run_id)

    def replications(self, run_id: int, test: str, case_key: str) -> list[StoredReplication]:
        """Return a case's replications with all their metrics, in order, without warm-ups."""
        with self.reading() as connection:
            return replications.case_replications(connection, run_id, test, case_key)

    def moments(
        self, run_id: int, case_keys: Collection[str], metric: str
    ) -> dict[tuple[str, str], list[Moment]]:
        """Return one metric of each replication of a run's cases, by test and case key."""
        with self.reading() as connection:
            return moments.moments(connection, run_id, case_keys, metric)

    def logged_cases(self, run_id: int, most: int) -> list[tuple[str, str]]:
        """Return (test, case key) of at most `most` cases that have system logs.

        Those with suspect replications come first, each kind in the plan's order.
        """
        with self.reading() as connection:
            return replications.logged_cases(connection, run_id, most)

    def _open_run(self, run_id: int) -> write.OpenRun:
        if run_id not in self._runs:
            with self.reading() as connection:
                self._runs[run_id] = read.open_run(connection, run_id)
        return self._runs[run_id]

    def _adding(self) -> AbstractContextManager[Connection]:
        return self.writing() if self._together is None else nullcontext(self._together)

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
