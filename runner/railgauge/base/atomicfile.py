"""The one writer of files that others read while they are written: each is whole or not there."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PART = re.compile(r"\.(.+)\.[0-9a-f]+\.part")
"""The name of what a killed writer leaves; its group is the name that the file was to have."""


@contextmanager
def atomic_file(path: Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """Give a file that takes the place of `path` when all went well, and else is gone.

    It stands beside `path` until then, newly made under a name that nobody can guess, with the
    rights that open() gives. A link at `path` is replaced, not followed. With `sync` its content
    is on the disk first. OSError where any of it fails.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    # Linked or made by another, it would have us write where that one wants.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(beside, flags, 0o666), "wb") as out:
            yield out
            out.flush()
            if sync:
                os.fsync(out.fileno())
        beside.replace(path)
    finally:
        # What could not even be made can't be removed, either.
        with contextlib.suppress(OSError):
            beside.unlink()


def write_atomic(path: Path, content: bytes) -> None:
    """Write the content as `atomic_file` does."""
    with atomic_file(path) as out:
        out.write(content)
