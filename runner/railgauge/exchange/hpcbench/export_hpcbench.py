"""Writes a run as Hpcbench would have: a folder a test, with an output and two system logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from railgauge.base.atomicfile import write_atomic
from railgauge.base.errors import EnvironmentFailedError
from railgauge.base.number import plural
from railgauge.base.systemlog import Phase, SystemLog
from railgauge.exchange.hpcbench.file_names import distinct
from railgauge.exchange.hpcbench.grouping import OutputGroup, parts
from railgauge.exchange.hpcbench.hpcbench_records import HpcbenchOutput, LogFile
from railgauge.exchange.hpcbench.hpcbench_settings import output_settings
from railgauge.exchange.hpcbench.log_row import cpus_of, interfaces_of, to_row
from railgauge.exchange.hpcbench.output_write import output_text
from railgauge.exchange.hpcbench.write_log_file import log_text
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import Catalogue
from railgauge.store import Store
from railgauge.store.records import PlannedCase, StoredRun
from railgauge.store.stored_replications import StoredReplication

# Both ways' rates, which udptest -i printed together.
_WAYS = ("local_throughput", "reverse_local_throughput")
_OUTPUT, _CLIENT_LOG, _SERVER_LOG = "output", "output.c_log", "output.s_log"


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The files that were written, and sentences about what was not, or can't be seen in them."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def export_hpcbench(
    store: Store, run_id: int, folder: Path, *, catalogue: Catalogue
) -> ExportResult:
    """Write a folder for each test of the run into `folder`, which is made if missing.

    In it are `output` and, where there are system logs, `output.c_log` and `output.s_log`; such
    files of an earlier export are replaced. InputError for a run that isn't there, StoreError for a
    damaged database, EnvironmentFailedError when a file can't be written.
    """
    store.check()
    run = store.run(run_id)
    tests, skipped = _tests(store, run)
    outputs = [
        (test, part)
        for test, cases in tests.items()
        if not _of_group(cases)
        for part in parts(cases, catalogue)
    ]
    idle = [stored.log for stored in store.run_logs(run_id)]
    files: list[Path] = []
    notes = [*_skipped_notes(skipped), *_group_notes(tests)]
    suspect = 0
    names = distinct(part.name for _, part in outputs)
    for (test, part), name in zip(outputs, names, strict=True):
        measured = _Measured(store, run_id, test, part)
        texts = dict(_texts(part, measured, idle, run.facts))
        files += _write(folder / name, texts)
        suspect += measured.suspect
        if not part.mode:
            content = "its system logs only" if texts else "nothing"
            notes.append(f"{name}: Hpcbench has no output for such a test: {content} is written")
    if suspect:
        notes.append(
            f"{suspect} suspect replications can't be distinguished from others in these files"
        )
    return ExportResult(tuple(files), tuple(notes))


def _tests(
    store: Store, run: StoredRun
) -> tuple[dict[str, list[PlannedCase]], Counter[tuple[str, str]]]:
    """Return each test's cases to write, and how many were skipped, by test and reason."""
    tests: dict[str, list[PlannedCase]] = {}
    skipped: Counter[tuple[str, str]] = Counter()
    shortened = any(planned.ended or planned.skipped for planned in run.cases)
    measured = store.replication_numbers(run.id) if shortened else {}
    for planned in run.cases:
        numbers = measured.get((planned.test, planned.case.key), set())
        if planned.skipped and not numbers:
            skipped[planned.test, planned.skipped] += 1
            continue
        if planned.ended or planned.skipped:
            # What a rule found unneeded isn't missing, nor what was skipped when the run went on.
            planned = replace(planned, replications=max(numbers, default=1))
        tests.setdefault(planned.test, []).append(planned)
    return tests, skipped


def _of_group(cases: Sequence[PlannedCase]) -> bool:
    return any(planned.case.members for planned in cases)


def _skipped_notes(skipped: Mapping[tuple[str, str], int]) -> Iterator[str]:
    for (test, reason), count in skipped.items():
        cases = plural(count, "case is", "cases are")
        yield f"{test}: {cases} left out, skipped in that run: {reason}"


def _group_notes(tests: Mapping[str, Sequence[PlannedCase]]) -> list[str]:
    return [
        f"{test}: a group's test is left out, as Hpcbench measured two hosts"
        for test, cases in tests.items()
        if _of_group(cases)
    ]


class _Measured:
    """What the database has of a part: by case key and replication."""

    def __init__(self, store: Store, run_id: int, test: str, part: OutputGroup) -> None:
        self.part = part
        keys = dict.fromkeys(case.key for case, _ in part.rows)
        self._replications = {
            (key, replication.number): replication
            for key in keys
            for replication in store.replications(run_id, test, key)
        }
        self._logs = {
            (key, stored.replication, stored.log.host): stored.log
            for key in keys
            for stored in store.logs(run_id, test=test, case_key=key)
        }
        self.suspect = [entry.status for entry in self.replications()].count("suspect")

    def replications(self) -> list[StoredReplication]:
        """Return the replications of the part's rows, without those that are missing."""
        rows = map(self.replication, self.part.rows)
        return [replication for replication in rows if replication is not None]

    def replication(self, row: tuple[Case, int]) -> StoredReplication | None:
        """Return the replication of that row, if there is one."""
        case, number = row
        return self._replications.get((case.key, number))

    def log(self, row: tuple[Case, int], host: str) -> SystemLog | None:
        """Return the system log of that row and host, if there is one."""
        case, number = row
        return self._logs.get((case.key, number, host))


def _texts(
    part: OutputGroup,
    measured: _Measured,
    idle: Sequence[SystemLog],
    facts: Mapping[str, Mapping[str, str]],
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file."""
    case = part.rows[0][0]
    if part.mode:
        yield _OUTPUT, output_text(_output(part, measured))
    for name, host in ((_CLIENT_LOG, case.client), (_SERVER_LOG, case.server)):
        if host is not None:
            logs = [measured.log(row, host) for row in part.rows]
            if cpus_of(log for log in logs if log is not None):
                yield name, log_text(_log_file(host, logs, idle, facts.get(host, {})))


def _output(part: OutputGroup, measured: _Measured) -> HpcbenchOutput:
    last = part.rows[-1][0]  # of a series, the size that was asked for
    replications = measured.replications()
    client, server = next(
        ((entry.client, entry.server) for entry in replications if entry.client), ({}, {})
    )
    moments = [
        datetime.fromisoformat(entry.started_at) for entry in replications if entry.started_at
    ]
    return HpcbenchOutput(
        mode=part.mode,
        client=last.client,
        server=last.server or "",
        moment=min(moments, default=None),
        settings=output_settings(last.parameters, client, server),
        rows=tuple(_metrics(row[0], measured.replication(row)) for row in part.rows),
    )


def _metrics(case: Case, replication: StoredReplication | None) -> dict[str, float]:
    stored = {} if replication is None else replication.metrics
    metrics = {name: value for name, (value, _) in stored.items()}
    ways = [metrics[name] for name in _WAYS if name in metrics]
    if len(ways) == len(_WAYS):
        metrics["total_local_throughput"] = sum(ways)
    return metrics | {"datagram": float(case.parameters.get("datagram", 0))}


def _log_file(
    host: str,
    logs: Sequence[SystemLog | None],
    idle: Sequence[SystemLog],
    facts: Mapping[str, str],
) -> LogFile:
    moments = [log.started_at for log in logs if log is not None]
    begin, end = min(moments), max(moments)
    # A run that was gone on with has several of them, and so has one of many imported files.
    before = [log for log in _of(idle, host, "before") if log.started_at <= begin]
    after = [log for log in _of(idle, host, "after") if log.started_at >= end]
    rows = [
        max(before, key=lambda log: log.started_at, default=None),
        *logs,
        min(after, key=lambda log: log.started_at, default=None),
    ]
    written = [log for log in rows if log is not None]
    interfaces, cpus = interfaces_of(written), cpus_of(written)
    return LogFile(
        host=host,
        moment=datetime.fromtimestamp(begin, UTC),
        interfaces=interfaces,
        cpus=cpus,
        rows=tuple(None if log is None else to_row(log, interfaces, cpus, facts) for log in rows),
    )


def _of(idle: Sequence[SystemLog], host: str, phase: Phase) -> list[SystemLog]:
    return [log for log in idle if log.host == host and log.phase == phase]


def _write(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    if not texts:
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (_OUTPUT, _CLIENT_LOG, _SERVER_LOG):
            path = folder / name
            if name in texts:
                write_atomic(path, texts[name].encode())
            else:
                path.unlink(missing_ok=True)
    except OSError as error:
        message = (
            f"{error.filename or folder} cannot be written: {error.strerror}: make room, mend the"
            " permissions, or choose another folder with --out"
        )
        raise EnvironmentFailedError(message) from error
    return [folder / name for name in texts]
