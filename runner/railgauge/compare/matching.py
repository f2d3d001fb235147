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
    latest: dict[tuple[str, str], PlannedCase] = {}
    before: list[dict[tuple[str, str], str]] = []
    for cases in reversed(runs):
        own = {(planned.test, planned.case.key): planned for planned in cases}
        strange = [planned for name, planned in own.items() if name not in latest]
        free = [planned for name, planned in latest.items() if name not in own] if strange else []
        pairs, (unmatched, _) = match(strange, free)
        before.append({(planned.test, planned.case.key): old.test for old, planned in pairs})
        latest |= {(planned.test, planned.case.key): planned for planned in unmatched}
    return Union(tuple(latest.values()), tuple(reversed(before)))


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
    pairs = [(planned, second[name]) for name, planned in first.items() if name in second]
    matched = {id(planned) for pair in pairs for planned in pair}
    return pairs, (
        tuple(planned for planned in before if id(planned) not in matched),
        tuple(planned for planned in after if id(planned) not in matched),
    )


def _unique(
    cases: Sequence[PlannedCase], key: Callable[[PlannedCase], _Key]
) -> dict[_Key, PlannedCase]:
    by_key: dict[_Key, list[PlannedCase]] = {}
    for planned in cases:
        by_key.setdefault(key(planned), []).append(planned)
    return {name: same_key[0] for name, same_key in by_key.items() if len(same_key) == 1}
