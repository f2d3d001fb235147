"""What the metrics of a report are, as the engines' own tables say, and the clocks behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.characters import capitalised, visible
from railgauge.base.derived import derived_help, derived_metrics
from railgauge.base.quantities import unit_of
from railgauge.engine.granted_settings import UNITS
from railgauge.hosts.facts.clock import clock_step
from railgauge.report.pages.contents import Details
from railgauge.report.tables.axes import granted_name
from railgauge.report.tables.logged import SIDES, is_logged
from railgauge.report.tables.notes import listed
from railgauge.report.tables.table import Table
from railgauge.store.records import StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue, EngineInfo

# Engine -> the metrics that are shown of it.
ShownMetrics = Mapping[str, Iterable[str]]
_COLUMNS = ("Definition",)
_BETTER = {"higher": "higher is better", "lower": "lower is better"}
_INTERVALS = (
    "CLOCK_MONOTONIC_RAW (clock_gettime), which nothing sets or slews, read to the nanosecond on"
    " the host that the metric is of"
)
_ARRIVALS = (
    "CLOCK_REALTIME, which the receiving kernel stamps them by, or the clock above if that one was"
    " set meanwhile"
)
_CPU_TIMES = "what the kernel accounts to the measuring threads (getrusage)"


def shown_metrics(
    tables: Iterable[Table], named: Iterable[str], runs: Sequence[StoredRun]
) -> dict[str, dict[str, None]]:
    """Return by engine the metrics in `tables`, and those `named` that figures of `runs` show."""
    engines: dict[tuple[int, str], dict[str, None]] = {}
    for run in runs:
        for planned in run.cases:
            engines.setdefault((run.id, planned.test), {})[planned.case.engine] = None
    by_engine: dict[str, dict[str, None]] = {}
    for table in tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                if not column.theoretical:
                    for engine in engines.get((cell.run, cell.test), ()):
                        by_engine.setdefault(engine, {})[column.metric] = None
    for engine in dict.fromkeys(name for names in engines.values() for name in names):
        by_engine.setdefault(engine, {}).update(dict.fromkeys(name for name in named if name))
    return by_engine


def metric_tables(by_engine: ShownMetrics, catalogue: Catalogue | None) -> tuple[Details, ...]:
    """Return a table for each engine with the definitions of its metrics, in the engine's order.

    Metrics that come from hosts' system logs have one for all engines. What an engine that the
    catalogue has doesn't report is left out, as is an engine that it lacks.
    """
    tables = []
    logged: dict[str, None] = {}
    granted: dict[str, tuple[str]] = {}
    for name, metrics in by_engine.items():
        engine = catalogue.engines.get(name) if catalogue else None
        names = dict.fromkeys(metrics)
        logged.update(dict.fromkeys(_logged(names)))
        granted.update(_granted(names))
        rows = tuple(_engine_rows(engine, names)) if engine else ()
        if rows:
            tables.append(Details(f"Metrics of engine {visible(name)}", _COLUMNS, rows))
    if logged:
        rows = tuple((visible(name), (_logged_text(name),)) for name in logged)
        tables.append(Details("Metrics from system logs", _COLUMNS, rows))
    if granted:
        tables.append(Details("Settings in effect", _COLUMNS, tuple(granted.items())))
    return tuple(tables)


def clock_table(runs: Sequence[StoredRun], catalogue: Catalogue | None) -> tuple[Details, ...]:
    """Return by which clocks the engines of `runs` take times, and what the hosts' count in.

    None of imported runs, whose clocks nobody knows.
    """
    measured = [run for run in runs if run.new.origin == "measured"]
    names = dict.fromkeys(planned.case.engine for run in measured for planned in run.cases)
    engines = [catalogue.engines[name] for name in names if catalogue and name in catalogue.engines]
    if not engines:
        return ()
    rows = [*_engine_clocks(engines), *_clock_sources(measured)]
    return (Details("Clocks", _COLUMNS, tuple((title, (text,)) for title, text in rows)),)


def _engine_rows(engine: EngineInfo, names: Mapping[str, None]) -> Iterator[tuple[str, tuple[str]]]:
    for name, metric in engine.metrics.items():
        if name in names:
            text = metric.help or metric.source
            yield visible(name), (_definition(text, metric.unit, metric.better),)


def _definition(text: str, unit: str, better: str) -> str:
    parts = [f"in {unit}"] if unit else []
    parts += [_BETTER[better]] if better in _BETTER else []
    sentence = f"{capitalised(visible(text))}." if text else ""
    return " ".join(filter(None, [sentence, capitalised(f"{', '.join(parts)}.") if parts else ""]))


def _logged(names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if derived_help(name) or is_logged(name))


def _granted(names: Iterable[str]) -> Iterator[tuple[str, tuple[str]]]:
    """Yield what settings of an end that a table shows are."""
    for metric in names:
        if (setting := granted_name(metric)) is not None:
            text = f"what the {metric.partition('/')[0]} was granted, as its engine says"
            yield visible(metric), (_definition(text, UNITS.get(setting, ""), ""),)


def _logged_text(name: str) -> str:
    derived = derived_metrics(two_sided=True, soak=True)
    if name in derived:
        return _definition(derived_help(name), derived[name].unit, derived[name].better)
    side, _, quantity = name.partition("/")
    host = f"the {side}'s kernel" if side in SIDES else "the host's kernel"
    return _definition(f"what {host} counted during the replication", unit_of(quantity), "")


def _engine_clocks(engines: Sequence[EngineInfo]) -> Iterator[tuple[str, str]]:
    own = [engine for engine in engines if engine.program is None]
    if own:
        yield f"Times of {_names(own)}", _INTERVALS
        if any("timestamp" in engine.parameters for engine in own):
            yield "Arrivals that kernels stamp", _ARRIVALS
        yield "CPU times", _CPU_TIMES
    external = [engine for engine in engines if engine.program is not None]
    if external:
        yield f"Times of {_names(external)}", "by the program's own clock, as it prints them"
        yield "Times of whole programs", _INTERVALS


def _names(engines: Iterable[EngineInfo]) -> str:
    return listed(visible(engine.name) for engine in engines)


def _clock_sources(runs: Sequence[StoredRun]) -> Iterator[tuple[str, str]]:
    """Yield the hosts' clock sources, each with its step where that is known."""
    hosts: dict[str, dict[str, None]] = {}
    for run in runs:
        for host, facts in sorted(run.facts.items()):
            if "clocksource" in facts:
                hosts.setdefault(facts["clocksource"], {})[visible(host)] = None
    for source, names in hosts.items():
        step = clock_step(source)
        resolution = f"; resolution: {step}" if step else ""
        yield f"Clock source of {listed(names)}", f"{visible(source)}{resolution}"
