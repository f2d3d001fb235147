"""In which order threads fill a machine: one CPU of each core first."""

from __future__ import annotations

from pathlib import Path

import pytest


def _order(probe, folder: Path, siblings: list[str], forbidden: int = -1) -> list[int]:
    for cpu, cpu_list in enumerate(siblings):
        topology = folder / f"cpu{cpu}/topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(cpu_list + "\n" if cpu_list else "")
    text = probe("cores_probe", f"{folder} {len(siblings)} {forbidden}\n")
    return [int(cpu) for cpu in text.split()]


@pytest.mark.parametrize(
    ("siblings", "order"),
    [
        (["0", "1", "2"], [0, 1, 2]),
        (["0-1", "0-1", "2-3", "2-3"], [0, 2, 1, 3]),
        (["0,2", "1,3", "0,2", "1,3"], [0, 1, 2, 3]),
        (["0-3", "0-3", "0-3", "0-3", "4-7", "4-7", "4-7", "4-7"], [0, 4, 1, 5, 2, 6, 3, 7]),
        (["", "", ""], [0, 1, 2]),
    ],
)
def test_each_core_gets_one_thread_before_any_gets_two(
    probe, tmp_path: Path, siblings: list[str], order: list[int]
) -> None:
    assert _order(probe, tmp_path, siblings) == order


def test_a_core_whose_first_cpu_is_forbidden_counts_by_its_second(probe, tmp_path: Path) -> None:
    siblings = ["0-1", "0-1", "2-3", "2-3"]
    assert _order(probe, tmp_path, siblings, forbidden=0) == [1, 2, 3]


def test_a_machine_that_tells_nothing_is_filled_by_number(probe, tmp_path: Path) -> None:
    assert _order(probe, tmp_path / "nowhere", []) == []
