"""Which of the system logs' counters changed beside a case that got slower."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railgauge.compare.rates import FREQUENCY, Rate, rates
from railgauge.stats import rank_test
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
    store: Store, name: tuple[str, str], first: Sequence[int], second: Sequence[int]
) -> tuple[CounterChange, ...]:
    """Return what rose beside a case (test, key), trouble first, then by factor; CPUs' clocks fell.

    Only rises: what falls with the throughput follows from it. Benjamini-Hochberg over all that
    either side counted. A run without that test had the case under another name.
    """
    before, after = (_collect(store, name, runs[-_MOST_RUNS:]) for runs in (first, second))
    tried = before.keys() | after.keys()
    found = []
    for key in tried:
        one, other = before[key], after[key]
        if one and other and _matters(key[1], _mean(one), _mean(other)):
            p = rank_test(one, other).p
            found.append((p, key, _mean(one), _mean(other)))
    found.sort(key=lambda each: each[0])
    kept = max(
        (rank for rank, each in enumerate(found, 1) if each[0] <= _LEVEL * rank / len(tried)),
        default=0,
    )
    told = sorted(found[:kept], key=lambda each: (not each[1][1].trouble, -_factor(*each[2:])))
    return tuple(
        CounterChange(host, rate.name, rate.unit, one, other, p)
        for p, (host, rate), one, other in told[:_MOST]
    )


class _Collected(dict[tuple[str, Rate], list[float]]):
    """Values by host and rate; what a side never counted, it counted 0 times in each."""

    def __init__(self, replications: Mapping[str, int]) -> None:
        super().__init__()
        self._replications = replications

    def __missing__(self, key: tuple[str, Rate]) -> list[float]:
        return [] if key[1] == FREQUENCY else [0.0] * self._replications.get(key[0], 0)


def _collect(store: Store, name: tuple[str, str], runs: Iterable[int]) -> _Collected:
    test, case_key = name
    every: list[tuple[str, dict[Rate, float]]] = []
    for run in runs:
        named = test if test in store.tests([run]) else None
        for stored in store.logs(run, test=named, case_key=case_key):
            every.append((stored.log.host, rates(stored.log)))
        for each in store.ports(run, test=named, case_key=case_key):
            device = f"{each.port.device} {each.port.interface}"
            trouble = {
                Rate(counter, "/replication", True): float(count)
                for counter, count in each.port.counts.items()
                if counter.endswith(("Discards", "Errors"))
            }
            every.append((device, trouble))
    replications: dict[str, int] = {}
    for host, _ in every:
        replications[host] = replications.get(host, 0) + 1
    found = _Collected(replications)
    for key in dict.fromkeys((host, rate) for host, those in every for rate in those):
        host, rate = key
        # A log has only the counters that moved.
        found[key] = [
            those.get(rate, 0.0)
            for at, those in every
            if at == host and (rate in those or rate != FREQUENCY)
        ]
    return found


def _matters(rate: Rate, before: float, after: float) -> bool:
    if rate == FREQUENCY:
        return after <= before * (1 - _LEAST_FREQUENCY)
    return after - before >= max(_LEAST[rate.unit], _LEAST_SHARE * after)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _factor(before: float, after: float) -> float:
    return abs(math.log(after / before)) if before > 0 and after > 0 else math.inf
