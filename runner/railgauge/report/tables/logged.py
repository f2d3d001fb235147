"""Metrics that are read from the system logs: `client/interface/eth0/rx_packets`.

A name is SIDE/QUANTITY (quantities.py says which there are), where `{interface}` stands for any
text without a slash, and is an axis of the table by that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from railgauge.base.quantities import PER_SECOND, counted, kind_of, stated, unit_of
from railgauge.base.systemlog import SystemLog
from railgauge.plan.cases import Value
from railgauge.report.tables.axes import AFTER, BEFORE, REPLICATION, granted_name
from railgauge.store.records import PlannedCase, Series, StoredLog, StoredRun

if TYPE_CHECKING:
    from railgauge.store import Store

SIDES = ("client", "server")
_BRACED = re.compile(r"\{([A-Za-z_]\w*)\}", re.ASCII)


def is_logged(metric: str) -> bool:
    """Return whether the metric is read from the system logs."""
    return "/" in metric and granted_name(metric) is None


def axes_of(metric: str) -> tuple[str, ...]:
    """Return the axes that stand in braces in the metric's name."""
    return tuple(dict.fromkeys(_BRACED.findall(metric))) if is_logged(metric) else ()


def without_axes(metric: str) -> str:
    """Return the metric's name without the axes in braces."""
    return _BRACED.sub("", metric)


@dataclass(frozen=True, slots=True)
class LoggedInterval:
    """The quantities of a host's log of a replication, or of a stretch around the run.

    `elapsed` in seconds, 0 where it is unknown.
    """

    replication: Value
    suspect: bool
    elapsed: float
    counted: Mapping[str, float]
    stated: Mapping[str, float]

    def count(self, name: str) -> float | None:
        """Return what was counted, or that per second: 0 where the log has no such counter."""
        if not name.endswith(PER_SECOND):
            return self.counted.get(name, 0.0)
        count = self.counted.get(name.removesuffix(PER_SECOND), 0.0)
        return count / self.elapsed if self.elapsed > 0 else None


def _interval(
    log: SystemLog, facts: Mapping[str, str], replication: Value, *, suspect: bool
) -> LoggedInterval:
    return LoggedInterval(replication, suspect, log.elapsed, counted(log, facts), stated(log))


class Logs:
    """Reads the logs of one case of a run, and gives its metrics as series."""

    def __init__(
        self, store: Store, run: StoredRun, planned: PlannedCase, *, idle: Sequence[SystemLog]
    ) -> None:
        self._run, self._planned, self._test, self._case = run, planned, planned.test, planned.case
        test, case = self._test, self._case
        logs = store.logs(run.id, test=test, case_key=case.key)
        replications = store.replications(run.id, test, case.key) if logs else []
        states = {replication.number: replication.status for replication in replications}
        self._failed = list(states.values()).count("failed")
        self._sides = {
            side: self._intervals(host, logs, states, idle)
            for side, host in zip(SIDES, (case.client, case.server), strict=True)
            if host is not None
        }

    def series(self, metric: str, *, by_replication: bool) -> list[Series]:
        """Return the metric's series: one for each value of its axes, and `by_replication`.

        Failed replications are left out; so are the idle stretches unless it is `by_replication`.
        """
        side, _, quantity = metric.partition("/")
        intervals = self._sides.get(side, [])
        series: list[Series] = []
        for name, place in _places(intervals, quantity).items():
            stated = any(name in interval.stated for interval in intervals)
            values = [
                (interval, interval.stated.get(name) if stated else interval.count(name))
                for interval in intervals
            ]
            kind = kind_of(name, stated=stated)
            known_values = [(interval, value) for interval, value in values if value is not None]
            if by_replication:
                for interval, value in known_values:
                    replication = {**place, REPLICATION: interval.replication}
                    series.append(
                        self._series(metric, name, kind, replication, [(interval, value)])
                    )
            else:
                measured = [
                    (interval, value)
                    for interval, value in known_values
                    if isinstance(interval.replication, int)
                ]
                series.append(self._of_case(self._series(metric, name, kind, place, measured)))
        return series

    def _of_case(self, series: Series) -> Series:
        """Return the series of a whole case, which knows how many of its replications it lacks."""
        ended = len(series.values) + self._failed
        # By a rule there may be as many as it takes.
        planned = ended if self._planned.least is not None else self._planned.replications
        return replace(series, failed=self._failed, planned=planned)

    def _series(
        self,
        metric: str,
        name: str,
        kind: str,
        place: Mapping[str, Value],
        values: Sequence[tuple[LoggedInterval, float]],
    ) -> Series:
        return Series(
            run=self._run.id,
            plan=self._run.new.plan,
            test=self._test,
            case=replace(self._case, parameters={**self._case.parameters, **place}),
            metric=metric,
            unit=unit_of(name),
            better="neither",
            kind=kind,
            values=np.array([value for _, value in values], dtype=np.float64),
            suspect=np.array([interval.suspect for interval, _ in values], dtype=np.bool_),
            failed=0,
            planned=len(values),
        )

    def _intervals(
        self,
        host: str,
        stored: Sequence[StoredLog],
        states: Mapping[int, str],
        idle: Sequence[SystemLog],
    ) -> list[LoggedInterval]:
        logs = [
            (entry.replication or 0, entry.log)
            for entry in stored
            if entry.log.host == host and states.get(entry.replication or 0, "failed") != "failed"
        ]
        facts = self._run.facts.get(host, {})
        around = _around([log for log in idle if log.host == host], [log for _, log in logs])
        replications = [
            _interval(log, facts, number, suspect=states[number] == "suspect")
            for number, log in logs
        ]
        stretches = {log.phase: _interval(log, facts, log.phase, suspect=False) for log in around}
        return [
            *([stretches[BEFORE]] if BEFORE in stretches else []),
            *replications,
            *([stretches[AFTER]] if AFTER in stretches else []),
        ]


def _around(idle: Sequence[SystemLog], logs: Sequence[SystemLog]) -> list[SystemLog]:
    """Return the stretches around these logs: a run has one, or one for each imported file."""
    if len({log.started_at for log in idle if log.phase == BEFORE}) > 1:
        moments = {log.started_at for log in logs}
        return [log for log in idle if log.started_at in moments]
    return list(idle)


def _places(intervals: Sequence[LoggedInterval], quantity: str) -> dict[str, dict[str, Value]]:
    """Return the names that match `quantity`, each with the values of its axes."""
    per_second = PER_SECOND if quantity.endswith(PER_SECOND) else ""
    pattern = _pattern(quantity.removesuffix(per_second))
    places: dict[str, dict[str, Value]] = {}
    for interval in intervals:
        for name in (*interval.counted, *(() if per_second else interval.stated)):
            if name + per_second not in places and (match := pattern.fullmatch(name)):
                places[name + per_second] = {
                    axis: _bare(text) for axis, text in match.groupdict().items()
                }
    return places


def _bare(text: str) -> Value:
    # CPUs by number, 10 behind 9.
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else text


@lru_cache
def _pattern(quantity: str) -> re.Pattern[str]:
    axes: set[str] = set()
    text = ""
    for i, part in enumerate(_BRACED.split(quantity)):
        if i % 2 == 0:
            text += re.escape(part)
        else:
            text += f"(?P={part})" if part in axes else f"(?P<{part}>[^/]+)"
            axes.add(part)
    return re.compile(text)


def idle_logs(store: Store, runs: Iterable[StoredRun]) -> dict[int, list[SystemLog]]:
    """Return the logs of the idle stretches around each run."""
    return {run.id: [entry.log for entry in store.run_logs(run.id)] for run in runs}
