"""What one source of facts is: what to ask the host, and a function that understands its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import natural

Files = Mapping[str, Sequence[str]]
"""Path or key -> lines without newlines; what is missing or unreadable has no entry."""


@dataclass(frozen=True, slots=True)
class FactSource:
    """`paths` to read on the host, and `parse`: their lines to facts (name -> value).

    A path may hold a shell's wildcards, but no colon. `script` is fixed POSIX sh for what is in no
    file; it says `key:line` by the functions of `asking.py`, and `parse` finds the lines by key.
    """

    paths: tuple[str, ...]
    parse: Callable[[Files], dict[str, str]]
    script: str = ""


def first(files: Files, key: str) -> str | None:
    """Return the first line of `key`, without blanks around it; None where there is none."""
    lines = files.get(key)
    return lines[0].strip() if lines and lines[0].strip() else None


def first_lines(files: Files, paths: Mapping[str, str]) -> dict[str, str]:
    """Return the first line of each of `paths`, by fact, where there is one."""
    lines = ((fact, first(files, path)) for fact, path in paths.items())
    return {fact: line for fact, line in lines if line is not None}


def pairs(lines: Sequence[str]) -> dict[str, str]:
    """Return what stands before and after the colon of each line, without blanks around it."""
    parts = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in parts}


def matching(files: Files, prefix: str, suffix: str) -> dict[str, str]:
    """Return what stands between `prefix` and `suffix` in keys that have both -> first line.

    Numbers in names count as such, so that `cpu10` comes after `cpu9`; names with a slash don't.
    """
    lines = {
        key[len(prefix) : len(key) - len(suffix)]: line
        for key in files
        if key.startswith(prefix)
        and key.endswith(suffix)
        and len(key) > len(prefix) + len(suffix)
        and (line := first(files, key)) is not None
    }
    return {name: lines[name] for name in sorted(lines, key=natural) if "/" not in name}


def distinct(values: Mapping[str, str]) -> str:
    """Return the different ones among `values`, sorted, with commas between."""
    return ", ".join(sorted(set(values.values()), key=natural))
