"""What one source of facts is: files to read and a function that understands their lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Files = Mapping[str, Sequence[str]]
"""Path -> lines without newlines; a file that is missing or unreadable has no entry."""


@dataclass(frozen=True, slots=True)
class Source:
    """`paths` to read on the host, and `parse`: their lines to facts (name -> value)."""

    paths: tuple[str, ...]
    parse: Callable[[Files], dict[str, str]]
