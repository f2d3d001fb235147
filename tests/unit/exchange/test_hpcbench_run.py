"""Runs go into Hpcbench's files and out of them without loss of what the files can hold."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.hpcbench_samples import OUTPUTS, SAMPLES, SCREENS

from railgauge.base.errors import EnvironmentFailedError, FileProblems, InputError
from railgauge.base.systemlog import Phase, Suspicion, SystemLog
from railgauge.exchange.hpcbench.export_hpcbench import export_hpcbench
from railgauge.exchange.hpcbench.import_hpcbench import import_hpcbench
from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.catalogue import Catalogue
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

MOMENT = 1_795_260_000.25  # 2026-11-21T11:20:00.25Z
RUN = NewRun("fabric", "railgauge: 1\n", "/", "", False, 0, "gw0", "0.1.0", "feed", {})
SETTINGS: dict[str, Value] = {"sndbuf": 425984, "rcvbuf": 425984, "tos": 8}
CARDS = {"nic.eth0.mtu": "1500", "nic.eth0.slot": "0000:00:03.0", "nic.veth1.mtu": "1500"}


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("output*"))
    }


def exported(store: Store, run: int, folder: Path, catalogue: Catalogue) -> dict[str, str]:
    export_hpcbench(store, run, folder, catalogue=catalogue)
    return tree(folder)


def test_every_sample_comes_out_of_the_database_as_it_went_in(store, tmp_path, catalogue):
    run = import_hpcbench(store, OUTPUTS, catalogue=catalogue).run
    files = exported(store, run, tmp_path / "out", catalogue)
    expected = {f"{path.stem}/output": path.read_text() for path in OUTPUTS[:-1]}
    for ending in ("", ".c_log", ".s_log"):
        name = f"system_log/output{ending}"
        expected[name] = (SAMPLES / name).read_text()
    assert files == expected


def test_every_screen_is_imported(store, catalogue):
    result = import_hpcbench(store, SCREENS, catalogue=catalogue)
    assert (result.files, result.cases, result.replications) == (10, 10, 50)
    series_by_test = {series.test: series for series in store.series([result.run], ["rtt_mean"])}
    assert series_by_test["latency_1k"].values[0] == 111.552e-6
    assert series_by_test["latency_1k"].case.parameters == {"mode": "latency", "datagram": 1024}


@pytest.mark.parametrize("at", [None, MOMENT])
def test_a_screen_without_a_date_keeps_what_the_kernel_granted(store, catalogue, at):
    (verbose,) = (path for path in SCREENS if path.stem == "verbose")
    run = import_hpcbench(store, [verbose], catalogue=catalogue, at=at).run
    (replication,) = store.replications(run, "verbose", store.run(run).cases[0].case.key)
    assert replication.client == {"sndbuf": 65535, "rcvbuf": 65535}
    assert replication.started_at == ""
    (began, _) = store.launch_times(run)["verbose", store.run(run).cases[0].case.key]
    assert began == store.run(run).started_at


def test_an_imported_case_has_the_parameters_that_its_file_tells(store, catalogue):
    run = import_hpcbench(store, [SAMPLES / "small_buffers.txt"], catalogue=catalogue).run
    stored = store.run(run)
    (planned,) = stored.cases
    assert planned.case.parameters == {
        "mode": "stream",
        "duration": 5.0,
        "datagram": 500,
        "sockbuf": 10240,
        "tos": 0,
    }
    assert (planned.case.link, planned.case.client, planned.case.server) == (
        "mk1→mk4",
        "mk1",
        "mk4",
    )
    assert (stored.new.plan, stored.new.origin, planned.replications) == (
        "small_buffers",
        "imported",
        10,
    )
    first = store.replications(run, planned.test, planned.case.key)[0]
    assert first.started_at == "2004-07-13T23:59:54.000000Z"
    assert first.client["packet_size"] == 1460
    assert first.metrics["loss_rate"] == (217 / 841482, "")
    assert first.metrics["client_system_time"] == (4.63, "s")


def test_a_system_log_becomes_what_the_kernel_counted(store, catalogue):
    output = SAMPLES / "system_log" / "output"
    result = import_hpcbench(store, [output], catalogue=catalogue)
    assert result.logs == 2
    logs = {
        (stored_log.replication, stored_log.log.host): stored_log.log
        for stored_log in store.logs(result.run)
    }
    client = logs[1, "mk1"]
    assert (client.phase, client.elapsed) == ("replication", 5.0)
    assert client.counts["interface/eth0/tx_packets"] == 410864
    assert client.counts["interface/lo/rx_bytes"] == 5190
    assert client.counts["interrupt/eth0/0"] == 82506
    assert client.labels["interrupt/eth0"] == "eth0"
    assert client.counts["stat/context_switches"] == 29119
    assert client.gauges["hpcbench/memory_used_percent"] == 99
    seconds = client.counts["cpu/0/system"] / client.ticks_per_second
    assert seconds == pytest.approx(0.190 * 5, abs=0.0005 * 5)
    ticks = sum(client.counts[f"cpu/all/{kind}"] for kind in ("user", "system", "idle"))
    assert ticks / client.ticks_per_second == pytest.approx(4 * 5.0, abs=1e-6)
    phases = [
        (stored_log.log.host, stored_log.log.phase) for stored_log in store.run_logs(result.run)
    ]
    assert sorted(phases) == [
        (host, phase) for host in ("mk1", "mk4") for phase in ("after", "before")
    ]


def test_a_folder_names_the_test_of_a_file_called_output(store, tmp_path, catalogue):
    for name in ("a/output", "b/output", "b/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(SAMPLES / "latency.txt", tmp_path / name)
    paths = [tmp_path / name for name in ("a/output", "b/output", "b/a.txt", "b/a.txt")]
    run = import_hpcbench(store, paths, catalogue=catalogue, plan="sweep").run
    assert [planned.test for planned in store.run(run).cases] == ["a", "b", "a-2"]
    assert store.run(run).new.plan == "sweep"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("# mk1 syslog", "# mk2 syslog", "c_log:1:1: this is the log of mk2, but output names mk1"),
        ("# CPU number: 4", "# CPU number: four", "c_log:4:1: "),
    ],
)
def test_nothing_is_stored_when_one_file_is_wrong(store, tmp_path, catalogue, old, new, words):
    shutil.copytree(SAMPLES, tmp_path / "in")
    log = tmp_path / "in/system_log/output.c_log"
    log.write_text(log.read_text().replace(old, new))
    stream = tmp_path / "in/stream.txt"
    stream.write_text(stream.read_text().replace("repeat: 6", "repeat: 5"))
    paths = [tmp_path / "in/latency.txt", stream, tmp_path / "in/system_log/output"]
    with pytest.raises(FileProblems) as caught:
        import_hpcbench(store, paths, catalogue=catalogue)
    assert words in str(caught.value)
    assert f"{stream}:21:1: " in str(caught.value)
    assert store.runs() == []


def test_a_log_of_another_test_is_refused(store, tmp_path, catalogue):
    shutil.copy(SAMPLES / "stream.txt", tmp_path / "output")
    shutil.copy(SAMPLES / "system_log/output.c_log", tmp_path / "output.c_log")
    with pytest.raises(FileProblems, match="8 watch times are expected, and these are 7"):
        import_hpcbench(store, [tmp_path / "output"], catalogue=catalogue)


def test_a_log_is_read_with_its_output_only(store, catalogue):
    folder = SAMPLES / "system_log"
    with pytest.raises(FileProblems, match="name output, its output"):
        import_hpcbench(store, [folder / "output.c_log"], catalogue=catalogue)
    paths = [folder / name for name in ("output", "output.c_log", "output.s_log")]
    assert import_hpcbench(store, paths, catalogue=catalogue).files == 1


def test_a_file_that_is_named_twice_is_imported_once(store, tmp_path, catalogue):
    (tmp_path / "link").symlink_to(SAMPLES)
    paths = [SAMPLES / "stream.txt", tmp_path / "link" / "stream.txt"]
    assert import_hpcbench(store, paths, catalogue=catalogue).replications == 6


def test_parameters_that_no_engine_has_are_refused(store, tmp_path, catalogue):
    path = tmp_path / "stream.txt"
    text = (SAMPLES / "stream.txt").read_text()
    path.write_text(text.replace("Client: 1460 Server: 1460", "Client: 70000 Server: 70000"))
    with pytest.raises(FileProblems, match=r"datagram: .*65507"):
        import_hpcbench(store, [path], catalogue=catalogue)


def udp_case(link: str = "gw→hh", **parameters: Value) -> Case:
    full: dict[str, Value] = {
        "mode": "stream",
        "duration": 5.0,
        "count": 0,
        "datagram": 1460,
        "sockbuf": 212992,
        "tos": 8,
        **parameters,
    }
    return Case(case_key("udp", link, "gw1", "hh1", full), "udp", link, "gw1", "hh1", full)


def stream_metrics(number: int) -> dict[str, float]:
    sent, lost = 400_000 + number, number * 37
    return {
        "throughput": 955_123_456.789 + number * 1e5,
        "local_throughput": 956_234_567.891 - number,
        "sent_packets": sent,
        "sent_bytes": sent * 1460,
        "received_packets": sent - lost,
        "received_bytes": (sent - lost) * 1460,
        "lost_packets": lost,
        "loss_rate": lost / sent,
        "receiver_drops": lost,
        "client_elapsed": 5.000123,
        "client_user_time": 0.17,
        "client_system_time": 2.345678,
        "server_elapsed": 4.99987,
        "server_user_time": 0.071,
        "server_system_time": 1.68,
    }


def system_log(host: str, phase: Phase, started_at: float, factor: int) -> SystemLog:
    counts = {
        "cpu/all/user": 3 * factor,
        "cpu/all/nice": 1,
        "cpu/all/system": 29 * factor,
        "cpu/all/softirq": 17 * factor,
        "cpu/all/steal": 2,
        "cpu/all/idle": 1000 - 50 * factor,
        "cpu/all/iowait": 3,
        "cpu/0/system": 29 * factor,
        "cpu/0/idle": 500 - 29 * factor,
        "cpu/1/softirq": 17 * factor,
        "cpu/1/idle": 500 - 17 * factor,
        "stat/interrupts": 83973 * factor,
        "stat/context_switches": 29119,
        "vm/pgpgin": 8,
        "vm/pgpgout": 40,
        "vm/pswpout": 1,
        "interface/eth0/rx_packets": 375,
        "interface/eth0/rx_bytes": 36087,
        "interface/eth0/tx_packets": 410864 * factor,
        "interface/eth0/tx_bytes": 616797166 * factor,
        "interface/eth10/rx_packets": 1,
        "interface/veth1/rx_packets": 5,
        "interface/lo/tx_packets": 76,
        "interrupt/24/0": 82506,
        "interrupt/25/1": 17,
        "interrupt/26/1": 99,
        "protocol/Udp/RcvbufErrors": 5,
    }
    labels = {
        "interrupt/24": "eth0-TxRx-0",
        "interrupt/25": "eth0-TxRx-1",
        "interrupt/26": "eth01",
    }
    gauges = {"memory/MemTotal": 2 * 2**30, "memory/MemFree": 2**28}
    return SystemLog(host, phase, started_at, 5.02, 100, counts, gauges, labels)


def measured_run(store: Store) -> int:
    """Store a run of two datagram sizes, a latency test and a series; each with a failure."""
    cases = [
        PlannedCase("stream", udp_case(datagram=1460), 3),
        PlannedCase("stream", udp_case(datagram=8192), 3),
        PlannedCase("rtt", udp_case(mode="latency", datagram=64), 4),
        *(PlannedCase("sizes", udp_case(datagram=size), 2) for size in (1, 2, 4, 8, 11)),
    ]
    names = dict.fromkeys([*stream_metrics(1), "rtt_mean", "rtt_p99", "round_trips"])
    run = store.begin_run(RUN, cases, {"udp": {name: MetricInfo("", "neither") for name in names}})
    store.add_logs(run, [system_log(host, "before", MOMENT, 1) for host in ("gw1", "hh1", "other")])
    for place, planned in enumerate(cases):
        start = MOMENT + 100 * (place + 1)
        launch = Launch(start, SETTINGS, SETTINGS | {"sndbuf": 212992})
        for number in range(1, planned.replications + 1):
            begun = start + 10 * number
            logs = tuple(system_log(h, "replication", begun, number) for h in ("gw1", "hh1"))
            outcome = Outcome(number, begun, stream_metrics(number), logs=logs)
            if planned.test == "rtt":
                outcome = Outcome(number, begun, {"rtt_mean": 61.2651e-6 * number, "rtt_p99": 1.0})
            if planned.test == "stream" and number == 2:
                outcome = Outcome(
                    2, begun, {}, status="failed", error_code="timeout", error_message="late"
                )
            elif planned.test == "stream" and number == 3:
                suspicion = Suspicion("steal", "gw1", "the hypervisor took 3 % of the time")
                outcome = replace(outcome, status="suspect", suspicions=(suspicion,))
            store.add(run, planned.test, planned.case.key, outcome, launch)
    store.add_logs(run, [system_log(host, "after", MOMENT + 5000, 1) for host in ("gw1", "hh1")])
    store.add_facts(run, "gw1", CARDS)
    store.finish_run(run, "complete")
    return run


def test_a_measured_run_is_exported_imported_and_exported_to_the_same_bytes(
    store, tmp_path, catalogue
):
    first = exported(store, measured_run(store), tmp_path / "first", catalogue)
    assert sorted({name.partition("/")[0] for name in first}) == [
        "rtt",
        "sizes_r1",
        "sizes_r2",
        "stream_datagram=1460",
        "stream_datagram=8KiB",
    ]
    outputs = sorted((tmp_path / "first").glob("*/output"))
    run = import_hpcbench(store, outputs, catalogue=catalogue).run
    assert exported(store, run, tmp_path / "second", catalogue) == first


def test_a_measured_run_looks_as_hpcbenchs_does(store, tmp_path, catalogue):
    files = exported(store, measured_run(store), tmp_path, catalogue)
    lines = files["stream_datagram=1460/output"].splitlines()
    assert lines[:3] == [
        "# UDP communication test -- Sat Nov 21 11:21:50 2026",
        "# Fixed packet size unidirectional stream test",
        "# Hosts: gw1 (client) <--> hh1 (server)",
    ]
    assert "SNDBUF: 212992 RCVBUF: 425984" in lines[5]
    assert lines[6] == "# Client IP TOS type: IPTOS_Maximize_Throughput"
    assert lines[15] == (
        "1       955.2235    956.2346     400001   584001460     399964   583947440"
        "        37     0.000"
    )
    sizes = files["sizes_r2/output"].splitlines()
    assert [line.split()[1] for line in sizes[13:18]] == ["1", "2", "4", "8", "11"]


def test_replications_that_a_rule_did_not_need_are_not_missing(store, tmp_path, catalogue):
    case = udp_case(datagram=1460)
    names = dict.fromkeys(stream_metrics(1))
    run = store.begin_run(
        RUN,
        [PlannedCase("stream", case, 50, least=8, rule="ci95(median) <= 1% of throughput")],
        {"udp": {name: MetricInfo("", "neither") for name in names}},
    )
    for number in range(1, 9):
        outcome = Outcome(number, MOMENT + number, stream_metrics(number))
        store.add(run, "stream", case.key, outcome, Launch(MOMENT))
    store.end_cases(run, {("stream", case.key): "narrow"})
    files = exported(store, run, tmp_path, catalogue)
    again = import_hpcbench(store, sorted(tmp_path.glob("*/output")), catalogue=catalogue).run
    assert len(files) == 1
    assert store.failures(again) == []
    assert list(store.replication_numbers(again).values()) == [set(range(1, 9))]


def test_skipped_cases_are_left_out_and_told_and_what_they_gave_before_is_there(
    store, tmp_path, catalogue
):
    measured, partial, never, other = (udp_case(datagram=size) for size in (1460, 512, 64, 100))
    reason = "iperf3 isn't on gw1"
    run = store.begin_run(
        RUN,
        [
            PlannedCase("stream", measured, 2),
            PlannedCase("stream", partial, 3, skipped=reason),
            PlannedCase("stream", never, 3, skipped=reason),
            PlannedCase("stream", other, 3, skipped=reason),
        ],
        {"udp": {name: MetricInfo("", "neither") for name in stream_metrics(1)}},
    )
    for case in (measured, partial):
        store.add(run, "stream", case.key, Outcome(1, MOMENT, stream_metrics(1)), Launch(MOMENT))
    result = export_hpcbench(store, run, tmp_path, catalogue=catalogue)
    assert sorted(file.parent.name for file in result.files) == [
        "stream_datagram=1460",
        "stream_datagram=512",
    ]
    assert result.notes == (f"stream: 2 cases are left out, skipped in that run: {reason}",)
    again = import_hpcbench(store, result.files, catalogue=catalogue).run
    # Of the one that is measured the second replication is missing, which these files call failed.
    assert sorted(store.replication_numbers(again).values(), key=len) == [{1}, {1, 2}]
    assert len(store.failures(again)) == 1


def test_a_failed_replication_shows_as_missing_and_not_as_zero(store, tmp_path, catalogue):
    files = exported(store, measured_run(store), tmp_path, catalogue)
    lines = files["stream_datagram=1460/output"].splitlines()
    assert lines[16].split() == ["2", *"--------"]
    assert (
        "#2             -            -           -            -            -           -" in lines
    )
    log = files["stream_datagram=1460/output.c_log"].splitlines()
    assert "# Watch times: 5" in log
    assert log[10].split() == ["2", *["-"] * 14]
    run = import_hpcbench(
        store, [tmp_path / "stream_datagram=1460/output"], catalogue=catalogue
    ).run
    (failure,) = store.failures(run)
    assert (failure.replication, failure.error_code) == (2, "no-numbers")


def test_a_log_has_the_stretches_before_and_after_and_knows_whose_interrupts_are_whose(
    store, tmp_path, catalogue
):
    files = exported(store, measured_run(store), tmp_path, catalogue)
    log = files["rtt/output"], files["sizes_r1/output.c_log"].splitlines()
    assert log[1][1:4] == [
        "# Watch times: 7",
        "# Network devices (interface): 4 ( loop eth0 eth10 veth1 )",
        "# CPU number: 2",
    ]
    at = {
        name: log[1].index(line)
        for line in log[1]
        for name in INTERFACES
        if f"<{name}> and" in line
    }
    before, first = (log[1][at["eth0"] + 3 + row].split() for row in (0, 1))
    # load, user, system; memory; interrupts; pages; swaps; context switches; traffic; interrupts
    assert first == [
        *("1", "5", "0", "4", "87", "83973", "48", "1", "29119"),
        *("375", "36087", "410864", "616797166", "82506", "17"),
    ]
    assert before[1:] == first[1:]
    # Nobody knows which interrupts are eth10's; a virtual interface has none.
    assert log[1][at["eth10"] + 4].split()[-2:] == ["-", "-"]
    assert log[1][at["veth1"] + 4].split()[-2:] == ["0", "0"]
    assert log[1][at["loop"] + 4].split()[-2:] == ["0", "0"]


INTERFACES = ("loop", "eth0", "eth10", "veth1")


def test_a_virtio_cards_interrupts_are_the_only_such_interfaces(store, tmp_path, catalogue):
    log = system_log("gw1", "replication", MOMENT, 1)
    log = replace(
        log,
        labels={
            "interrupt/24": "virtio2-input.0",
            "interrupt/25": "virtio2-output.0",
            "interrupt/26": "virtio1-req.0",
        },
    )
    facts = {"nic.eth0.mtu": "1500", "nic.eth0.slot": "0000:00:03.0"}
    facts["nic.eth0.driver"] = "virtio_net"
    case = udp_case()
    run = store.begin_run(
        RUN,
        [PlannedCase("one", case, 1)],
        {"udp": {name: MetricInfo("", "neither") for name in stream_metrics(1)}},
    )
    outcome = Outcome(1, MOMENT, stream_metrics(1), logs=(log,))
    store.add(run, "one", case.key, outcome, Launch(MOMENT))
    for host_facts, expected in (({}, ["-", "-"]), (facts, ["82506", "17"])):
        store.add_facts(run, "gw1", host_facts)
        lines = exported(store, run, tmp_path / "out", catalogue)["one/output.c_log"].splitlines()
        at = next(number for number, line in enumerate(lines) if "<eth0> and" in line)
        assert lines[at + 4].split()[-2:] == expected


def test_what_hpcbench_has_no_layout_for_is_told(store, tmp_path, catalogue):
    parameters: Mapping[str, Value] = {"mode": "stream", "message": 65536}
    tcp = Case(case_key("tcp", "l", "gw1", "hh1", parameters), "tcp", "l", "gw1", "hh1", parameters)
    pair = replace(tcp, key="0" * 16, members=("gw1", "hh1"))
    metrics = {"tcp": {"throughput": MetricInfo("bit/s", "higher")}}
    cases = [PlannedCase("bulk", tcp, 1), PlannedCase("group", pair, 1)]
    run = store.begin_run(RUN, cases, metrics)
    log = system_log("hh1", "replication", MOMENT, 1)
    outcome = Outcome(1, MOMENT, {"throughput": 1e9}, logs=(log,))
    store.add(run, "bulk", tcp.key, outcome, Launch(MOMENT))
    result = export_hpcbench(store, run, tmp_path / "out", catalogue=catalogue)
    assert [path.name for path in result.files] == ["output.s_log"]
    assert any(note.startswith("bulk: Hpcbench has no output") for note in result.notes)
    assert any(note.startswith("group: a group's test is left out") for note in result.notes)


def test_suspect_replications_are_told_of(store, tmp_path, catalogue):
    result = export_hpcbench(store, measured_run(store), tmp_path / "out", catalogue=catalogue)
    assert (
        "2 suspect replications can't be distinguished from others in these files" in result.notes
    )


def test_an_export_leaves_no_log_of_an_earlier_one(store, tmp_path, catalogue):
    (tmp_path / "stream").mkdir()
    (tmp_path / "stream/output.c_log").write_text("old")
    run = import_hpcbench(store, [SAMPLES / "stream.txt"], catalogue=catalogue).run
    assert list(exported(store, run, tmp_path, catalogue)) == ["stream/output"]


def test_a_link_where_a_file_belongs_is_replaced_and_not_followed(store, tmp_path, catalogue):
    (tmp_path / "stream").mkdir()
    (tmp_path / "elsewhere").write_text("another's")
    (tmp_path / "stream/output").symlink_to(tmp_path / "elsewhere")
    run = import_hpcbench(store, [SAMPLES / "stream.txt"], catalogue=catalogue).run
    exported(store, run, tmp_path, catalogue)
    assert (tmp_path / "elsewhere").read_text() == "another's"
    assert not (tmp_path / "stream/output").is_symlink()


def test_a_folder_that_cannot_be_written_is_told(store, tmp_path, catalogue):
    run = import_hpcbench(store, [SAMPLES / "stream.txt"], catalogue=catalogue).run
    (tmp_path / "stream").write_text("a file")
    with pytest.raises(EnvironmentFailedError, match=r"stream cannot be written: .*: make room"):
        export_hpcbench(store, run, tmp_path, catalogue=catalogue)
    with pytest.raises(InputError, match="no run 7"):
        export_hpcbench(store, 7, tmp_path, catalogue=catalogue)


def railgauge(*arguments: object, db: Path) -> subprocess.CompletedProcess[str]:
    return command_line.railgauge(*map(str, arguments), "--db", str(db), env={**os.environ})


def test_the_command_line_imports_and_exports(tmp_path):
    db = tmp_path / "railgauge.db"
    result = railgauge("import", "hpcbench", *OUTPUTS, db=db)
    assert result.stdout == "run 1: 49 replications of 18 cases from 7 outputs and 2 system logs\n"
    result = railgauge("export", "hpcbench", 1, "--out", tmp_path / "out", db=db)
    assert result.returncode == 0, result.stderr
    assert str(tmp_path / "out/system_log/output.s_log") in result.stdout.splitlines()
    answer = json.loads(railgauge("show", 1, "--json", db=db).stdout)
    assert (answer["plan"], answer["origin"]) == ("hpcbench", "imported")


def test_the_command_line_tells_each_mistake(tmp_path):
    (tmp_path / "a.txt").write_text("# UDP communication test -- Tue Jul 13 23:02:45 2004\n")
    completed = railgauge("import", "hpcbench", tmp_path / "a.txt", db=tmp_path / "railgauge.db")
    assert completed.returncode == 2
    assert completed.stderr.startswith(f"{tmp_path}/a.txt:2:1: expected one of ")
