"""What railgauge itself is made of: its Python code and templates, by what is in the files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from railgauge.base.assets import folder

_PACKAGE = Path(__file__).resolve().parents[1]


def source_files() -> Iterator[Path]:
    """Yield the files; a version alone doesn't show a checkout's changes."""
    yield from sorted(_PACKAGE.rglob("*.py"))
    yield from sorted(file for file in folder("templates").rglob("*") if file.is_file())


def digest_of(files: Iterable[Path], head: str = "") -> str:
    """Return the digest of the files' names and contents, after a `head`."""
    digest = hashlib.sha256(head.encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def source_hash() -> str:
    """Return the digest of the railgauge that runs, 32 hexadecimal digits."""
    return digest_of(source_files())[:32]
