"""The whole way on this machine: plan to database, with the real engines, killed and gone on."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import jsonschema
import pytest
from tests.support import ROOT, command_line, engine_cache
from tests.support.results import select

T = TypeVar("T")
# By count: of a stream by time hardly anything is sent where its sender stalls for as long.
QUICK = """\
railgauge: 1
name: quick
hosts:
  here: {address: 127.0.0.1, transport: local}
links:
  loop: {from: here, to: here}
tests:
  - name: stream
    engine: udp
    set: {mode: stream, count: 100}
    grid: {datagram: [64, 1460]}
    replications: 2
  - name: ping
    engine: tcp
    set: {mode: latency, count: 100, message: 64, congestion: reno}
    replications: 2
"""
SLOW = QUICK.replace("count: 100", "duration: 0.3s").replace("replications: 2", "replications: 8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return command_line.Popen(
        [*command_line.COMMAND, *arguments],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def railgauge(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    process = start(folder, *arguments)
    out, err = process.communicate(timeout=400)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def measured(folder: Path) -> int:
    try:
        ((count,),) = select(folder, "SELECT count(*) FROM replication WHERE number > 0")
    except sqlite3.OperationalError:
        return 0
    return count


def wait_for(condition: Callable[[], T], seconds: float = 60.0) -> T:
    """Return what the condition gives as soon as that is true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return value


def engines_started_by(controller: int) -> set[int]:
    """The processes whose parent is `controller`, and theirs."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    descendants: set[int] = set()
    pending = [controller]
    while pending:
        for child in children.get(pending.pop(), []):
            descendants.add(child)
            pending.append(child)
    return descendants


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_run_stores_every_replication_and_prints_its_table(folder: Path) -> None:
    (folder / "plan.yaml").write_text(QUICK)
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 0, completed.stderr
    assert "6 measured" in completed.stdout
    rows = select(
        folder,
        "SELECT test, link, client_host, server_host, count(*), min(value) FROM measurement "
        "WHERE metric IN ('throughput', 'rtt_p50') GROUP BY test",
    )
    assert [row[:5] for row in rows] == [
        ("ping", "loop", "here", "here", 2),
        ("stream", "loop", "here", "here", 4),
    ]
    assert all(row[5] > 0 for row in rows)


def test_a_series_comes_from_both_ends_to_the_export_and_the_cases_pages(folder: Path) -> None:
    # A stall longer than that leaves nothing to measure.
    stream = "{mode: stream, duration: 2s, series: 100ms, omit: 100ms"
    (folder / "plan.yaml").write_text(
        QUICK.partition("  - name: stream")[0]
        + f"  - {{name: fast, engine: tcp, set: {stream}, congestion: system, rate: 50Mbit/s}}, "
        "replications: 1}\n"
        + f"  - {{name: lossy, engine: udp, set: {stream}}}, replications: 1}}\n"
    )
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 0, completed.stderr
    completed = railgauge(folder, "export", "json", "--view", "series", "--out", "series")
    assert completed.returncode == 0, completed.stderr
    sums: Counter[tuple[str, str]] = Counter()
    for row in map(json.loads, (folder / "series").read_text().splitlines()):
        if not row["omitted"]:
            sums[row["test"], row["quantity"]] += row["value"]
    names = {
        "fast": {"sent_bytes", "received_bytes", "retransmits"},
        "lossy": {"sent_packets", "received_packets", "lost_packets"},
    }
    metrics = select(folder, "SELECT test, metric, value FROM measurement")
    in_all = {(test, name): value for test, name, value in metrics if name in names[test]}
    assert in_all == {key: sums[key] for key in in_all}
    assert in_all.keys() == {(test, name) for test in names for name in names[test]}
    completed = railgauge(folder, "report", "1", "--out", "report")
    assert completed.returncode == 0, completed.stderr
    pages = "".join(path.read_text() for path in (folder / "report").rglob("*.html"))
    for title in ("Throughput", "Lost datagrams an interval", "Round trip time"):
        assert f"{title} in the series" in pages


def test_programs_follow_a_run_line_by_line_and_a_log_has_each_replication(folder: Path) -> None:
    (folder / "plan.yaml").write_text(QUICK)
    completed = railgauge(folder, "run", "plan.yaml", "--json", "--log", "run.log")
    assert completed.returncode == 0, completed.stderr
    events = [json.loads(line) for line in completed.stdout.splitlines()]
    validator = jsonschema.Draft202012Validator(
        json.loads((ROOT / "schema" / "run_event.schema.json").read_text())
    )
    for event in events:
        validator.validate(event)
        assert event["run"] == 1
    assert Counter(event["event"] for event in events) == {
        "run": 1,
        "case": 6,
        "replication": 6,
        "finished": 1,
    }
    assert (events[0]["event"], events[0]["replications"]) == ("run", 6)
    assert (events[-1]["event"], events[-1]["measured"]) == ("finished", 6)
    (folder / "plan.yaml").unlink()
    again = railgauge(folder, "resume", "latest", "--json", "--log", "run.log", "--verbose")
    assert [json.loads(line)["event"] for line in again.stdout.splitlines()] == ["finished"]
    lines = (folder / "run.log").read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", line) for line in lines)
    assert [f"{count}/6" for count in range(1, 7)] == [
        line.split()[1] for line in lines if re.search(r" [1-6]/6 (stream|ping): ", line)
    ]


def test_what_both_kernels_granted_is_stored_with_each_launch(folder: Path) -> None:
    (folder / "plan.yaml").write_text(QUICK)
    assert railgauge(folder, "run", "plan.yaml").returncode == 0
    for client, server in select(folder, "SELECT client, server FROM launch"):
        assert json.loads(client)["sndbuf"] > 0
        assert json.loads(server)["rcvbuf"] > 0


def test_a_sender_that_no_host_lets_keep_its_rate_is_suspect_in_each_mode(folder: Path) -> None:
    (folder / "plan.yaml").write_text(
        QUICK.partition("  - name: ping")[0]
        .replace("set: {mode: stream, count: 100}", "set: {duration: 0.3s, rate: 1000Gbit/s}")
        .replace("datagram: [64, 1460]", "mode: [stream, bidirectional, generator]")
    )
    assert railgauge(folder, "run", "plan.yaml").returncode == 0
    reasons = select(
        folder, "SELECT run_case_id, message FROM suspicion WHERE code = 'under-rate' ORDER BY 1"
    )
    # Two replications of each; bidirectional has two senders.
    assert sorted(Counter(case for case, _ in reasons).values()) == [2, 2, 4]
    sentence = r"here: sent [0-9.]+[MG]bit/s of the 1000Gbit/s that were asked for: ask for less"
    assert all(re.match(sentence, message) for _, message in reasons)


def test_the_hosts_facts_are_stored(folder: Path) -> None:
    (folder / "plan.yaml").write_text(QUICK)
    assert railgauge(folder, "run", "plan.yaml").returncode == 0
    facts = dict(select(folder, "SELECT name, value FROM host_fact WHERE host = 'here'"))
    assert facts["kernel"].startswith("Linux version")


def test_a_mistake_in_the_plan_starts_nothing_and_makes_no_database(folder: Path) -> None:
    (folder / "plan.yaml").write_text(QUICK.replace("datagram:", "datagrm:"))
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 2
    assert completed.stderr.startswith("plan.yaml:11:12: ")
    assert "datagram" in completed.stderr
    assert not (folder / "railgauge.db").exists()


def test_a_controller_killed_in_the_middle_loses_nothing_and_leaves_nothing(folder: Path) -> None:
    (folder / "plan.yaml").write_text(SLOW)
    controller = start(folder, "run", "plan.yaml")
    wait_for(lambda: measured(folder) >= 5)
    # There are none for a moment between two launches.
    engines = wait_for(lambda: engines_started_by(controller.pid))
    before = measured(folder)
    controller.kill()
    controller.communicate()
    wait_for(lambda: not any(alive(pid) for pid in engines))
    replications = select(
        folder, "SELECT run_case_id, number, started_at FROM replication ORDER BY 1, 2"
    )
    assert before <= len(replications) < 24
    listed = json.loads(railgauge(folder, "list", "--json").stdout)
    assert listed[0]["state"] == "unfinished"

    completed = railgauge(folder, "resume", "1")
    assert completed.returncode == 0, completed.stderr
    assert f"{24 - len(replications)} measured" in completed.stdout
    after = select(folder, "SELECT run_case_id, number, started_at FROM replication ORDER BY 1, 2")
    assert set(replications) < set(after)
    assert [row[:2] for row in after] == [(case, n) for case in (1, 2, 3) for n in range(1, 9)]
    assert json.loads(railgauge(folder, "list", "--json").stdout)[0]["state"] == "complete"
    ended = select(folder, "SELECT ended_at FROM run")
    again = railgauge(folder, "resume", "1")
    assert (again.returncode, again.stderr) == (0, "")
    assert "nothing is left to measure" in again.stdout
    assert select(folder, "SELECT ended_at FROM run") == ended
    database = sqlite3.connect(folder / "railgauge.db")
    with database:
        database.execute("UPDATE run SET state = 'unfinished', ended_at = NULL, checksum = NULL")
    database.close()
    assert railgauge(folder, "resume", "1").returncode == 0
    assert select(folder, "SELECT state FROM run") == [("complete",)]


def test_resume_builds_an_engine_again_that_went_missing(folder: Path) -> None:
    (folder / "plan.yaml").write_text(SLOW)
    engine_cache.copy_to(folder)
    # What is built here need not be fast.
    environment = {"HOME": str(folder), "XDG_CACHE_HOME": "", "CFLAGS": "-O0"}
    (program,) = folder.glob(".cache/railgauge/engines/*/build/rail-tcp")
    controller = start(folder, "run", "plan.yaml", **environment)
    wait_for(lambda: measured(folder) >= 1)
    program.unlink()
    _, err = controller.communicate(timeout=120)
    assert controller.returncode == 1, err
    assert "lost here: here: can't start the engine" in err
    count = measured(folder)

    again = start(folder, "resume", "1", **environment)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    assert f"{24 - count} measured" in out
    assert program.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_says_how_to_go_on(folder: Path, number: signal.Signals) -> None:
    (folder / "plan.yaml").write_text(SLOW)
    controller = start(folder, "run", "plan.yaml")
    wait_for(lambda: measured(folder) >= 2)
    engines = engines_started_by(controller.pid)
    controller.send_signal(number)
    _, err = controller.communicate(timeout=60)
    assert controller.returncode == 130
    assert "railgauge resume 1" in err
    assert "Traceback" not in err
    wait_for(lambda: not any(alive(pid) for pid in engines))
    assert select(folder, "SELECT state FROM run") == [("interrupted",)]
    assert select(folder, "SELECT count(*) FROM replication WHERE status = 'failed'") == [(0,)]


def test_a_stop_before_anything_is_measured_leaves_no_run_half_made(folder: Path) -> None:
    (folder / "plan.yaml").write_text(SLOW)
    controller = start(folder, "run", "plan.yaml")
    time.sleep(0.05)
    controller.send_signal(signal.SIGTERM)
    _, err = controller.communicate(timeout=60)
    assert controller.returncode in (130, -signal.SIGTERM)
    assert "Traceback" not in err


def test_a_replication_that_fails_is_stored_with_its_cause_and_the_rest_goes_on(
    folder: Path,
) -> None:
    plan = QUICK.replace("congestion: reno", "congestion: nosuch")
    (folder / "plan.yaml").write_text(plan)
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 1
    assert "4 measured, 2 failed" in completed.stdout
    assert "nosuch" in completed.stderr
    rows = select(
        folder, "SELECT status, metric, value, replication FROM measurement WHERE test = 'ping'"
    )
    assert rows == [("failed", None, None, 1), ("failed", None, None, 2)]
    stdout = railgauge(folder, "show", "1").stdout
    assert "failed: ping: loop, replication 1" in stdout
    assert "congestion-refused" in stdout
    assert railgauge(folder, "resume", "1").returncode == 1


def test_a_wrong_database_is_told_before_any_host_is_bothered(folder: Path) -> None:
    (folder / "plan.yaml").write_text(QUICK)
    completed = railgauge(folder, "run", "plan.yaml", "--db", str(folder / "none" / "x.db"))
    assert completed.returncode == 2
    assert "reaching" not in completed.stderr


def test_a_failure_names_its_case_by_what_varies(folder: Path) -> None:
    plan = QUICK.replace(
        "grid: {datagram: [64, 1460]}", "grid: {datagram: [64, 1460], data_port: [9]}"
    )
    (folder / "plan.yaml").write_text(plan.replace("address: 127.0.0.1", "address: 192.0.2.1"))
    completed = railgauge(folder, "run", "plan.yaml")
    assert completed.returncode == 1
    assert "stream: loop · datagram 1460, replication 2" in completed.stderr


def test_two_signals_at_once_still_say_how_to_go_on(folder: Path) -> None:
    (folder / "plan.yaml").write_text(SLOW)
    controller = start(folder, "run", "plan.yaml")
    wait_for(lambda: measured(folder) >= 1)
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
        controller.send_signal(number)
    _, err = controller.communicate(timeout=60)
    assert controller.returncode == 130
    assert "railgauge resume 1" in err
    assert select(folder, "SELECT state FROM run") == [("interrupted",)]


def test_a_job_in_the_background_that_ignores_ctrl_c_heeds_sigterm_at_any_time(
    folder: Path,
) -> None:
    (folder / "plan.yaml").write_text(SLOW)
    cache = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}  # so that it builds first
    command = f"trap '' INT; exec {sys.executable} -m railgauge run plan.yaml"
    controller = subprocess.Popen(
        ["sh", "-c", command], cwd=folder, env=cache, stderr=subprocess.PIPE, text=True
    )
    assert controller.stderr is not None
    while "engines" not in controller.stderr.readline():
        pass
    time.sleep(0.2)
    controller.send_signal(signal.SIGTERM)
    _, err = controller.communicate(timeout=60)
    assert controller.returncode == 130
    assert "Traceback" not in err
    assert not engines_started_by(controller.pid)


def test_other_plans_can_be_measured_into_the_same_database_at_once(folder: Path) -> None:
    (folder / "plan.yaml").write_text(QUICK)
    processes = [start(folder, "run", "--wait", "2min", "plan.yaml") for _ in range(2)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    counts = select(
        folder,
        "SELECT run, count(*) FROM measurement WHERE metric IN "
        "('throughput', 'rtt_p50') GROUP BY run",
    )
    assert counts == [(1, 6), (2, 6)]


def test_a_run_that_is_being_measured_cannot_go_on_elsewhere(folder: Path) -> None:
    (folder / "plan.yaml").write_text(SLOW.replace("replications: 8", "replications: 200"))
    first = start(folder, "run", "plan.yaml")
    wait_for(lambda: measured(folder) >= 1)
    refused = railgauge(folder, "resume", "1")
    assert refused.returncode == 2
    assert f"run 1 is being measured now by process {first.pid} on host" in refused.stderr
    first.kill()
    first.communicate()

    second = start(folder, "resume", "1")
    wait_for(lambda: str(second.pid) in holder_of_run_1(folder))
    refused = railgauge(folder, "resume", "1")
    assert refused.returncode == 2
    assert f"by process {second.pid} on host" in refused.stderr
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=30)
    assert second.returncode == 130
    assert not list(folder.glob("*.lock"))


def holder_of_run_1(folder: Path) -> str:
    try:
        return (folder / "railgauge.db.run-1.lock").read_text()
    except FileNotFoundError:
        return ""


def test_a_run_cannot_go_on_with_a_hosts_file_that_changed(folder: Path) -> None:
    hosts = "hosts:\n  here: {address: 127.0.0.1, transport: local}\n"
    (folder / "hosts.yaml").write_text(hosts)
    text = SLOW.replace(hosts, "hosts_file: hosts.yaml\n")
    (folder / "plan.yaml").write_text(text.replace("links:\n  loop: {from: here, to: here}\n", ""))
    links = "links:\n  {}: {{from: here, to: here}}\n"
    (folder / "hosts.yaml").write_text(hosts + links.format("loop"))
    controller = start(folder, "run", "plan.yaml")
    wait_for(lambda: measured(folder) >= 1)
    controller.send_signal(signal.SIGINT)
    controller.communicate(timeout=60)
    (folder / "hosts.yaml").write_text(hosts + links.format("other"))
    completed = railgauge(folder, "resume", "1")
    assert completed.returncode == 2
    assert "can't go on: hosts.yaml changed" in completed.stderr


FETCH = """\
railgauge_engine: 1
name: {name}
summary: Wall time of a short sleep
command: [sleep, "{seconds}"]
metrics:
  wall_time: {{unit: s, better: lower, from: wall_time}}
"""
FETCH_PLAN = """\
railgauge: 1
name: fetching
engines: [fetch.yaml, unused.yaml]
hosts:
  here: {address: 127.0.0.1, transport: local}
tests:
  - {name: fetch, engine: fetch, replications: 8}
"""


def test_a_run_cannot_go_on_with_an_engine_description_that_changed(folder: Path) -> None:
    (folder / "plan.yaml").write_text(FETCH_PLAN)
    (folder / "fetch.yaml").write_text(FETCH.format(name="fetch", seconds=0.3))
    (folder / "unused.yaml").write_text(FETCH.format(name="unused", seconds=0.3))
    controller = start(folder, "run", "plan.yaml")
    wait_for(lambda: measured(folder) >= 1)
    controller.kill()
    controller.communicate()
    before = measured(folder)
    # The same cases with other meaning.
    (folder / "fetch.yaml").write_text(FETCH.format(name="fetch", seconds=0.2))
    (folder / "unused.yaml").write_text(FETCH.format(name="unused", seconds=0.2))
    refused = railgauge(folder, "resume", "1")
    assert refused.returncode == 2
    assert "can't go on: engine fetch changed" in refused.stderr
    assert measured(folder) == before
    (folder / "fetch.yaml").write_text(FETCH.format(name="fetch", seconds=0.3))
    gone_on = railgauge(folder, "resume", "1")
    assert gone_on.returncode == 0, gone_on.stderr
    assert measured(folder) == 8


def test_a_full_disk_is_said_and_what_was_stored_stays(
    folder: Path, require: Callable[[object, str], None]
) -> None:
    require(os.geteuid() == 0, "root, to mount a small file system")
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(small)]
    subprocess.run(mount, check=True)
    try:
        (folder / "plan.yaml").write_text(
            SLOW.replace("0.3s", "0.02s").replace("replications: 8", "replications: 400")
        )
        completed = railgauge(folder, "run", "plan.yaml", "--db", str(small / "full.db"))
        assert completed.returncode == 3, completed.stdout + completed.stderr
        assert "full" in completed.stderr
        assert "railgauge resume 1" in completed.stderr
        assert "Traceback" not in completed.stderr
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_plan_runs_unchanged_on_other_hosts_and_goes_on_with_them(folder: Path) -> None:
    hosts = QUICK[QUICK.index("hosts:") : QUICK.index("tests:")]
    inline = QUICK.partition("hosts:")[0] + "tests:" + QUICK.partition("tests:")[2]
    named = inline.replace("tests:", "hosts_file: far-away.yaml\ntests:", 1)
    (folder / "near.yaml").write_text(hosts)
    (folder / "plan.yaml").write_text(named)
    assert railgauge(folder, "check", "plan.yaml").returncode == 2
    assert railgauge(folder, "check", "plan.yaml", "--hosts", "near.yaml").returncode == 0
    completed = railgauge(folder, "run", "plan.yaml", "--hosts", "near.yaml")
    assert completed.returncode == 0, completed.stderr
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    again = railgauge(elsewhere, "resume", "1", "--db", "../railgauge.db")
    assert "nothing is left" in again.stdout, again.stderr
    (folder / "near.yaml").write_text(hosts.replace("127.0.0.1", "127.0.0.2"))
    changed = railgauge(folder, "resume", "1")
    assert changed.returncode == 2
    assert "near.yaml changed since it began" in changed.stderr
