"""Whether a case flips between two levels from run to run, though nothing was changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railgauge.stats.two_groups import two_groups

# A change that was mended is two switches: what flips by itself has more.
LEAST_SWITCHES = 3


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

    They fall into two groups (see `two_groups`: six runs or more, 5 % apart) and came back to a
    level twice at least, which a change that lasts and one that was mended don't.
    """
    values = np.asarray(medians, np.float64)
    groups = two_groups(values) if len(values) and values.min() > 0 else None
    if groups is None:
        return None
    least_high = np.sort(values)[groups.lower]
    upper = values >= least_high
    switches = int(np.count_nonzero(upper[1:] != upper[:-1]))
    if switches < LEAST_SWITCHES:
        return None
    low, high = (
        Level(median, len(members), float(members.min()), float(members.max()))
        for median, members in ((groups.low, values[~upper]), (groups.high, values[upper]))
    )
    return TwoLevels(low, high, switches)
