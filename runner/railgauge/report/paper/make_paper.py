"""Makes a paper's tables and figures again: its numbers beside those of runs, in files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from railgauge.base.characters import capitalised
from railgauge.base.errors import InputError
from railgauge.exchange.importing.csv_file import CsvFile
from railgauge.plan.cases import Case
from railgauge.report.definition.definition_model import Spec, TableSpec, TextSpec
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.report.pages.page import time_of
from railgauge.report.paper.paper_model import PublishedSource
from railgauge.report.paper.paper_parts import ShownRuns, paper_spec
from railgauge.report.paper.published import import_published
from railgauge.report.paper.read_paper import LoadedPaper
from railgauge.report.paper.run_names import NamedRun, run_names
from railgauge.report.tables.axes import selected_values
from railgauge.report.tables.notes import listed
from railgauge.report.tables.table_series import stored_metrics
from railgauge.store import Store
from railgauge.store.copy import copy_runs
from railgauge.store.records import StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

_PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class _Case:
    """A case of a run, as axes see it."""

    run: int
    plan: str
    test: str
    case: Case


def latest_runs(store: Store, plans: Sequence[str]) -> list[int]:
    """Return of each plan the latest run that was measured and is complete, if there is one."""
    latest: dict[str, tuple[str, int]] = {}
    heads = store.run_heads()
    for run in store.runs([head.id for head in heads if head.plan in plans and not head.partial]):
        if run.state == "complete" and run.origin == "measured":
            latest[run.plan] = max(latest.get(run.plan, ("", 0)), (run.started_at, run.id))
    return [latest[plan][1] for plan in plans if plan in latest]


def write_paper(
    loaded: LoadedPaper,
    store: Store | None,
    run_ids: Sequence[int],
    out_dir: Path,
    *,
    catalogue: Catalogue,
    options: ReportOptions,
) -> list[Path]:
    """Write the paper's tables and figures over these runs of `store` into `out_dir`.

    The files are those of `write_report`, always the same of the same runs. The store stays as it
    is: what was published goes into a database beside it, with copies of the runs, which keep their
    ids. Without runs there is what was published alone.
    """
    with (
        tempfile.TemporaryDirectory(prefix="railgauge-paper-") as scratch,
        Store.open(str(Path(scratch) / "paper.db")) as paper,
    ):
        chosen = list(dict.fromkeys(run_ids))
        if store is not None and chosen:
            _refuse_other_plans(loaded, map(store.run, chosen))
            copy_runs(store, paper, chosen)
        imported = import_published(paper, loaded, catalogue)
        published = imported.sources
        measured = [paper.run(run_id) for run_id in chosen]
        shown_runs = _shown_runs(paper, loaded, published, measured)
        if not shown_runs.names:
            raise InputError(
                f"paper {loaded.paper.name!r} comes with no numbers of its own: name a run of"
                f" {' or '.join(loaded.paper.plans)}"
            )
        texts = _texts(loaded, published, measured, shown_runs)
        spec = paper_spec(loaded, shown_runs, texts, _printed(loaded), catalogue)
        _refuse_unshown(spec, measured)
        runs = [*published, *chosen]
        options = replace(options, printed=imported.last_digits)
        return write_report(paper, runs, spec, out_dir, catalogue=catalogue, options=options)


def _refuse_other_plans(loaded: LoadedPaper, runs: Iterable[StoredRun]) -> None:
    """InputError for a run that another plan measured; what is imported has any plan's name."""
    plans = [plan.plan.name for plan in loaded.plans()]
    for run in runs:
        if run.new.origin == "measured" and run.new.plan not in plans:
            raise InputError(
                f"run {run.id} is of plan {run.new.plan!r}, and paper {loaded.paper.name!r} takes"
                f" runs of {listed(plans)}: leave it out, or name its plan in a definition of your"
                " own (docs/paper.md)"
            )


def _refuse_unshown(spec: Spec, runs: Sequence[StoredRun]) -> None:
    """InputError for an imported run of which no table or figure shows anything."""
    parts: list[TableSpec | FigureSpec] = [*spec.tables, *spec.figures]
    selected = {run for part in parts for run in selected_values(part.select["run"])}
    for run in runs:
        if run.new.origin == "imported" and run.id not in selected:
            raise InputError(
                f"run {run.id}, an import called {run.new.plan!r}, has nothing that paper"
                f" {spec.name!r} shows: leave it out, or import it with the paper's engines,"
                " metrics and tests"
            )


def _shown_runs(
    store: Store,
    loaded: LoadedPaper,
    published: Mapping[int, list[PublishedSource]],
    measured: Sequence[StoredRun],
) -> ShownRuns:
    names = {
        run: f"{_PUBLISHED}, {sources[0].name}" if sources[0].name else _PUBLISHED
        for run, sources in published.items()
    }
    plans = dict.fromkeys(run.new.plan for run in measured)
    for plan in plans:
        # Only runs of one plan stand in one table beside one another.
        names |= run_names([_named(run) for run in measured if run.new.plan == plan])
    tables = [table for report in loaded.reports for table in report.tables]
    metrics = stored_metrics(tables)
    metrics |= {figure.metric for report in loaded.reports for figure in report.figures} - {""}
    runs = [store.run(run) for run in names]
    cases = [
        _Case(run.id, run.new.plan, planned.test, planned.case)
        for run in runs
        for planned in run.cases
    ]
    return ShownRuns(names, [*published], cases, store.series(list(names), metrics))


def _named(run: StoredRun) -> NamedRun:
    return NamedRun(
        run.id, run.new.plan, run.new.git_commit, run.started_at, run.new.labels, run.facts
    )


def _printed(loaded: LoadedPaper) -> list[TextSpec]:
    """Return the tables that are shown as printed."""
    texts = []
    for printed in loaded.paper.printed:
        file = CsvFile(loaded.file(printed.file))
        grid = [[cell.text for cell in line] for line in (file.header, *file.rows)]
        text = f"As printed, not measured again: {printed.reason}"
        texts.append(TextSpec(name=printed.name, heading=printed.number, text=text, grid=grid))
    return texts


def _texts(
    loaded: LoadedPaper,
    published: Mapping[int, list[PublishedSource]],
    measured: Sequence[StoredRun],
    shown_runs: ShownRuns,
) -> list[TextSpec]:
    """Return what stands before the tables: the paper, what is called how, what isn't here."""
    paper = loaded.paper
    about = [" ".join(text for text in (paper.citation, paper.url) if text)]
    about += [
        f"{capitalised(shown_runs.names[run])} (run {run}): {' '.join(s.source for s in sources)}"
        for run, sources in published.items()
    ]
    about += [
        f"{capitalised(shown_runs.names[run.id])} (run {run.id}): plan {run.new.plan},"
        f" {time_of(run.started_at)}."
        for run in measured
    ]
    if not measured:
        names = listed([plan.plan.name for plan in loaded.plans()])
        about.append(
            f"Nothing was measured yet: that takes a run of plan {names}; railgauge paper prints"
            " the commands."
        )
    else:
        missing = {plan.plan.name for plan in loaded.plans()} - {run.new.plan for run in measured}
        about += [f"No run of plan {name} is among these." for name in sorted(missing)]
    texts = [TextSpec(name="about", heading="The paper", text="\n\n".join(about))]
    if paper.left_out:
        left_out = [f"{entry.number}: {entry.reason}" for entry in paper.left_out]
        texts.append(
            TextSpec(name="left-out", heading="What is not here", text="\n\n".join(left_out))
        )
    return texts
