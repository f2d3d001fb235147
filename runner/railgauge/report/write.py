"""Writes a report's files: the same runs and the same definition give the same bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from railgauge.errors import EnvironmentFailedError, InputError
from railgauge.report.csvfile import render_csv
from railgauge.report.default import default_series, default_spec
from railgauge.report.model import Spec
from railgauge.report.page import make_page
from railgauge.report.pivot import build
from railgauge.report.render import (
    render_html,
    render_latex,
    render_latex_document,
    render_text,
)

if TYPE_CHECKING:
    from railgauge.catalogue import Catalogue
    from railgauge.store import Store


def write_report(
    store: Store,
    run_ids: Sequence[int],
    spec: Spec | None,
    out_dir: Path,
    *,
    catalogue: Catalogue | None = None,
) -> list[Path]:
    """Write the report over these runs into `out_dir` (made if missing) and return its files.

    `index.html` holds everything; `NAME.txt` the tables as text; `NAME.tex` compiles by itself and
    inputs a `TABLE.tex` for each table; `TABLE.csv` has every cell's numbers. Without a `spec` each
    test has its default table. `catalogue` writes parameters with their units. Each file is
    complete or not there. InputError when there is nothing to show, EnvironmentFailedError when a
    file can't be written.
    """
    if not run_ids:
        raise InputError("name the run to report: `railgauge list` shows them")
    if spec is None:
        series = default_series(store, run_ids)
        spec = default_spec(series)
    else:
        metrics = {cell.metric for one in spec.tables for cell in one.cells}
        series = store.series(run_ids, metrics)
    runs = [store.run(run_id) for run_id in dict.fromkeys(run_ids)]
    imported = {run.id for run in runs if run.new.origin == "imported"}
    tables = [build(one, series, catalogue=catalogue, imported=imported) for one in spec.tables]
    page = make_page(
        spec.name,
        spec.title,
        [table.name for table in tables],
        runs,
        [store.failures(run.id) for run in runs],
    )
    files = {
        "index.html": render_html(page, tables),
        f"{spec.name}.txt": "\n".join(map(render_text, tables)),
        f"{spec.name}.tex": render_latex_document(page),
    }
    for table in tables:
        files[f"{table.name}.tex"] = render_latex(table)
        files[f"{table.name}.csv"] = render_csv(table)
    return _write(files, out_dir)


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
