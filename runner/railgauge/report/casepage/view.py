"""A case's page as plain data: its replications and what each host's kernel counted in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from railgauge.cases import Case
from railgauge.derived import cpu_load
from railgauge.report.casepage.counters import Counters
from railgauge.report.casepage.cpus import cpu_sheet, soak_load
from railgauge.report.casepage.interfaces import interface_sheet
from railgauge.report.casepage.interrupts import interrupt_sheets
from railgauge.report.casepage.losses import LossPart, loss_parts, port_sheet
from railgauge.report.casepage.memory import machine_sheet
from railgauge.report.casepage.protocols import fabric_sheet, protocol_sheet, trouble_sheet
from railgauge.report.casepage.sheet import Sheet, SheetRow, share, value
from railgauge.report.casepage.timelines import Timeline, timelines
from railgauge.report.characters import visible
from railgauge.report.notes import words
from railgauge.report.number import best_unit, scale
from railgauge.report.scheme import Scheme, scheme
from railgauge.store.replications import StoredReplication
from railgauge.systemlog import PortLog, Suspicion, SystemLog

# Of more replications, and of more hosts, the page shows these many in full.
MOST_REPLICATIONS = 6
MOST_HOSTS = 8
_MOST_ROWS = 1000
# Metrics beside the status; all of them stand in a table of their own.
_MOST_METRICS = 8


@dataclass(frozen=True, slots=True)
class HostPart:
    """One host in one replication; `folded` are tables that are shown on demand."""

    host: str
    side: str
    elapsed: str
    sheets: tuple[Sheet, ...]
    folded: tuple[Sheet, ...]


@dataclass(frozen=True, slots=True)
class ReplicationPart:
    """One replication: why it is suspect, if it is, what it lost on its way, and its hosts."""

    number: int
    status: str
    reasons: tuple[str, ...]
    losses: tuple[LossPart, ...]
    ports: Sheet | None
    hosts: tuple[HostPart, ...]


@dataclass(frozen=True, slots=True, eq=False)
class HostTimelines:
    """A host's figures."""

    host: str
    side: str
    figures: tuple[Timeline, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CasePage:
    """One page. `name` is its file's stem; `parameters` are (name, text).

    `scheme` draws the path between the two hosts, where there are two.
    """

    name: str
    title: str
    run: int
    lead: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    scheme: Scheme | None
    warnings: tuple[str, ...]
    replications: Sheet
    metrics: Sheet | None
    timelines: tuple[HostTimelines, ...]
    parts: tuple[ReplicationPart, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseRecords:
    """What the store has of a case of a run; `logs`, `suspicions`, `ports` by replication."""

    run: int
    plan: str
    test: str
    case: Case
    replications: Sequence[StoredReplication]
    logs: Mapping[int, Sequence[SystemLog]]
    suspicions: Mapping[int, Sequence[Suspicion]] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    ports: Mapping[int, Sequence[PortLog]] = field(default_factory=dict)


def make_case_page(
    name: str,
    records: CaseRecords,
    parameters: Sequence[tuple[str, str]],
    headlines: Mapping[str, str],
) -> CasePage:
    """Return the page of a case.

    `headlines` are the metrics that say most, each with the unit to show it in ("": one that suits
    the values); a case without any of them shows its first ones.
    """
    case = records.case
    counted = {number: [Counters(log) for log in logs] for number, logs in records.logs.items()}
    chosen = _chosen(records)
    shown = [one for one in records.replications if one.number in chosen]
    units = _units(records.replications, headlines)
    return CasePage(
        name=name,
        title=f"{visible(records.test)}: {visible(case.link)}",
        run=records.run,
        lead=_lead(records),
        parameters=tuple((visible(key), visible(text)) for key, text in parameters),
        scheme=_scheme(records),
        warnings=tuple(map(visible, dict.fromkeys(records.warnings))),
        replications=_replications(records, counted, units, headlines),
        metrics=_all_metrics(shown, units),
        timelines=_timelines(records, chosen),
        parts=tuple(_part(records, one, counted.get(one.number, ())) for one in shown),
        notes=_notes(records, chosen),
    )


def side(case: Case, host: str) -> str:
    """Return what `host` is in the case."""
    if host in case.members or case.server is None:
        return ""
    if case.client == case.server:
        return "client and server"
    return {case.client: "client", case.server: "server"}.get(host, "")


def _chosen(records: CaseRecords) -> set[int]:
    """Return the replications to show in full: suspect ones first, then from the first on."""
    there = [one for one in records.replications if one.number in records.logs]
    there.sort(key=lambda one: (one.status != "suspect", one.number))
    return {one.number for one in there[:MOST_REPLICATIONS]}


def _lead(records: CaseRecords) -> tuple[str, ...]:
    case = records.case
    if case.members:
        where = f"on the {len(case.members)} hosts of group {case.link}"
    elif case.server is None:
        where = f"on host {case.client}"
    else:
        where = f"from {case.client} to {case.server}"
    return (
        f"Engine {visible(case.engine)} {visible(where)}, run {records.run} of plan"
        f" {visible(records.plan)}.",
        f"Case {case.key}.",
    )


class _Unit(NamedTuple):
    """How a metric is shown: the unit to add to its name, and how many base units one is."""

    name: str
    size: float


def _scheme(records: CaseRecords) -> Scheme | None:
    if records.case.server is None:
        return None
    ports = next(iter(records.ports.values()), ())
    return scheme(records.case.client, records.case.server, ports)


def _units(
    replications: Sequence[StoredReplication], headlines: Mapping[str, str]
) -> dict[str, _Unit]:
    found: dict[str, list[float]] = {}
    bases = {}
    for one in replications:
        for name, (number, base) in one.metrics.items():
            found.setdefault(name, []).append(number)
            bases[name] = base
    units = {}
    for name, base in bases.items():
        unit = headlines.get(name) or best_unit(base, found[name])
        per_unit = scale(unit, base)
        if per_unit is None:
            unit, per_unit = base, Decimal(1)
        units[name] = _Unit(unit if unit != "1" else "", float(per_unit))
    return units


def _metric(one: StoredReplication, name: str, unit: _Unit) -> str:
    return value(one.metrics[name][0] / unit.size) if name in one.metrics else "–"


def _replications(
    records: CaseRecords,
    counted: Mapping[int, Sequence[Counters]],
    units: Mapping[str, _Unit],
    headlines: Mapping[str, str],
) -> Sheet:
    names = [name for name in headlines if name in units] or list(units)
    names = names[:_MOST_METRICS]
    hosts = list(dict.fromkeys(log.host for logs in records.logs.values() for log in logs))
    hosts = hosts[:MOST_HOSTS]
    soaked = any(log.soak for logs in records.logs.values() for log in logs)
    rows = []
    for one in records.replications[:_MOST_ROWS]:
        found = {each.log.host: each for each in counted.get(one.number, ())}
        cells = [_status(one, records.suspicions.get(one.number, ()))]
        cells += [_metric(one, name, units[name]) for name in names]
        for host in hosts:
            cells.append(_load(cpu_load(found[host].log)) if host in found else "–")
            if soaked:
                cells.append(_load(soak_load(found[host])) if host in found else "–")
        rows.append(SheetRow(str(one.number), tuple(cells)))
    columns = ["Replication", "Status"]
    columns += [_with_unit(name, units[name]) for name in names]
    for host in hosts:
        columns += [f"{host}: CPUs busy (%)"] + ([f"{host}: soak load (%)"] if soaked else [])
    more = len(records.replications) - len(rows)
    notes = (f"{more} more are not listed.",) if more > 0 else ()
    return Sheet("Replications", tuple(columns), tuple(rows), notes, texts=1)


def _status(one: StoredReplication, suspicions: Sequence[Suspicion]) -> str:
    if one.status == "suspect" and suspicions:
        return "suspect: " + ", ".join(dict.fromkeys(each.code for each in suspicions))
    return f"failed: {one.error_code}" if one.status == "failed" else one.status


def _load(load: float | None) -> str:
    return "–" if load is None else share(load, 1)


def _with_unit(metric: str, unit: _Unit) -> str:
    text = words(metric)
    text = text[:1].upper() + text[1:]
    return f"{text} ({unit.name})" if unit.name else text


def _all_metrics(shown: Sequence[StoredReplication], units: Mapping[str, _Unit]) -> Sheet | None:
    there = [name for name in units if any(name in one.metrics for one in shown)]
    if not there:
        return None
    rows = tuple(
        SheetRow(
            _with_unit(name, units[name]), tuple(_metric(one, name, units[name]) for one in shown)
        )
        for name in there
    )
    columns = ("Metric", *(f"replication {one.number}" for one in shown))
    return Sheet("All metrics", columns, rows)


def _timelines(records: CaseRecords, chosen: set[int]) -> tuple[HostTimelines, ...]:
    suspect = {one.number for one in records.replications if one.status == "suspect"}
    logs: dict[str, list[tuple[SystemLog, bool]]] = {}
    for number in sorted(chosen):
        for log in records.logs[number]:
            logs.setdefault(log.host, []).append((log, number in suspect))
    found = [
        HostTimelines(host, side(records.case, host), tuple(timelines(those)))
        for host, those in list(logs.items())[:MOST_HOSTS]
    ]
    return tuple(one for one in found if one.figures)


def _part(
    records: CaseRecords, one: StoredReplication, counted: Sequence[Counters]
) -> ReplicationPart:
    suspicions = records.suspicions.get(one.number, ())
    reasons = tuple(visible(each.message) for each in suspicions)
    # Hosts of a large group that someone suspects come first.
    blamed = {each.host for each in suspicions}
    hosts = sorted(counted, key=lambda each: each.log.host not in blamed)[:MOST_HOSTS]
    hosts.sort(key=counted.index)
    ports = records.ports.get(one.number, ())
    metrics = {name: number for name, (number, _) in one.metrics.items()}
    return ReplicationPart(
        number=one.number,
        status=one.status,
        reasons=reasons,
        losses=loss_parts(records.case, [each.log for each in counted], ports, metrics),
        ports=port_sheet(ports),
        hosts=tuple(_host(records.case, each) for each in hosts),
    )


def _host(case: Case, counters: Counters) -> HostPart:
    hard_and_soft = interrupt_sheets(counters)
    sheets = [
        cpu_sheet(counters),
        interface_sheet(counters),
        trouble_sheet(counters),
        fabric_sheet(counters),
    ]
    folded = [*hard_and_soft[1:], protocol_sheet(counters), machine_sheet(counters)]
    return HostPart(
        counters.log.host,
        side(case, counters.log.host),
        f"{counters.log.elapsed:.3f} s",
        tuple(one for one in [*sheets, *hard_and_soft[:1]] if one is not None),
        tuple(one for one in folded if one is not None),
    )


def _notes(records: CaseRecords, chosen: set[int]) -> tuple[str, ...]:
    notes = [
        "What the kernel counted between a replication's begin and its end, on each host by"
        " itself. Counters that did not move are left out."
    ]
    left_out = len(set(records.logs) - chosen)
    if left_out:
        notes.append(
            f"Shown in full are {len(chosen)} replications, suspect ones first; {left_out} more"
            " are in the database, in the view system_log and the tables beside it."
        )
    hosts = {log.host for logs in records.logs.values() for log in logs}
    if len(hosts) > MOST_HOSTS:
        notes.append(f"Of {len(hosts)} hosts {MOST_HOSTS} are shown, those under suspicion first.")
    return tuple(notes)
