"""Puts what other people's programs measured earlier into the database, as one imported run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railgauge.base.errors import FileProblems, InputError, Problem
from railgauge.base.real_path import real_path
from railgauge.exchange.importing.measured_order import in_measured_order
from railgauge.exchange.importing.read_file import FileMeasurement, read_file
from railgauge.exchange.importing.result import ImportResult
from railgauge.plan.cases import Case, case_key
from railgauge.plan.catalogue import Catalogue, EngineInfo
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome, PlannedCase, imported_run

# The measurements of each case, by test and case key.
_Cases = Mapping[tuple[str, str], tuple[Case, Sequence[FileMeasurement]]]


@dataclass(frozen=True, slots=True)
class ImportNames:
    """Names for what is imported, each empty where the default is right.

    `link` names the link (or host) where the files don't name both hosts; `plan` is the file's name
    or, of several, the tool's, `test` the engine's name, if left out.
    """

    link: str = ""
    plan: str = ""
    test: str = ""


def import_tool(
    store: Store,
    tool: str,
    paths: Sequence[Path],
    *,
    catalogue: Catalogue,
    names: ImportNames = ImportNames(),
    at: float | None = None,
    labels: Mapping[str, str] | None = None,
) -> ImportResult:
    """Store what `tool` wrote into the files as one run, all or nothing.

    Measurements of the same parameters and hosts are replications 1, 2, 3, … in the order in which
    they began or, unless each says when, of the files. What a file doesn't say is left unknown.
    `at` is when it was measured (see `Store.import_run`). FileProblems with the first mistake in
    each file that has one; InputError where nothing says who measured, or replications of a case
    differ in what no parameter holds.
    """
    # Named twice, by whatever way, it is still one measurement.
    files = list({real_path(path): path for path in paths}.values())
    measurements = _read_all(files, _engines(catalogue, tool))
    cases = _by_case(measurements, names)
    run = store.import_run(
        imported_run(
            names.plan or (files[0].stem if len(files) == 1 else tool), files[0], labels=labels
        ),
        [PlannedCase(test, case, len(group)) for (test, _), (case, group) in cases.items()],
        _infos(measurements),
        [
            (*key, Outcome(number, measurement.started_at, measurement.metrics))
            for key, (_, group) in cases.items()
            for number, measurement in enumerate(group, 1)
        ],
        settings={
            key: ({name: text for name, text in group[0].same.items() if text}, {})
            for key, (_, group) in cases.items()
        },
        at=at,
    )
    return ImportResult(run=run, files=len(files), cases=len(cases), replications=len(measurements))


def _engines(catalogue: Catalogue, tool: str) -> list[EngineInfo]:
    """Return the engines that files of `tool` may be of: `netperf` and `netperf_rr`."""
    return [
        engine
        for name, engine in catalogue.engines.items()
        if (name == tool or name.startswith(f"{tool}_"))
        and engine.program is not None
        and engine.program.imported is not None
    ]


def _read_all(paths: Sequence[Path], engines: Sequence[EngineInfo]) -> list[FileMeasurement]:
    if not paths:
        raise InputError("name at least one file to import")
    measurements: list[FileMeasurement] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            measurements += read_file(path, engines)
        except FileProblems as error:
            problems += error.problems
    if problems:
        raise FileProblems(problems)
    return measurements


def _by_case(measurements: Sequence[FileMeasurement], names: ImportNames) -> _Cases:
    cases = [_case(measurement, names.link) for measurement in measurements]
    groups: dict[tuple[str, str], tuple[Case, list[FileMeasurement]]] = {}
    for case, measurement in zip(cases, measurements, strict=True):
        _, group = groups.setdefault((names.test or case.engine, case.key), (case, []))
        group.append(measurement)
        _check_same(group[0], measurement)
    return {key: (case, in_measured_order(group)) for key, (case, group) in groups.items()}


def _case(measurement: FileMeasurement, link: str) -> Case:
    client, server = measurement.client, measurement.server or None
    if not link:
        if not client or server is None:
            raise InputError(
                f"{measurement.path} doesn't say which hosts measured: say --link with the name "
                "of the link, or of the host"
            )
        link = f"{client}→{server}"
    engine, client = measurement.engine.name, client or link
    key = case_key(engine, link, client, server, measurement.parameters)
    return Case(key, engine, link, client, server, measurement.parameters)


def _check_same(first: FileMeasurement, other: FileMeasurement) -> None:
    for name, text in other.same.items():
        if first.same[name] != text:
            raise InputError(
                f"{first.path} and {other.path} are of the same parameters, but not of "
                f"the same {name.replace('_', ' ')} ({first.same[name] or 'nothing'}, "
                f"{text or 'nothing'}): import them apart, each with a --test of its own"
            )


def _infos(measurements: Sequence[FileMeasurement]) -> Mapping[str, Mapping[str, MetricInfo]]:
    infos: dict[str, dict[str, MetricInfo]] = {}
    for measurement in measurements:
        engine = measurement.engine
        for name in measurement.metrics:
            info = MetricInfo.of(engine.metrics[name])
            infos.setdefault(engine.name, {}).setdefault(name, info)
    return infos
