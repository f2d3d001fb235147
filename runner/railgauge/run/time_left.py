"""How long a run still takes: what is expected of the rest, corrected by what was measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from railgauge.plan.schedule import Dispatch
from railgauge.plan.wall_time import LaunchTimes, Spanned


@dataclass(slots=True)
class _Share:
    """Of a test: what was expected of its replications that are done, and is of those to come (s).

    `took` is what those that are done really took, `began` when the first of them came.
    """

    left: float = 0.0
    expected: float = 0.0
    took: float = 0.0
    began: float | None = None


class TimeLeft:
    """The seconds that the rest of a run takes.

    Each replication weighs what it was expected to take, so that a plan's long launches count as
    such while its short ones are measured. What those of a test really took, against what was
    expected, corrects the rest of the test; all that was measured corrects the tests to come.

    The replications of a launch come together in the tests `together`. Tests in `spans` begin
    their first replications over so long a time. `clock` is time.monotonic().
    """

    def __init__(
        self,
        dispatches: Iterable[Dispatch],
        times: LaunchTimes,
        *,
        together: Collection[str] = (),
        spans: Mapping[str, Spanned] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._times = times
        self._together = frozenset(together)
        self._spans = spans or {}
        self._clock = clock
        self._since = clock()
        self._tests: dict[str, _Share] = {}
        for dispatch in dispatches:
            share = self._tests.setdefault(dispatch.test, _Share())
            share.left += len(dispatch.replications) * self._expected(dispatch)

    def measured(self, dispatch: Dispatch) -> None:
        """Take note that a replication of the dispatch has just come."""
        now, expected = self._clock(), self._expected(dispatch)
        share = self._tests.setdefault(dispatch.test, _Share(left=expected))
        share.left = max(0.0, share.left - expected)
        share.expected += expected
        share.took += max(0.0, now - self._since)
        share.began = now if share.began is None else share.began
        self._since = now

    def spared(self, dispatch: Dispatch, replications: int) -> None:
        """Take note that so many replications of the dispatch's case aren't needed any more."""
        if (share := self._tests.get(dispatch.test)) is not None:
            share.left = max(0.0, share.left - replications * self._expected(dispatch))

    def rested(self) -> None:
        """Take note that nothing was measured until now."""
        self._since = self._clock()

    def seconds(self) -> float:
        """Return what is left."""
        shares = self._tests.values()
        expected = sum(share.expected for share in shares)
        usual = sum(share.took for share in shares) / expected if expected else 1.0
        work = waiting = later = 0.0
        for test, share in self._tests.items():
            seconds = share.left * (share.took / share.expected if share.expected else usual)
            spanned = self._spans[test].seconds if share.left and test in self._spans else 0.0
            if share.began is None:
                later += max(seconds, spanned)
            else:
                # Tests that have begun are measured in turns, and span the same time.
                work += seconds
                waiting = max(waiting, spanned - (self._clock() - share.began))
        return later + max(work, waiting)

    def _expected(self, dispatch: Dispatch) -> float:
        """Return what is expected of a replication, with its part of what its launch takes once."""
        launch = self._times.of(dispatch)
        shared = dispatch.test in self._together and not launch.single
        return launch.once / (max(len(dispatch.replications), 1) if shared else 1) + launch.repeated
