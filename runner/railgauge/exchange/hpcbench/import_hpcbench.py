"""Puts what Hpcbench measured into the database, as one imported run for all its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from railgauge.base.errors import FileProblems, InputError, Problem
from railgauge.base.number import plural
from railgauge.base.real_path import real_path
from railgauge.base.systemlog import Phase, SystemLog
from railgauge.exchange.hpcbench.file_names import distinct, name_of_test
from railgauge.exchange.hpcbench.hpcbench_records import HpcbenchOutput, LogFile
from railgauge.exchange.hpcbench.hpcbench_settings import case_parameters, launch_settings
from railgauge.exchange.hpcbench.log_row import from_row
from railgauge.exchange.hpcbench.output_read import read_output
from railgauge.exchange.hpcbench.read_log_file import read_log
from railgauge.exchange.importing.result import ImportResult
from railgauge.plan.cases import Case, case_key
from railgauge.plan.catalogue import Catalogue, EngineInfo
from railgauge.plan.catalogue.result_metrics import result_metrics
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome, PlannedCase, imported_run

# The log beside an output, by its ending, and which side's elapsed time is its rows'.
_LOGS = {".c_log": "client", ".s_log": "server"}
_PLAN = "hpcbench"
_FAILED = ("no-numbers", "Hpcbench's file has no numbers for it")


@dataclass(frozen=True, slots=True)
class _Test:
    """A file, what it says, and the system logs beside it by side."""

    path: Path
    name: str
    output: HpcbenchOutput
    logs: dict[str, LogFile]


def import_hpcbench(
    store: Store,
    paths: Sequence[Path],
    *,
    catalogue: Catalogue,
    plan: str = "",
    at: float | None = None,
    labels: Mapping[str, str] | None = None,
) -> ImportResult:
    """Store the outputs in the files, and the system logs beside them, as one run of many tests.

    Each file is a test, named after the file or, if that is called output, its folder. System logs
    are read along with the output beside them. An empty `plan` is the test's name or, of
    several, hpcbench; `at` is when it was measured (see `Store.import_run`). All or nothing:
    FileProblems with each file's first mistake, InputError for a file that can't be read.
    """
    tests = _read_all(paths)
    engine = catalogue.engines["udp"]
    cases = _all_cases(tests, engine)
    outcomes = [
        (test.name, case.key, _outcome(test, row, number))
        for test, case, rows in cases
        for number, row in enumerate(rows, 1)
    ]
    plan = plan or (tests[0].name if len(tests) == 1 else _PLAN)
    run = store.import_run(
        imported_run(plan, tests[0].path, labels=labels),
        [PlannedCase(test.name, case, len(rows)) for test, case, rows in cases],
        {engine.name: _infos(engine, outcomes)},
        outcomes,
        logs=[log for test in tests for log in _idle_logs(test)],
        settings={(test.name, case.key): launch_settings(test.output) for test, case, _ in cases},
        at=at,
    )
    return ImportResult(
        run=run,
        files=len(tests),
        cases=len(cases),
        replications=len(outcomes),
        logs=sum(len(test.logs) for test in tests),
    )


def _read_all(paths: Sequence[Path]) -> list[_Test]:
    # Named twice, by whatever way, it is still one file.
    outputs, problems = _outputs({real_path(path): path for path in paths})
    tests = []
    names = distinct(map(name_of_test, outputs))
    for path, name in zip(outputs, names, strict=True):
        try:
            output = read_output(path)
            logs = {side: log for end, side in _LOGS.items() if (log := _log(path, end, output))}
        except FileProblems as error:
            problems += error.problems
        else:
            tests.append(_Test(path, name, output, logs))
    if problems:
        raise FileProblems(problems)
    if not tests:
        raise InputError("name at least one file that Hpcbench wrote")
    return tests


def _outputs(files: Mapping[Path, Path]) -> tuple[list[Path], list[Problem]]:
    """Return the files that are outputs: a log is read with its output, which has to be there.

    `files` are the paths as they were given, by where they lead to.
    """
    outputs, problems = [], []
    for path in files.values():
        if path.suffix not in _LOGS:
            outputs.append(path)
        elif real_path(path.with_suffix("")) not in files:
            message = f"this is a system log: name {path.with_suffix('').name}, its output"
            problems.append(Problem(str(path), 1, 1, message))
    return outputs, problems


def _log(path: Path, ending: str, output: HpcbenchOutput) -> LogFile | None:
    beside = path.with_name(path.name + ending)
    if not beside.exists():
        return None
    log = read_log(beside)
    host = output.client if ending == ".c_log" else output.server
    if log.host != host:
        message = f"this is the log of {log.host}, but {path.name} names {host}"
        raise FileProblems([Problem(str(beside), 1, 1, message)])
    if len(log.rows) != len(output.rows) + 2:
        message = (
            f"{path.name} has {plural(len(output.rows), 'test')}, so {len(output.rows) + 2} watch "
            f"times are expected, and these are {len(log.rows)}"
        )
        raise FileProblems([Problem(str(beside), 2, 1, message)])
    return log


def _all_cases(tests: Sequence[_Test], engine: EngineInfo) -> list[tuple[_Test, Case, range]]:
    """Return the cases of the files, with which of the file's rows are of each."""
    cases: list[tuple[_Test, Case, range]] = []
    problems: list[Problem] = []
    for test in tests:
        try:
            cases += [(test, case, rows) for case, rows in _cases(test, engine)]
        except ValueError as error:
            problems.append(Problem(str(test.path), 1, 1, str(error)))
    if problems:
        raise FileProblems(problems)
    return cases


def _cases(test: _Test, engine: EngineInfo) -> list[tuple[Case, range]]:
    """Return the file's cases, and which of its rows (from 0) are of each."""
    rows = test.output.rows
    if test.output.mode != "exponential":
        return [(_case(test.output, rows[0], engine), range(len(rows)))]
    cases = [
        (_case(test.output, metrics, engine), range(number, number + 1))
        for number, metrics in enumerate(rows)
    ]
    if len({case.key for case, _ in cases}) < len(cases):
        raise ValueError("a size stands in two rows of this file")
    return cases


def _case(output: HpcbenchOutput, metrics: Mapping[str, float], engine: EngineInfo) -> Case:
    parameters = case_parameters(output, metrics, engine)
    link = f"{output.client}→{output.server}"
    key = case_key(engine.name, link, output.client, output.server, parameters)
    return Case(key, engine.name, link, output.client, output.server, parameters)


def _outcome(test: _Test, row: int, number: int) -> Outcome:
    metrics = dict(test.output.rows[row])
    metrics.pop("datagram", None)
    logs = []
    for side, log in test.logs.items():
        log_row = log.rows[row + 1]
        if log_row is not None:
            elapsed = metrics.get(f"{side}_elapsed")
            logs.append(from_row(log_row, log.host, "replication", log.moment.timestamp(), elapsed))
    outcome = Outcome(number, _moment(test), metrics, logs=tuple(logs))
    if metrics:
        return outcome
    code, message = _FAILED
    return replace(outcome, status="failed", error_code=code, error_message=message)


def _idle_logs(test: _Test) -> list[SystemLog]:
    phases: tuple[tuple[Phase, int], ...] = (("before", 0), ("after", -1))
    return [
        from_row(row, log.host, phase, log.moment.timestamp(), None)
        for log in test.logs.values()
        for phase, place in phases
        if (row := log.rows[place]) is not None
    ]


def _moment(test: _Test) -> float | None:
    return None if test.output.moment is None else test.output.moment.timestamp()


def _infos(
    engine: EngineInfo, outcomes: Sequence[tuple[str, str, Outcome]]
) -> dict[str, MetricInfo]:
    names = dict.fromkeys(name for *_, outcome in outcomes for name in outcome.metrics)
    metrics = result_metrics(engine)
    return {name: MetricInfo.of(metrics[name]) for name in names}
