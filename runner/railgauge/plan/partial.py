"""How a run that measures some of its plan's cases only keeps which: a text among its files."""

from __future__ import annotations

from collections.abc import Collection, Mapping

ONLY = "only these cases"


def only_texts(cases: Collection[tuple[str, str]] | None) -> dict[str, str]:
    """Return what a run of these cases only, by test and key, keeps about it; nothing for None."""
    if cases is None:
        return {}
    return {ONLY: "".join(f"{key} {test}\n" for test, key in sorted(cases))}


def only_cases(files: Mapping[str, str]) -> frozenset[tuple[str, str]] | None:
    """Return, of a run's texts, which cases it measures, by test and key; None where it is all."""
    if ONLY not in files:
        return None
    # No other way to split lines: a test may be named with any character but a line feed.
    lines = [line.split(" ", 1) for line in files[ONLY].split("\n") if line]
    return frozenset((test, key) for key, test in lines)
