"""How long a launch may be silent: longer than it takes, and not for a day if it is stuck."""

from __future__ import annotations

import pytest

from railgauge.cases import Case
from railgauge.catalogue import load_catalogue
from railgauge.engine.patience import patience_for

MPI = load_catalogue().engines["mpi"]


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


def test_what_is_bounded_by_a_count_may_take_a_day() -> None:
    assert patience_for(MPI, _case(2, mode="latency", count=1000)) == 86_400


def test_what_is_bounded_by_time_takes_little_more() -> None:
    assert 70 < patience_for(MPI, _case(2, mode="latency", duration=60.0, warmup=10.0)) < 300
