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
    most = _amount(loaded, tests, spans, times)
    if not any(expanded.test.rule for expanded in tests):
        return most, most
    return _amount(loaded, [_at_least(expanded) for expanded in tests], spans, times), most


def _at_least(expanded: ExpandedTest) -> ExpandedTest:
    """Return the test with the fewest replications that its rule may take."""
    test = expanded.test
    return replace(expanded, test=test.model_copy(update={"replications": soonest(test)}))


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
