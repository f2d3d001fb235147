"""Writes a report's files: the same runs and the same definition give the same bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from railgauge.errors import EnvironmentFailedError, InputError
from railgauge.report.beside import read_beside
from railgauge.report.casepage.collect import FOLDER, MOST_PAGES, case_links, case_pages
from railgauge.report.casepage.timeplot import draw_timelines
from railgauge.report.csvfile import render_csv, render_json, render_records
from railgauge.report.default import default_series, default_spec
from railgauge.report.figure import Figure
from railgauge.report.figures import build_figures
from railgauge.report.gnuplot import find_gnuplot
from railgauge.report.idle import idle_details
from railgauge.report.model import Spec
from railgauge.report.page import Page, RunRecords, make_page
from railgauge.report.pivot import build
from railgauge.report.plotfile import Drawn, draw
from railgauge.report.render import (
    render_case,
    render_figure_latex,
    render_figure_text,
    render_html,
    render_latex,
    render_latex_document,
    render_listed_text,
    render_text,
)
from railgauge.report.slow_nodes import HEADER, Listing, build_listings
from railgauge.report.table import Table

if TYPE_CHECKING:
    from railgauge.catalogue import Catalogue
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
) -> list[Path]:
    """Write the report over these runs into `out_dir` (made if missing) and return its files.

    `index.html` holds everything; `NAME.txt` the tables as text; `NAME.tex` compiles by itself and
    inputs a `TABLE.tex` for each table; `TABLE.csv` has every cell's numbers. A list of slow
    nodes is a table with a `.json` too. A figure has a
    `FIGURE.tex` and a `FIGURE.csv` too, and the gnuplot script, its data and the two pictures it
    makes: `.plot`, `.dat`, `.svg` and `-picture.tex`. `cases/` has a page for each case with system
    logs, at most `most_cases`, and the script and data of its figures. Without a `spec` each test
    has its default table. `catalogue` writes parameters with their units. Each file is complete or
    not there.

    InputError when there is nothing to show, EnvironmentFailedError when a figure can't be drawn
    or a file can't be written.
    """
    if not run_ids:
        raise InputError("name the run to report: `railgauge list` shows them")
    runs = [store.run(run_id) for run_id in dict.fromkeys(run_ids)]
    if spec is None:
        series = default_series(store, run_ids)
        spec = default_spec(series)
    else:
        metrics = {cell.metric for one in spec.tables for cell in one.cells if cell.metric}
        metrics |= {one.metric for one in spec.slow_nodes}
        series = store.series(run_ids, metrics) if metrics else []
    beside = read_beside(store, runs, spec.tables)
    imported = beside.imported
    tables = [build(one, series, catalogue=catalogue, beside=beside) for one in spec.tables]
    listings: list[Listing] = []
    for listed in spec.slow_nodes:
        listings += build_listings(listed, series, catalogue=catalogue, imported=imported)
    figures: list[Figure] = []
    for part in spec.figures:
        figures += build_figures(part, store, run_ids, catalogue=catalogue, imported=imported)
    every = [*tables, *(one.table for one in listings)]
    _refuse_one_name_for_two(spec, every, figures)
    links = case_links(store, runs, catalogue, most_cases)
    page = make_page(
        spec.name,
        spec.title,
        [table.name for table in every],
        [RunRecords(run, store.failures(run.id), store.suspicions(run.id)) for run in runs],
        figures=[name for figure in figures for name in _names(figure)],
        idle=[
            idle
            for run in runs
            if (idle := idle_details(run.id, [one.log for one in store.run_logs(run.id)]))
        ],
        links=links,
        links_note=_links_note(most_cases) if len(links) == most_cases else "",
        catalogue=catalogue,
    )
    drawn = [draw(figure) for figure in figures]
    # Before the page that links to them.
    cases = _write_cases(store, runs, page, catalogue, out_dir)
    return _write(_files(page, tables, listings, drawn), out_dir) + cases


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
    page: Page, tables: Sequence[Table], listings: Sequence[Listing], drawn: Sequence[Drawn]
) -> dict[str, str]:
    every = [*tables, *(one.table for one in listings)]
    texts = [*map(render_text, every)]
    for one in drawn:
        texts.append(render_figure_text(one.figure))
        if one.figure.content.table is not None:
            texts.append(render_text(one.figure.content.table))
    texts += map(render_listed_text, page.suspects)
    files = {
        "index.html": render_html(page, every, drawn),
        f"{page.name}.txt": "\n".join(texts),
        f"{page.name}.tex": render_latex_document(page),
    }
    for table in tables:
        files[f"{table.name}.tex"] = render_latex(table)
        files[f"{table.name}.csv"] = render_csv(table)
    for listing in listings:
        name = listing.table.name
        files[f"{name}.tex"] = render_latex(listing.table)
        files[f"{name}.csv"] = render_records(HEADER, listing.records)
        files[f"{name}.json"] = render_json(listing.data)
    for one in drawn:
        figure, content = one.figure, one.figure.content
        files[f"{figure.name}.tex"] = render_figure_latex(figure)
        files[f"{figure.name}.csv"] = render_records(content.header, content.records)
        if content.table is not None:
            files[f"{content.table.name}.tex"] = render_latex(content.table)
        files |= one.files()
    return files


def _names(figure: Figure) -> list[str]:
    table = figure.content.table
    return [figure.name] if table is None else [figure.name, table.name]


def _refuse_one_name_for_two(
    spec: Spec, tables: Sequence[Table], figures: Sequence[Figure]
) -> None:
    """Refuse a name that `each` or a figure's table makes and that something else has."""
    taken = {spec.name, "index"}
    for name in [*(table.name for table in tables), *(n for one in figures for n in _names(one))]:
        if name in taken:
            raise InputError(f"two parts of the report would be called {name!r}: rename one")
        taken.add(name)


def _write(files: Mapping[str, str], folder: Path) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            _replace(folder / name, text)
    except OSError as error:
        raise EnvironmentFailedError(
            f"the report can't be written to {folder}: {error.strerror or error}:"
            " make room, mend the permissions, or choose another folder with --out"
        ) from error
    return [folder / name for name in files]


def _replace(path: Path, text: str) -> None:
    """Write beside the file and rename, so that no reader ever meets half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8", newline="") as out:
            out.write(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
