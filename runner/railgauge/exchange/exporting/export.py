"""From the database to one file in the format that was asked for."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from railgauge.base.atomicfile import atomic_file
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.base.real_path import is_own_link, real_path
from railgauge.exchange.exporting.parquet import write_parquet
from railgauge.exchange.exporting.textfiles import write_csv, write_json
from railgauge.exchange.exporting.view_rows import MEASUREMENT, PublicView, Row, stretches
from railgauge.store import Store

FORMATS: Mapping[str, Callable[[BinaryIO, Iterable[Sequence[Row]], PublicView], int]] = {
    "csv": write_csv,
    "json": write_json,
    "parquet": write_parquet,
}
STANDARD_OUTPUT = Path("-")
_DATABASE = b"SQLite format 3\0"


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file that becomes `path` when all went well, and else is gone.

    Until then what was there before stays. STANDARD_OUTPUT is written to as it comes. InputError
    for a path that can't be a file or is a database's, whose measurements would be lost, or another
    user's link; EnvironmentFailedError when the disk is full or the folder may not be written to.
    """
    if path == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        _check(path)
        # Through a link, as the file that it leads to is the one that is meant. A disk may say
        # only when synced that it's full; and a power cut leaves no empty file.
        with atomic_file(real_path(path), sync=True) as out:
            yield out
    except OSError as error:
        raise EnvironmentFailedError(
            f"{path} can't be written: {error.strerror or error}:"
            " make room, mend the permissions, or choose another file with --out"
        ) from error


def _check(path: Path) -> None:
    if path.is_symlink() and not is_own_link(path):
        raise InputError(f"{path} is another user's link: name another file with --out")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it, such as {path / 'export'}")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a regular file: name another one with --out")
    if path.exists() and _is_database(path):
        raise InputError(f"{path} is a database, which would be lost: name another file with --out")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} into: make it")


def _is_database(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE
    return False


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
