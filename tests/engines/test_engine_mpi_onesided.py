"""One-sided access between two of the MPI engine's ranks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support import ranks
from tests.support.engine_lab import Engines, Outcome


@pytest.fixture
def onesided(engines: Engines, require: Callable[[object, str], None]) -> Callable[..., Outcome]:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")

    def run(mode: str, *options: object, count: int = 2, leaks: bool = False) -> Outcome:
        return ranks.run(engines, count, mode, *options, leaks=leaks)

    return run


@pytest.mark.parametrize("mode", ["put", "get"])
@pytest.mark.parametrize("size", [1, 4096, 1000003])
def test_rate_and_throughput_agree_and_single_operations_are_timed(
    onesided: Callable[..., Outcome], mode: str, size: int
) -> None:
    (metrics,) = onesided(mode, f"--size={size}", "--duration=0.1s", "--window=7").metrics
    assert metrics["throughput"] == pytest.approx(metrics["rate"] * size * 8)
    assert metrics["operations"] >= 1
    assert 0 < metrics["time_min"] <= metrics["time_mean"] <= metrics["time_max"]
    assert metrics["client_elapsed"] >= 0.1


@pytest.mark.parametrize("mode", ["put", "get"])
def test_exactly_as_many_single_operations_are_done_as_asked(
    onesided: Callable[..., Outcome], mode: str
) -> None:
    options = ("--size=64", "--count=101", "--window=8", "--replications=2")
    outcome = onesided(mode, *options, leaks=mode == "put")
    assert [metrics["operations"] for metrics in outcome.metrics] == [101, 101]


@pytest.mark.parametrize("mode", ["put", "get"])
def test_data_is_right_through_tcp(onesided: Callable[..., Outcome], mode: str) -> None:
    (metrics,) = onesided(mode, "--size=100KiB", "--count=20", "--btl=self,tcp").metrics
    assert metrics["throughput"] > 0


def test_three_ranks_are_one_too_many(onesided: Callable[..., Outcome]) -> None:
    error = onesided("put", count=3).error
    assert error["code"] == "wrong-count"
    assert "mpirun -n 2" in error["message"]
