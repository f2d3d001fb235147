"""Cases whose interval never got as narrow as the plan demands, and the alarms about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from railgauge.base.characters import visible
from railgauge.report.tables.axes import Placed
from railgauge.stats.stopping_rule import ENDED_LEVEL

_REASONS = {
    "most": "it had the most replications that the plan allows",
    "budget": "its time was used up",
}


class Ended(Protocol):
    """What has the rule by which a case was to end, and why it did: a series, a planned case."""

    @property
    def rule(self) -> str: ...  # noqa: D102 - as the store's records say
    @property
    def ended(self) -> str: ...  # noqa: D102


class Adaptive(Placed, Ended, Protocol):
    """The same, with a place in a run."""


def never_narrow(case: Ended) -> bool:
    """Return whether the case was ended by something else than its rule."""
    return bool(case.rule) and case.ended not in ("", "narrow")


def never_narrow_note(case: Ended) -> str:
    """Return the footnote of a case that never got narrow enough."""
    reason = _REASONS.get(case.ended, visible(case.ended))
    return f"never got to {visible(case.rule)}: {reason}"


class Levelled(Protocol):
    """What has the level of its interval, as a series does."""

    @property
    def level(self) -> float: ...  # noqa: D102 - as the store's records say


def levels_note(series: Iterable[Levelled]) -> tuple[str, ...]:
    """Return the sentence on the intervals of cases that ended because these were narrow."""
    if all(entry.level != ENDED_LEVEL for entry in series):
        return ()
    return (
        f"Of a case that a narrow interval ended early, the {100 * ENDED_LEVEL:.0f} % interval is"
        " shown: as it was selected for being narrow, that of 95 % would cover less.",
    )


def alarms(series: Iterable[Adaptive]) -> tuple[str, ...]:
    """Return a sentence for each rule that some of the cases never got to, however many series."""
    cases: dict[str, dict[tuple[int, str, str], bool]] = {}
    for entry in series:
        if entry.rule:
            key = entry.run, entry.test, entry.case.key
            cases.setdefault(entry.rule, {})[key] = never_narrow(entry)
    return tuple(
        f"Not narrow enough: {_share(of_rule.values())} never got to {visible(rule)}."
        for rule, of_rule in cases.items()
        if any(of_rule.values())
    )


def _share(never: Collection[bool]) -> str:
    return "the only case" if len(never) == 1 else f"{sum(never)} of {len(never)} cases"
