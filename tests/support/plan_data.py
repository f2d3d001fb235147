"""A run of a shipped plan as the store has it: every case, with values that nobody measured."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tests.support import report_data
from tests.support.log_samples import system_log
from tests.support.store_samples import LAUNCH, MOMENT, RUN

from railgauge.base.assets import folder
from railgauge.base.derived import derived_metrics
from railgauge.base.trace import TraceClock, encode
from railgauge.plan.cases import Case, expand
from railgauge.plan.catalogue import Catalogue, EngineInfo
from railgauge.plan.load import load_plan
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome, PlannedCase

# So much more than the first is each replication: far from even, so that no mean is the median.
_FACTORS = (1.0, 1.25, 4.0)
# Of values in these units, so that they show in some other's digits.
_USUAL = {"bit/s": 1e9, "s": 1e-5}


def store_plan(store: Store, plan: str | Path) -> tuple[int, Catalogue]:
    """Store a run of plans/NAME.yaml, or of a plan's file, with all its cases, metrics and logs.

    Returns its id and the plan's catalogue of engines.
    """
    path = plan if isinstance(plan, Path) else folder("plans") / f"{plan}.yaml"
    loaded = load_plan(path)
    tests = expand(loaded)
    planned = [
        PlannedCase(expanded.test.name, case, len(_FACTORS))
        for expanded in tests
        for case in expanded.cases
    ]
    engines = {entry.case.engine: loaded.catalogue.engine(entry.case.engine) for entry in planned}
    infos = {engine: _metrics(info) for engine, info in engines.items()}
    new = replace(RUN, plan=loaded.plan.name, plan_text=loaded.text, files={})
    run = store.begin_run(new, planned, infos)
    hosts = dict.fromkeys(host for entry in planned for host in _hosts(entry.case))
    for phase in ("before", "after"):
        store.add_logs(run, [replace(system_log(host), phase=phase) for host in hosts])
    with store.together():
        for place, entry in enumerate(planned):
            names = _names(engines[entry.case.engine], infos[entry.case.engine], entry.case)
            launch = replace(LAUNCH, started_at=MOMENT + place)
            infos_there = {name: infos[entry.case.engine][name] for name in names}
            for number in range(1, len(_FACTORS) + 1):
                outcome = _outcome(entry.case, infos_there, number)
                store.add(run, entry.test, entry.case.key, outcome, launch)
    for host in hosts:
        store.add_facts(run, host, {"kernel": "Linux 6.1", "cpus": "2"})
    store.finish_run(run, "complete")
    return run, loaded.catalogue


def _metrics(engine: EngineInfo) -> Mapping[str, MetricInfo]:
    own = {name: MetricInfo.of(metric) for name, metric in engine.metrics.items()}
    two_sided = engine.two_sided or engine.parallel
    logged = derived_metrics(two_sided=two_sided, soak=True)
    return {name: MetricInfo(*info) for name, info in logged.items()} | own


def _names(engine: EngineInfo, infos: Mapping[str, MetricInfo], case: Case) -> list[str]:
    """Return the metrics that the case's mode has."""
    mode = case.parameters.get("mode")
    own = engine.metrics
    return [
        name for name in infos if name not in own or not own[name].modes or mode in own[name].modes
    ]


def _outcome(case: Case, infos: Mapping[str, MetricInfo], number: int) -> Outcome:
    metrics = {name: _value(case, name, info.unit, number) for name, info in infos.items()}
    recorded = case.parameters.get("trace")
    clock: TraceClock = "sender" if case.parameters.get("mode") == "latency" else "monotonic"
    lost = report_data.trace({7: 2}, sent=int(recorded), clock=clock) if recorded else None
    trace = encode(lost) if lost is not None else None
    logs = tuple(system_log(host, soak=True) for host in dict.fromkeys(_hosts(case)))
    return Outcome(number, MOMENT + number, metrics, trace=trace, logs=logs)


def _value(case: Case, name: str, unit: str, number: int) -> float:
    """Return a value above 0 that is the same each time, and another one for each case."""
    first = 1.0 + zlib.crc32(f"{case.key} {name}".encode()) % 1000 / 1000
    return first * _FACTORS[number - 1] * _USUAL.get(unit, 1.0)


def _hosts(case: Case) -> Iterator[str]:
    yield case.client
    if case.server is not None:
        yield case.server
