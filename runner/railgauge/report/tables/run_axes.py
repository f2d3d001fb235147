"""Axes that stand in no case: what was granted, facts of its hosts, its run's labels and date.

`client/rcvbuf`, `server/mss` … are what an end was granted, `fact/kernel` a fact of both hosts
(`A → B` where they differ), `client/fact/kernel` of one, `label/KEY` what the run is called.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest_or_list
from railgauge.engine.granted_settings import UNITS
from railgauge.plan.cases import Case, Value
from railgauge.report.tables.axes import (
    OF_RUNS,
    REPLICATION,
    granted_name,
    setting_text,
)
from railgauge.store.records import PlannedCase, Series, StoredRun

if TYPE_CHECKING:
    from railgauge.store import Store
    from railgauge.store.stored_replications import GrantedSettings

FACT, LABEL = "fact/", "label/"
_Named = tuple[str, str]
# A measurement: a series, a trace, a case of a run.
M = TypeVar("M", bound=Any)


def is_run_axis(name: str) -> bool:
    """Return whether what is on this axis stands in no case."""
    bare = name.partition("/")[2] if name.startswith(("client/fact/", "server/fact/")) else name
    return name in OF_RUNS or bare.startswith((FACT, LABEL)) or granted_name(name) is not None


def differs_by_run(name: str) -> bool:
    """Return whether the axis may distinguish two runs of one plan."""
    return name in ("run", "plan") or is_run_axis(name)


class RunAxes:
    """Puts measurements on axes that stand in no case; reads only what is asked for."""

    def __init__(self, store: Store, runs: Iterable[StoredRun]) -> None:
        self._store = store
        self._runs = {run.id: run for run in runs}
        self._granted: dict[int, Mapping[_Named, Sequence[GrantedSettings]]] = {}

    def placed(self, measurements: Iterable[M], names: Iterable[str]) -> list[M]:
        """Return the measurements with their values on those of the axes `names` that are here.

        These are among their cases' parameters, whose keys stay. InputError for an axis on which
        none of them is.
        """
        axes = [name for name in dict.fromkeys(names) if is_run_axis(name)]
        listed = list(measurements)
        if not axes or not listed:
            return listed
        cases: dict[tuple[int, str, int], Case] = {}
        results = []
        for measured in listed:
            # A case has a series a metric.
            key = measured.run, measured.test, id(measured.case)
            if key not in cases:
                cases[key] = self._case(measured, axes)
            results.append(replace(measured, case=cases[key]))
        for name in axes:
            if not any(name in measured.case.parameters for measured in results):
                raise InputError(self._unknown(name, listed))
        return results

    def granted_series(
        self, metric: str, cases: Iterable[tuple[int, PlannedCase]], *, by_replication: bool
    ) -> Iterator[Series]:
        """Yield what was granted to each of the cases (by run), a value a replication.

        InputError where that is a text.
        """
        side, name = _granted(metric)
        for run, planned in cases:
            granted = self._of_case(run, planned.test, planned.case.key)
            failed = sum(replication.status == "failed" for replication in granted)
            values = [
                (replication.number, value, replication.status == "suspect")
                for replication in granted
                if replication.status != "failed"
                and (value := replication.of(side).get(name)) is not None
            ]
            if any(isinstance(value, str | bool) for _, value, _ in values):
                raise InputError(
                    f"{metric} is a text ({visible(str(values[0][1]))}), of which there is no"
                    " statistic: name it in rows, columns or select"
                )
            if by_replication:
                for entry in values:
                    yield self._series(run, planned, metric, [entry], 0, {REPLICATION: entry[0]})
            elif values:
                yield self._series(run, planned, metric, values, failed, {})

    def _series(
        self,
        run: int,
        planned: PlannedCase,
        metric: str,
        values: Sequence[tuple[int, Any, bool]],
        failed: int,
        place: Mapping[str, Value],
    ) -> Series:
        case = planned.case
        return Series(
            run=run,
            plan=self._runs[run].new.plan,
            test=planned.test,
            case=replace(case, parameters={**case.parameters, **place}) if place else case,
            metric=metric,
            unit=UNITS.get(_granted(metric)[1], ""),
            better="neither",
            values=np.array([float(value) for _, value, _ in values], dtype=np.float64),
            suspect=np.array([suspect for *_, suspect in values], dtype=np.bool_),
            failed=failed,
            planned=1 if place else planned.replications,
            least=None if place else planned.least,
            rule="" if place else planned.rule,
            ended="" if place else planned.ended,
        )

    def _case(self, measured: Any, axes: Sequence[str]) -> Case:
        case: Case = measured.case
        values = {name: self._value(measured, name) for name in axes}
        own_values = {name: value for name, value in values.items() if value is not None}
        return replace(case, parameters={**case.parameters, **own_values})

    def _value(self, measured: Any, name: str) -> Value | None:
        run, case = self._runs[measured.run], measured.case
        if name == "git_commit":
            commit = run.new.git_commit[:9]
            return commit + "+changes" * run.new.git_dirty if commit else None
        if name == "started_at":
            return run.started_at[:10]
        if name.startswith(LABEL):
            return run.new.labels.get(name.removeprefix(LABEL))
        if name.startswith(FACT):
            return _both_ends(run, case, name.removeprefix(FACT))
        side, _, rest = name.partition("/")
        if rest.startswith(FACT):
            host = case.client if side == "client" else case.server
            return _fact(run, host, rest.removeprefix(FACT))
        granted = self._of_case(measured.run, measured.test, case.key)
        values = [entry.of(side).get(rest) for entry in granted]
        distinct = list(dict.fromkeys(value for value in values if value not in (None, "")))
        if len(distinct) == 1 and not isinstance(distinct[0], bool):
            return distinct[0]
        texts = (setting_text(rest, value) for value in distinct if value is not None)
        return " or ".join(texts) or None

    def _of_case(self, run: int, test: str, key: str) -> Sequence[GrantedSettings]:
        if run not in self._granted:
            self._granted[run] = self._store.granted_settings(run)
        return self._granted[run].get((test, key), ())

    def _unknown(self, name: str, measurements: Collection[Any]) -> str:
        """Return why there is no measurement on the axis, and what there is."""
        runs = [self._runs[run] for run in dict.fromkeys(entry.run for entry in measurements)]
        if name.startswith(LABEL):
            key = name.removeprefix(LABEL)
            keys = dict.fromkeys(key for run in runs for key in run.new.labels)
            hint = suggest_or_list(key, keys) if keys else ": none of them has any label"
            return f"axis {name!r}: none of these runs has the label {visible(key)!r}{hint}"
        if FACT in name:
            fact = name.rpartition(FACT)[2]
            facts = dict.fromkeys(
                fact for run in runs for of_host in run.facts.values() for fact in of_host
            )
            hint = suggest_or_list(fact, facts, 20) if facts else ": they have none"
            return f"axis {name!r}: no host of these runs has the fact {visible(fact)!r}{hint}"
        if name in OF_RUNS:
            return f"axis {name!r}: none of these runs has a git commit"
        return f"axis {name!r}: no launch of these runs says what was granted of it"


def _granted(name: str) -> tuple[str, str]:
    side, _, setting = name.partition("/")
    return side, setting


def _fact(run: StoredRun, host: str | None, name: str) -> str | None:
    """Return a host's fact; `nic.mtu` is that of the one interface towards the other hosts."""
    facts = run.facts.get(host or "", {})
    if name in facts:
        return facts[name]
    first, _, rest = name.partition(".")
    interfaces = facts.get("peer_interfaces", "").replace(",", " ").split()
    if first == "nic" and len(interfaces) == 1:
        return facts.get(f"nic.{interfaces[0]}.{rest}")
    return None


def _both_ends(run: StoredRun, case: Case, name: str) -> str | None:
    """Return the fact of all of the case's hosts: one value where they agree."""
    hosts = [case.client, case.server] if case.server is not None else case.members or [case.client]
    facts = [_fact(run, host, name) for host in hosts]
    if not any(fact is not None for fact in facts):
        return None
    texts = ["–" if fact is None else fact for fact in facts]
    if case.server is not None and texts[0] != texts[1]:
        return " → ".join(texts)
    return " or ".join(dict.fromkeys(texts))
