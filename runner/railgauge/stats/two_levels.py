"""Whether a case flips between two levels from run to run, though nothing was changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from railgauge.base.arrays import NDArray, np
from railgauge.stats.two_groups import two_groups

# A change that was mended is two switches: what flips by itself has more, and stays at a level for
# fewer than ten runs on average. Changes that come and go in a year are fewer.
LEAST_SWITCHES, LEAST_SHARE = 3, 0.1


class Level(NamedTuple):
    """A level: the `median` of `runs` runs, which are from `least` to `most`."""

    median: float
    runs: int
    least: float
    most: float

    def holds(self, value: float, share: float) -> bool:
        """Return whether a value > 0 is at the level, or off it by no more than `share`."""
        return self.least * (1 - share) <= value <= self.most * (1 + share)


class TwoLevels(NamedTuple):
    """Both levels, and how often (`switches`) a run was at another one than the run before it."""

    low: Level
    high: Level
    switches: int


def two_levels(medians: NDArray[np.float64] | Sequence[float]) -> TwoLevels | None:
    """Return the levels between which runs' `medians` (n,) > 0 flip, in order; None without them.

    They fall into two groups (see `two_groups`: six runs or more, 5 % apart), came back to a level
    twice at least and went to the other one in a tenth of the runs, which changes that last and
    those that are mended don't.
    """
    values = np.asarray(medians, np.float64)
    groups = two_groups(values) if len(values) and values.min() > 0 else None
    if groups is None:
        return None
    least_high = np.sort(values)[groups.lower]
    upper = values >= least_high
    switches = int(np.count_nonzero(upper[1:] != upper[:-1]))
    if switches < max(LEAST_SWITCHES, LEAST_SHARE * len(values)):
        return None
    low, high = (
        Level(median, len(members), float(members.min()), float(members.max()))
        for median, members in ((groups.low, values[~upper]), (groups.high, values[upper]))
    )
    return TwoLevels(low, high, switches)
