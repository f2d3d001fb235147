"""rail-watch on this host's own counters: what it counts, and every way to begin and to end."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import FIXTURES
from tests.support.watcher import PATIENCE, Marker, Watcher, differences

# Frames of no protocol that the kernel knows: their receiver counts them as dropped.
SEND_UNKNOWN = """
import socket, sys
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind((sys.argv[1], 0x88B5))
for _ in range(3):
    sender.send(b"\\xff" * 6 + b"\\x02" + b"\\0" * 5 + b"\\x88\\xb5" + b"." * 60)
"""
SEND = """
import socket, sys
receiver = socket.socket(type=socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
sender = socket.socket(type=socket.SOCK_DGRAM)
for _ in range(int(sys.argv[1])):
    sender.sendto(b"." * 100, receiver.getsockname())
    assert receiver.recv(200)
if sys.argv[2:]:
    sender.connect(("127.0.0.1", 9))
    sender.send(b".")
    try:
        sender.recv(1)
    except ConnectionRefusedError:
        pass
"""


@pytest.fixture
def program(folder: Path) -> Path:
    return folder / "rail-watch"


@pytest.fixture
def network(require) -> Iterator[str]:
    """A network namespace of its own, with nothing in it but the loopback interface."""
    require(os.geteuid() == 0, "root, to make network namespaces")
    name = f"railwatch{os.getpid()}"
    _ip("netns", "add", name)
    try:
        _ip("-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        _ip("netns", "del", name)


def _ip(*arguments: str) -> None:
    completed = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr


def _inside(network: str) -> tuple[str, ...]:
    return ("ip", "netns", "exec", network)


def _send(network: str, count: int) -> None:
    argv = [*_inside(network), sys.executable, "-c", SEND, str(count)]
    subprocess.run(argv, check=True, timeout=PATIENCE)


def _name() -> str:
    return f"railwatch-test-{os.getpid()}"


# What it counts.


def test_packets_of_a_namespace_are_counted_exactly(program: Path, network: str) -> None:
    with Watcher(program, "--interval=10ms", prefix=_inside(network)) as watcher:
        before = watcher.snapshot("before")
        _send(network, 1000)
        moved = differences(before, watcher.snapshot("after"))
    assert moved["interface/lo/rx_packets"] == moved["interface/lo/tx_packets"] == 1000
    assert moved["interface/lo/rx_bytes"] == 1000 * (100 + 20 + 8)
    assert moved["protocol/Udp/InDatagrams"] == moved["protocol/Udp/OutDatagrams"] == 1000
    assert not [name for name in moved if name.startswith("protocol/Ip6/")]


def test_a_sum_of_samples_is_what_the_kernel_says(program: Path, network: str) -> None:
    with Watcher(program, "--interval=10ms", prefix=_inside(network)) as watcher:
        _send(network, 100)
        values = watcher.snapshot()
        text = subprocess.run(
            [*_inside(network), "cat", "/proc/net/snmp"], capture_output=True, text=True
        ).stdout
    names, figures = (line.split()[1:] for line in text.splitlines() if line.startswith("Udp:"))
    counters = dict(zip(names, map(int, figures), strict=True))
    assert {name: values[f"protocol/Udp/{name}"] for name in counters} == counters


def test_an_interface_comes_and_goes_and_comes_back(program: Path, network: str) -> None:
    with Watcher(program, "--interval=10ms", prefix=_inside(network)) as watcher:
        assert "interface/veth7/rx_packets" not in watcher.snapshot()
        _ip("-n", network, "link", "add", "veth7", "type", "veth", "peer", "far7")
        assert watcher.snapshot()["interface/veth7/rx_packets"] == 0
        assert watcher.snapshot()["interface/veth7/rx_missed_errors"] == 0
        first = {n for n, name in enumerate(watcher.names) if name.startswith("interface/veth7/")}
        _ip("-n", network, "link", "del", "veth7")
        assert "interface/veth7/rx_packets" not in watcher.snapshot()
        assert first <= watcher.removed
        _ip("-n", network, "link", "add", "veth7", "type", "veth", "peer", "far7")
        assert "interface/veth7/rx_packets" in watcher.snapshot()
    assert first & {watcher.names.index("interface/veth7/rx_packets")}
    assert watcher.names.count("interface/veth7/rx_packets") == 2


def test_an_interface_replaced_by_one_of_its_name_is_another(program: Path, network: str) -> None:
    """Replaced between two looks, so that the list of names never changed."""
    with Watcher(program, "--interval=1h", prefix=_inside(network)) as watcher:
        _ip("-n", network, "link", "add", "veth7", "type", "veth", "peer", "far7")
        watcher.snapshot()
        watcher.snapshot()
        _ip("-n", network, "link", "del", "veth7")
        _ip("-n", network, "link", "add", "veth7", "type", "veth", "peer", "far7")
        watcher.snapshot()
        values = watcher.snapshot()
    assert values["interface/veth7/rx_packets"] == values["interface/veth7/rx_crc_errors"] == 0
    assert watcher.names.count("interface/veth7/rx_packets") == 2
    assert watcher.names.count("interface/veth7/rx_crc_errors") == 2


def test_interfaces_that_are_gone_leave_no_files_open(program: Path, network: str) -> None:
    """Nor do they take the counters of another one of their name with them at its first error."""
    with Watcher(program, "--interval=1h", prefix=_inside(network)) as watcher:
        open_files = Path(f"/proc/{watcher.process.pid}/fd")
        watcher.snapshot()
        before = len(list(open_files.iterdir()))
        for _ in range(5):
            _ip("-n", network, "link", "add", "veth7", "type", "veth", "peer", "far7")
            watcher.snapshot()
            _ip("-n", network, "link", "del", "veth7")
            watcher.snapshot()
        assert len(list(open_files.iterdir())) == before
        _ip("-n", network, "link", "add", "veth7", "type", "veth", "peer", "far7")
        watcher.snapshot()
        counters = [name for name in watcher.names if name.startswith("interface/")]
        for end in ("veth7", "far7"):
            _ip("-n", network, "link", "set", end, "up")
        argv = [*_inside(network), sys.executable, "-c", SEND_UNKNOWN, "far7"]
        subprocess.run(argv, check=True, timeout=PATIENCE)
        limit = time.monotonic() + PATIENCE
        while not watcher.snapshot()["interface/veth7/rx_dropped"] and time.monotonic() < limit:
            pass  # what was sent is on its way yet
        assert watcher.snapshot()["interface/veth7/rx_dropped"] > 0
    assert [name for name in watcher.names if name.startswith("interface/")] == counters


def test_sysfs_of_another_namespace_is_not_taken_for_ours(program: Path, network: str) -> None:
    """Entered without a mount of its own, /sys still shows the interfaces outside."""
    enter = ("nsenter", f"--net=/run/netns/{network}")
    with Watcher(program, prefix=enter) as watcher:
        assert "interfaces" in watcher.ready["sources"]
        assert "interfaces/errors" in watcher.ready["missing"]
        names = {name.split("/")[1] for name in watcher.snapshot() if name.startswith("interface/")}
    assert names == {"lo"}


def test_cpu_time_and_interrupts_of_this_host_move(program: Path) -> None:
    with Watcher(program, "--interval=50ms") as watcher:
        assert {"stat", "interrupts", "meminfo", "vmstat"} <= set(watcher.ready["sources"])
        assert watcher.ready["ticks_per_second"] == os.sysconf("SC_CLK_TCK")
        assert abs(watcher.ready["started_at"] - time.time()) < PATIENCE
        before = watcher.snapshot("before")
        _spin(0.3)
        moved = differences(before, watcher.snapshot("after"))
    # Ticks are samples, and reading the clock is the kernel's time.
    assert moved["cpu/all/user"] + moved["cpu/all/system"] >= 10
    assert moved["stat/context_switches"] > 0
    assert any(name.startswith("interrupt/") for name in moved)
    assert before["memory/MemTotal"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_samples_keep_to_their_schedule(program: Path) -> None:
    """Each is taken at a multiple of the interval after the start, or later, and none twice."""
    with Watcher(program, "--interval=20ms") as watcher:
        times = [watcher.next("sample")["at"] for _ in range(25)]
    turns = [int(at / 0.02) for at in times]
    assert turns == sorted(set(turns))


def test_a_watcher_that_was_stopped_does_not_make_up_for_it(program: Path) -> None:
    with Watcher(program, "--interval=10ms") as watcher:
        times = [watcher.next("sample")["at"]]
        os.kill(watcher.process.pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(watcher.process.pid, signal.SIGCONT)
        watcher.write("mark resumed\n")
        while (event := watcher.event())["event"] != "mark":
            times += [event["at"]] if event["event"] == "sample" else []
        times += [watcher.next("sample")["at"] for _ in range(10)]
    gaps = sorted(b - a for a, b in itertools.pairwise(times))
    assert gaps[-1] > 0.3
    turns = [int(at / 0.01) for at in times]
    assert turns == sorted(set(turns))


# Marks.


def test_a_mark_has_the_counters_of_its_moment(program: Path, network: str) -> None:
    name = _name()
    prefix = _inside(network)
    # The name is the namespace's own, so the engine's end has to be in there too.
    ask = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "s.connect(b'\\0' + sys.argv[1].encode())\n"
        "for line in sys.stdin: s.send(line.strip().encode()); print(s.recv(9).decode(), flush=1)"
    )
    argv = [*prefix, sys.executable, "-c", ask, name]
    pipe = subprocess.PIPE
    watcher = Watcher(program, "--interval=1h", f"--marks={name}", prefix=prefix)
    with watcher, subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as asker:
        assert asker.stdin
        assert asker.stdout
        marks = []
        for request in ("begin 17 3", "end 17 3", "begin 17 4"):
            asker.stdin.write(request + "\n")
            asker.stdin.flush()
            assert asker.stdout.readline() == "ok\n"
            _send(network, 50)
            mark = watcher.next("mark")
            marks.append((mark["label"], mark["launch"], mark["replication"]))
            packets = watcher.values["interface/lo/rx_packets"]
            assert packets == 50 * (len(marks) - 1)
        asker.stdin.close()
    assert marks == [("begin", 17, 3), ("end", 17, 3), ("begin", 17, 4)]


def test_nonsense_ends_a_connection_and_nothing_else(program: Path) -> None:
    name = _name()
    with Watcher(program, f"--marks={name}") as watcher:
        for nonsense in ("start 1 2", "begin 1", "begin x 2", "begin 1 2 " + "9" * 80):
            with Marker(name) as stranger:
                assert stranger.ask(nonsense) == b""
        with Marker(name) as engine:
            assert engine.ask("begin 1 2") == b"ok"
        assert watcher.next("mark")["label"] == "begin"


def test_two_watchers_of_one_name_are_refused(program: Path) -> None:
    name = _name()
    with Watcher(program, f"--marks={name}"), Watcher(program, f"--marks={name}") as second:
        assert second.ready["event"] == "error"
        assert second.ready["code"] == "name-in-use"
        assert name in second.ready["message"]
        assert second.process.wait(timeout=PATIENCE) == 1


def test_a_reader_that_stands_still_delays_no_mark(program: Path) -> None:
    """The pipe is full long before; every mark is there when it is read at last."""
    name = _name()
    with Watcher(program, "--interval=10ms", f"--marks={name}") as watcher, Marker(name) as engine:
        for replication in range(2000):
            assert engine.ask(f"begin 1 {replication}") == b"ok"
        replications = [watcher.next("mark")["replication"] for _ in range(2000)]
        watcher.close_input()
        assert watcher.rest()[-1]["event"] == "done"
    assert replications == list(range(2000))


# Standard input, and the end.


def test_it_ends_with_its_input(program: Path) -> None:
    with Watcher(program) as watcher:
        watcher.next("sample")
        watcher.close_input()
        assert watcher.rest()[-1]["event"] == "done"
        assert watcher.process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_ends_when_told(program: Path, number: signal.Signals) -> None:
    with Watcher(program) as watcher:
        watcher.next("sample")
        os.kill(watcher.process.pid, number)
        assert watcher.rest()[-1]["event"] == "done"
        assert watcher.process.returncode == 0


def test_it_ends_at_its_deadline(program: Path) -> None:
    with Watcher(program, "--deadline=0.2s", "--interval=1h") as watcher:
        assert watcher.rest()[-1]["event"] == "done"
        assert watcher.process.returncode == 0


def test_it_ends_when_nobody_reads_it(program: Path) -> None:
    argv = [str(program), "--json", "--interval=10ms"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert "nobody reads" in process.stderr.read()
        assert process.wait(timeout=PATIENCE) == 1


def test_its_output_may_be_a_socket(program: Path) -> None:
    """As sshd gives to what it starts."""
    reader, writer = socket.socketpair()
    with reader, writer:
        process = subprocess.Popen(
            [str(program), "--json", "--interval=10ms"],
            stdin=subprocess.PIPE,
            stdout=writer,
        )
        writer.close()
        lines = reader.makefile()
        samples = 0
        while samples < 6:
            samples += json.loads(lines.readline())["event"] == "sample"
        assert process.stdin
        process.stdin.close()
        assert json.loads(lines.read().splitlines()[-1]) == {"event": "done"}
        assert process.wait(timeout=PATIENCE) == 0


@pytest.mark.parametrize("line", ["mark", "mark A", "mark a b", "go on", "mark " + "a" * 17])
def test_a_wrong_line_on_its_input_is_an_error(program: Path, line: str) -> None:
    with Watcher(program) as watcher:
        watcher.write(line + "\n")
        last = watcher.rest()[-1]
        assert last["code"] == "bad-peer"
        assert "mark LABEL" in last["message"]
        assert watcher.process.returncode == 1


def test_an_endless_line_on_its_input_is_an_error(program: Path) -> None:
    with Watcher(program) as watcher:
        watcher.write("mark " + "a" * 1000)
        assert watcher.rest()[-1]["code"] == "bad-peer"


# By hand.


def _run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, timeout=PATIENCE
    )


def test_by_hand_it_prints_a_line_an_interval(program: Path) -> None:
    for tenths in (5, 50, 200):  # until it gets a CPU in that time
        completed = _run(program, "--interval=20ms", f"--deadline={tenths / 10}s")
        assert completed.returncode == 0
        if completed.stdout:
            break
    lines = completed.stdout.splitlines()
    assert lines[0].split()[:4] == ["seconds", "user", "nice", "system"]
    figures = [line.split() for line in lines if line and line.split()[0] != "seconds"]
    assert 1 <= len(figures) <= 5 * tenths  # one that is missed is not made up for
    assert all(len(row) >= 11 and row[1].endswith("%") for row in figures)


def test_by_hand_it_tells_what_was_counted_while_a_command_ran(program: Path, network: str) -> None:
    argv = [*_inside(network), str(program), "--", sys.executable, "-c", SEND, "300", "closed"]
    completed = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
    assert completed.returncode == 0, completed.stderr
    rows = [line.split() for line in completed.stdout.splitlines()]
    lo = next(row for row in rows if row[:1] == ["lo"])
    heading = next(row for row in rows if row[:1] == ["interface"])
    counts = dict(zip(heading[1:], map(int, lo[1:]), strict=True))
    assert counts["rx_packets"] == counts["tx_packets"] == 302  # one found nobody, and was told so
    assert ["Udp/InDatagrams", "300"] in rows
    assert ["Udp/NoPorts", "1"] in rows


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -9 $$"], 137),
        (["/nowhere/at-all"], 127),
        ([str(FIXTURES)], 126),
    ],
)
def test_the_exit_status_is_the_commands(program: Path, command: list[str], status: int) -> None:
    assert _run(program, "--", *command).returncode == status


def test_a_signal_goes_on_to_the_command(program: Path) -> None:
    argv = [str(program), "--", "sh", "-c", "trap 'exit 9' TERM; echo up; sleep 60 & wait $!"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 9


def test_a_ctrl_c_comes_to_the_command_once(program: Path) -> None:
    """The terminal gives it to the command itself; a second one would be another word."""
    counting = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
print("up", flush=True)
patience = 60
while signal.sigtimedwait({signal.SIGINT}, patience):
    print("heard", flush=True)
    patience = 1.5
"""
    attached = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
    leader, terminal = os.openpty()
    argv = [sys.executable, "-c", attached, str(program), "--", sys.executable, "-c", counting]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, stdin=terminal, stdout=pipe, text=True, start_new_session=True
    ) as process:
        os.close(terminal)
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        os.write(leader, b"\x03")
        output = process.stdout.read()
    os.close(leader)
    assert output.count("heard") == 1
    assert process.returncode == 0


def test_a_command_ends_at_the_deadline(program: Path) -> None:
    assert _run(program, "--deadline=0.2s", "--", "sleep", "60").returncode == 128 + signal.SIGTERM


# The command line.


def test_help_and_version(program: Path) -> None:
    assert _run(program, "--version").stdout == "rail-watch 0.1.0\n"
    words = _run(program, "--help").stdout
    for option in ("--json", "--interval", "--marks", "--deadline", "--root", "-- COMMAND"):
        assert option in words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--intervall=1s"], "did you mean '--interval'"),
        (["--interval=1ms"], "10ms to"),
        (["--interval=2h"], "10ms to"),
        (["--interval"], "needs a value"),
        (["5"], "begin with --"),
        (["--marks=x"], "--marks needs --json"),
        (["--json", "--marks=a/b"], "can be no name"),
        (["--"], "has to follow --"),
        (["--json", "--", "true"], "--json takes no command"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    program: Path, arguments: list[str], words: str
) -> None:
    completed = _run(program, *arguments)
    assert completed.returncode == 2
    output = completed.stdout if arguments[0] == "--json" else completed.stderr
    assert words in output
    assert "bad-parameter" in output
