"""Writes a report's files: the same runs and the same definition give the same bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from railgauge.base.atomicfile import write_atomic
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.report.definition.model import Spec
from railgauge.report.figures.figure import Figure
from railgauge.report.figures.figures import build_figures
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.report.figures.pictures import Pictures
from railgauge.report.figures.plotfile import DrawnFigure, draw
from railgauge.report.formats.contents import ReportPart, arranged, passage
from railgauge.report.formats.csvfile import render_csv, render_json, render_records
from railgauge.report.formats.page import Page, RunRecords, make_page
from railgauge.report.formats.render import (
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
from railgauge.report.pages.appendix.collect import SUFFIX, Appendix, make_appendix
from railgauge.report.pages.case.collect import FOLDER, MOST_PAGES, case_links, case_pages
from railgauge.report.pages.case.timeplot import draw_timelines
from railgauge.report.pages.idle import idle_details
from railgauge.report.tables.beside import read_context
from railgauge.report.tables.default import default_series, default_spec
from railgauge.report.tables.pivot import build
from railgauge.report.tables.slow_nodes import HEADER, Listing, build_listings
from railgauge.report.tables.table import Table
from railgauge.report.tables.table_series import TableSeries, stored_metrics

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.store import Store
    from railgauge.store.records import StoredRun


def write_report(
    store: Store,
    run_ids: Sequence[int],
    spec: Spec | None,
    out_dir: Path,
    *,
    catalogue: Catalogue | None = None,
    most_cases: int = MOST_PAGES,
    pictures: Pictures = "auto",
    appendix: bool = False,
) -> list[Path]:
    """Write the report over these runs into `out_dir` (made if missing) and return its files.

    `index.html` holds everything, in the definition's order; `NAME.txt` tables and texts as plain
    text; `NAME.tex` compiles by itself and inputs a `TABLE.tex` for each table; `TABLE.csv` has
    every cell's numbers. A list of slow nodes is a table with a `.json` too. A figure has a
    `FIGURE.tex` and a `FIGURE.csv` too, and the gnuplot script, its data and the two pictures it
    makes: `.plot`, `.dat`, `.svg` and `-picture.tex`. `cases/` has a page for each case with system
    logs, at most `most_cases`, and the script and data of its figures. Without a `spec` each test
    has its default tables. `catalogue` writes parameters with their units. `pictures` says how
    gnuplot draws for LaTeX; an `appendix` tells how everything was measured and on which machines,
    in all of them and in `NAME-appendix.tex`. Each file is complete or not there.

    InputError when there is nothing to show, EnvironmentFailedError when a figure can't be drawn
    or a file can't be written.
    """
    if not run_ids:
        raise InputError("name the run to report: `railgauge list` shows them")
    runs = [store.run(run_id) for run_id in dict.fromkeys(run_ids)]
    if spec is None:
        series = default_series(store, run_ids)
        spec = default_spec(series, statistics=math.inf)
    else:
        metrics = stored_metrics(spec.tables)
        metrics |= {one.metric for one in spec.slow_nodes}
        series = store.series(run_ids, metrics) if metrics else []
    context = read_context(store, runs, spec.tables)
    imported = context.imported
    shown_in = TableSeries(store, runs, series, catalogue)
    tables = {
        one.name: build(one, shown_in.of(one), catalogue=catalogue, context=context)
        for one in spec.tables
    }
    listings = {
        one.name: build_listings(one, series, catalogue=catalogue, imported=imported)
        for one in spec.slow_nodes
    }
    figures = {
        one.name: build_figures(one, store, run_ids, catalogue=catalogue, imported=imported)
        for one in spec.figures
    }
    _refuse_one_name_for_two(spec, tables, listings, figures)
    links = case_links(store, runs, catalogue, most_cases)
    records = [RunRecords(run, store.failures(run.id), store.suspicions(run.id)) for run in runs]
    page = make_page(
        spec.name,
        spec.title,
        records,
        idle=[
            idle
            for run in runs
            if (idle := idle_details(run.id, [one.log for one in store.run_logs(run.id)]))
        ],
        links=links,
        links_note=_links_note(most_cases) if len(links) == most_cases else "",
        catalogue=catalogue,
    )
    shown = {one.name: [ReportPart(passage=passage(one))] for one in spec.texts}
    shown |= {name: [ReportPart(table=table)] for name, table in tables.items()}
    shown |= {
        name: [ReportPart(table=one.table) for one in those] for name, those in listings.items()
    }
    shown |= {
        name: [ReportPart(drawn=draw(one, pictures)) for one in those]
        for name, those in figures.items()
    }
    # Before the page that links to them.
    cases = _write_cases(store, runs, page, catalogue, out_dir)
    told = None
    if appendix:
        every = [*tables.values(), *(one.table for those in listings.values() for one in those)]
        told = make_appendix(spec.name, store, records, every, catalogue)
    return _write(_files(page, arranged(spec, shown), listings, told), out_dir) + cases


def _write_cases(
    store: Store,
    runs: Sequence[StoredRun],
    page: Page,
    catalogue: Catalogue | None,
    out_dir: Path,
) -> list[Path]:
    """Write the cases' pages, each before the next one is made."""
    if not page.links:
        return []
    written: list[Path] = []
    gnuplot, undrawn = "", ""
    try:
        gnuplot = find_gnuplot()
    except EnvironmentFailedError as error:
        # Whoever asked for no figure needs no gnuplot.
        undrawn = f"Without figures over time: {error}."
    for one in case_pages(store, runs, page.links, catalogue):
        files = {}
        plotted = None
        if gnuplot and one.timelines:
            plotted = draw_timelines(gnuplot, one.name, one.title, one.timelines)
            files = {f"{one.name}.plot": plotted.plot, f"{one.name}.dat": plotted.dat}
        why = undrawn if one.timelines else ""
        files[f"{one.name}.html"] = render_case(one, page.title, plotted, why)
        written += _write(files, out_dir / FOLDER)
    return written


def _links_note(most: int) -> str:
    return (
        f"At most {most} cases have a page, those with suspect replications first:"
        " --cases allows more."
    )


def _files(
    page: Page,
    parts: Sequence[ReportPart],
    listings: Mapping[str, Sequence[Listing]],
    appendix: Appendix | None,
) -> dict[str, str | bytes]:
    texts = [text for part in parts for text in _texts(part)]
    texts += map(render_listed_text, page.suspects)
    files: dict[str, str | bytes] = {}
    if appendix is not None:
        texts.append(render_appendix_text(appendix))
        files[f"{appendix.name}.tex"] = render_appendix_latex(appendix)
    files |= {
        "index.html": render_html(page, parts, appendix),
        f"{page.name}.txt": "\n".join(texts),
        f"{page.name}.tex": render_latex_document(page, parts, appendix),
    }
    by_name = {one.table.name: one for those in listings.values() for one in those}
    for part in parts:
        if part.table is not None:
            files |= _table_files(part.table, by_name.get(part.table.name))
        if part.drawn is not None:
            files |= _figure_files(part.drawn)
    return files


def _texts(part: ReportPart) -> Iterator[str]:
    if part.passage is not None:
        yield render_passage_text(part.passage)
    if part.drawn is not None:
        yield render_figure_text(part.drawn.figure)
    yield from map(render_text, part.tables)


def _table_files(table: Table, listing: Listing | None) -> dict[str, str]:
    name = table.name
    files = {f"{name}.tex": render_latex(table)}
    if listing is None:
        return files | {f"{name}.csv": render_csv(table)}
    records = render_records(HEADER, listing.records)
    return files | {f"{name}.csv": records, f"{name}.json": render_json(listing.data)}


def _figure_files(drawn: DrawnFigure) -> dict[str, str | bytes]:
    figure, content = drawn.figure, drawn.figure.content
    files: dict[str, str | bytes] = {
        f"{figure.name}.tex": render_figure_latex(figure, drawn.packages),
        f"{figure.name}.csv": render_records(content.header, content.records),
    }
    if content.table is not None:
        files[f"{content.table.name}.tex"] = render_latex(content.table)
    return files | drawn.files()


def _names(figure: Figure) -> list[str]:
    table = figure.content.table
    return [figure.name] if table is None else [figure.name, table.name]


def _refuse_one_name_for_two(
    spec: Spec,
    tables: Mapping[str, Table],
    listings: Mapping[str, Sequence[Listing]],
    figures: Mapping[str, Sequence[Figure]],
) -> None:
    """Refuse a name that `each` or a figure's table makes and that something else has."""
    names = [*(one.name for one in spec.texts), *tables]
    names += [one.table.name for those in listings.values() for one in those]
    names += [name for those in figures.values() for one in those for name in _names(one)]
    taken = {spec.name, f"{spec.name}{SUFFIX}", "index"}
    for name in names:
        if name in taken:
            raise InputError(f"two parts of the report would be called {name!r}: rename one")
        taken.add(name)


def _write(files: Mapping[str, str | bytes], folder: Path) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            encoded = content if isinstance(content, bytes) else content.encode()
            write_atomic(folder / name, encoded)
    except OSError as error:
        raise EnvironmentFailedError(
            f"the report can't be written to {folder}: {error.strerror or error}:"
            " make room, mend the permissions, or choose another folder with --out"
        ) from error
    return [folder / name for name in files]
