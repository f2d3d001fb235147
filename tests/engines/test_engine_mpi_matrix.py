"""All pairs of the MPI engine's ranks, measured in one job."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support import ranks
from tests.support.engine_lab import Engines, Outcome

SENDING = 0.0019  # seconds of a sender for a message in late_rank.c, and what clocks differ by
BRIEF = ("--size=4KiB", "--pair-time=5ms")


@pytest.fixture
def matrix(engines: Engines, require: Callable[[object, str], None]) -> Callable[..., Outcome]:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")

    def run(count: int, *options: object, leaks: bool = False) -> Outcome:
        return ranks.run(engines, count, "matrix", *BRIEF, *options, leaks=leaks)

    return run


def _numbers(outcome: Outcome, replication: int, count: int) -> dict[str, list[list[float]]]:
    """Each metric's rows in the ranks' order; all but the diagonal must be measured."""
    rows = [event for event in outcome.of("row") if event["replication"] == replication]
    assert [row["from"] for row in rows] == list(range(count))
    numbers = {name: [row["metrics"][name] for row in rows] for name in rows[0]["metrics"]}
    for lines in numbers.values():
        for rank, line in enumerate(lines):
            assert len(line) == count
            assert [to for to, number in enumerate(line) if number is None] == [rank]
            assert all(number > 0 for number in line if number is not None)
    return numbers


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_every_ordered_pair_is_measured_exactly_once(
    matrix: Callable[..., Outcome], count: int
) -> None:
    outcome = matrix(count)
    assert outcome.metrics == [{}]
    assert set(_numbers(outcome, 1, count)) == {"throughput", "latency"}


def test_each_replication_and_the_warm_up_have_rows_before_them(
    matrix: Callable[..., Outcome],
) -> None:
    outcome = matrix(3, "--warmup=60ms", "--replications=2", leaks=True)
    assert outcome.status == 0, outcome.errors
    steps = [(e["event"], e["replication"]) for e in outcome.events if "replication" in e]
    assert steps == [
        step for number in (0, 1, 2) for step in [("row", number)] * 3 + [("replication", number)]
    ]
    for number in (0, 1, 2):
        _numbers(outcome, number, 3)


@pytest.mark.parametrize(("size", "window"), [(1, 1), (1, 64), (1000003, 2), (65536, 5)])
def test_streams_of_any_size_and_window_arrive_whole(
    matrix: Callable[..., Outcome], size: int, window: int
) -> None:
    _numbers(matrix(2, f"--size={size}", f"--window={window}", "--latency-size=1000"), 1, 2)


def test_streams_through_tcp_arrive_whole(matrix: Callable[..., Outcome]) -> None:
    _numbers(matrix(3, "--btl=self,tcp", "--size=100KiB"), 1, 3)


@pytest.mark.parametrize("size", ["8", "16MiB"])
def test_no_stream_is_faster_than_its_sender_when_its_receiver_comes_late(
    engines: Engines, require: Callable[[object, str], None], tmp_path: Path, size: str
) -> None:
    """All of it would be there when the receiver looks for the first time."""
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    late = ranks.build_library(Path(__file__).with_name("late_rank.c"), tmp_path)
    options = ("--btl=self,sm", f"--size={size}", "--window=4", "--pair-time=1ms")
    outcome = ranks.run(engines, 2, "matrix", *options, preload=late)
    lines = _numbers(outcome, 1, 2)["throughput"]
    bits = outcome.settings["parameters"]["size"] * 8
    assert max(number for line in lines for number in line if number is not None) <= bits / SENDING


def test_round_trips_are_timed_once_the_rank_that_answers_is_ready(
    engines: Engines,
    require: Callable[[object, str], None],
    tmp_path: Path,
    paced: Callable[..., object],
) -> None:
    """The first would take as long as it comes late, and be the only one."""
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    late = ranks.build_library(Path(__file__).with_name("late_rank.c"), tmp_path)

    def latency() -> float:
        outcome = ranks.run(engines, 2, "matrix", *BRIEF, preload=late)
        return _numbers(outcome, 1, 2)["latency"][0][1]

    paced(latency, lambda seconds: seconds < 0.02)


def test_by_hand_it_is_a_table_with_the_slowest_row_and_column(
    engines: Engines, require: Callable[[object, str], None]
) -> None:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    program = engines.argv("mpi", "--mode=matrix", "--yield", "--replications=1", *BRIEF)
    outcome = engines.start_other(*ranks.argv(3, *program), **ranks.environment()).finish()
    assert outcome.status == 0, outcome.errors
    assert outcome.output.count("# slowest row: rank ") == 2
    assert outcome.output.count("# slowest column: rank ") == 2
    table = [line.split() for line in outcome.output.splitlines() if not line.startswith("#")]
    assert [line[0] for line in table] == ["0", "1", "2"] * 2
    assert [line.index("-") for line in table] == [1, 2, 3] * 2


def _ranks_below(pid: int) -> list[int]:
    """Pids of the engine's processes that a launcher started, or its children did."""
    below = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            if Path(f"/proc/{child}/comm").read_text() == "rail-mpi\n":
                below.append(child)
            below.extend(_ranks_below(child))
    return sorted(below)


def test_a_rank_that_dies_ends_the_job_with_an_error(
    engines: Engines,
    require: Callable[[object, str], None],
    process_ends: Callable[[int], bool],
) -> None:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    program = engines.argv("mpi", "--mode=matrix", "--json", "--yield", "--pair-time=60s")
    job = engines.start_other(*ranks.argv(4, *program, ranks.DEADLINE), **ranks.environment())
    assert job.event()["event"] == "settings"
    alive = _ranks_below(job.pid)
    assert len(alive) == 4
    os.kill(alive[2], signal.SIGKILL)
    outcome = job.finish()
    assert outcome.status != 0
    assert outcome.of("done") == []
    assert all(process_ends(pid) for pid in alive)


def test_a_rank_that_stands_still_does_not_outlive_the_deadline(
    engines: Engines,
    require: Callable[[object, str], None],
    process_ends: Callable[[int], bool],
) -> None:
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    program = engines.argv("mpi", "--mode=matrix", "--json", "--yield", "--pair-time=60s")
    for seconds in (10, 40, 120):  # until they are measuring before it passes
        argv = ranks.argv(3, *program, f"--deadline={seconds}s")
        job = engines.start_other(*argv, **ranks.environment())
        event = job.event()
        if event["event"] == "settings":
            break
        assert event["code"] == "deadline"
    alive = _ranks_below(job.pid)
    os.kill(alive[-1], signal.SIGSTOP)
    outcome = job.finish()
    assert outcome.error["code"] == "deadline"
    assert all(process_ends(pid) for pid in alive)


def test_the_table_names_the_slow_rank(probe: Callable[[str, str], str]) -> None:
    count, slow = 20, 13
    values = [
        "0" if row == column else "4.8e7" if slow in (row, column) else f"{9e8 + row * column}"
        for row in range(count)
        for column in range(count)
    ]
    table = probe("matrix_table_probe", f"{count} {' '.join(values)}\n")
    assert f"# slowest row: rank {slow}, median 48.0; the others' on average 900." in table
    assert f"# slowest column: rank {slow}, median 48.0; the others' on average 900." in table
    assert "20 ranks are too many to show here" in table
