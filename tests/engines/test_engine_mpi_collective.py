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

MOVING = (
    "bcast",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "scatter",
    "gather",
    "allgather",
    "alltoall",
)
PER_RANK = ("scatter", "gather", "allgather", "alltoall")
LINK_SHARE = {"allreduce": 2 * 2 / 3, "reduce_scatter": 2 / 3, **dict.fromkeys(PER_RANK, 2 / 3)}
OVERLAP = {"overlap", "compute_time", "overlapped_time"}
HERE = Path(__file__).parent


@pytest.fixture
def collective(engines: Engines, require: Callable[[object, str], None]) -> Callable[..., Outcome]:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")

    def run(
        mode: str,
        *options: object,
        count: int = 3,
        preload: Path | None = None,
        leaks: bool = False,
    ) -> Outcome:
        return ranks.run(engines, count, mode, *options, preload=preload, leaks=leaks)

    return run


@pytest.mark.parametrize("mode", ["barrier", *MOVING])
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
    assert not OVERLAP & metrics.keys()
    if mode == "barrier":
        assert not {"bus_bandwidth", "algorithm_bandwidth"} & metrics.keys()
        return
    algorithm = (3 if mode in PER_RANK else 1) * 1024 * 8 / metrics["back_to_back"]
    assert metrics["algorithm_bandwidth"] == pytest.approx(algorithm)
    assert metrics["bus_bandwidth"] == pytest.approx(algorithm * LINK_SHARE.get(mode, 1))


@pytest.mark.parametrize(("mode", "tests"), [("barrier", 0), ("alltoall", 3)])
def test_what_does_not_block_overlaps_with_a_computation(
    collective: Callable[..., Outcome], mode: str, tests: int
) -> None:
    options = ("--blocking=false", f"--test_calls={tests}", "--duration=0.1s", "--replications=2")
    for metrics in collective(mode, *options).metrics:
        assert metrics["operations"] >= 1
        assert metrics["compute_time"] > 0
        more = metrics["overlapped_time"] - metrics["compute_time"]
        hidden = min(max(1 - more / metrics["time_p50"], 0), 1)
        # Of a computation that was too unlike the operation, as on a busy machine, nothing is said.
        if 0.5 <= metrics["compute_time"] / metrics["time_p50"] <= 2:
            assert metrics["overlap"] == pytest.approx(hidden)
        else:
            assert "overlap" not in metrics


def test_a_clock_that_goes_wrong_is_told(
    engines: Engines, tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    """Rank 1's gains 4 us in the 10 ms until it is compared again."""
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    compiler = shutil.which("cc")
    require(compiler, "cc")
    source, fast = HERE / "drifting_clock.c", tmp_path / "fast.so"
    subprocess.run([str(compiler), "-shared", "-fPIC", "-o", fast, source], check=True)
    program = engines.argv("mpi", "--mode=barrier", "--json", "--yield", "--replications=1")
    other = ["-n", "1", "env", f"LD_PRELOAD={fast}", *program]
    job = [*ranks.argv(1, *program, "--duration=0.1s"), ":", *other, "--duration=0.1s"]
    outcome = engines.start_other(*job, **ranks.environment()).finish()
    (metrics,) = outcome.metrics
    assert metrics["start_error"] >= 2e-6


def test_the_kernel_is_asked_for_a_punctual_beginning(probe: Callable[[str, str], str]) -> None:
    """Without that it wakes ranks up to 50 us after the moment that their operation begins."""
    assert probe("pace_probe", "") == "1\n"


@pytest.mark.parametrize(("count", "operations"), [(1, 1), (13, 13)])
def test_exactly_as_many_operations_are_timed_as_asked(
    collective: Callable[..., Outcome], count: int, operations: int
) -> None:
    blocking = f"--blocking={'true' if count == 1 else 'false'}"
    options = ("--size=8", f"--count={count}", blocking, "--replications=2")
    outcome = collective("allreduce", *options, leaks=count == 1)
    assert [metrics["operations"] for metrics in outcome.metrics] == [operations, operations]


@pytest.mark.parametrize(("size", "blocking"), [(4, "false"), (1000004, "true")])
@pytest.mark.parametrize("mode", MOVING)
def test_data_of_any_size_is_right_among_an_odd_number_of_ranks(
    collective: Callable[..., Outcome], mode: str, size: int, blocking: str
) -> None:
    options = (f"--size={size}", f"--blocking={blocking}", "--count=2")
    assert collective(mode, *options, count=5).metrics


@pytest.fixture(scope="module")
def silent(
    tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]
) -> Path:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    return ranks.build_library(HERE / "silent_collectives.c", tmp_path_factory.mktemp("silent"))


@pytest.mark.parametrize("mode", MOVING)
def test_an_operation_that_moves_nothing_is_noticed(
    collective: Callable[..., Outcome], silent: Path, mode: str
) -> None:
    options = ("--size=1KiB", "--blocking=false", "--count=1")
    assert collective(mode, *options, count=2, preload=silent).error["code"] == "wrong-data"


def test_what_a_librarys_own_thread_takes_is_cpu_time_of_its_rank(
    collective: Callable[..., Outcome], tmp_path: Path
) -> None:
    """50 ms for each of three operations: alone, beside a computation, and in a batch."""
    busy = ranks.build_library(HERE / "progress_thread.c", tmp_path)
    (metrics,) = collective(
        "barrier", "--blocking=false", "--count=1", count=2, preload=busy
    ).metrics
    for side in ("client", "server"):
        used = metrics[f"{side}_user_time"] + metrics[f"{side}_system_time"]
        assert used >= 3 * 0.05 * 0.9  # the kernel's ticks


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
    probe_input = "".join(f"{number} {count} {place}\n" for place in places)
    assert probe("collective_load_probe", probe_input) == "1 1 0 0 0\n" * len(places)
