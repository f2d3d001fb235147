"""What a user names to compare: a run, a baseline, a commit, a date, or the latest run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest_or_list
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import RunSummary

LATEST = "latest"
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# A commit of decimal digits alone, which is rare, is named by more of them.
_NUMBER = re.compile(r"[0-9]{1,9}")
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Selection:
    """What was named and the runs it stands for, oldest first: `baseline fabric (runs 3, 5, 8)`.

    `baseline` is the name, if it is one.
    """

    title: str
    runs: tuple[int, ...]
    baseline: str = ""


def select(store: Store, name: str, *, plan: str = "") -> Selection:
    """Return what `name` stands for: see docs/compare.md; InputError where there is no such thing.

    A baseline goes before all else of that name. With `plan`, only its runs count; without, a
    commit's or a day's have to be of one plan. Runs of some of a plan's cases only, which confirm
    others, count when they are named by number.
    """
    baselines = [baseline.name for baseline in store.baselines()]
    if name in baselines:
        return titled(f"baseline {name}", store.baseline(name).runs, name)
    if _NUMBER.fullmatch(name):
        store.run(int(name))
        return Selection(f"run {int(name)}", (int(name),))
    heads = [head for head in store.run_heads() if not plan or head.plan == plan]
    if name == LATEST:
        return _latest(store, heads, plan)
    if _DATE.fullmatch(name):
        return _one_plan(store, name, _of_day(heads, name))
    if _COMMIT.fullmatch(name.lower()):
        of_commit = [head for head in heads if head.git_commit.startswith(name.lower())]
        if len(commits := sorted({head.git_commit for head in of_commit})) > 1:
            raise InputError(f"{name} is the beginning of several commits: {', '.join(commits)}")
        return _one_plan(store, f"commit {name}", of_commit)
    hint = f"baselines here: {', '.join(baselines)}" if baselines else "there is no baseline here"
    raise InputError(
        f"{name!r} is no baseline, run, commit, date (2026-11-20) or 'latest': {hint}; "
        "`railgauge list` shows runs with their commits and dates"
    )


def _latest(store: Store, heads: Sequence[RunHead], plan: str) -> Selection:
    for head in reversed(heads):
        if not head.partial and _measured(store, [head]):
            return Selection(f"run {head.id} (the latest)", (head.id,))
    raise InputError(f"there is no run{f' of plan {plan}' if plan else ''} with a measurement yet")


def _measured(store: Store, heads: Iterable[RunHead]) -> list[RunSummary]:
    """Return the runs with a measurement: only of these heads replications are counted."""
    return [run for run in store.runs([head.id for head in heads]) if run.measured]


def _of_day(heads: Sequence[RunHead], name: str) -> list[RunHead]:
    try:
        date.fromisoformat(name)
    except ValueError as error:
        raise InputError(f"{name} is no date: {error}") from error
    return [head for head in heads if head.started_at.startswith(name)]


def _one_plan(store: Store, title: str, heads: Sequence[RunHead]) -> Selection:
    whole = _measured(store, [head for head in heads if not head.partial])
    plans = sorted({run.plan for run in whole})
    if not whole:
        raise InputError(
            f"there is no run of {title} with a measurement: `railgauge list` shows what there is"
        )
    if len(plans) > 1:
        choices = "|".join(plans)
        raise InputError(f"{title} has runs of several plans: say which by --plan {choices}")
    return titled(title, [run.id for run in whole])


def check_plan(store: Store, plan: str) -> None:
    """InputError where the database has no run of the plan."""
    plans = sorted({head.plan for head in store.run_heads()})
    if plan not in plans:
        hint = suggest_or_list(plan, plans, _MOST_NAMED) if plans else ""
        raise InputError(f"there is no run of plan {plan!r} in {store.name}{hint}")


def titled(title: str, runs: Sequence[int], baseline: str = "") -> Selection:
    """Return the selection of these runs, oldest first: `baseline fabric (runs 3, 5, 8)`."""
    listed = ", ".join(map(str, runs[:5])) + (", …" if len(runs) > 5 else "")
    return Selection(
        f"{title} ({'run' if len(runs) == 1 else 'runs'} {listed})", tuple(runs), baseline
    )
