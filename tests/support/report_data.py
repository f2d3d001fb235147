"""Series as the store gives them, for the tests of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.problems import in_one_file

from railgauge.base.trace import Trace, TraceClock, encode
from railgauge.hosts.peaks.peak import Peak
from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.catalogue.result_metrics import shipped_kind
from railgauge.report.checks.spec import load_spec
from railgauge.report.definition.definition_model import TableSpec
from railgauge.report.tables.pivot import build
from railgauge.report.tables.run_context import RunContext
from railgauge.report.tables.table import Table
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase, Series


def definition_problems(tmp_path: Path, text: str) -> list[str]:
    """Return what is wrong with a report's definition, each with its line and column."""
    path = tmp_path / "r.yaml"
    path.write_text(text, encoding="utf-8")
    return in_one_file(load_spec, path, load_catalogue())


def series(
    values: Sequence[float],
    parameters: Mapping[str, Value] | None = None,
    *,
    metric: str = "throughput",
    unit: str = "bit/s",
    engine: str = "udp",
    link: str = "gw→hh",
    client: str = "gw1",
    server: str | None = "hh1",
    run: int = 1,
    plan: str = "fabric",
    test: str = "stream",
    suspect: Sequence[int] = (),
    failed: int = 0,
    total: int | None = None,
    better: str = "higher",
    skipped: str = "",
    members: Sequence[str] = (),
    kind: str | None = None,
) -> Series:
    """`suspect` are places in `values`; `total` is as many as there are values and failures.

    `kind` is what the engines' tables say, unless it is said here.
    """
    parameters = {"mode": "stream", "datagram": 1460} if parameters is None else parameters
    marks = np.zeros(len(values), dtype=np.bool_)
    marks[list(suspect)] = True
    return Series(
        run=run,
        plan=plan,
        test=test,
        case=Case(
            case_key(engine, link, client, server, parameters),
            engine,
            link,
            client,
            server,
            parameters,
            tuple(members),
        ),
        metric=metric,
        unit=unit,
        better=better,
        values=np.array(values, dtype=np.float64),
        suspect=marks,
        failed=failed,
        planned=len(values) + failed if total is None else total,
        skipped=skipped,
        kind=shipped_kind(engine, metric, unit) if kind is None else kind,
    )


def table_spec(*cells: Any, rows: Sequence[str], **more: Any) -> TableSpec:
    """Return the definition of a table; without cells it shows the throughput in Mbit/s."""
    cell_specs = [*cells] or [{"metric": "throughput", "unit": "Mbit/s"}]
    definition = {"name": "t", "title": "T", "rows": rows, "cells": cell_specs}
    return TableSpec.model_validate({**definition, **more})


def trace(
    losses: Mapping[int, int] | None = None,
    *,
    sent: int = 5000,
    gap: int = 13_500,
    recorded: int | None = None,
    clock: TraceClock = "monotonic",
) -> Trace:
    """A steady stream, a datagram each `gap` ns, that lost so many after each key of `losses`."""
    arrival_mask = np.ones(sent, dtype=np.bool_)
    for after, lost in (losses or {}).items():
        arrival_mask[after + 1 : after + 1 + lost] = False
    sequence = np.flatnonzero(arrival_mask).astype(np.int64)
    arrived = len(sequence)
    sequence = sequence[:recorded]
    times = (sequence - sequence[:1].sum()) * gap
    first = 7_000_000_000 if len(sequence) else 0
    return Trace(clock, sent, arrived, sequence, times, times.copy(), first, first)


def store_traces(
    store: Store,
    traces: Mapping[tuple[str, float], Sequence[Trace]],
    *,
    datagram: int = 1000,
    test: str = "arrival",
    also: Mapping[tuple[str, float], Mapping[str, float]] | None = None,
) -> int:
    """Store a run of a case for each (link, wait in s) with a replication for each trace of it.

    `also` are more metrics of all its replications.
    """
    cases = {}
    for link, wait in traces:
        parameters = {"mode": "stream", "datagram": datagram, "wait": wait}
        client, server = link.split("→")
        key = case_key("udp", link, client, server, parameters)
        cases[link, wait] = Case(key, "udp", link, client, server, parameters)
    run = NewRun("udpmon", "text", "/home/me/plans", "", False, 7, "ctl", "0.1.0", "ab12", {})
    planned = [PlannedCase(test, case, len(traces[place])) for place, case in cases.items()]
    infos = load_catalogue().engine("udp").metrics
    names = dict.fromkeys(
        ["throughput", *(name for extra_metrics in (also or {}).values() for name in extra_metrics)]
    )
    metrics = {"udp": {name: MetricInfo.of(infos[name]) for name in names}}
    number = store.begin_run(run, planned, metrics)
    for place, case in cases.items():
        for i, packet_trace in enumerate(traces[place], 1):
            bits = 8.0 * datagram * len(packet_trace.sequence)
            rate = bits / max(float(packet_trace.received.max(initial=0)) * 1e-9, 1e-9)
            values = {"throughput": rate, **(also or {}).get(place, {})}
            outcome = Outcome(i, 1.0, values, trace=encode(packet_trace))
            store.add(number, test, case.key, outcome, Launch(1.0))
    store.finish_run(number, "complete")
    return number


def reference_table() -> Table:
    """A table with theoretical values, of whose cells one has two footnotes."""
    point = series(
        [50e9, 50e9, 50e9, 50e9, 81e9, 81e9], {"block": 1}, unit="B/s", engine="mem", server=None
    )
    skipped = series([], {"block": 2}, unit="B/s", engine="mem", server=None, skipped="no mem_1")
    share = {"metric": "throughput", "relative_to": "memory", "digits": 1}
    cells = ({"metric": "throughput", "unit": "GB/s"}, {"peak": "memory"}, share)
    spec = table_spec(*cells, rows=["block"])
    peaks = [Peak("gw1", "memory", 68.3e9, "B/s", "found: 2 × 64 & more")]
    return build(spec, [point, skipped], context=RunContext(peaks={1: peaks}))
