"""Which of the system logs' counters changed beside a case that got slower."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railgauge.compare.rates import FREQUENCY, Rate, rates
from railgauge.stats.rank_test import rank_test
from railgauge.store import Store

# A change of less than this share of the greater one explains nothing, nor do ones below these.
_LEAST_SHARE = 0.1
_LEAST: Mapping[str, float] = {
    "CPUs": 0.05,
    "/s": 1.0,
    "/segment": 1e-5,
    "of the time": 0.01,
    "Hz": 0.0,
    "/replication": 1.0,
}
# A CPU's frequency matters when it falls by this share.
_LEAST_FREQUENCY = 0.02
_LEVEL = 0.05
# More of them are no help.
_MOST = 6
# A baseline may have many runs; its last ones say what was usual.
_MOST_RUNS = 3


@dataclass(frozen=True, slots=True)
class CounterChange:
    """A rate on a host that differs between the two sides: both means, and the rank test's p."""

    host: str
    name: str
    unit: str
    before: float
    after: float
    p: float


def changed_counters(
    store: Store,
    case_key: str,
    first: Sequence[tuple[int, str]],
    second: Sequence[tuple[int, str]],
) -> tuple[CounterChange, ...]:
    """Return what rose beside a case, trouble first, then by factor; of CPUs' clocks what fell.

    The runs of both sides are given with the test that had the case there. Only rises: what falls
    with the throughput follows from it. Benjamini-Hochberg over all that either side counted.
    """
    before, after = (_collect(store, runs[-_MOST_RUNS:], case_key) for runs in (first, second))
    tried = before.keys() | after.keys()
    tests = []
    for key in tried:
        first_values, second_values = before[key], after[key]
        if not (first_values and second_values):
            continue
        means = _mean(first_values), _mean(second_values)
        if _matters(key[1], *means):
            tests.append((rank_test(first_values, second_values).p, key, *means))
    tests.sort(key=lambda test: test[0])
    significant = max(
        (rank for rank, test in enumerate(tests, 1) if test[0] <= _LEVEL * rank / len(tried)),
        default=0,
    )
    strongest = sorted(
        tests[:significant], key=lambda test: (not test[1][1].trouble, -_factor(*test[2:]))
    )
    return tuple(
        CounterChange(host, rate.name, rate.unit, before_mean, after_mean, p)
        for p, (host, rate), before_mean, after_mean in strongest[:_MOST]
    )


class _Collected(dict[tuple[str, Rate], list[float]]):
    """Values by host and rate; what a side never counted, it counted 0 times in each."""

    def __init__(self, replications: Mapping[str, int]) -> None:
        super().__init__()
        self._replications = replications

    def __missing__(self, key: tuple[str, Rate]) -> list[float]:
        return [] if key[1] == FREQUENCY else [0.0] * self._replications.get(key[0], 0)


def _collect(store: Store, runs: Iterable[tuple[int, str]], case_key: str) -> _Collected:
    by_source: list[tuple[str, dict[Rate, float]]] = []
    for run, test in runs:
        for stored in store.logs(run, test=test, case_key=case_key):
            by_source.append((stored.log.host, rates(stored.log)))
        for counted in store.ports(run, test=test, case_key=case_key):
            device = f"{counted.port.device} {counted.port.interface}"
            trouble = {
                Rate(counter, "/replication", True): float(count)
                for counter, count in counted.port.counts.items()
                if counter.endswith(("Discards", "Errors"))
            }
            by_source.append((device, trouble))
    collected = _Collected(Counter(source for source, _ in by_source))
    for key in dict.fromkeys((source, rate) for source, values in by_source for rate in values):
        host, rate = key
        # A log has only the counters that moved.
        collected[key] = [
            values.get(rate, 0.0)
            for source, values in by_source
            if source == host and (rate in values or rate != FREQUENCY)
        ]
    return collected


def _matters(rate: Rate, before: float, after: float) -> bool:
    if rate == FREQUENCY:
        return after <= before * (1 - _LEAST_FREQUENCY)
    return after - before >= max(_LEAST[rate.unit], _LEAST_SHARE * after)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _factor(before: float, after: float) -> float:
    return abs(math.log(after / before)) if before > 0 and after > 0 else math.inf
