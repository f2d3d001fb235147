"""Streams between many pairs of the MPI engine's ranks at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support import ranks
from tests.support.engine_lab import Engines, Outcome


@pytest.fixture
def multi_pair(engines: Engines, require: Callable[[object, str], None]) -> Callable[..., Outcome]:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")

    def run(*options: object, count: int = 4, leaks: bool = False) -> Outcome:
        return ranks.run(engines, count, "multi_pair", *options, leaks=leaks)

    return run


def test_rates_are_of_all_pairs_over_the_same_seconds(multi_pair: Callable[..., Outcome]) -> None:
    outcome = multi_pair("--size=1000", "--duration=0.1s", "--replications=2", count=6)
    assert outcome.settings["client"]["pairs"] == 3
    for metrics in outcome.metrics:
        assert metrics["sent_bytes"] == metrics["sent_messages"] * 1000
        seconds = metrics["sent_messages"] / metrics["message_rate"]
        assert metrics["throughput"] == pytest.approx(metrics["sent_bytes"] * 8 / seconds)
        # The slowest sender's: none stops before its time is over.
        assert seconds >= 0.1


@pytest.mark.parametrize(
    "way", ["standard false", "ready false", "buffered false", "standard true"]
)
def test_each_pair_sends_as_many_messages_as_asked(
    multi_pair: Callable[..., Outcome], way: str
) -> None:
    kind, persistent = way.split()
    options = (f"--send={kind}", f"--persistent={persistent}", "--window=7")
    (metrics,) = multi_pair(*options, "--size=100KiB", "--count=20").metrics
    assert metrics["sent_messages"] == 40


def test_a_single_pair_is_enough_and_three_ranks_are_not(
    multi_pair: Callable[..., Outcome],
) -> None:
    (metrics,) = multi_pair("--size=8", "--count=1", count=2, leaks=True).metrics
    assert metrics["sent_messages"] == 1
    error = multi_pair("--size=8", count=3).error
    assert error["code"] == "wrong-count"
    assert "even number of ranks" in error["message"]
