"""Collective operations among the MPI engine's ranks."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support import ranks
from tests.support.engine_lab import Engines, Outcome

COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall")
LINK_SHARE = {"allreduce": 2 * 2 / 3, "allgather": 2 / 3, "alltoall": 2 / 3}


@pytest.fixture
def collective(engines: Engines, require: Callable[[object, str], None]) -> Callable[..., Outcome]:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")

    def run(mode: str, *options: object, count: int = 3) -> Outcome:
        return ranks.run(engines, count, mode, *options)

    return run


@pytest.mark.parametrize("mode", COLLECTIVES)
def test_operations_are_timed_singly_and_back_to_back(
    collective: Callable[..., Outcome], mode: str
) -> None:
    (metrics,) = collective(mode, "--size=1KiB", "--duration=0.1s").metrics
    assert metrics["operations"] >= 1
    assert 0 < metrics["time_min"] <= metrics["time_p50"] <= metrics["time_p99"] * 1.01
    assert metrics["time_min"] <= metrics["time_mean"] <= metrics["time_max"]
    assert metrics["back_to_back"] > 0
    assert 0 < metrics["start_error"] < 1
    assert metrics["client_elapsed"] >= 0.1


@pytest.mark.parametrize("mode", COLLECTIVES[1:])
def test_bandwidths_are_what_an_operation_moves_over_its_time(
    collective: Callable[..., Outcome], mode: str
) -> None:
    (metrics,) = collective(mode, "--size=1KiB", "--count=20").metrics
    pieces = 3 if mode in ("allgather", "alltoall") else 1
    algorithm = pieces * 1024 * 8 / metrics["back_to_back"]
    assert metrics["algorithm_bandwidth"] == pytest.approx(algorithm)
    assert metrics["bus_bandwidth"] == pytest.approx(algorithm * LINK_SHARE.get(mode, 1))


def test_a_clock_that_goes_wrong_is_told(
    engines: Engines, tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    """Rank 1's gains 4 us in the 10 ms until it is compared again."""
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    compiler = shutil.which("cc")
    require(compiler, "cc")
    source, fast = Path(__file__).with_name("drifting_clock.c"), tmp_path / "fast.so"
    subprocess.run([str(compiler), "-shared", "-fPIC", "-o", fast, source], check=True)
    program = engines.argv("mpi", "--mode=barrier", "--json", "--yield", "--replications=1")
    other = ["-n", "1", "env", f"LD_PRELOAD={fast}", *program]
    job = [*ranks.argv(1, *program, "--duration=0.1s"), ":", *other, "--duration=0.1s"]
    sanitizer = {"ASAN_OPTIONS": "fast_unwind_on_malloc=0:verify_asan_link_order=0"}
    outcome = engines.start_other(*job, **{**ranks.environment(), **sanitizer}).finish()
    (metrics,) = outcome.metrics
    assert metrics["start_error"] >= 2e-6


def test_a_barrier_has_no_bandwidth(collective: Callable[..., Outcome]) -> None:
    (metrics,) = collective("barrier", "--count=20").metrics
    assert "bus_bandwidth" not in metrics
    assert "algorithm_bandwidth" not in metrics


@pytest.mark.parametrize(("count", "done"), [(1, 1), (77, 77)])
def test_exactly_as_many_operations_are_timed_as_asked(
    collective: Callable[..., Outcome], count: int, done: int
) -> None:
    outcome = collective("allreduce", "--size=8", f"--count={count}", "--replications=2")
    assert [metrics["operations"] for metrics in outcome.metrics] == [done, done]


@pytest.mark.parametrize("size", [4, 1000004])
@pytest.mark.parametrize("mode", COLLECTIVES[1:])
def test_data_of_any_size_is_right_among_an_odd_number_of_ranks(
    collective: Callable[..., Outcome], mode: str, size: int
) -> None:
    assert collective(mode, f"--size={size}", "--count=2", count=5).metrics


def test_sums_of_half_a_float_are_refused(collective: Callable[..., Outcome]) -> None:
    outcome = collective("allreduce", "--size=6")
    assert outcome.error["code"] == "bad-parameter"
    assert "multiple of 4" in outcome.error["message"]


def test_one_rank_alone_has_nobody_to_talk_to(collective: Callable[..., Outcome]) -> None:
    assert collective("barrier", count=1).error["code"] == "wrong-count"


@pytest.mark.parametrize(
    ("number", "count"),
    [*itertools.product((2, 1000, 10000), (1, 2, 250, 251, 252, 502, 503)), (2, 99999)],
)
def test_a_single_wrong_number_or_byte_is_noticed(
    probe: Callable[[str, str], str], number: int, count: int
) -> None:
    places = sorted({0, count // 2, count - 1})
    asked = "".join(f"{number} {count} {place}\n" for place in places)
    assert probe("collective_load_probe", asked) == "1 1 0 0 0\n" * len(places)
