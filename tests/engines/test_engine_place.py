"""CPUs and scheduling classes that a plan asks for, and the clocks of the two ends."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest


def _status(pid: int, task: int, name: str) -> str:
    for line in Path(f"/proc/{pid}/task/{task}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.split(":", 1)[1].strip()
    raise AssertionError(name)


def _children(pid: int) -> list[int]:
    return [int(x) for x in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("engine", ["udp", "tcp"])
def test_both_ends_run_on_the_cpus_that_were_asked_for(engines, engine: str) -> None:
    last = max(os.sched_getaffinity(0))
    server = engines.server(engine)
    client = engines.start_client(server, f"--client-cpu={last}", "--server-cpu=0")
    (session,) = _children(server.pid)
    assert _status(client.pid, client.pid, "Cpus_allowed_list") == str(last)
    assert _status(session, session, "Cpus_allowed_list") == "0"
    assert _status(server.pid, server.pid, "Cpus_allowed_list") != "0" or last == 0


def test_the_settings_say_where_each_end_runs(engines) -> None:
    outcome = engines.client(engines.server("udp"), "--client-cpu=0", count=1)
    assert outcome.settings["client"]["cpu"] == 0
    assert outcome.settings["server"]["cpu"] == ""


def test_cpus_may_be_counted_among_those_that_the_process_may_use(engines) -> None:
    usable = sorted(os.sched_getaffinity(0))
    server = engines.server("udp")
    argv = engines.argv("udp", "client", "127.0.0.1", f"--port={server.port}")
    client = engines.start_other(
        "taskset", "-c", str(usable[-1]), *argv, "--json", "--replications=1", "--duration=50ms",
        "--client-cpu=+0,1", f"--server-cpu=+{len(usable)}",
    )  # fmt: skip
    settings = client.finish().settings
    # One CPU is all that the client may use; the server's list begins again at its end.
    assert settings["client"]["cpu"] == f"{usable[-1]},{usable[-1]}"
    assert settings["server"]["cpu"] == usable[0]


@pytest.mark.parametrize(
    ("cpus", "message"),
    [
        ("4000", "no list of CPUs"),
        ("1000", "no CPU 1000"),
        ("0,", "no list of CPUs"),
        ("a", "no list of CPUs"),
        ("3-1", "no list of CPUs"),
        ("-1", "no list of CPUs"),
        ("0,,1", "no list of CPUs"),
        ("0-", "no list of CPUs"),
        ("99999999999999999999", "no list of CPUs"),
        ("+", "list of CPUs after it"),
        ("+a", "no list of CPUs"),
        ("0,+1", "no list of CPUs"),
    ],
)
@pytest.mark.parametrize("end", ["client", "server"])
def test_cpus_that_are_not_there_are_refused(engines, end: str, cpus: str, message: str) -> None:
    outcome = engines.client(engines.server("udp"), f"--{end}-cpu={cpus}")
    assert outcome.error["code"] == "bad-parameter"
    assert message in outcome.error["message"]
    assert f"{end}_cpu" in outcome.error["message"]


def test_a_real_time_class_needs_a_deadline_on_both_ends(engines) -> None:
    without, with_one = engines.server("udp"), engines.server("udp", "--deadline=60s")
    refused = engines.client(with_one, "--scheduler=fifo")
    assert (refused.error["code"], "client" in refused.error["message"]) == ("bad-parameter", True)
    refused = engines.client(without, "--scheduler=fifo", "--deadline=60s")
    assert (refused.error["code"], "server" in refused.error["message"]) == ("bad-parameter", True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose a real-time class")
@pytest.mark.parametrize(("name", "policy"), [("fifo", os.SCHED_FIFO), ("rr", os.SCHED_RR)])
def test_both_ends_run_in_the_class_that_was_asked_for(engines, name: str, policy: int) -> None:
    server = engines.server("tcp", "--deadline=60s")
    # A pace, which leaves the CPUs to everyone else.
    latency = ("--mode=latency", "--interval=10ms", "--message=64")
    client = engines.start_client(server, *latency, f"--scheduler={name}", "--deadline=60s")
    (session,) = _children(server.pid)
    assert os.sched_getscheduler(client.pid) == policy
    assert os.sched_getscheduler(session) == policy


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose a real-time class")
def test_a_real_time_test_ends_at_its_deadline(engines) -> None:
    server = engines.server("udp", "--deadline=60s")
    outcome = engines.client(
        server, "--scheduler=fifo", "--deadline=1s", "--duration=60s", "--client-cpu=0"
    )
    assert outcome.error["code"] == "deadline"


def test_a_user_without_the_right_to_a_class_is_told(engines) -> None:
    if os.geteuid() == 0:
        launch = ("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice")
        server = engines.server("udp", "--deadline=60s")
        argv = engines.argv("udp", "client", "127.0.0.1", f"--port={server.port}")
        running = engines.start_other(
            *launch, *argv, "--json", "--scheduler=rr", "--deadline=60s", "--replications=1"
        )
    else:
        server = engines.server("udp", "--deadline=60s")
        running = engines.start(
            "udp", "client", "127.0.0.1", f"--port={server.port}", "--json", "--scheduler=rr",
            "--deadline=60s", "--replications=1",
        )  # fmt: skip
    error = running.finish().error
    assert error["code"] == "not-permitted"
    assert "ulimit -r" in error["message"]


def test_the_clocks_of_one_machine_are_found_to_agree(engines) -> None:
    settings = engines.client(engines.server("udp"), count=1).settings["client"]
    assert 0 < settings["clock_offset_error"] == pytest.approx(settings["control_rtt"] / 2)
    assert abs(settings["clock_offset"]) <= settings["clock_offset_error"]


def test_a_series_by_hand_is_one_table_with_a_row_a_size(engines) -> None:
    server = engines.server("tcp")
    outcome = engines.run(
        "tcp", "client", "127.0.0.1", f"--port={server.port}", "--mode=exponential",
        "--message=48", "--replications=1", "--duration=300ms", "--rate=1Mbit/s",
    )  # fmt: skip
    assert outcome.status == 0, outcome.errors
    rows = [x.split() for x in outcome.output.splitlines() if not x.startswith("#")]
    assert [row[:2] for row in rows] == [[str(n), "1"] for n in (1, 2, 4, 8, 16, 32, 48)]
    headings = [x for x in outcome.output.splitlines() if "messages" in x and "Mbit/s" in x]
    assert len(headings) == 1


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU")
@pytest.mark.parametrize("mode", ["stream", "bidirectional", "latency"])
@pytest.mark.parametrize("engine", ["tcp", "udp"])
def test_memory_is_made_where_its_thread_runs(
    shipped_engines, tmp_path: Path, engine: str, mode: str
) -> None:
    """A sanitizer's own allocator would come before the one that this looks at."""
    first, second = sorted(os.sched_getaffinity(0))[:2]
    library, log = tmp_path / "first_touch.so", tmp_path / "log"
    source = Path(__file__).with_name("first_touch.c")
    flags = ["-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", library, source], check=True)
    env = {"LD_PRELOAD": str(library), "FIRST_TOUCH": str(log)}
    # 300 KiB are sent, 200 KiB received; a round trip's go both ways.
    extra = ["--count=9", "--threads=2"]
    if engine == "tcp":
        extra = ["--write=300KiB", "--read=200KiB", "--message=300KiB", "--count=1", "--threads=2"]
    server = shipped_engines.server(engine, **env)
    client = shipped_engines.start(
        engine, "client", "127.0.0.1", "--json", f"--port={server.port}", "--replications=1",
        f"--mode={mode}", f"--client-cpu={first},{second}", f"--server-cpu={first},{second}",
        *extra, **env,
    )  # fmt: skip
    assert client.finish().metrics
    places: dict[int, list[int]] = {307200: [], 204800: []} if engine == "tcp" else {}
    for line in log.read_text().splitlines():
        size, cpu = map(int, line.split())
        if engine == "udp" and size > 65536:  # what a thread has, be it a header's or a payload's
            places.setdefault(size, [])
        if size in places:
            places[size].append(cpu)
    pair = [first, second]
    for cpus in places.values():
        assert sorted(cpus) in ([], pair, sorted(pair * 2))
    if engine == "tcp":
        assert len(places[307200]) == (2 if mode == "stream" else 4)
        assert len(places[204800]) == {"stream": 2, "bidirectional": 4}.get(mode, 0)
    else:
        assert places
