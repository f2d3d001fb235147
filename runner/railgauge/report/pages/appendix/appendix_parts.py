"""Puts an appendix together from what the store has of a report's runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.report.pages.appendix.hosts import machine_tables
from railgauge.report.pages.appendix.methods import methods
from railgauge.report.pages.appendix.table_numbers import table_numbers
from railgauge.report.pages.contents import Details, Passage
from railgauge.report.pages.page import RunRecords
from railgauge.report.tables.table import Table

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.store import Store

SUFFIX = "-appendix"


@dataclass(frozen=True, slots=True)
class Appendix:
    """How a report's numbers came about, run by run, and the machines of its runs.

    `name` is that of its LaTeX file, `about` the reported runs' methods and what tables show,
    `tables` the parameters of their tests and what the metrics are.
    """

    name: str
    about: tuple[Passage, ...]
    tables: tuple[Details, ...]
    machines: tuple[Details, ...]


def make_appendix(
    report: str,
    store: Store,
    records: Sequence[RunRecords],
    tables: Sequence[Table],
    catalogue: Catalogue | None,
    *,
    details: Sequence[Details],
) -> Appendix:
    """Return the appendix of the report called `report`, over the runs of `records`.

    `tables` are those that the report shows, `details` the appendix's own.
    """
    runs = [record.run for record in records]
    about = [
        methods(
            record,
            store.replication_counts(record.run.id),
            catalogue,
            store.changed_facts(record.run.id),
        )
        for record in records
    ]
    return Appendix(
        name=f"{report}{SUFFIX}",
        about=(*about, table_numbers(tables, runs)),
        tables=tuple(details),
        machines=machine_tables(runs),
    )
