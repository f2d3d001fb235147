"""Files that a command writes beside what it prints."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from railgauge.base.errors import EnvironmentFailedError, InputError


def check_folder(*files: Path | None) -> None:
    """InputError unless each file's folder is there: before hours of measuring, not after."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            raise InputError(f"there is no folder {file.parent} to write {file.name} into: make it")


@contextlib.contextmanager
def opened_to_add(file: Path) -> Iterator[TextIO]:
    """Give the file, open for text at its end; EnvironmentFailedError where that fails.

    Also where what was written couldn't be, unless something else failed inside.
    """
    try:
        stream = file.open("a", encoding="utf-8")
    except OSError as error:
        raise _failed(file, error) from error
    try:
        yield stream
    except BaseException:
        with contextlib.suppress(OSError):
            stream.close()
        raise
    try:
        # It may still hold what the disk had no room for.
        stream.close()
    except OSError as error:
        raise _failed(file, error) from error


def write(file: Path, text: str, *, append: bool = False) -> None:
    """Write the text, or add it at the end; EnvironmentFailedError where that fails."""
    try:
        with file.open("a" if append else "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise _failed(file, error) from error


def _failed(file: Path, error: OSError) -> EnvironmentFailedError:
    reason = f"can't write {file}: {error.strerror}"
    return EnvironmentFailedError(f"{reason}: check its folder, permissions and room")
