"""Which cases two sides have both, and which only one has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from railgauge.store.records import PlannedCase

Pair = tuple[PlannedCase, PlannedCase]
Two = tuple[tuple[PlannedCase, ...], tuple[PlannedCase, ...]]
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Union:
    """The cases of several runs, each once, as the last run that has it plans it.

    `before` has for each run, as they were given, the tests of those cases, by test and key, that
    were another test's there.
    """

    cases: tuple[PlannedCase, ...]
    before: tuple[Mapping[tuple[str, str], str], ...]


def union(runs: Sequence[Sequence[PlannedCase]]) -> Union:
    """Return the cases of all runs, oldest first; a test's other name is seen through."""
    found: dict[tuple[str, str], PlannedCase] = {}
    before: list[dict[tuple[str, str], str]] = []
    for cases in reversed(runs):
        own = {(one.test, one.case.key): one for one in cases}
        strange = [one for name, one in own.items() if name not in found]
        free = [one for name, one in found.items() if name not in own] if strange else []
        pairs, (others, _) = match(strange, free)
        before.append({(one.test, one.case.key): old.test for old, one in pairs})
        found |= {(one.test, one.case.key): one for one in others}
    return Union(tuple(found.values()), tuple(reversed(before)))


def match(before: Sequence[PlannedCase], after: Sequence[PlannedCase]) -> tuple[list[Pair], Two]:
    """Return the cases that both have, and those that only one has.

    A case whose test got another name is the same case if there is no doubt about it.
    """
    pairs, rest = _matched_by(before, after, lambda planned: (planned.test, planned.case.key))
    more, rest = _matched_by(*rest, lambda planned: planned.case.key)
    return pairs + more, rest


def _matched_by(
    before: Sequence[PlannedCase],
    after: Sequence[PlannedCase],
    key: Callable[[PlannedCase], _Key],
) -> tuple[list[Pair], Two]:
    first, second = _unique(before, key), _unique(after, key)
    pairs = [(one, second[name]) for name, one in first.items() if name in second]
    done = {id(one) for pair in pairs for one in pair}
    return pairs, (
        tuple(one for one in before if id(one) not in done),
        tuple(one for one in after if id(one) not in done),
    )


def _unique(
    cases: Sequence[PlannedCase], key: Callable[[PlannedCase], _Key]
) -> dict[_Key, PlannedCase]:
    found: dict[_Key, list[PlannedCase]] = {}
    for one in cases:
        found.setdefault(key(one), []).append(one)
    return {name: those[0] for name, those in found.items() if len(those) == 1}
