"""The appendix: how a run was measured and on what, from what is stored and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.latex_lab import alone, pages_of
from tests.support.report_data import series, table_spec

from railgauge.base.systemlog import Suspicion
from railgauge.cli import cli
from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.report.pages.appendix.appendix_parts import Appendix, make_appendix
from railgauge.report.pages.appendix.table_numbers import table_numbers
from railgauge.report.pages.page import RunRecords
from railgauge.report.tables.pivot import build
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, Peak, PlannedCase

_PLAN = """
railgauge: 1
name: fabric
concurrency: 4
hosts: {gw1: {address: 10.1.0.1, ssh: gw1}, gw2: {address: 10.1.0.2, ssh: gw2}}
links: {a: {from: gw1, to: gw2}}
tests:
  - {name: stream, engine: udp, replications: 3, order: random}
  - {name: ping, engine: tcp, replications: {min: 6, max: 9, until: ci95 <= 1%}}
"""
_FACTS = {
    "cpu": "Xeon <3> & more",
    "cpus": "16",
    "memory": "24684096 kB",
    "kernel": "Linux version 6.1.0-9 (builder@host) (gcc)",
    "virtual_machine": "none",
    "nic.eth0.100.mtu": "9000",
    "nic.eth0.100.driver": "mlx5_core",
    "nic.eth0.100.firmware": "unknown: no ethtool",
    "nic.eth1.mtu": "1500",
    "peer_interfaces": "eth0.100",
    "engine_iperf3": "iperf 3.12",
}


def _case(engine: str, **parameters: Value) -> Case:
    key = case_key(engine, "a", "gw1", "gw2", parameters)
    return Case(key, engine, "a", "gw1", "gw2", parameters)


def _measured(
    store: Store,
    plan: str = _PLAN,
    facts: dict[str, str] = _FACTS,
    files: dict[str, str] | None = None,
) -> int:
    """Store a run with a value that is suspect, a failure, a skipped case and one that ended."""
    stream = [_case("udp", datagram=size, warmup=1.5) for size in (64, 1460)]
    skipped = _case("udp", datagram=9000, warmup=1.5)
    ping = _case("tcp", message=64, warmup=0.0)
    new = NewRun(
        "fabric", plan, "/plans", "c0ffee", True, 4711, "ctl", "0.1.0", "ab12", files or {}
    )
    planned = [PlannedCase("stream", case, 3) for case in stream]
    planned.append(PlannedCase("stream", skipped, 3, skipped="MTU of 1500 & less"))
    planned.append(PlannedCase("ping", ping, 9, "", 6, "ci95(median) <= 1%"))
    metrics = {
        "udp": {"throughput": MetricInfo("bit/s", "higher")},
        "tcp": {"rtt_p50": MetricInfo("s", "lower")},
    }
    run = store.begin_run(new, planned, metrics)
    for host in ("gw1", "gw2"):
        store.add_facts(run, host, facts)
    store.add_peaks(run, [Peak("gw1", "memory", 68.3e9, "B/s", "declared: hosts file")])
    drops = (Suspicion("receive-drops", "gw2", "17 packets were dropped"),)
    outcomes = {
        stream[0].key: [
            Outcome(0, 1.0, {"throughput": 1e9}, warmup=True),
            Outcome(1, 1.0, {"throughput": 1e9}),
            Outcome(2, 1.0, {"throughput": 2e9}, "suspect", suspicions=drops),
        ],
        stream[1].key: [
            Outcome(1, 1.0, {"throughput": 1e9}),
            Outcome(2, 1.0, {}, "failed", False, "no-answer", "no answer within 5 s"),
        ],
    }
    for key, case_outcomes in outcomes.items():
        for outcome in case_outcomes:
            store.add(run, "stream", key, outcome, Launch(1.0))
    for number in range(1, 8):
        store.add(run, "ping", ping.key, Outcome(number, 1.0, {"rtt_p50": 1e-5}), Launch(1.0))
    store.end_cases(run, {("ping", ping.key): "narrow"})
    store.finish_run(run, "complete")
    return run


def _appendix(store: Store, *runs: int) -> Appendix:
    records = [
        RunRecords(store.run(run), store.failures(run), store.suspicions(run)) for run in runs
    ]
    return make_appendix("r", store, records, [], load_catalogue(), details=())


def _text(appendix: Appendix) -> str:
    return "\n".join(text for passage in appendix.about for text in passage.paragraphs)


def test_methods_tell_replications_order_warm_up_and_what_was_left_out(store: Store) -> None:
    text = _text(_appendix(store, _measured(store)))
    for sentence in (
        "plan fabric, its files at git commit c0ffee with uncommitted changes,",
        "railgauge 0.1.0",
        "the hash ab12",
        "Up to 4 launches of engines ran at the same time",
        "The order of stream was: in blocks of one replication of every case, each block shuffled"
        " anew (random, seed 4711).",
        "Test stream (engine udp) has 3 cases. Replications of each case: 3."
        " In all: 3 of 6 measured, 1 of them suspect, 1 failed, 2 missing."
        " Skipped: MTU of 1500 & less (1 case).",
        "each launch warmed up for 1.5s.",
        "1 warm-up replication stands apart, in no number.",
        "Test ping (engine tcp) has 1 case. Replications of each case: 6 to 9, until"
        " ci95(median) <= 1%; cases ended narrow enough: 1."
        " In all: 7 measured, none of them suspect, none failed. There was no warm-up.",
        "Why replications failed: no-answer (1 replication).",
        "Why replications are suspect: receive-drops (1 replication).",
        "Outliers, values more than 3 interquartile ranges beyond the quartiles",
    ):
        assert sentence in text, text


def test_alike_machines_share_a_column_and_facts_read_as_papers_have_them(store: Store) -> None:
    (table,) = _appendix(store, _measured(store)).machines
    # Only of one is the memory's peak known.
    assert table.title == "Machines of run 1"
    assert table.columns == ("gw1", "gw2")
    rows = dict(table.rows)
    assert rows["Processor"] == ("Xeon <3> & more",) * 2
    assert rows["Memory"] == ("23.5 GiB",) * 2
    assert rows["Kernel"] == ("Linux 6.1.0-9",) * 2
    assert rows["Network card eth0.100"] == ("driver mlx5_core, MTU 9000",) * 2
    assert rows["iperf3"] == ("iperf 3.12",) * 2
    assert rows["Theoretical memory"] == ("68.30 GB/s (declared: hosts file)", "–")
    assert "Virtual machine" not in rows
    assert "Network card eth1" not in rows


def test_runs_are_told_one_by_one_and_their_machines_once_if_they_are_the_same(
    store: Store,
) -> None:
    runs = [_measured(store), _measured(store), _measured(store, facts={"cpu": "another"})]
    appendix = _appendix(store, *runs)
    assert [passage.heading for passage in appendix.about] == ["Run 1", "Run 2", "Run 3", "Numbers"]
    assert [details.title for details in appendix.machines] == [
        "Machines of runs 1 and 2",
        "Machines of run 3",
    ]


def test_of_a_test_that_was_skipped_no_replications_are_counted(store: Store) -> None:
    planned = [PlannedCase("stream", _case("udp", datagram=64), 3, skipped="no route")]
    new = NewRun("fabric", _PLAN, "/plans", "", False, 1, "ctl", "0.1.0", "ab12", {})
    run = store.begin_run(new, planned, {"udp": {"throughput": MetricInfo("bit/s", "higher")}})
    store.finish_run(run, "complete")
    text = _text(_appendix(store, run))
    assert "Test stream (engine udp) has 1 case. Skipped: no route (1 case)." in text


def test_nothing_is_said_of_an_order_that_cannot_be_read(store: Store) -> None:
    text = _text(_appendix(store, _measured(store, plan="railgauge: 99\nnew: true\n")))
    assert "which this version of railgauge can't read" in text
    assert "random" not in text


def test_the_order_of_a_run_on_slurms_nodes_is_told(store: Store) -> None:
    lines = [line for line in _PLAN.splitlines() if not line.startswith("hosts")]
    (hosts,) = (line for line in _PLAN.splitlines() if line.startswith("hosts"))
    files = {"slurm nodes": hosts.removeprefix("hosts: ")}
    run = _measured(store, "\n".join([*lines, "hosts: {slurm: all}"]), files=files)
    text = _text(_appendix(store, run))
    assert "can't read" not in text
    assert "(random, seed 4711)" in text


def test_of_an_imported_run_nothing_is_claimed(store: Store) -> None:
    case = _case("udp", datagram=64)
    new = NewRun("paper", "", "", "", False, 0, "", "", "", {}, "imported")
    store.import_run(
        new,
        [PlannedCase("t", case, 1)],
        {"udp": {"throughput": MetricInfo("bit/s", "higher")}},
        [("t", case.key, Outcome(1, 1.0, {"throughput": 1e9}))],
    )
    appendix = _appendix(store, 1)
    text = "\n".join(appendix.about[0].paragraphs)
    assert re.search(r"imported as of \S+ \S+ UTC: its values were measured elsewhere", text)
    assert "warm" not in text
    assert "launch" not in text
    assert appendix.machines == ()


def test_what_is_imported_may_have_failed_or_be_suspect(store: Store) -> None:
    case = _case("udp", datagram=64)
    new = NewRun("paper", "", "", "", False, 0, "", "", "", {}, "imported")
    drops = (Suspicion("receive-drops", "gw2", "17 packets were dropped"),)
    outcomes = [
        Outcome(1, None, {"throughput": 1e9}),
        Outcome(2, None, {"throughput": 1e9}, "suspect", suspicions=drops),
        Outcome(3, None, {}, "failed", False, "x", "x"),
    ]
    store.import_run(
        new,
        [PlannedCase("t", case, 3)],
        {"udp": {"throughput": MetricInfo("bit/s", "higher")}},
        [("t", case.key, outcome) for outcome in outcomes],
    )
    sentence = "Imported: 2 replications of them; suspect: 1; also failed: 1."
    assert sentence in _text(_appendix(store, 1))


def test_a_warm_up_that_only_some_cases_had_is_not_claimed_of_all(store: Store) -> None:
    cases = [_case("udp", warmup=seconds) for seconds in (0.0, 10.0, 2.0)]
    new = NewRun("fabric", _PLAN, "/plans", "", False, 1, "ctl", "0.1.0", "ab12", {})
    planned = [PlannedCase("stream", case, 3) for case in cases]
    store.begin_run(new, planned, {"udp": {"throughput": MetricInfo("bit/s", "higher")}})
    assert (
        "Before its replications the launches of some cases, not of all, warmed up for 2s or 10s."
    ) in _text(_appendix(store, 1))


def test_cases_that_may_still_be_measured_are_not_said_to_have_ended(store: Store) -> None:
    run = _measured(store)
    store.end_cases(run, {("ping", _case("tcp", message=64, warmup=0.0).key): None})
    text = _text(_appendix(store, run))
    assert "6 to 9, until ci95(median) <= 1%; cases not ended yet: 1." in text
    assert "(random, seed 4711), of the cases that hadn't had enough." in text
    assert "(random, seed 4711)." in text


def test_facts_that_changed_before_a_run_went_on_are_named(store: Store) -> None:
    run = _measured(store)
    assert "resumed" not in _text(_appendix(store, run))
    store.add_facts(run, "gw2", _FACTS | {"kernel": "Linux version 6.1.0-10"})
    assert "of which the table of machines has the last: kernel of gw2." in _text(
        _appendix(store, run)
    )


@pytest.mark.usefixtures("latex")
def test_the_command_adds_it_to_page_text_and_latex_and_pdflatex_sets_it(
    store: Store, tmp_path: Path
) -> None:
    _measured(store)
    out = tmp_path / "out"
    database = str(tmp_path / "railgauge.db")
    result = CliRunner().invoke(cli, ["report", "--db", database, "--appendix", "--out", str(out)])
    assert result.exit_code == 0, result.output
    (fragment,) = out.glob("*-appendix.tex")
    name = fragment.stem.removesuffix("-appendix")
    for file in ("index.html", f"{name}.txt"):
        content = " ".join((out / file).read_text(encoding="utf-8").split())
        assert "Test ping (engine tcp) has 1 case." in content
        assert "Linux 6.1.0-9" in content
    for document in (name, alone(out, fragment.stem)):
        pages = " ".join(pages_of(out, document).split())
        assert "Xeon <3> & more" in pages
        assert "In all: 3 of 6 measured" in pages
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "Xeon &lt;3&gt; &amp; more" in page


def test_without_being_asked_for_there_is_none(store: Store, tmp_path: Path) -> None:
    run = _measured(store)
    files = write_report(store, [run], None, tmp_path / "out", catalogue=load_catalogue())
    assert not [file for file in files if "appendix" in file.name]
    assert "Methods" not in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def _ran_congestion_controls(store: Store) -> int:
    """Store a run of cases that asked for the hosts' default, cubic, or for reno."""
    cases = [
        _case("tcp", mode="stream", message=size, congestion=congestion, tos=0)
        for congestion in ("system", "reno")
        for size in (64, 1024)
    ]
    new = NewRun("fabric", _PLAN, "/plans", "", False, 1, "ctl", "0.1.0", "ab12", {})
    planned = [PlannedCase("bulk", case, 1) for case in cases]
    run = store.begin_run(new, planned, {"tcp": {"throughput": MetricInfo("bit/s", "higher")}})
    for host in ("gw1", "gw2"):
        facts = {"net.ipv4.tcp_congestion_control": "cubic", "clocksource": "acpi_pm"}
        store.add_facts(run, host, facts)
    for place, case in enumerate(cases):
        ran = "cubic" if case.parameters["congestion"] == "system" else "reno"
        end = {"congestion": ran, "tos": 0, "port": 40000 + place, "cpu": ""}
        launch = Launch(1.0 + place, {**end, "sndbuf": 2304}, {**end, "sndbuf": 4608})
        store.add(run, "bulk", case.key, Outcome(1, 1.0, {"throughput": 1e9}), launch)
    return run


@pytest.mark.usefixtures("latex")
def test_the_printed_appendix_tells_which_cases_ran_which_congestion_control(
    store: Store, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ReportOptions(appendix=True)
    run = _ran_congestion_controls(store)
    files = write_report(store, [run], None, out, catalogue=load_catalogue(), options=options)
    (fragment,) = (file.stem for file in files if file.name.endswith("-appendix.tex"))
    printed = " ".join(pages_of(out, alone(out, fragment)).split())
    text = " ".join((out / f"{fragment.removesuffix('-appendix')}.txt").read_text("utf-8").split())
    for content in (printed, text):
        # What went with what, and nothing that is of one connection.
        assert "both ends cubic with congestion system, reno with congestion reno" in content
        assert "40001" not in content
        assert "Parameters of test bulk (engine tcp), run 1" in content
        # What was fixed though nobody set it, and what the kernel granted.
        assert "both ends tos 0; client sndbuf 2304; server sndbuf 4608" in content
        # What throughput is, and by which clock.
        assert "Payload bits that reached the server after its first read" in content
        assert "which nothing sets or slews" in content
        assert "resolution: 279 ns" in content
    assert "Default TCP congestion control (sysctl): cubic" in text
    assert "Clock source of gw1 and gw2: acpi_pm; resolution: 279 ns" in text
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "cubic with congestion system, reno with congestion reno" in page


def test_values_are_counted_once_whether_tables_show_cases_or_their_replications() -> None:
    whole = series([1.0] * 6 + [9.0], {"wait": 1}, total=7)
    single = [
        replace(
            whole,
            case=replace(whole.case, parameters={"wait": 1, "replication": number}),
            values=whole.values[number - 1 : number],
            suspect=whole.suspect[number - 1 : number],
        )
        for number in range(1, 8)
    ]
    cells = [{"metric": "throughput"}, {"metric": "throughput", "statistic": "minimum"}]
    of_cases = build(table_spec(*cells, rows=["wait"]), [whole])
    by_replication = build(table_spec(*cells, rows=["replication"]), single)
    for tables, outliers in (
        ([by_replication], "none are outliers"),
        ([of_cases, by_replication], "1 is an outlier"),
    ):
        assert table_numbers(tables, []).paragraphs[1] == f"Of their 7 values {outliers}."
