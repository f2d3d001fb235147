"""System logs of real runs between two network namespaces: exact, stored, judged, cleaned up."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.results import select

from railgauge.store import Store

PLAN = """\
railgauge: 1
name: logged
hosts:
  a: {{address: 10.91.0.1, netns: {a}}}
  b: {{address: 10.91.0.2, netns: {b}}}
links: {{ab: {{from: a, to: b}}}}
tests:
"""
# So slow that the receiver's buffer holds all of it, should that get no CPU meanwhile, and that its
# sender sleeps between two datagrams.
UDP = "{name: u, engine: udp, set: {mode: stream, duration: 0.5s, rate: 20Mbit/s, sockbuf: 4MiB}"
SHORT = UDP.replace("duration: 0.5s", "duration: 0.3s")
# So many take long enough for a signal that comes late to find some of them still to be measured.
_MANY = 30
ONLY_UNWATCHED = (
    "system_log: {suspect: {steal: off, foreign_cpu: off, foreign_traffic: off, swap: off, "
    "throttle: off, receive_drops: off, under_rate: off, untimed: off}}"
)


@dataclass(frozen=True)
class Lab:
    """Two namespaces, joined by a veth, in which nobody speaks unasked."""

    folder: Path
    a: str
    b: str

    def plan(self, *tests: str) -> Path:
        """Write a plan of these tests and return its path."""
        path = self.folder / "plan.yaml"
        lines = "".join(f"  - {test}\n" for test in tests)
        path.write_text(PLAN.format(a=self.a, b=self.b) + lines)
        return path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start railgauge in the folder."""
        return command_line.Popen(
            [*command_line.COMMAND, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={name: text for name, text in os.environ.items() if name != "RAILGAUGE_DB"},
        )

    def railgauge(self, *arguments: str, status: int = 0) -> str:
        """Run it to its end and return what it said."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=240)
        assert process.returncode == status, out + err
        return out + err

    def query(self, sql: str) -> list[tuple]:
        """Ask the database."""
        return select(self.folder, sql)

    def watchers(self) -> list[int]:
        """Return the processes named rail-watch or rail-soak in the two namespaces."""
        watchers = []
        for name in (self.a, self.b):
            pids = subprocess.run(
                ["ip", "netns", "pids", name], capture_output=True, text=True, check=True
            ).stdout.split()
            for pid in pids:
                with contextlib.suppress(OSError):
                    if Path(f"/proc/{pid}/comm").read_text().strip() in ("rail-watch", "rail-soak"):
                        watchers.append(int(pid))
        return watchers


@pytest.fixture
def lab(tmp_path: Path, require: Callable[[object, str], None]) -> Iterator[Lab]:
    require(os.geteuid() == 0 and shutil.which("ip"), "root and iproute2, to make namespaces")
    names = [f"rgsl{os.getpid()}{end}" for end in "ab"]
    try:
        for name in names:
            _ip("netns", "add", name)
            # No neighbour discovery, no router solicitation: only what is sent is counted.
            for interface in ("all", "default"):
                key = f"net.ipv6.conf.{interface}.disable_ipv6=1"
                subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", key], check=True)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("link", "add", "v0", "netns", names[0], "type", "veth", "peer", "v0", "netns", names[1])
        for number, name in enumerate(names, 1):
            _ip("-n", name, "addr", "add", f"10.91.0.{number}/24", "dev", "v0")
            # What comes is acknowledged at once, not between two looks at counters.
            route = ["10.91.0.0/24", "dev", "v0", "src", f"10.91.0.{number}", "quickack", "1"]
            _ip("-n", name, "link", "set", "v0", "address", f"02:00:00:00:00:0{number}", "up")
            _ip("-n", name, "route", "replace", *route)
        for number, name in enumerate(names, 1):
            peer = 3 - number
            _ip(
                "-n",
                name,
                "neigh",
                "replace",
                f"10.91.0.{peer}",
                "dev",
                "v0",
                "nud",
                "permanent",
                "lladdr",
                f"02:00:00:00:00:0{peer}",
            )
        yield Lab(tmp_path, *names)
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def counted(lab: Lab, table: str, condition: str, column: str) -> dict[tuple[int, str], int]:
    """Return (replication, host) -> a counter of the log of each replication."""
    rows = lab.query(
        f"SELECT log.number, log.host, one.{column} FROM log JOIN {table} AS one "
        f"ON one.log_id = log.id WHERE log.phase = 'replication' AND {condition}"
    )
    return {(number, host): value for number, host, value in rows}


def test_interface_counters_are_the_engines_own_counts_and_the_control_traffic(lab: Lab) -> None:
    lab.railgauge("run", str(lab.plan(f"{UDP}, replications: 4}}")))
    sent, received = (
        {
            number: int(value)
            for number, value in lab.query(
                f"SELECT replication, value FROM measurement WHERE metric = '{name}'"
            )
        }
        for name in ("sent_packets", "received_packets")
    )
    assert sorted(sent) == [1, 2, 3, 4]
    assert all(sent.values())

    def protocol(name: str, counter: str) -> dict[tuple[int, str], int]:
        counter_name = f"protocol/{name}/{counter}"
        with Store.open(str(lab.folder / "railgauge.db"), create=False) as store:
            return {
                (stored.replication or 0, stored.log.host): stored.log.counts[counter_name]
                for stored in store.logs(1)
                if counter_name in stored.log.counts
            }

    out = counted(lab, "interface_log", "one.interface = 'v0'", "tx_packets")
    arrived = counted(lab, "interface_log", "one.interface = 'v0'", "rx_packets")
    out_segments, in_segments = protocol("Tcp", "OutSegs"), protocol("Tcp", "InSegs")
    for number in sent:
        control_out = out_segments.get((number, "a"), 0)
        control_in = in_segments.get((number, "b"), 0)
        assert out[number, "a"] == sent[number] + control_out
        assert arrived[number, "b"] == received[number] + control_in
        assert 0 < control_out < 30
        assert 0 < control_in < 30
        assert protocol("Udp", "OutDatagrams")[number, "a"] == sent[number]
        assert protocol("Udp", "InDatagrams")[number, "b"] == received[number]


def test_a_log_joins_its_measurements_in_one_line(lab: Lab) -> None:
    lab.railgauge("run", str(lab.plan(f"{UDP}, replications: 2}}")))
    rows = lab.query(
        "SELECT replication, host, side, value, elapsed FROM measurement "
        "JOIN system_log USING (run, test, case_key, replication) WHERE metric = 'throughput' "
        "ORDER BY replication, host"
    )
    assert [row[:3] for row in rows] == [
        (1, "a", "client"),
        (1, "b", "server"),
        (2, "a", "client"),
        (2, "b", "server"),
    ]
    assert all(value > 0 and 0.4 < elapsed < 60 for *_, value, elapsed in rows)


def test_a_run_has_an_idle_stretch_before_and_after(lab: Lab, paced: Callable[..., object]) -> None:
    def measure() -> list[float]:
        lab.railgauge("run", str(lab.plan(f"{UDP}, replications: 1}}")))
        rows = lab.query(
            "SELECT host, phase, elapsed FROM log WHERE launch_id IS NULL ORDER BY id DESC LIMIT 4"
        )
        assert [(host, phase) for host, phase, _ in reversed(rows)] == [
            ("a", "before"),
            ("b", "before"),
            ("a", "after"),
            ("b", "after"),
        ]
        assert all(0 <= elapsed < 60 for *_, elapsed in rows)
        return [elapsed for *_, elapsed in rows]

    # Half a second, less what a watcher that got its CPU late began later.
    paced(measure, lambda elapsed: min(elapsed) > 0.1)


def test_samples_in_between_are_kept(lab: Lab, paced: Callable[..., object]) -> None:
    # Longer than a watcher may be without its CPU: it does not make up for what it missed.
    longer = UDP.replace("duration: 0.5s", "duration: 4s")
    path = str(lab.plan(f"{longer}, replications: 1, system_log: {{interval: 50ms}}}}"))

    def measure() -> list[int]:
        before = _rows(lab, "log_series")
        lab.railgauge("run", path)
        rows = lab.query("SELECT samples FROM log_series ORDER BY log_id")
        samples = [count for (count,) in rows[before:]]
        assert len(samples) == 2
        assert min(samples) >= 1
        return samples

    paced(measure, lambda samples: min(samples) >= 5)


def test_without_system_logs_nothing_watches(lab: Lab) -> None:
    lab.railgauge("run", str(lab.plan(f"{UDP}, replications: 1, system_log: off}}")))
    assert lab.query("SELECT * FROM log") == []
    assert len(lab.query("SELECT * FROM measurement WHERE metric = 'throughput'")) == 1
    assert lab.query("SELECT * FROM measurement WHERE metric LIKE '%cpu_load%'") == []


def test_both_ends_on_one_host_have_one_log(lab: Lab) -> None:
    path = lab.plan("{name: t, engine: tcp, set: {duration: 1s, rate: 20Mbit/s}, replications: 2}")
    path.write_text(path.read_text().replace("to: b", "to: a"))
    lab.railgauge("run", str(path))
    rows = lab.query("SELECT number, host, elapsed FROM log WHERE phase = 'replication'")
    assert [row[:2] for row in rows] == [(1, "a"), (2, "a")]
    assert all(elapsed >= 1 for *_, elapsed in rows)


def test_somebody_elses_program_is_logged_too(lab: Lab) -> None:
    lab.railgauge(
        "run",
        str(
            lab.plan(
                "{name: c, engine: command, hosts: [a], set: {command: sleep 0.3}, replications: 2}"
            )
        ),
    )
    rows = lab.query("SELECT replication, host, side, elapsed FROM system_log")
    assert [row[:3] for row in rows] == [(1, "a", "client"), (2, "a", "client")]
    assert all(0.3 <= elapsed < 60 for *_, elapsed in rows)


def test_a_mode_without_a_server_has_the_clients_log(lab: Lab) -> None:
    lab.railgauge(
        "run",
        str(
            lab.plan(
                "{name: g, engine: udp, set: {mode: generator, rate: 10Mbit/s, duration: 0.3s}, "
                "replications: 2}"
            )
        ),
    )
    assert lab.query("SELECT replication, host FROM system_log ORDER BY 1") == [(1, "a"), (2, "a")]


def test_a_killed_controller_leaves_no_watcher_and_a_resumed_run_watches_again(lab: Lab) -> None:
    path = lab.plan(f"{SHORT}, replications: {_MANY}}}")
    process = lab.start("run", str(path))
    wait_for(lambda: _measured(lab) >= 2)
    assert len(lab.watchers()) == 2
    process.send_signal(signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not lab.watchers())
    lab.railgauge("resume", "1")
    rows = lab.query("SELECT replication, count(*) FROM system_log GROUP BY 1")
    assert rows == [(number, 2) for number in range(1, _MANY + 1)]
    wait_for(lambda: not lab.watchers())


def _measured(lab: Lab) -> int:
    return _rows(lab, "replication")


def _rows(lab: Lab, table: str) -> int:
    if (lab.folder / "railgauge.db").exists():
        with contextlib.suppress(sqlite3.OperationalError):
            return int(lab.query(f"SELECT count(*) FROM {table}")[0][0])
    return 0


@pytest.mark.parametrize(
    ("number", "order"), [(signal.SIGKILL, "sequential"), (signal.SIGSTOP, "interleaved")]
)
def test_replications_without_their_watcher_are_suspect_and_keep_what_was_measured(
    lab: Lab, number: signal.Signals, order: str
) -> None:
    # The next launch has a watcher again.
    path = lab.plan(f"{SHORT}, replications: {_MANY}, order: {order}, {ONLY_UNWATCHED}}}")
    process = lab.start("run", str(path))
    wait_for(lambda: _measured(lab) >= 1)

    def struck() -> bool:
        with contextlib.suppress(ProcessLookupError):
            victim, _ = lab.watchers()
            os.kill(victim, number)
            return True
        return False

    wait_for(struck)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, out + err
    assert len(lab.query("SELECT * FROM measurement WHERE metric = 'throughput'")) == _MANY
    logged = {
        replication
        for (replication,) in lab.query("SELECT replication FROM system_log WHERE host = 'a'")
    }
    assert 1 <= len(logged) < _MANY
    assert lab.query("SELECT count(*) FROM system_log WHERE host = 'b'") == [(_MANY,)]
    suspect = lab.query("SELECT DISTINCT replication FROM measurement WHERE status = 'suspect'")
    assert {replication for (replication,) in suspect} == {*range(1, _MANY + 1)} - logged
    reasons = lab.query("SELECT host, code FROM suspicion")
    assert reasons == [("a", "unwatched")] * len(suspect)
    assert order == "sequential" or len(suspect) == 1
    assert "a: no system log shows what else ran there" in out + err
    wait_for(lambda: not lab.watchers())


@contextlib.contextmanager
def burner() -> Iterator[None]:
    """Keep a CPU busy from outside the test, in user mode, for a minute at most."""
    code = "import time\nwhile time.process_time() < 60: sum(range(100_000))"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def test_foreign_load_makes_a_replication_suspect_which_stays_in_every_table(lab: Lab) -> None:
    """Of three burners enough is left, even where a hypervisor takes its part, which is let be."""
    others_only = "system_log: {suspect: {steal: off, under_rate: off, untimed: off}}"
    with burner(), burner(), burner():
        output = lab.railgauge("run", str(lab.plan(f"{UDP}, replications: 2, {others_only}}}")))
    assert "[foreign-cpu, shown once]" in output
    assert "2 measured, 2 suspect" in output
    assert lab.query("SELECT DISTINCT status FROM measurement") == [("suspect",)]
    assert "suspect: u: 2 replications, foreign-cpu on a" in lab.railgauge("show", "1")
    lab.railgauge("report", "1", "--out", "report")
    page = (lab.folder / "report" / "index.html").read_text()
    assert "Suspect replications of run 1" in page
    assert "other programs kept" in page


def test_drops_in_the_receive_buffer_make_a_replication_suspect_if_the_plan_says_so(
    lab: Lab,
) -> None:
    test = (
        "{name: u, engine: udp, set: {mode: stream, duration: 0.5s, datagram: 1460, "
        "sockbuf: 10KiB}, replications: 1"
    )
    drops = f"{ONLY_UNWATCHED.replace('receive_drops: off', 'receive_drops: on')}"
    lab.railgauge("run", str(lab.plan(f"{test}, {drops}}}")))
    messages = lab.query("SELECT host, message FROM suspicion WHERE code = 'receive-drops'")
    assert [host for host, _ in messages] == ["b"]
    dropped = int(lab.query("SELECT value FROM measurement WHERE metric = 'receiver_drops'")[0][0])
    assert f"b: at least {dropped:,} packets were dropped, the receive buffer" in messages[0][1]
    # As nothing is said of it, what this test counts as lost is its result.
    silent = ONLY_UNWATCHED.replace(", receive_drops: off", "")
    lab.railgauge("run", str(lab.plan(f"{test}, {silent}}}")))
    assert lab.query("SELECT status FROM measurement WHERE run = 2 LIMIT 1") == [("ok",)]


def test_foreign_traffic_makes_a_replication_suspect(lab: Lab) -> None:
    code = (
        "import socket, time\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "end = time.monotonic() + 300\n"
        "print(flush=True)\n"
        "while time.monotonic() < end:\n"
        "    s.sendto(bytes(1400), ('10.91.0.2', 9)); time.sleep(0.0005)\n"
    )
    inside = ["ip", "netns", "exec", lab.a]
    other = subprocess.Popen([*inside, sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"  # a busy machine takes a while to start it
        limits = "system_log: {suspect: {foreign_cpu: off}}"
        # So long and slow that the other's share stands out though it is without its CPU for long.
        long = UDP.replace("duration: 0.5s", "duration: 4s").replace("20Mbit/s", "10Mbit/s")
        lab.railgauge("run", str(lab.plan(f"{long}, replications: 1, {limits}}}")))
    finally:
        other.kill()
        other.communicate()
    rows = lab.query("SELECT host, code FROM suspicion WHERE code = 'foreign-traffic' ORDER BY 1")
    assert rows == [("a", "foreign-traffic"), ("b", "foreign-traffic")]


@pytest.mark.usefixtures("only_soaker")
def test_soakers_refuse_a_machine_that_is_not_idle(lab: Lab) -> None:
    with burner():
        output = lab.railgauge(
            "run", str(lab.plan(f"{UDP}, replications: 1, soak: true}}")), status=1
        )
    assert "is not idle" in output
    assert lab.query("SELECT status, error_code FROM replication") == [("failed", "not-idle")]
    wait_for(lambda: not lab.watchers())


@pytest.mark.usefixtures("only_soaker")
def test_soakers_figures_stand_beside_the_kernels_and_the_engines(lab: Lab, paced) -> None:
    path = str(lab.plan(f"{UDP}, replications: 2, soak: true}}"))

    def run() -> int:
        process = lab.start("run", path)
        process.communicate(timeout=240)
        return process.returncode

    if paced(run, lambda status: status == 0) != 0:
        failures = lab.query("SELECT DISTINCT error_code FROM replication WHERE status = 'failed'")
        assert {code for (code,) in failures} <= {"not-idle", "soak-busy"}
        return
    rows = lab.query(
        "SELECT metric, min(value), max(value), count(*) FROM measurement WHERE "
        "run = (SELECT max(id) FROM run) AND (metric LIKE '%cpu%' OR metric LIKE '%user_time') "
        "GROUP BY metric ORDER BY metric"
    )
    assert [row[0] for row in rows] == sorted(
        f"{side}_{name}"
        for side in ("client", "server")
        for name in ("cpu_load", "cpu_load_soak", "cpu_per_gigabyte", "user_time")
    )
    assert all(count == 2 and low >= -0.02 for _, low, _, count in rows)
    loads = {name: high for name, _, high, _ in rows}
    assert 0.0 < loads["client_cpu_load_soak"] < 1.0
    # Both namespaces are this one machine.
    assert loads["client_cpu_load_soak"] == loads["server_cpu_load_soak"]
    assert 0.0 < loads["client_cpu_load"] < 1.0
    (keys,) = lab.query("SELECT count(DISTINCT case_key) FROM measurement")[0]
    assert keys == 1
    wait_for(lambda: not lab.watchers())
