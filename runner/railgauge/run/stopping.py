"""Decides when a case has been measured often enough: which cases of a run are still open.

A case with a rule is open until the 95 % intervals of its metrics are narrow, until it has had the
most replications, or until its measuring time is over. All of it is decided from values in the
order of their replications, so a run that goes on after it was killed decides as it would have.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, get_args

from railgauge.base.number import plural
from railgauge.engine.outcome import Outcome
from railgauge.plan.cases import Case, ExpandedTest
from railgauge.plan.catalogue import Catalogue, Value
from railgauge.plan.model import Test
from railgauge.plan.replication_rule import Replications, judged_metrics, share_text
from railgauge.plan.schedule import Dispatch
from railgauge.plan.wall_time import LaunchTimes, Spanned
from railgauge.stats.stopping_rule import FEWEST, StopRule, narrow_enough, within_share
from railgauge.store.records import CaseEnd

if TYPE_CHECKING:
    from railgauge.store import Store

# `railgauge show` has the others.
_MOST_NAMED = 20

Key = tuple[str, str]
"""A test's name and a case's key."""


class Unsettled(NamedTuple):
    """A case that ended after `n` replications before it got within the `share` of its rule.

    `name` sets it apart from the others of its plan.
    """

    test: str
    case: Case
    share: float
    ended: CaseEnd
    n: int
    name: str = ""


@dataclass(slots=True)
class _Watched:
    """A case with a rule, and what is known of it so far.

    `first` and `last` are when its first and last value came (by time.monotonic()), `length` what
    a replication is expected to take (s; 0: unknown), `spent` what `timed` of them took.
    """

    case: Case
    rule: Replications
    stop: StopRule
    values: dict[str, list[float]]
    length: float
    count: int = 0
    ended: CaseEnd | None = None
    first: float | None = None
    last: float = 0.0
    spent: float = 0.0
    timed: int = 0

    def note(self, outcome: Outcome, moment: float, seconds: float) -> None:
        """Take note of an outcome that came at `moment`, after `seconds` of measuring."""
        self.spent += seconds
        if outcome.warmup:
            return
        self.count += 1
        self.timed += 1
        if outcome.status != "failed":
            self.first = moment if self.first is None else self.first
            self.last = moment
            for name, series in self.values.items():
                if name in outcome.metrics:
                    series.append(outcome.metrics[name])

    def end(self) -> CaseEnd | None:
        """Return why it needs no more replications; None as long as it does."""
        if self._spanned() and all(
            narrow_enough(series, self.stop) for series in self.values.values()
        ):
            return "narrow"
        if self.count >= self.stop.most:
            return "narrow" if self.is_settled() else "most"
        if self.rule.budget is not None and self.count:
            # One that would not end in time isn't begun.
            seconds = self.spent / self.timed if self.timed else self.length
            if (self.count + 1) * seconds > self.rule.budget:
                return "narrow" if self.is_settled() else "budget"
        return None

    def is_settled(self) -> bool:
        """Return whether its values, as many as there are, are as good as the rule asks for."""
        return self._spanned() and all(
            len(series) >= self.stop.least and within_share(series, self.stop)
            for series in self.values.values()
        )

    def _spanned(self) -> bool:
        if self.rule.span is None:
            return True
        return self.first is not None and self.last - self.first >= self.rule.span


class Judge:
    """Knows which cases of a run's tests are still open. Those without a rule always are.

    `still_open` counts the open cases with a rule, `spared` how many replications fewer than the
    most have been enough for the cases noted here.
    """

    def __init__(self, tests: Iterable[ExpandedTest], catalogue: Catalogue) -> None:
        self._cases: dict[Key, _Watched] = {}
        for expanded in tests:
            if expanded.test.rule is not None:
                self._cases.update(_watched(expanded, expanded.test.rule, catalogue))
        self.still_open = len(self._cases)
        self.spared = 0
        self._wait: tuple[tuple[str, int], float] = (("", 0), 0.0)

    def __bool__(self) -> bool:
        """Return whether there is any case with a rule."""
        return bool(self._cases)

    @property
    def optional(self) -> int:
        """How many of the replications that open cases may still take they may do without.

        One at least, or up to the least that it has to have, each of them does need.
        """
        return sum(
            watched.stop.most - watched.count - max(watched.stop.least - watched.count, 1)
            for watched in self._cases.values()
            if watched.ended is None
        )

    def is_open(self, dispatch: Dispatch) -> bool:
        """Return whether any of the launch's cases needs another replication."""
        return any(self._is_open(dispatch.test, case) for case in dispatch.cases)

    def open_cases(self, dispatch: Dispatch) -> int:
        """Return how many of the launch's cases need another replication."""
        return sum(self._is_open(dispatch.test, case) for case in dispatch.cases)

    def left(self, dispatch: Dispatch) -> int:
        """Return how many replications a launch of cases with a rule is from having the most."""
        watched = self._cases[dispatch.test, dispatch.case.key]
        return watched.stop.most - watched.count

    def recall(
        self, store: Store, run: int, clock: float | None = None, now: float | None = None
    ) -> dict[Key, CaseEnd]:
        """Take note of all that is stored; return those cases whose end it is, but isn't stored.

        What is stored is by the machine's `clock` (seconds since 1970), all else by
        time.monotonic(), which is `now`; where not given both are read.
        """
        if not self._cases:
            return {}
        clock = time.time() if clock is None else clock
        now = time.monotonic() if now is None else now
        for key, numbers in store.replication_numbers(run).items():
            if key in self._cases:
                self._cases[key].count = len(numbers)
        metrics = {name for watched in self._cases.values() for name in watched.values}
        for series in store.series([run], metrics):
            watched = self._cases.get((series.test, series.case.key))
            if watched is not None and series.metric in watched.values:
                watched.values[series.metric] = series.values.tolist()
        unstored: dict[Key, CaseEnd] = {}
        stored = {
            (planned.test, planned.case.key): planned.ended for planned in store.run(run).cases
        }
        # By this machine's clock, as all that comes now: the hosts' own may be anywhere.
        moments = store.launch_times(run)
        for key, watched in self._cases.items():
            if key in moments:
                # What a clock that was set back since has yet to reach, came just now.
                watched.first, watched.last = (
                    now - max(0.0, clock - datetime.fromisoformat(moment).timestamp())
                    for moment in moments[key]
                )
            watched.ended = _END.get(stored.get(key, "")) or watched.end()
            if watched.ended is not None and not stored.get(key):
                unstored[key] = watched.ended
        self.still_open = sum(watched.ended is None for watched in self._cases.values())
        return unstored

    def leave_out(self, skipped: Iterable[Key]) -> None:
        """Forget cases that aren't measured at all."""
        for key in skipped:
            if (watched := self._cases.pop(key, None)) is not None:
                self.still_open -= watched.ended is None

    def note(
        self, test: str, case: Case, outcome: Outcome, moment: float, seconds: float
    ) -> CaseEnd | None:
        """Take note of an outcome of a case; return why it was its last one, if it was.

        It came at `moment` (of time.monotonic()), after `seconds` of measuring.
        """
        watched = self._cases.get((test, case.key))
        if watched is None:
            return None
        watched.note(outcome, moment, seconds)
        if watched.ended is not None:
            # It was measured with others that are still open.
            self.spared -= not outcome.warmup
        elif not outcome.warmup:
            return self._end(watched, watched.end())
        return None

    def end_all(self) -> dict[Key, CaseEnd]:
        """End each open case that has had its least replications: the run's time is over."""
        return {
            key: ended
            for key, watched in self._cases.items()
            if watched.ended is None and watched.count >= watched.stop.least
            if (ended := self._end(watched, "narrow" if watched.is_settled() else "budget"))
        }

    def not_before(self, dispatch: Dispatch, now: float) -> float:
        """Return when (by time.monotonic()) this replication may begin, so that the span is kept.

        Of the first `min` replications of a test each begins when its part of the span has passed
        since the last of the open cases got its first.
        """
        test, number = dispatch.test, dispatch.replications[0]
        watched = self._cases.get((test, dispatch.case.key))
        if watched is None or watched.rule.span is None:
            return now
        if self._wait[0] != (test, number):
            firsts = [
                other.first
                for key, other in self._cases.items()
                if key[0] == test and other.ended is None and other.first is not None
            ]
            part = min(1.0, (number - 1) / (watched.stop.least - 1)) * watched.rule.span
            self._wait = (test, number), max(firsts, default=now - part) + part
        return self._wait[1]

    def unsettled(self) -> list[Unsettled]:
        """Return the cases that ended before they got within their share, in the plan's order."""
        return [
            Unsettled(test, watched.case, watched.rule.until.share, watched.ended, watched.count)
            for (test, _), watched in self._cases.items()
            if watched.ended in ("most", "budget")
        ]

    def _is_open(self, test: str, case: Case) -> bool:
        watched = self._cases.get((test, case.key))
        return watched is None or watched.ended is None

    def _end(self, watched: _Watched, ended: CaseEnd | None) -> CaseEnd | None:
        if ended is not None:
            watched.ended = ended
            self.still_open -= 1
            self.spared += watched.stop.most - watched.count
        return ended


_END: Mapping[str, CaseEnd] = {end: end for end in get_args(CaseEnd)}


def soonest(test: Test) -> int:
    """Return how many values a case of the test has at least when its rule ends it."""
    if test.rule is None:
        return test.most
    return min(test.most, max(test.least, FEWEST[test.rule.until.statistic]))


def spans_of(tests: Iterable[ExpandedTest]) -> dict[str, Spanned]:
    """Return which tests' replications span some time, and how long."""
    return {
        expanded.test.name: Spanned(expanded.test.least, expanded.test.rule.span)
        for expanded in tests
        if expanded.test.rule and expanded.test.rule.span
    }


def rule_text(rule: Replications, metrics: Sequence[str]) -> str:
    """Return a rule as it's stored with a case: `ci95(median) <= 1% of throughput`."""
    return f"{rule.rule} of {', '.join(metrics)}"


def rules_of(expanded: ExpandedTest, catalogue: Catalogue) -> Iterator[str]:
    """Yield the text of the rule for each of a test's cases, empty for a number of replications."""
    engine = catalogue.engine(expanded.test.engine)
    texts: dict[Value | None, str] = {}
    for case in expanded.cases:
        mode = case.parameters.get("mode")
        if mode not in texts:
            rule = expanded.test.rule
            texts[mode] = rule_text(rule, judged_metrics(rule, engine, mode)) if rule else ""
        yield texts[mode]


def _watched(
    expanded: ExpandedTest, rule: Replications, catalogue: Catalogue
) -> Iterator[tuple[Key, _Watched]]:
    engine = catalogue.engine(expanded.test.engine)
    stop = StopRule(rule.min, rule.max, rule.until.statistic, rule.until.share)
    times = LaunchTimes(catalogue)
    for case in expanded.cases:
        metrics = judged_metrics(rule, engine, case.parameters.get("mode"))
        time = times.of(Dispatch(expanded.test.name, case, (1,)))
        length = 0.0 if time.guessed else time.warmup + time.duration
        watched = _Watched(case, rule, stop, {name: [] for name in metrics}, length)
        yield (expanded.test.name, case.key), watched


def unsettled_lines(cases: Sequence[Unsettled]) -> Iterator[str]:
    """Yield, for each share, which cases never got within it."""
    shares: dict[float, list[Unsettled]] = {}
    for case in cases:
        shares.setdefault(case.share, []).append(case)
    for share, unsettled in shares.items():
        count = plural(len(unsettled), "case")
        yield f"NOT SETTLED: {count} never got within {share_text(share)}:"
        for case in unsettled[:_MOST_NAMED]:
            end = "the most it may take" if case.ended == "most" else "its time was over"
            yield f"  {case.name}: {plural(case.n, 'replication')}, {end}"
        if (more := len(unsettled) - _MOST_NAMED) > 0:
            yield f"  and {more} more: `railgauge show RUN --json` has them all"
