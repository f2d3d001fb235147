"""Puts what a paper published into a database, as imported runs that are always the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from railgauge.base.errors import InputError
from railgauge.exchange.hpcbench.import_hpcbench import import_hpcbench
from railgauge.exchange.importing.csv_import import CsvResults, read_csv
from railgauge.exchange.importing.csv_mapping import Binding, CsvMapping
from railgauge.exchange.importing.imported_hosts import (
    NO_HOSTS,
    ImportedHosts,
    read_imported_hosts,
)
from railgauge.plan.catalogue import Catalogue
from railgauge.report.paper.paper_model import PublishedSource
from railgauge.report.paper.read_paper import LoadedPaper
from railgauge.store import Store
from railgauge.store.records import MetricInfo


@dataclass(frozen=True, slots=True)
class Published:
    """What a paper published: its sources by run, and what the last digits of its numbers count.

    `last_digits` is in base units, by run and metric, of what is a CSV file.
    """

    sources: Mapping[int, list[PublishedSource]]
    last_digits: Mapping[tuple[int, str], float]


def import_published(store: Store, loaded: LoadedPaper, catalogue: Catalogue) -> Published:
    """Store the paper's sources, those of one plan and name as one run."""
    began = datetime(loaded.paper.year, 1, 1, tzinfo=UTC).timestamp()
    groups: dict[tuple[str, str, bool], list[PublishedSource]] = {}
    for source in loaded.paper.published:
        key = source.plan, source.name, bool(source.hpcbench)
        groups.setdefault(key, []).append(source)
    runs: dict[int, list[PublishedSource]] = {}
    last_digits: dict[tuple[int, str], float] = {}
    for group in groups.values():
        run, of_run = _import(store, loaded, group, catalogue, began)
        runs[run] = group
        last_digits |= {(run, metric): last_digit for metric, last_digit in of_run.items()}
        # When and where it was imported is no matter of the paper's.
        store.settle_imported(run)
    return Published(runs, last_digits)


def _import(
    store: Store,
    loaded: LoadedPaper,
    sources: Sequence[PublishedSource],
    catalogue: Catalogue,
    at: float,
) -> tuple[int, Mapping[str, float]]:
    """Store the sources; return their run and what the last digits of its metrics count."""
    plan = sources[0].plan
    if sources[0].hpcbench:
        files = [loaded.file(name) for source in sources for name in source.hpcbench]
        return import_hpcbench(store, files, catalogue=catalogue, plan=plan).run, {}
    hosts = [_hosts(loaded, source) for source in sources]
    results = [
        read_csv(loaded.file(source.file), _mapping(source), catalogue=catalogue, hosts=of_source)
        for source, of_source in zip(sources, hosts, strict=True)
    ]
    _refuse_twice(sources, results)
    metrics: dict[str, dict[str, MetricInfo]] = {}
    for result in results:
        for engine, infos in result.metrics.items():
            metrics.setdefault(engine, {}).update(infos)
    peaks = {
        (peak.host, peak.resource): peak
        for result, of_source in zip(results, hosts, strict=True)
        for peak in of_source.peaks(entry.case for entry in result.planned)
    }
    run = store.import_run(
        results[0].new,
        [entry for result in results for entry in result.planned],
        metrics,
        [outcome for result in results for outcome in result.outcomes],
        at=at,
    )
    store.add_peaks(run, peaks.values())
    last_digits: dict[str, float] = {}
    for result in results:
        for metric, last_digit in result.last_digits.items():
            last_digits[metric] = min(last_digits.get(metric, last_digit), last_digit)
    return run, last_digits


def _refuse_twice(sources: Sequence[PublishedSource], results: Sequence[CsvResults]) -> None:
    """Refuse two sources of one run that have the same case."""
    files: dict[tuple[str, str], str] = {}
    of_files = (
        ((entry.test, entry.case.key), source.file)
        for source, result in zip(sources, results, strict=True)
        for entry in result.planned
    )
    for key, file in chain(of_files):
        if files.setdefault(key, file) != file:
            raise InputError(
                f"{files[key]} and {file} have the same case in test {key[0]!r}: give one of the"
                " two sources a 'name'"
            )


def _hosts(loaded: LoadedPaper, source: PublishedSource) -> ImportedHosts:
    return read_imported_hosts(loaded.file(source.hosts)) if source.hosts else NO_HOSTS


def _mapping(source: PublishedSource) -> CsvMapping:
    return CsvMapping(
        engine=source.engine,
        metrics=_bindings(source.metrics),
        parameters=_bindings(source.parameters),
        fixed=source.set,
        link=source.link,
        link_name=source.link_name,
        plan=source.plan,
        test=source.test,
        mean_of=source.mean_of,
        stdev=_bindings(source.stdev),
        minimum=_bindings(source.minimum),
        maximum=_bindings(source.maximum),
        logged=_bindings(source.logged),
    )


def _bindings(columns: Mapping[str, str]) -> Sequence[Binding]:
    return [Binding(name, source) for name, source in columns.items()]
