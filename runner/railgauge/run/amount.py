"""How much a plan measures, and how long that takes, before anything starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from railgauge.base.collector import collector_off
from railgauge.plan.cases import ExpandedTest
from railgauge.plan.load import LoadedPlan
from railgauge.plan.schedule import Schedule
from railgauge.plan.wall_time import LaunchTimes, Spanned, estimate
from railgauge.run.stopping import soonest, spans_of


class Amount(NamedTuple):
    """Replications, rounds and seconds; the lengths of `unknown` launches in them are guesses."""

    replications: int
    rounds: int
    seconds: float
    unknown: int


def amounts(
    loaded: LoadedPlan,
    tests: Sequence[ExpandedTest],
    observed: Mapping[tuple[str, str], float] | None = None,
) -> tuple[Amount, Amount]:
    """Return how much the tests measure at least, by their rules, and at most.

    `observed` is what a replication of a case took earlier, by test and key.
    """
    spans = spans_of(tests)
    times = LaunchTimes(loaded.catalogue, loaded.plan, observed or {})
    if not any(expanded.test.rule for expanded in tests):
        most = _amount(loaded, tests, spans, times)
        return most, most
    counts = [replications_of(expanded, times) for expanded in tests]
    least, most = (
        _amount(loaded, [*map(_with_replications, tests, numbers)], spans, times)
        for numbers in zip(*counts, strict=True)
    )
    return least, most


def replications_of(expanded: ExpandedTest, times: LaunchTimes) -> tuple[int, int]:
    """Return how many replications a case of the test takes at least and at most.

    Its rule may end it, or the rule's budget, of which each replication takes what `times` say.
    """
    test = expanded.test
    least, most = soonest(test), test.most
    if test.rule is None or test.rule.budget is None:
        return least, most
    of_cases = {times.of_case(test.name, case) for case in expanded.cases}
    fitting = [int(test.rule.budget // time.seconds(1)) for time in of_cases if not time.guessed]
    if not fitting:
        return least, most
    longest = most if len(fitting) < len(of_cases) else max(1, *fitting)
    return min(least, max(1, min(fitting))), min(most, longest)


def _with_replications(expanded: ExpandedTest, number: int) -> ExpandedTest:
    return replace(expanded, test=expanded.test.model_copy(update={"replications": number}))


def _amount(
    loaded: LoadedPlan,
    tests: Sequence[ExpandedTest],
    spans: Mapping[str, Spanned],
    times: LaunchTimes,
) -> Amount:
    lazy = Schedule(
        tests,
        machines={name: host.machine for name, host in loaded.plan.hosts.items()},
        concurrency=loaded.plan.concurrency,
        seed=loaded.plan.seed or 0,
        interleaved=loaded.plan.test_order == "interleaved",
    )
    # One round after another: of a large plan there are millions.
    with collector_off():
        guess = estimate(lazy.rounds(), times, spans, loaded.plan.concurrency)
    replications = sum(len(expanded.cases) * expanded.test.most for expanded in tests)
    return Amount(replications, guess.rounds, guess.seconds, guess.unknown)
