"""Files that a command writes beside what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from railgauge.base.errors import EnvironmentFailedError, InputError


def check_folder(*files: Path | None) -> None:
    """InputError unless each file's folder is there: before hours of measuring, not after."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            raise InputError(f"there is no folder {file.parent} to write {file.name} into: make it")


def opened_to_add(file: Path) -> TextIO:
    """Return the file, open for text at its end; EnvironmentFailedError where that fails."""
    try:
        return file.open("a", encoding="utf-8")
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
