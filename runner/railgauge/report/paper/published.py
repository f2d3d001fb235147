"""Puts what a paper published into a database, as imported runs that are always the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from railgauge.exchange.hpcbench.import_hpcbench import import_hpcbench
from railgauge.exchange.importing.csv_import import Binding, CsvMapping, import_csv
from railgauge.exchange.importing.imported_hosts import NO_HOSTS, read_imported_hosts
from railgauge.plan.catalogue import Catalogue
from railgauge.report.paper.paper_model import PublishedSource
from railgauge.report.paper.read_paper import LoadedPaper
from railgauge.store import Store


def import_published(
    store: Store, loaded: LoadedPaper, catalogue: Catalogue
) -> dict[int, PublishedSource]:
    """Store each source of the paper as a run; return them by the runs' ids."""
    began = datetime(loaded.paper.year, 1, 1, tzinfo=UTC).timestamp()
    runs = {
        _import(store, loaded, source, catalogue, began): source
        for source in loaded.paper.published
    }
    for run in runs:
        # When and where it was imported is no matter of the paper's.
        store.settle_imported(run)
    return runs


def _import(
    store: Store, loaded: LoadedPaper, source: PublishedSource, catalogue: Catalogue, at: float
) -> int:
    if source.hpcbench:
        files = [loaded.file(name) for name in source.hpcbench]
        return import_hpcbench(store, files, catalogue=catalogue, plan=source.plan).run
    mapping = CsvMapping(
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
    hosts = read_imported_hosts(loaded.file(source.hosts)) if source.hosts else NO_HOSTS
    file = loaded.file(source.file)
    return import_csv(store, file, mapping, catalogue=catalogue, at=at, hosts=hosts).run


def _bindings(columns: Mapping[str, str]) -> Sequence[Binding]:
    return [Binding(name, source) for name, source in columns.items()]
