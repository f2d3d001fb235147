"""The counting under the engines' numbers, against plain Python."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable

import pytest

Probe = Callable[[str, str], str]
WINDOW = 1 << 20


@pytest.mark.parametrize(
    "values",
    [
        [7],
        list(range(1, 300)),
        [random.Random(1).randrange(1, 10**6) for _ in range(20_000)],
        [int(random.Random(n).lognormvariate(11, 3)) for n in range(5_000)],
        [2**n for n in range(64)],
        [2**n - 1 for n in range(1, 65)],
        [10**9 + random.Random(n).randrange(1000) for n in range(20_000)],
        [int(random.Random(n).gauss(4e6, 4e4)) for n in range(20_000)],  # round trips of 4 ms
    ],
    ids=["one", "small", "uniform", "heavy-tail", "powers", "below-powers", "narrow", "4-ms"],
)
def test_quantiles_are_within_a_tenth_of_a_percent_and_extremes_exact(
    probe: Probe, values: list[int]
) -> None:
    count, lowest, highest, deviation, *quantiles = probe(
        "histogram_probe", " ".join(map(str, values))
    ).split()
    ranked = sorted(values)
    assert (int(count), int(lowest), int(highest)) == (len(values), ranked[0], ranked[-1])
    for text, q in zip(quantiles, (0.5, 0.9, 0.99, 0.999, 0.9999), strict=True):
        exact = ranked[math.ceil(q * len(ranked)) - 1]
        assert float(text) == pytest.approx(exact, rel=0.001)
    if sum(values) < 2**63:  # centuries
        exact = statistics.stdev(values) if len(values) > 1 else 0
        assert float(deviation) == pytest.approx(exact, rel=1e-6)


def _arrivals(probe: Probe, numbers: list[int]) -> dict[str, int]:
    counts = probe("sequence_probe", " ".join(map(str, numbers))).split()
    names = ("unique", "duplicates", "reordered", "too_late")
    return dict(zip(names, map(int, counts), strict=True))


def test_a_duplicate_does_not_cancel_a_loss(probe: Probe) -> None:
    assert _arrivals(probe, [0, 1, 1, 3]) == {
        "unique": 3,
        "duplicates": 1,
        "reordered": 0,
        "too_late": 0,
    }


def test_a_late_packet_is_reordered_and_not_lost(probe: Probe) -> None:
    assert _arrivals(probe, [0, 2, 3, 1, 4])["unique"] == 5
    assert _arrivals(probe, [0, 2, 3, 1, 4])["reordered"] == 1


def test_the_window_forgets_what_it_has_moved_past(probe: Probe) -> None:
    """A number one window on takes the place of the first: it must not look like a duplicate."""
    numbers = [0, 5, WINDOW, WINDOW + 5, WINDOW + 6, 7]
    assert _arrivals(probe, numbers) == {
        "unique": 6,
        "duplicates": 0,
        "reordered": 1,
        "too_late": 0,
    }


def test_a_packet_from_before_the_window_counts_as_neither(probe: Probe) -> None:
    assert _arrivals(probe, [0, 3 * WINDOW, 1]) == {
        "unique": 2,
        "duplicates": 0,
        "reordered": 0,
        "too_late": 1,
    }


def test_shuffled_arrivals_with_losses_and_duplicates_are_counted_exactly(probe: Probe) -> None:
    dice = random.Random(7)
    numbers = [n for n in range(30_000) if dice.random() > 0.1]
    sent_twice = dice.sample(numbers, 500)
    arrivals = numbers + sent_twice
    arrivals.sort(key=lambda n: n + dice.uniform(0, 50))
    counts = _arrivals(probe, arrivals)
    assert (counts["unique"], counts["duplicates"]) == (len(numbers), 500)


def test_splitmix_gives_the_numbers_of_its_authors(probe: Probe) -> None:
    rows = [line.split() for line in probe("splitmix_probe", "1234567 5").splitlines()]
    assert [int(in_turn) for in_turn, _ in rows] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert all(in_turn == by_number for in_turn, by_number in rows)
