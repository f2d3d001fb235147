"""Streams between many pairs of the MPI engine's ranks at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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
        # No sender stops before its time is over.
        assert seconds >= 0.1


def test_pairs_that_do_not_stream_at_the_same_time_are_not_added_up_as_if_they_did(
    engines: Engines,
    require: Callable[[object, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second pair begins when the first one has long been done."""
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    late = ranks.build_library(Path(__file__).with_name("late_rank.c"), tmp_path)
    monkeypatch.setenv("LATE_RANK", "1")
    options = ("--size=8", "--count=5")
    (metrics,) = ranks.run(engines, 4, "multi_pair", *options, preload=late).metrics
    assert metrics["sent_messages"] / metrics["message_rate"] >= 0.05


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
