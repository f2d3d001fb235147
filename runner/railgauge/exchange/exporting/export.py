"""From the database to one file in the format that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from railgauge.base.errors import InputError
from railgauge.exchange.exporting.parquet import write_parquet
from railgauge.exchange.exporting.textfiles import write_csv, write_json
from railgauge.exchange.exporting.view_rows import MEASUREMENT, PublicView, Row, stretches
from railgauge.exchange.exporting.whole import written_whole
from railgauge.store import Store

FORMATS: Mapping[str, Callable[[BinaryIO, Iterable[Sequence[Row]], PublicView], int]] = {
    "csv": write_csv,
    "json": write_json,
    "parquet": write_parquet,
}


@dataclass(frozen=True, slots=True)
class Exported:
    """How many rows of how many runs were written."""

    rows: int
    runs: int


def export(
    store: Store, runs: Sequence[int], path: Path, form: str, view: PublicView = MEASUREMENT
) -> Exported:
    """Write the view's rows of `runs` (none: of all) to `path` in one of FORMATS.

    The file is complete or not there, and the same runs give the same bytes. Rows are read as they
    are at one moment, whatever is measured meanwhile. InputError for a run that isn't there, a
    database without any, or a path that can't be a file; StoreError for a damaged database,
    EnvironmentFailedError when the file can't be written.
    """
    store.check()
    run_ids = sorted(set(runs)) or store.run_ids()
    if not run_ids:
        raise InputError(f"{store.name} holds no run yet: railgauge run PLAN makes one")
    with written_whole(path) as out, store.reading() as connection:
        rows = FORMATS[form](out, stretches(connection, run_ids, view), view)
    return Exported(rows, len(run_ids))
