"""A file that is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from railgauge.base.atomicfile import atomic_file
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.base.real_path import real_path

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
    if path.is_symlink() and path.lstat().st_uid not in (os.geteuid(), 0):
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
