"""Files that a command writes beside what it prints."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TextIO

from railgauge.base.atomicfile import write_atomic
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.base.real_path import is_own_link

_FOREIGN = "is another user's link"


def check_outputs(*files: Path | None) -> None:
    """InputError unless each can be a file of ours: before hours of measuring, not after.

    Its folder has to be there, and no other user's link in its place.
    """
    for file in files:
        if file is None:
            continue
        if not file.absolute().parent.is_dir():
            raise InputError(f"there is no folder {file.parent} to write {file.name} into: make it")
        if file.is_symlink() and not is_own_link(file):
            raise InputError(f"{file} {_FOREIGN}: name another file, or remove it")


@contextlib.contextmanager
def opened_to_add(file: Path) -> Iterator[TextIO]:
    """Give the file, open for text at its end; EnvironmentFailedError where that fails.

    Also where what was written couldn't be, unless something else failed inside.
    """
    try:
        stream = _open(file, "a")
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
    """Write the text, whole or not at all, or add it; EnvironmentFailedError where that fails.

    A pipe, a device and what a link leads to get it as it comes.
    """
    try:
        if append or file.is_symlink() or (file.exists() and not file.is_file()):
            with _open(file, "a" if append else "w") as stream:
                stream.write(text)
        else:
            write_atomic(file, text.encode())
    except OSError as error:
        raise _failed(file, error) from error


def _open(file: Path, mode: Literal["a", "w"]) -> TextIO:
    # Another user's link would have us write where that one wants.
    link = 0 if is_own_link(file) else os.O_NOFOLLOW

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | link, 0o666)

    return open(file, mode, encoding="utf-8", opener=opener)


def _failed(file: Path, error: OSError) -> EnvironmentFailedError:
    foreign = error.errno == errno.ELOOP and not is_own_link(file)
    reason = f"can't write {file}: {f'it {_FOREIGN}' if foreign else error.strerror}"
    return EnvironmentFailedError(f"{reason}: check its folder, permissions and room")
