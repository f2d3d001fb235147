"""The tables over a case's replications: their values, and how busy the hosts were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from railgauge.base.derived import cpu_load
from railgauge.base.number import best_unit, plural, scale
from railgauge.base.systemlog import Suspicion
from railgauge.plan.catalogue.headlines import display_base
from railgauge.report.pages.case.case_records import CaseRecords
from railgauge.report.pages.case.cpus import soak_load
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count, share, value
from railgauge.report.tables.notes import words
from railgauge.store.stored_replications import StoredReplication

_MOST_ROWS = 1000
# Of more hosts a page shows these many.
MOST_HOSTS = 8
# Metrics beside the status; all of them stand in a table of their own.
_MOST_METRICS = 8


class Unit(NamedTuple):
    """How a metric is shown: the unit to add to its name, and how many base units one is.

    A metric that counts something is `whole`.
    """

    name: str
    size: float
    whole: bool


def metric_units(
    replications: Sequence[StoredReplication], headlines: Mapping[str, str]
) -> dict[str, Unit]:
    """Return how each metric is shown: as `headlines` say, or in a unit that suits its values."""
    values: dict[str, list[float]] = {}
    bases = {}
    for replication in replications:
        for name, (number, base) in replication.metrics.items():
            values.setdefault(name, []).append(number)
            bases[name] = base
    units = {}
    for name, base in bases.items():
        unit = headlines.get(name) or best_unit(display_base(name, base), values[name])
        per_unit = scale(unit, base)
        if per_unit is None:
            unit, per_unit = base, Decimal(1)
        units[name] = Unit(
            name=unit if unit != "1" else "",
            size=float(per_unit),
            whole=unit == "" and all(number.is_integer() for number in values[name]),
        )
    return units


def _metric(replication: StoredReplication, name: str, unit: Unit) -> str:
    if name not in replication.metrics:
        return "–"
    number = replication.metrics[name][0]
    return count(number) if unit.whole else value(number / unit.size)


def replication_sheet(
    records: CaseRecords,
    units: Mapping[str, Unit],
    headlines: Mapping[str, str],
) -> Sheet:
    """Return the table of all replications: status, headline metrics, how busy each host was."""
    names = [name for name in headlines if name in units] or list(units)
    names = names[:_MOST_METRICS]
    hosts = list(dict.fromkeys(log.host for logs in records.logs.values() for log in logs))
    hosts = hosts[:MOST_HOSTS]
    soaked = any(log.soak for logs in records.logs.values() for log in logs)
    rows = []
    for replication in records.replications[:_MOST_ROWS]:
        host_logs = {log.host: log for log in records.logs.get(replication.number, ())}
        cells = [_status(replication, records.suspicions.get(replication.number, ()))]
        cells += [_metric(replication, name, units[name]) for name in names]
        for host in hosts:
            cells.append(_load(cpu_load(host_logs[host])) if host in host_logs else "–")
            if soaked:
                cells.append(_load(soak_load(host_logs[host])) if host in host_logs else "–")
        rows.append(SheetRow(str(replication.number), tuple(cells)))
    columns = ["Replication", "Status"]
    columns += [_with_unit(name, units[name]) for name in names]
    for host in hosts:
        columns += [f"{host}: CPUs busy (%)"] + ([f"{host}: soak load (%)"] if soaked else [])
    more = len(records.replications) - len(rows)
    notes = (f"{plural(more, 'more is', 'more are')} not listed.",) if more > 0 else ()
    return Sheet("Replications", tuple(columns), tuple(rows), notes, texts=1)


def _status(replication: StoredReplication, suspicions: Sequence[Suspicion]) -> str:
    if replication.status == "suspect" and suspicions:
        return "suspect: " + ", ".join(dict.fromkeys(suspicion.code for suspicion in suspicions))
    if replication.status == "failed":
        return f"failed: {replication.error_code}"
    return replication.status


def _load(load: float | None) -> str:
    return "–" if load is None else share(load, 1)


def _with_unit(metric: str, unit: Unit) -> str:
    text = words(metric)
    text = text[:1].upper() + text[1:]
    return f"{text} ({unit.name})" if unit.name else text


def metric_sheet(
    replications: Sequence[StoredReplication], units: Mapping[str, Unit]
) -> Sheet | None:
    """Return the table of all metrics of these replications; None if there are none."""
    measured = {name for replication in replications for name in replication.metrics}
    names = [name for name in units if name in measured]
    if not names:
        return None
    rows = tuple(
        SheetRow(
            _with_unit(name, units[name]),
            tuple(_metric(replication, name, units[name]) for replication in replications),
        )
        for name in names
    )
    columns = ("Metric", *(f"replication {replication.number}" for replication in replications))
    return Sheet("All metrics", columns, rows)
