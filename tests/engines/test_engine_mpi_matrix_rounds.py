"""The rounds in which the MPI engine's matrix measures all pairs of ranks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Probe = Callable[[str, str], str]


def _rounds(probe: Probe, ranks: int) -> list[list[int]]:
    lines = probe("matrix_rounds_probe", f"{ranks}\n").splitlines()
    return [[int(word) for word in line.split()] for line in lines]


@pytest.mark.parametrize("ranks", [*range(2, 65), 999, 1000])
def test_rounds_are_disjoint_and_every_two_ranks_meet_once(probe: Probe, ranks: int) -> None:
    rounds = _rounds(probe, ranks)
    assert len(rounds) == ranks - 1 + ranks % 2
    met: set[tuple[int, int]] = set()
    for partners in rounds:
        assert len(partners) == ranks
        assert all(partners[partner] == rank for rank, partner in enumerate(partners))
        pairs = {(rank, partner) for rank, partner in enumerate(partners) if rank < partner}
        assert len(pairs) == ranks // 2, "only the odd one out may rest"
        assert not pairs & met
        met |= pairs
    assert len(met) == ranks * (ranks - 1) // 2


@pytest.mark.parametrize("ranks", [3, 9, 999])
def test_every_rank_of_an_odd_number_rests_once(probe: Probe, ranks: int) -> None:
    resting = [
        rank
        for partners in _rounds(probe, ranks)
        for rank, partner in enumerate(partners)
        if rank == partner
    ]
    assert sorted(resting) == list(range(ranks))
