"""Writes a report's files: the same runs and the same definition give the same bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from railgauge.base.atomicfile import write_atomic
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.report.document.render import (
    render_appendix_latex,
    render_appendix_text,
    render_case,
    render_figure_latex,
    render_figure_text,
    render_html,
    render_latex,
    render_latex_document,
    render_listed_text,
    render_passage_text,
    render_text,
)
from railgauge.report.figures.figures import build_figures
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.report.figures.pictures import Pictures
from railgauge.report.figures.plotfile import draw
from railgauge.report.formats.csvfile import render_csv, render_json, render_records
from railgauge.report.pages.appendix.appendix_parts import SUFFIX, Appendix, make_appendix
from railgauge.report.pages.case.case_pages import FOLDER, case_links, case_pages
from railgauge.report.pages.case.case_view import CasePage
from railgauge.report.pages.case.paged_cases import paged_cases
from railgauge.report.pages.case.timeplot import CasePlot, draw_timelines
from railgauge.report.pages.case_settings import settings_tables
from railgauge.report.pages.contents import ReportPart, passage
from railgauge.report.pages.idle import idle_details
from railgauge.report.pages.metric_definitions import (
    clock_table,
    metric_tables,
    shown_metrics,
)
from railgauge.report.pages.page import Page, RunRecords, make_page
from railgauge.report.tables.default import default_series, default_spec
from railgauge.report.tables.pivot import build
from railgauge.report.tables.run_axes import RunAxes
from railgauge.report.tables.run_context import read_context
from railgauge.report.tables.several_runs import axis_of_runs, beside_one_another, check_axis
from railgauge.report.tables.slow_nodes import HEADER, build_listings
from railgauge.report.tables.table import Table
from railgauge.report.tables.table_series import TableSeries, stored_metrics

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.report.definition.definition_model import NoteLevel, Spec, TableSpec
    from railgauge.store import Store
    from railgauge.store.records import Series, StoredRun


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How a report is written: its pages of cases, its pictures, whether it has an appendix.

    `pictures` says how gnuplot draws for LaTeX. An appendix says how everything was measured and
    on which machines, in all of the report's documents and in `NAME-appendix.tex`. Runs that
    measured the same cases stand side by side on the axis `by` ("": the one label that
    distinguishes them, or else their numbers). `notes` stands in place of the definition's.
    `printed` is what the last digit of what a run printed of a metric counts, in its base unit. As
    to `most_cases`, see `paged_cases`.
    """

    most_cases: int | None = None
    pictures: Pictures = "auto"
    appendix: bool = False
    by: str = ""
    notes: NoteLevel | None = None
    printed: Mapping[tuple[int, str], float] = field(default_factory=dict)


_DEFAULTS = ReportOptions()
# Nobody reads all statistics of more cases than this, and they would be most of the report.
_MOST_SUMMED = 500
_BEYOND = "All statistics of each row: {name}.csv."
# Pictures that gnuplot draws while this process makes the pages before.
_AHEAD = 2
K = TypeVar("K")
T = TypeVar("T")
# What each name of a definition stands for; `each` makes several of one.
_Parts = Mapping[str, Sequence[ReportPart]]
# A file's name and content.
_File = tuple[str, str | bytes]


def write_report(
    store: Store,
    run_ids: Sequence[int],
    spec: Spec | None,
    out_dir: Path,
    *,
    catalogue: Catalogue | None = None,
    options: ReportOptions = _DEFAULTS,
) -> list[Path]:
    """Write the report over these runs into `out_dir` (made if missing) and return its files.

    `index.html` holds everything, in the definition's order; `NAME.txt` tables and texts as plain
    text; `NAME.tex` compiles by itself and inputs a `TABLE.tex` for each table; `TABLE.csv` has
    every cell's numbers. A list of slow nodes is a table with a `.json` too. A figure has a
    `FIGURE.tex` and a `FIGURE.csv` too, and the gnuplot script, its data and the two pictures it
    makes: `.plot`, `.dat`, `.svg` and `-picture.tex`. `cases/` has a page for each case with system
    logs, and the script and data of its figures. Without a `spec` each test has its default
    tables. `catalogue` writes parameters with their units. Each file is complete or not there.

    InputError when there is nothing to show, EnvironmentFailedError when a figure can't be drawn
    or a file can't be written.
    """
    if not run_ids:
        raise InputError("name the run to report: `railgauge list` shows them")
    runs = [store.run(run_id) for run_id in dict.fromkeys(run_ids)]
    spec, series = _definition(store, run_ids, spec, by=options.by)
    spec = spec if options.notes is None else spec.model_copy(update={"notes": options.notes})
    parts = _parts(store, runs, run_ids, spec, series, catalogue, options)
    _refuse_equal_names(spec.name, parts)
    records = [RunRecords(run, store.failures(run.id), store.suspicions(run.id)) for run in runs]
    shown_tables = [table for part in chain(*parts.values()) for table in part.tables]
    page = _page(store, spec, records, catalogue, options.most_cases, shown_tables)
    parts = _drawn(parts, options.pictures)
    # Before the page that links to them.
    cases = _write(_case_files(store, runs, page, catalogue), out_dir / FOLDER)
    appendix = None
    if options.appendix:
        tables = [
            table for part in chain(*parts.values()) if not part.figure for table in part.tables
        ]
        details = (*page.settings, *page.definitions)
        appendix = make_appendix(spec.name, store, records, tables, catalogue, details=details)
    in_order = [part for name in spec.contents or parts for part in parts[name]]
    # All rendered before any is written: what can't be rendered leaves the folder as it was.
    return _write([*_files(page, in_order, appendix)], out_dir) + cases


def _definition(
    store: Store, run_ids: Sequence[int], spec: Spec | None, *, by: str
) -> tuple[Spec, Sequence[Series]]:
    """Return the definition, the default one if there is none, and the series of its tables."""
    if spec is None:
        series = default_series(store, run_ids)
        spec = default_spec(series, statistics=_MOST_SUMMED, beyond=_BEYOND, with_runs=not by)
        return spec, series
    metrics = stored_metrics(spec.tables) | {listing.metric for listing in spec.slow_nodes}
    return spec, store.series(run_ids, metrics) if metrics else []


def _parts(
    store: Store,
    runs: Sequence[StoredRun],
    run_ids: Sequence[int],
    spec: Spec,
    series: Sequence[Series],
    catalogue: Catalogue | None,
    options: ReportOptions,
) -> _Parts:
    """Return the report's parts, figures yet undrawn; runs that share cases on an axis."""
    run_axes = RunAxes(store, runs)
    if options.by:
        check_axis(options.by, run_axes, runs)
    by = options.by or axis_of_runs(runs)
    context = replace(read_context(store, runs, spec.tables), printed=options.printed)
    imported = context.imported
    of_tables = TableSeries(store, runs, series, catalogue)

    def make(table: TableSpec) -> Table:
        return build(
            table, of_tables.of(table), catalogue=catalogue, context=context, level=spec.notes
        )

    parts = {text.name: [ReportPart(passage=passage(text))] for text in spec.texts}
    for table in spec.tables:
        built = beside_one_another(table, by, make, run_axes, runs[0])
        parts[table.name] = [ReportPart(table=built)]
    for slow_nodes in spec.slow_nodes:
        listings = build_listings(
            slow_nodes, series, catalogue=catalogue, imported=imported, run_axes=run_axes, by=by
        )
        parts[slow_nodes.name] = [ReportPart(listing=listing) for listing in listings]
    for plot in spec.figures:
        figures = build_figures(
            plot,
            store,
            run_ids,
            catalogue=catalogue,
            imported=imported,
            run_axes=run_axes,
            by=by,
        )
        parts[plot.name] = [ReportPart(figure=figure) for figure in figures]
    return parts


def _refuse_equal_names(report: str, parts: _Parts) -> None:
    """Refuse a name that `each` or a figure's table makes and that another part has."""
    names = {report, f"{report}{SUFFIX}", "index"}
    for name in (name for part in chain(*parts.values()) for name in part.names):
        if name in names:
            raise InputError(f"two parts of the report would be called {name!r}: rename one")
        names.add(name)


def _drawn(parts: _Parts, pictures: Pictures) -> _Parts:
    """Return the parts with their figures drawn."""

    def draw_part(part: ReportPart) -> ReportPart:
        return part if part.figure is None else replace(part, drawn=draw(part.figure, pictures))

    drawn = _ahead(draw_part, chain(*parts.values()))
    return {name: list(islice(drawn, len(parts[name]))) for name in parts}


def _page(
    store: Store,
    spec: Spec,
    records: Sequence[RunRecords],
    catalogue: Catalogue | None,
    most_cases: int | None,
    tables: Sequence[Table],
) -> Page:
    runs = [record.run for record in records]
    cases, note = paged_cases(store, [run.id for run in runs], most_cases)
    logs = ((run.id, [stored.log for stored in store.run_logs(run.id)]) for run in runs)
    page = make_page(
        spec.name,
        spec.title,
        records,
        idle=[idle for run_id, run_logs in logs if (idle := idle_details(run_id, run_logs))],
        links=case_links(store, runs, catalogue, cases),
        links_note=note,
        catalogue=catalogue,
    )
    named_metrics = [part.metric for part in spec.figures]
    named_metrics += [part.metric for part in spec.slow_nodes]
    by_engine = shown_metrics(tables, named_metrics, runs)
    return replace(
        page,
        definitions=(*metric_tables(by_engine, catalogue), *clock_table(runs, catalogue)),
        settings=settings_tables([(run, store.launch_settings(run.id)) for run in runs], catalogue),
    )


def _case_files(
    store: Store, runs: Sequence[StoredRun], page: Page, catalogue: Catalogue | None
) -> Iterator[_File]:
    """Yield the files of the cases' pages, each made when the one before is written."""
    if not page.links:
        return
    gnuplot, undrawn = "", ""
    try:
        gnuplot = find_gnuplot()
    except EnvironmentFailedError as error:
        # A report without figures needs no gnuplot.
        undrawn = f"Without figures over time: {error}."

    def draw_case(case: CasePage) -> tuple[CasePage, CasePlot | None]:
        if not gnuplot or not case.timelines:
            return case, None
        return case, draw_timelines(gnuplot, case.name, case.title, case.timelines)

    for case, plot in _ahead(draw_case, case_pages(store, runs, page.links, catalogue)):
        if plot is not None:
            yield f"{case.name}.plot", plot.plot
            yield f"{case.name}.dat", plot.dat
        reason = undrawn if case.timelines else ""
        yield f"{case.name}.html", render_case(case, page.title, plot, reason)


def _ahead(action: Callable[[K], T], items: Iterable[K]) -> Iterator[T]:
    """Yield what `action` gives for each item, in order, and begin with the next ones meanwhile."""
    workers = ThreadPoolExecutor(_AHEAD)
    pending: deque[Future[T]] = deque()
    try:
        for item in items:
            pending.append(workers.submit(action, item))
            if len(pending) > _AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        workers.shutdown(cancel_futures=True)


def _files(page: Page, parts: Sequence[ReportPart], appendix: Appendix | None) -> Iterator[_File]:
    """Yield the report's documents, then the files of each part."""
    if appendix is not None:
        yield f"{appendix.name}.tex", render_appendix_latex(appendix)
    yield "index.html", render_html(page, parts, appendix)
    texts = [text for part in parts for text in _texts(part)]
    texts += map(render_listed_text, page.suspects)
    if appendix is not None:
        texts.append(render_appendix_text(appendix))
    yield f"{page.name}.txt", "\n".join(texts)
    yield f"{page.name}.tex", render_latex_document(page, parts, appendix)
    for part in parts:
        yield from _part_files(part)


def _texts(part: ReportPart) -> Iterator[str]:
    if part.passage is not None:
        yield render_passage_text(part.passage)
    if part.figure is not None:
        yield render_figure_text(part.figure)
    yield from map(render_text, part.tables)


def _part_files(part: ReportPart) -> Iterator[_File]:
    if part.drawn is not None:
        figure, content = part.drawn.figure, part.drawn.figure.content
        yield f"{figure.name}.tex", render_figure_latex(figure, part.drawn.packages)
        yield f"{figure.name}.csv", render_records(content.header, content.records)
    for table in part.tables:
        yield f"{table.name}.tex", render_latex(table)
    if part.table is not None:
        yield f"{part.table.name}.csv", render_csv(part.table)
    if part.listing is not None:
        name = part.listing.table.name
        yield f"{name}.csv", render_records(HEADER, part.listing.records)
        yield f"{name}.json", render_json(part.listing.data)
    if part.drawn is not None:
        yield from part.drawn.files.items()


def _write(files: Iterable[_File], folder: Path) -> list[Path]:
    paths: dict[Path, None] = {}
    for name, content in files:
        paths[folder / name] = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomic(folder / name, content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise EnvironmentFailedError(
                f"the report can't be written to {folder}: {error.strerror or error}:"
                " make room, mend the permissions, or choose another folder with --out"
            ) from error
    return list(paths)
