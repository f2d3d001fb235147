"""How long a launch may be silent: longer than it takes, and not for ever if it is stuck."""

from __future__ import annotations

import pytest

from railgauge.engine.patience import patience_for
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import load_catalogue

MPI = load_catalogue().engines["mpi"]
DISK = load_catalogue().engines["disk"]
GIB = float(1 << 30)


def _case(hosts: int, **parameters: float | str) -> Case:
    usual = {n: info.default for n, info in MPI.parameters.items() if info.default is not None}
    members = tuple(f"n{number}" for number in range(hosts))
    return Case("key", "mpi", "all", members[0], None, usual | parameters, members)


@pytest.mark.parametrize("hosts", [2, 9, 1000])
def test_a_matrix_may_take_as_long_as_its_rounds(hosts: int) -> None:
    took = patience_for(MPI, _case(hosts, mode="matrix", pair_time=3.0))
    assert 4 * 3.0 * hosts < took < 4 * 3.0 * hosts * 3 + 200


def test_a_matrix_whose_rank_stands_still_is_given_up_within_minutes() -> None:
    assert patience_for(MPI, _case(8, mode="matrix")) < 300


def test_what_is_bounded_by_a_count_may_take_an_hour_or_what_the_plan_says() -> None:
    counted = _case(2, mode="latency", count=1000)
    assert patience_for(MPI, counted) == 3_600
    assert patience_for(MPI, counted, 7.5) == 7.5


def test_what_is_bounded_by_time_takes_little_more() -> None:
    assert 70 < patience_for(MPI, _case(2, mode="latency", duration=60.0, warmup=10.0)) < 300


def _disk_patience(**parameters: float | str) -> float:
    usual = {n: info.default for n, info in DISK.parameters.items() if info.default is not None}
    case = Case("key", "disk", "here", "here", None, usual | {"folder": "/tmp"} | parameters)
    return patience_for(DISK, case)


def test_a_slow_disk_may_take_its_time_to_be_laid_out() -> None:
    usual_disk = 100e6  # B/s, of one that turns
    took = _disk_patience(duration=5.0, size=10 * GIB, threads=4.0)
    assert took > 5 + 4 * 10 * GIB / usual_disk
    assert _disk_patience(duration=5.0, size=GIB / 1024, threads=1.0) < 130


def test_one_pass_over_a_file_takes_as_long_as_it_takes() -> None:
    assert _disk_patience(duration=0.0) == 3_600


def test_somebody_elses_program_may_take_as_long_as_its_timeout_says() -> None:
    engine = load_catalogue().engines["dgemm"]
    usual = {n: info.default for n, info in engine.parameters.items() if info.default is not None}

    def patience(timeout: float) -> float:
        case = Case("key", "dgemm", "here", "here", None, {**usual, "timeout": timeout})
        return patience_for(engine, case)

    assert 120 < patience(0.0) < 130
    assert patience(7200.0) > 7200
