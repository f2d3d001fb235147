"""Cases whose interval never got as narrow as the plan asked: nobody is to miss them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from railgauge.base.characters import visible
from railgauge.report.tables.axes import Placed

_WHY = {
    "most": "it had the most replications that the plan allows",
    "budget": "its time was used up",
}


class Ended(Protocol):
    """What knows by which rule a case was to end, and why it did: a series, a planned case."""

    @property
    def rule(self) -> str: ...  # noqa: D102 - as the store's records say
    @property
    def ended(self) -> str: ...  # noqa: D102


class Adaptive(Placed, Ended, Protocol):
    """Such a one with a place in a run."""


def never_narrow(one: Ended) -> bool:
    """Tell whether the case was ended by something else than its rule."""
    return bool(one.rule) and one.ended not in ("", "narrow")


def why_never(one: Ended) -> str:
    """Return what a footnote says of a case that never got narrow enough."""
    why = _WHY.get(one.ended, visible(one.ended))
    return f"never got to {visible(one.rule)}: {why}"


def alarms(every: Iterable[Adaptive]) -> tuple[str, ...]:
    """Return a sentence for each rule that some of the cases never got to, however many series."""
    cases: dict[str, dict[tuple[int, str, str], bool]] = {}
    for one in every:
        if one.rule:
            key = one.run, one.test, one.case.key
            cases.setdefault(one.rule, {})[key] = never_narrow(one)
    return tuple(
        f"Not narrow enough: {_of(sum(those.values()), len(those))} never got to {visible(rule)}."
        for rule, those in cases.items()
        if any(those.values())
    )


def _of(count: int, every: int) -> str:
    if every == 1:
        return "the only case"
    return f"{count} of {every} cases"
