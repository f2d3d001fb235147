"""`railgauge check`: what a plan would do, or everything that is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from railgauge.base.errors import FileProblems, Problem
from railgauge.base.number import plural
from railgauge.cli.argument_types import ShippedFile
from railgauge.cli.options import allow_large, as_json, database, hosts
from railgauge.engine.patience import patience_for
from railgauge.plan.cases import ExpandedTest, expand
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.model import Test
from railgauge.plan.wall_time import LaunchTimes
from railgauge.run.amount import Amount, amounts, replications_of
from railgauge.run.observed_times import Observed, observed_in
from railgauge.run.stopping import soonest
from railgauge.stats.stopping_rule import FEWEST


@click.command()
@click.argument("plans", metavar="PLAN...", nargs=-1, required=True, type=ShippedFile("plans"))
@hosts
@database
@allow_large
@as_json
def check(
    plans: tuple[Path, ...], hosts: Path | None, where: str, allow_large: bool, as_json: bool
) -> None:
    """Validate each PLAN and say what it would run and how long that takes.

    Where the database has a run of the plan, the times of its launches are the estimate.

    Every mistake is printed at once, as file:line:column: what is wrong and what to write instead.
    Nothing is started on any host.
    """
    if as_json and len(plans) > 1:
        raise click.UsageError("--json is of one plan: name one")
    problems: list[Problem] = []
    for plan in plans:
        try:
            _check(load_plan(plan, hosts=hosts), where, allow_large=allow_large, as_json=as_json)
        except FileProblems as error:
            problems += error.problems
    if problems:
        raise FileProblems(problems)


def _check(loaded: LoadedPlan, where: str, *, allow_large: bool, as_json: bool) -> None:
    tests = expand(loaded, allow_large=allow_large)
    earlier = observed_in(where, loaded, tests)
    least, most = amounts(loaded, tests, earlier.seconds)
    if as_json:
        answer = {**_as_json(loaded, tests, least, most), "timed_by_run": earlier.run}
        click.echo(json.dumps(answer, indent=2))
        return
    for line in _lines(loaded, tests, least, most, earlier):
        click.echo(line)


def _lines(
    loaded: LoadedPlan,
    tests: Sequence[ExpandedTest],
    least: Amount,
    most: Amount,
    earlier: Observed,
) -> Iterator[str]:
    yield f"{loaded.plan.name}: valid"
    times = LaunchTimes(loaded.catalogue, loaded.plan, earlier.seconds)
    for expanded in tests:
        yield (
            f"  {expanded.test.name} ({expanded.test.engine}): "
            f"{plural(len(expanded.cases), 'case')} × {_replications(expanded.test)}, "
            f"{expanded.test.order}, each within {span(_limit(loaded, expanded))}"
        )
        if budget := expanded.test.rule and expanded.test.rule.budget:
            _, number = replications_of(expanded, times)
            if number < soonest(expanded.test):
                yield (
                    f"    its budget of {span(budget)} ends a case after some "
                    f"{plural(number, 'replication')}"
                )
    yield (
        f"{plural(_count(tests), 'case')}, "
        f"{_counted(least.replications, most.replications, 'replication')}, "
        f"{_counted(least.rounds, most.rounds, 'round')}"
    )
    yield (
        f"about {_range(span(least.seconds), span(most.seconds))}{_unknown_text(most.unknown)}"
        f"{_at_most(loaded.plan.budget, most.seconds)}"
        f"{'' if earlier.run is None else f' (as run {earlier.run} took)'}"
    )
    if len(tests) > 1:
        interleaved = loaded.plan.test_order == "interleaved"
        order = "in turns" if interleaved else "one after another"
        yield f"tests {order} (test_order: {loaded.plan.test_order})"
    if loaded.plan.require:
        engines = ", ".join(sorted({expanded.test.engine for expanded in tests}))
        yield (
            f"requires a certificate of {engines} on all its hosts: `railgauge calibrate` there, "
            "since their last boot"
        )


def _as_json(
    loaded: LoadedPlan, tests: Sequence[ExpandedTest], least: Amount, most: Amount
) -> dict[str, Any]:
    return {
        "plan": loaded.plan.name,
        "tests": [
            {
                "name": expanded.test.name,
                "engine": expanded.test.engine,
                "cases": len(expanded.cases),
                "replications": expanded.test.most,
                "least_replications": soonest(expanded.test),
                "until": expanded.test.rule.rule if expanded.test.rule else None,
                "order": expanded.test.order,
                "limit": _limit(loaded, expanded),
            }
            for expanded in tests
        ],
        "cases": _count(tests),
        "replications": most.replications,
        "least_replications": least.replications,
        "rounds": most.rounds,
        "least_rounds": least.rounds,
        "seconds": most.seconds,
        "least_seconds": least.seconds,
        "unknown_launches": most.unknown,
        "test_order": loaded.plan.test_order,
        "budget": loaded.plan.budget,
        "require": loaded.plan.require,
    }


def _limit(loaded: LoadedPlan, expanded: ExpandedTest) -> float:
    """Return after how many seconds at most a replication of the test has failed."""
    engine, limit = loaded.catalogue.engine(expanded.test.engine), expanded.test.limit
    return max((patience_for(engine, case, limit) for case in expanded.cases), default=0.0)


def _count(tests: Sequence[ExpandedTest]) -> int:
    return sum(len(expanded.cases) for expanded in tests)


def _replications(test: Test) -> str:
    if test.rule is None:
        return plural(test.most, "replication")
    counted = _counted(soonest(test), test.most, "replication")
    replications = f"{counted}, until {test.rule.rule}"
    if soonest(test) < test.most or test.least == test.most:
        return replications
    statistic = test.rule.until.statistic
    return f"{replications} (none ends before {FEWEST[statistic]} where the {statistic} is judged)"


def _counted(least: int, most: int, noun: str) -> str:
    return plural(most, noun) if least == most else f"{least:,} to {plural(most, noun)}"


def _range(least: str, most: str) -> str:
    return most if least == most else f"{least} to {most}"


def _at_most(budget: float | None, seconds: float) -> str:
    """Return what the plan's budget cuts off."""
    return f", but ends after {span(budget)}" if budget is not None and budget < seconds else ""


def span(seconds: float) -> str:
    """Return how a sentence says so many seconds: `43 s`, `6 min`, `2.5 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _unknown_text(unknown: int) -> str:
    launches = plural(unknown, "launch", "launches")
    return f", of which the length of {launches} is a guess" if unknown else ""
