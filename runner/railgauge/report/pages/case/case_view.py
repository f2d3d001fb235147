"""A case's page as plain data: its replications and what each host's kernel counted in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.base.number import plural
from railgauge.base.systemlog import SystemLog
from railgauge.plan.cases import Case
from railgauge.report.pages.case.case_records import CaseRecords
from railgauge.report.pages.case.counter_sheets import (
    Counters,
    fabric_sheet,
    interface_sheet,
    interrupt_sheets,
    machine_sheet,
    protocol_sheet,
    trouble_sheet,
)
from railgauge.report.pages.case.cpus import cpu_sheet
from railgauge.report.pages.case.losses import LossPart, loss_parts, port_sheet
from railgauge.report.pages.case.overview import (
    MOST_HOSTS,
    metric_sheet,
    metric_units,
    replication_sheet,
)
from railgauge.report.pages.case.sheet import Sheet
from railgauge.report.pages.case.timelines import Timeline, series_timelines, timelines
from railgauge.report.pages.contents import Details
from railgauge.report.pages.scheme import Scheme, scheme
from railgauge.store.stored_replications import StoredReplication

# Of more replications the page shows these many in full.
_MOST_REPLICATIONS = 6


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

    `settings` are what was in effect, as (heading, text). `definitions` say what its metrics are.
    `scheme` draws the path between the two hosts, where there are two.
    """

    name: str
    title: str
    run: int
    lead: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    definitions: tuple[Details, ...]
    scheme: Scheme | None
    warnings: tuple[str, ...]
    replications: Sheet
    metrics: Sheet | None
    timelines: tuple[HostTimelines, ...]
    parts: tuple[ReplicationPart, ...]
    notes: tuple[str, ...]


def make_case_page(
    name: str,
    title: str,
    records: CaseRecords,
    parameters: Sequence[tuple[str, str]],
    headlines: Mapping[str, str],
) -> CasePage:
    """Return the page of a case.

    `headlines` are the metrics that say most, each with the unit to show it in ("": one that suits
    the values); a case without any of them shows its first ones.
    """
    detailed = _detailed(records)
    units = metric_units(records.replications, headlines)
    return CasePage(
        name=name,
        title=title,
        run=records.run,
        lead=_lead(records),
        parameters=tuple(parameters),
        settings=tuple(records.settings),
        definitions=tuple(records.definitions),
        scheme=_scheme(records),
        warnings=tuple(map(visible, dict.fromkeys(records.warnings))),
        replications=replication_sheet(records, units, headlines),
        metrics=metric_sheet(detailed, units),
        timelines=_timelines(records, detailed),
        parts=tuple(_replication_part(records, replication) for replication in detailed),
        notes=_notes(records, len(detailed)),
    )


def side(case: Case, host: str) -> str:
    """Return what `host` is in the case."""
    if case.server is None:
        return ""
    if case.client == case.server:
        return "client and server"
    return {case.client: "client", case.server: "server"}.get(host, "")


def _detailed(records: CaseRecords) -> list[StoredReplication]:
    """Return the replications to show in full: suspect ones before others, lower numbers first."""
    logged = [stored for stored in records.replications if stored.number in records.logs]
    logged.sort(key=lambda stored: (stored.status != "suspect", stored.number))
    return sorted(logged[:_MOST_REPLICATIONS], key=lambda stored: stored.number)


def _lead(records: CaseRecords) -> tuple[str, ...]:
    case = records.case
    where = f"on host {case.client}"
    if case.server is not None:
        where = f"from {case.client} to {case.server}"
    elif case.members:
        where = f"on the {plural(len(case.members), 'host')} of group {case.link}"
    return (
        f"Engine {visible(case.engine)} {visible(where)}, run {records.run} of plan"
        f" {visible(records.plan)}.",
        f"Case {case.key}.",
    )


def _scheme(records: CaseRecords) -> Scheme | None:
    if records.case.server is None:
        return None
    ports = next(iter(records.ports.values()), ())
    return scheme(records.case.client, records.case.server, ports)


def _timelines(
    records: CaseRecords, detailed: Sequence[StoredReplication]
) -> tuple[HostTimelines, ...]:
    logs: dict[str, list[tuple[SystemLog, bool]]] = {}
    for replication in detailed:
        for log in records.logs[replication.number]:
            logs.setdefault(log.host, []).append((log, replication.status == "suspect"))
    series = [
        (records.series[replication.number], replication.status == "suspect")
        for replication in detailed
        if replication.number in records.series
    ]
    host_timelines = [
        HostTimelines(
            host,
            side(records.case, host),
            (
                *series_timelines(records.case, side(records.case, host), series),
                *timelines(host_logs),
            ),
        )
        for host, host_logs in list(logs.items())[:MOST_HOSTS]
    ]
    return tuple(timelines for timelines in host_timelines if timelines.figures)


def _replication_part(records: CaseRecords, replication: StoredReplication) -> ReplicationPart:
    logs = records.logs[replication.number]
    suspicions = records.suspicions.get(replication.number, ())
    reasons = tuple(visible(suspicion.message) for suspicion in suspicions)
    # Hosts of a large group that someone suspects come first.
    suspected_hosts = {suspicion.host for suspicion in suspicions}
    shown_logs = sorted(logs, key=lambda log: log.host not in suspected_hosts)[:MOST_HOSTS]
    ports = records.ports.get(replication.number, ())
    metrics = {name: number for name, (number, _) in replication.metrics.items()}
    return ReplicationPart(
        number=replication.number,
        status=replication.status,
        reasons=reasons,
        losses=loss_parts(records.case, logs, ports, metrics),
        ports=port_sheet(ports),
        hosts=tuple(_host_part(records.case, Counters(log)) for log in logs if log in shown_logs),
    )


def _host_part(case: Case, counters: Counters) -> HostPart:
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
        tuple(sheet for sheet in [*sheets, *hard_and_soft[:1]] if sheet is not None),
        tuple(sheet for sheet in folded if sheet is not None),
    )


def _notes(records: CaseRecords, detailed: int) -> tuple[str, ...]:
    notes = [
        "What the kernel counted between a replication's begin and its end, on each host by"
        " itself. Counters that did not move are left out."
    ]
    omitted = len(records.logs) - detailed
    if omitted:
        notes.append(
            f"Shown in full are {detailed} replications, suspect ones first;"
            f" {plural(omitted, 'more is', 'more are')} in the database, in the view system_log and"
            " the tables beside it."
        )
    hosts = {log.host for logs in records.logs.values() for log in logs}
    if len(hosts) > MOST_HOSTS:
        notes.append(f"Of {len(hosts)} hosts {MOST_HOSTS} are shown, those under suspicion first.")
    return tuple(notes)
