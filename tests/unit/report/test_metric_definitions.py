"""What the shown metrics are, and by which clocks: on the page, the case's page, the appendix."""

from __future__ import annotations

from pathlib import Path

from tests.support.log_samples import system_log

from railgauge.plan.cases import Case, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.document.write_report import write_report
from railgauge.report.pages.contents import Details
from railgauge.report.pages.metric_definitions import clock_table, metric_tables
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase, StoredRun


def _rows(table: Details) -> dict[str, str]:
    return {heading: text for heading, (text,) in table.rows}


def _run(*engines: str, origin: str = "measured", **clocks: str) -> StoredRun:
    imported = origin == "imported"
    new = NewRun("p", "", "", "", False, 0, "", "", "", {}, "imported" if imported else "measured")
    cases = tuple(PlannedCase("t", Case(name, name, "a", "g", "h", {}), 1) for name in engines)
    facts = {host: {"clocksource": source} for host, source in clocks.items()}
    return StoredRun(new, "complete", facts, 1, "", "", cases)


def test_metrics_are_defined_by_their_engines_own_table_in_its_order() -> None:
    catalogue = load_catalogue()
    metrics = {"udp": ["loss_rate", "throughput"], "tcp": ["throughput"]}
    udp, tcp = metric_tables(metrics, catalogue)
    assert [udp.title, tcp.title] == ["Metrics of engine udp", "Metrics of engine tcp"]
    assert list(_rows(udp)) == ["throughput", "loss_rate"]
    own = catalogue.engine("udp").metrics["throughput"].help
    assert _rows(udp)["throughput"][1:] == f"{own}. In bit/s, higher is better."[1:]
    assert _rows(udp)["loss_rate"].endswith("0 to 1. Lower is better.")


def test_every_headline_of_ours_is_defined_with_its_unit() -> None:
    catalogue = load_catalogue()
    for name, engine in catalogue.engines.items():
        if engine.program is not None:
            continue
        headlines = [metric for metric in engine.metrics.values() if metric.headline]
        tables = metric_tables({name: [metric.name for metric in headlines]}, catalogue)
        rows = _rows(tables[0]) if tables else {}
        for metric in headlines:
            assert f"In {metric.unit}" in rows[metric.name] or not metric.unit


def test_what_comes_from_system_logs_has_a_table_for_all_engines() -> None:
    metrics = {"udp": ["server_cpu_load"], "tcp": ["client/busiest/rx_bytes/s", "server_cpu_load"]}
    (logged,) = metric_tables(metrics, load_catalogue())
    assert logged.title == "Metrics from system logs"
    rows = _rows(logged)
    assert rows["server_cpu_load"].startswith("Server: share of the time of all its CPUs")
    assert rows["client/busiest/rx_bytes/s"] == (
        "What the client's kernel counted during the replication. In B/s."
    )


def test_what_nobody_describes_is_left_out() -> None:
    assert metric_tables({"other": ["x"], "udp": ["x"]}, load_catalogue()) == ()


def test_hosts_with_one_clock_source_share_a_row_and_an_unknown_one_has_no_resolution() -> None:
    run = _run("udp", "cpu", g="hpet", h="hpet", x="sundial")
    (table,) = clock_table([run], load_catalogue())
    rows = _rows(table)
    assert rows["Clock source of g and h"] == "hpet; resolution: 100 ns or less"
    assert rows["Clock source of x"] == "sundial"
    assert "CLOCK_MONOTONIC_RAW" in rows["Times of udp and cpu"]
    assert "CLOCK_REALTIME" in rows["Arrivals that kernels stamp"]


def test_nothing_is_claimed_of_others_clocks() -> None:
    (table,) = clock_table([_run("iperf3")], load_catalogue())
    assert "by the program's own clock" in _rows(table)["Times of iperf3"]
    assert clock_table([_run("udp", origin="imported")], load_catalogue()) == ()


def test_pages_define_the_metrics_that_they_show(store: Store, tmp_path: Path) -> None:
    parameters = {"mode": "stream", "datagram": 64}
    key = case_key("udp", "a", "gw1", "gw2", parameters)
    case = Case(key, "udp", "a", "gw1", "gw2", parameters)
    units = {"throughput": ("bit/s", "higher"), "sent_packets": ("", "neither")}
    metrics = {"udp": {name: MetricInfo(*info) for name, info in units.items()}}
    new = NewRun("p", "", "", "", False, 0, "", "", "", {})
    run = store.begin_run(new, [PlannedCase("t", case, 1)], metrics)
    launch = Launch(1.0, {"sndbuf": 2048}, {"sndbuf": 2048})
    values = {"throughput": 1e9, "sent_packets": 3.0}
    store.add(run, "t", key, Outcome(1, 1.0, values, logs=(system_log("gw1"),)), launch)
    out = tmp_path / "out"
    files = write_report(store, [run], None, out, catalogue=load_catalogue())
    (page,) = (file.read_text("utf-8") for file in files if file.name == "index.html")
    (of_case,) = (
        file.read_text("utf-8")
        for file in files
        if file.parent.name == "cases" and file.suffix == ".html"
    )
    helps = {name: load_catalogue().engine("udp").metrics[name].help for name in units}
    phrases = {name: text.split(",")[0][1:] for name, text in helps.items()}
    assert phrases["throughput"] in page
    assert phrases["sent_packets"] not in page
    assert "both ends sndbuf 2KiB" in page
    assert phrases["throughput"] in of_case
    assert phrases["sent_packets"] in of_case
    assert "In effect, both ends" in of_case
    assert "sndbuf 2KiB" in of_case


def test_a_headlines_definition_needs_no_other_metrics_beside_it() -> None:
    helps = {
        (engine.name, metric.name): metric.help
        for engine in load_catalogue().engines.values()
        for metric in engine.metrics.values()
        if metric.headline and engine.program is None
    }
    assert helps
    leaning = ("likewise", "those", "of one", "operations over that", "the sum of both")
    assert [
        name for name, text in helps.items() if text.startswith(leaning) or " " not in text
    ] == []
