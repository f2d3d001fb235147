"""The words, numbers and names that all forms of a history share. Names may hold anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.base.characters import shortened, visible
from railgauge.base.number import best_unit, format_number, four_digits, scale
from railgauge.compare.case_history import Changed, History, RunDifference
from railgauge.compare.facts import FactChange, hosts_by_change
from railgauge.compare.renames import EarlierName
from railgauge.plan.catalogue.headlines import display_base
from railgauge.stats.digits import ratio_text
from railgauge.store.heads import RunHead

# A value that is longer is a list or a text, too much for a sentence.
_LONGEST = 40
# Of what changed beside a case, and of the hosts it changed on, so many are named.
_MOST_CHANGES, _MOST_HOSTS = 8, 4


def day(run: RunHead) -> str:
    """Return the day, UTC, on which the run began."""
    return run.started_at[:10]


def earlier_names(earlier: Sequence[EarlierName]) -> str:
    """Return `test was called stream until run 39`; empty where it had no other name."""
    names = ", ".join(f"{visible(name.test)} until run {name.until}" for name in earlier)
    return f"test was called {names}" if names else ""


def levels(history: History, changed: Changed) -> tuple[str, str]:
    """Return both levels in one unit that suits them: `1.002 Gbit/s`."""
    values = (changed.point.before, changed.point.after)
    unit = best_unit(display_base(history.metric, history.unit), values)
    per_unit = scale(unit, history.unit)
    assert per_unit is not None  # the unit was chosen for that base
    sizes = [abs(value) / float(per_unit) for value in values if value]
    digits = four_digits(min(sizes, default=0))
    first, second = (
        f"{format_number(value, per_unit, digits if value else 0)} {unit}".strip()
        for value in values
    )
    return first, second


def direction_text(changed: Changed) -> str:
    """Return `slower`, or `slower, provisional`."""
    return f"{changed.direction}, provisional" if changed.point.provisional else changed.direction


def change_text(history: History, changed: Changed) -> str:
    """Return `slower, 1.002 Gbit/s → 0.951 Gbit/s, ×0.949 (p = 2e-12)`."""
    before, after = levels(history, changed)
    ratio = f", ×{ratio_text(changed.point.ratio)}" if changed.point.ratio > 0 else ""
    direction = direction_text(changed)
    return f"{direction}, {before} → {after}{ratio} (p = {changed.point.p:.1g})"


def beside_lines(beside: RunDifference) -> Iterator[str]:
    """Yield what was different in a run than in the one before, a line each: settings, then facts.

    The same change on several hosts is one line.
    """
    lines = [_change(change) for change in beside.settings]
    lines += [
        f"{host_names(hosts)}: {_change(change)}"
        for change, hosts in hosts_by_change(beside.hosts).items()
    ]
    yield from lines[:_MOST_CHANGES]
    if (more := len(lines) - _MOST_CHANGES) > 0:
        yield f"and {more:,} more: railgauge diff {beside.before.id} {beside.run.id}"


def beside_names(changed: Changed) -> str:
    """Return the names alone of what changed around a change point: `git_commit, kernel`."""
    names = dict.fromkeys(
        visible(change.name)
        for beside in changed.beside
        for changes in (beside.settings, *(host.changes for host in beside.hosts))
        for change in changes
    )
    listed = ", ".join(list(names)[:_MOST_CHANGES])
    return f"{listed}, …" if len(names) > _MOST_CHANGES else listed


def host_names(hosts: Sequence[str]) -> str:
    """Return the first hosts' names, and how many more there are."""
    named = ", ".join(map(visible, hosts[:_MOST_HOSTS]))
    more = len(hosts) - _MOST_HOSTS
    return f"{named} and {more:,} more" if more > 0 else named


def _change(change: FactChange) -> str:
    name = visible(change.name)
    before, after = change.values
    if name == "plan_text" or name.startswith("file "):
        return f"{name} changed"
    return f"{name} {_short(before, name)} → {_short(after, name)}"


def _short(value: str | None, name: str) -> str:
    if value is None:
        return "none"
    if name in ("git_commit", "engines_hash"):
        return visible(value[:10])
    return shortened(visible(value), _LONGEST)
