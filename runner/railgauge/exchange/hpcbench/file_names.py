"""Names of folders for cases, and of tests for files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

# Letters and digits of any script, and what neither a shell nor a file system minds.
_UNSAFE = re.compile(r"[^\w.=+-]+")
_LONGEST = 100
# What udptest's own examples call their files: the folder then says more.
_EVERYDAY = ("output",)


def safe_name(words: Iterable[str]) -> str:
    """Return the words as one file name: `stream_gw-hh_datagram=1460`."""
    parts = (_UNSAFE.sub("-", word).strip("-.") for word in words)
    return "_".join(part for part in parts if part)[:_LONGEST] or "case"


def name_of_test(path: Path) -> str:
    """Return what to call the test whose output is in that file."""
    stem = path.stem if path.suffix in (".txt", ".out") else path.name
    return path.absolute().parent.name or stem if stem in _EVERYDAY else stem


def distinct(names: Iterable[str]) -> Iterator[str]:
    """Yield the names, with -2, -3 … behind those that were there before, in whatever case."""
    folded: set[str] = set()
    for name in names:
        unique, number = name, 1
        while unique.casefold() in folded:
            number += 1
            unique = f"{name}-{number}"
        folded.add(unique.casefold())
        yield unique
