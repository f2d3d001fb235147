"""Puts what other people's programs measured earlier into the database, as one imported run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railgauge.base.errors import FileProblems, InputError, Problem
from railgauge.exchange.importing.read import FileMeasurement, read_file
from railgauge.exchange.importing.result import ImportResult
from railgauge.plan.cases import Case, case_key
from railgauge.plan.catalogue import Catalogue, EngineInfo
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, Outcome, PlannedCase, imported_run


@dataclass(frozen=True, slots=True)
class _Named:
    """A measurement, the test that it belongs to, and its case."""

    found: FileMeasurement
    test: str
    case: Case


def import_tool(
    store: Store,
    tool: str,
    paths: Sequence[Path],
    *,
    catalogue: Catalogue,
    link: str = "",
    plan: str = "",
    test: str = "",
    at: float | None = None,
) -> ImportResult:
    """Store what `tool` wrote into the files as one run, all or nothing.

    Measurements of the same parameters and hosts are replications 1, 2, 3, … in the order of the
    files. What a file doesn't tell is left unknown. `link` names the link (or host) where the files
    don't tell both hosts; `plan` is the file's name or, of several, the tool's, `test` the engine's
    name, if left out; `at` is when it was measured (see `Store.import_run`). FileProblems with the
    first mistake in each file that has one; InputError where nothing tells who measured, or
    replications of a case differ in what no parameter holds.
    """
    engines = _engines(catalogue, tool)
    # Named twice, by whatever way, it is still one measurement.
    files = list({path.resolve(): path for path in paths}.values())
    measured = [_named(found, link, test) for found in _read_all(files, engines)]
    _check_alike(measured)
    cases: dict[tuple[str, str], Case] = {}
    counts: dict[tuple[str, str], int] = {}
    launches: dict[tuple[str, str], Launch] = {}
    outcomes: list[tuple[str, str, Outcome]] = []
    for each in measured:
        key = each.test, each.case.key
        cases.setdefault(key, each.case)
        number = counts[key] = counts.get(key, 0) + 1
        started_at = each.found.started_at
        outcomes.append((*key, Outcome(number, started_at, each.found.metrics)))
        told = {name: text for name, text in each.found.same.items() if text}
        if told and started_at is not None:
            launches.setdefault(key, Launch(started_at, client=told))
    run = store.import_run(
        imported_run(plan or (files[0].stem if len(files) == 1 else tool), files[0]),
        [PlannedCase(test, case, counts[test, key]) for (test, key), case in cases.items()],
        _infos(measured),
        outcomes,
        launches=launches,
        at=at,
    )
    return ImportResult(run=run, files=len(files), cases=len(cases), replications=len(outcomes))


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
    found: list[FileMeasurement] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            found += read_file(path, engines)
        except FileProblems as error:
            problems += error.problems
    if problems:
        raise FileProblems(problems)
    return found


def _named(found: FileMeasurement, link: str, test: str) -> _Named:
    client, server = found.client, found.server or None
    if not link:
        if not client or server is None:
            raise InputError(
                f"{found.path} doesn't tell which hosts measured: say --link with the name of the "
                "link, or of the host"
            )
        link = f"{client}→{server}"
    engine, client = found.engine.name, client or link
    key = case_key(engine, link, client, server, found.parameters)
    return _Named(found, test or engine, Case(key, engine, link, client, server, found.parameters))


def _check_alike(measured: Sequence[_Named]) -> None:
    first: dict[tuple[str, str], FileMeasurement] = {}
    for each in measured:
        known = first.setdefault((each.test, each.case.key), each.found)
        for name, text in each.found.same.items():
            if known.same[name] != text:
                raise InputError(
                    f"{known.path} and {each.found.path} are of the same parameters, but not of "
                    f"the same {name.replace('_', ' ')} ({known.same[name] or 'nothing'}, "
                    f"{text or 'nothing'}): import them apart, each with a --test of its own"
                )


def _infos(measured: Sequence[_Named]) -> Mapping[str, Mapping[str, MetricInfo]]:
    infos: dict[str, dict[str, MetricInfo]] = {}
    for each in measured:
        engine = each.found.engine
        for name in each.found.metrics:
            metric = engine.metrics[name]
            info = MetricInfo(metric.unit, metric.better)
            infos.setdefault(engine.name, {}).setdefault(name, info)
    return infos
