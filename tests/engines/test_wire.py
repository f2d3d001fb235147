"""rail-wire: its delay, its rate, its queue, and every way to begin and to end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import wire_lab
from tests.support.wire_lab import DEVICE, RIGHT, Lab, Relay, either

ETHERNET = 24  # bytes on the wire beside a frame
HEADERS = 14 + 20 + 8  # of a UDP datagram's frame


@pytest.fixture
def lab(folder: Path, require, request: pytest.FixtureRequest) -> Iterator[Lab]:
    yield from wire_lab.lab_fixture(folder, require, getattr(request, "param", "tap"))


def _measure(engines, lab: Lab, engine: str, *options: object) -> dict[str, float]:
    inside = ("ip", "netns", "exec")
    server = engines.server(engine, prefix=(*inside, lab.right))
    arguments = ("--json", f"--port={server.port}", "--replications=1", *options)
    client = engines.argv(engine, "client", RIGHT, *arguments)
    (metrics,) = engines.start_other(*inside, lab.left, *client).finish().metrics
    return metrics


# Delay, rate, queue.


def test_no_round_trip_is_shorter_than_the_delay_both_ways(engines, lab: Lab, paced) -> None:
    def measure() -> dict[str, float]:
        m = _measure(engines, lab, "udp", "--mode=latency", "--datagram=64", "--count=100")
        assert m["rtt_min"] >= 0.010
        return m

    with lab.joined("--delay=5ms") as relay:
        paced(measure, lambda m: m["rtt_p50"] <= 0.015)
        counts = relay.finish()
    for direction in ("left_to_right", "right_to_left"):
        assert 0 <= counts[direction]["lateness_p50"] <= counts[direction]["lateness_max"]


def test_frames_arrive_no_faster_than_the_rate_and_in_order(lab: Lab, paced) -> None:
    """A hundred at once; each takes the wire for 8 ms."""

    def burst() -> float:
        before = time.monotonic()
        wire_lab.send_numbers(a, b, 100, size=1000 - HEADERS - ETHERNET)
        numbers = [int.from_bytes(b.recv(2000)[:8], "big") for _ in range(100)]
        elapsed = time.monotonic() - before
        assert numbers == list(range(1, 101))
        assert elapsed >= 100 * 0.008 * 0.999  # the two clocks may differ a little
        return elapsed

    joined = lab.joined("--rate=1Mbit/s")
    with joined, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        paced(burst, lambda elapsed: elapsed <= 100 * 0.008 * 1.5)


@pytest.mark.parametrize("mtu", [1500, 9000])
def test_a_tcp_stream_gets_what_the_rate_leaves_it(engines, lab: Lab, paced, mtu) -> None:
    payload = (mtu - 52) / (mtu + 14 + ETHERNET)

    def share() -> float:
        m = _measure(engines, lab, "tcp", "--duration=1s", "--congestion=reno")
        assert m["throughput"] <= 100e6 * payload * 1.01
        return m["throughput"] / (100e6 * payload)

    with lab.joined("--rate=100Mbit/s", f"--mtu={mtu}"):
        paced(share, lambda share: share >= 0.7)


@either
def test_what_finds_no_room_in_the_queue_is_counted(lab: Lab) -> None:
    """There is room for ten, and one is on its way for 8 ms."""
    size = 1000
    joined = lab.joined("--rate=1Mbit/s", f"--queue={10 * size}")
    with joined as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        wire_lab.send_numbers(a, b, 60, size - HEADERS - ETHERNET)
        counts = relay.wait_for(
            lambda c: c["left_to_right"]["counted"] == 60 and not c["left_to_right"]["queued"]
        )["left_to_right"]
        arrived = wire_lab.numbers(b, 60 - counts["overflowed"])
    # Now and then the kernel's own frames take some of it.
    assert 0 <= counts["overflowed"] - (60 - len(arrived)) <= 5
    assert 8 <= len(arrived) < 60
    assert arrived[:8] == list(range(1, 9))


@pytest.mark.long
def test_the_queue_holds_no_frame_that_only_waits_for_the_delay(lab: Lab, paced) -> None:
    """Five come within the delay of the first; a relay that is kept waiting sees some at once."""

    def overflowed_of_five() -> int:
        joined = lab.joined("--delay=300ms", "--queue=0", "--rate=100Mbit/s")
        with joined as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
            for _ in range(5):
                wire_lab.send_numbers(a, b, 1)
                time.sleep(0.01)
            counts = relay.wait_for(lambda c: c["left_to_right"]["counted"] == 5)
        return int(counts["left_to_right"]["overflowed"])

    paced(overflowed_of_five, lambda overflowed: overflowed == 0)


def test_without_a_rate_the_memory_for_what_is_under_way_is_bounded(lab: Lab) -> None:
    """A minute's delay: what does not fit is counted, and nothing comes through."""
    size = 64_000
    joined = lab.joined("--delay=60s", "--mtu=65000")
    with joined as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        wire_lab.send_numbers(a, b, 4500, size)
        counts = relay.wait_for(lambda c: c["left_to_right"]["overflowed"])["left_to_right"]
    assert counts["passed"] == 0
    assert counts["queued"] * size <= 300e6


# Frames of any kind.

_IP4 = bytes.fromhex("450000ff00004000401100000a6300010a630002")
_ODD_FRAMES = {
    "no-payload": bytes.fromhex("0800"),
    "cut-ip4": bytes.fromhex("0800") + _IP4[:12],
    "ip4-with-a-header-longer-than-it": bytes.fromhex("08004f") + _IP4[1:],
    "ip4-with-a-short-header": bytes.fromhex("080041") + _IP4[1:],
    "ip4-that-claims-more": bytes.fromhex("0800") + _IP4,
    "udp-cut-in-its-ports": bytes.fromhex("0800") + _IP4 + b"\x13",
    "not-ip4-at-all": bytes.fromhex("0800") + bytes(40),
    "cut-ip6": bytes.fromhex("86dd60") + bytes(30),
    "ip6-with-endless-extensions": bytes.fromhex("86dd60") + bytes(1400),
    "ip6-with-a-cut-extension": bytes.fromhex("86dd6000000000002bff") + bytes(36),
    "vlan-of-vlan-of-nothing": bytes.fromhex("8100000188a8000281000003"),
    "udp-in-a-vlan": bytes.fromhex("810000010800") + _IP4 + bytes(8),
    "noise": bytes(range(256)) * 5,
}


@either
def test_frames_that_make_no_sense_come_through_unchanged(lab: Lab) -> None:
    frames = {bytes.fromhex("020000000001020000000002") + rest for rest in _ODD_FRAMES.values()}
    with lab.joined("--loss=every:1000") as relay, lab.raw(lab.left) as a, lab.raw(lab.right) as b:
        for frame in frames:
            a.send(frame)
        # The kernel takes a tag off before anybody sees the frame.
        expected = {frame for frame in frames if frame[12:14] != b"\x81\x00"}
        came: set[bytes] = set()
        while not came >= expected:
            came.add(b.recv(2000))
        counts = relay.finish()["left_to_right"]
    assert counts["passed"] >= len(frames)
    assert (counts["lost"], counts["refused"]) == (0, 0)


@either
def test_a_tagged_packet_is_counted_as_what_it_carries(lab: Lab, tmp_path: Path) -> None:
    joined = lab.joined("--loss=every:1", "--loss-of=udp", f"--drops={tmp_path / 'drops'}")
    with joined as relay, lab.raw(lab.left) as a:
        a.send(bytes(12) + _ODD_FRAMES["udp-in-a-vlan"])
        relay.wait_for(lambda c: c["left_to_right"]["lost"] == 1)
    drop = json.loads((tmp_path / "drops").read_text())
    assert (drop["source"], drop["destination"]) == ("10.99.0.1:0", "10.99.0.2:0")
    assert (drop["ip_length"], drop["payload"]) == (255, "")


@either
def test_what_a_device_that_is_down_does_not_take_is_counted(lab: Lab) -> None:
    with lab.joined() as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        wire_lab.send_numbers(a, b, 1)
        relay.wait_for(lambda c: c["left_to_right"]["counted"] == 1)
        wire_lab.ip(lab.right, "link", "set", DEVICE, "down")
        wire_lab.send_numbers(a, b, 4)
        # At the least: the kernel may ask for its neighbour in between.
        down = relay.wait_for(lambda c: c["left_to_right"]["refused"] >= 4)["left_to_right"]
        wire_lab.ip(lab.right, "link", "set", DEVICE, "up")
        wire_lab.send_numbers(a, b, 1)
        relay.wait_for(lambda c: c["left_to_right"]["passed"] > down["passed"])


# Beginning.


@either
def test_the_devices_are_there_at_once_with_their_mtu(lab: Lab) -> None:
    relay = Relay(lab.argv("--mtu=9000", "--rate=1Gbit/s", "--delay=1.45ms", "--queue=1MiB"))
    try:
        for namespace in (lab.left, lab.right):
            (link,) = json.loads(wire_lab.ip(namespace, "-j", "link", "show", "dev", DEVICE))
            assert (link["mtu"], "UP" in link["flags"]) == (9000, True)
    finally:
        relay.stop()
    ready = {k: relay.ready[k] for k in ("rate", "delay", "queue", "mtu", "loss")}
    assert ready == {"rate": 1e9, "delay": 0.00145, "queue": 1 << 20, "mtu": 9000, "loss": ""}
    assert relay.ready["left"] == {"netns": lab.left, "device": DEVICE}


def test_a_namespace_can_be_given_as_a_path_or_be_its_own(lab: Lab) -> None:
    argv = [lab.program, "--json", "--left", f"-/{DEVICE}", "--right"]
    own = ("ip", "netns", "exec", lab.left)
    relay = Relay([*own, *argv, f"/run/netns/{lab.right}/{DEVICE}"])
    try:
        assert lab.exists(lab.left)
        assert lab.exists(lab.right)
    finally:
        relay.stop()


def test_by_hand_it_says_what_it_does_in_words(lab: Lab) -> None:
    argv = [option for option in lab.argv("--rate=1Gbit/s", "--loss=every:9") if option != "--json"]
    completed = subprocess.run(argv, input="", capture_output=True, text=True, timeout=30)
    ready, *counts = completed.stdout.splitlines()
    assert "rate 1Gbit/s, delay 0s each way, MTU 1500, loss every:9" in ready
    assert [line.split(":")[0] for line in counts] == ["left to right", "right to left"]
    assert all(" lost 0 " in line for line in counts)
    assert completed.returncode == 0


def test_help_has_every_option(folder: Path) -> None:
    completed = subprocess.run([folder / "rail-wire", "--help"], capture_output=True, text=True)
    numbers = ["rate", "delay", "queue", "mtu", "deadline"]
    patterns = ["loss", "duplicate", "reorder", "reorder-by", "loss-of", "direction", "drops"]
    for word in ("left", "right", "json", "device", *patterns, *numbers):
        assert f"\n  --{word}" in completed.stdout
    assert completed.returncode == 0


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--left=nowhere", "must be NETNS/IFNAME"),
        ("--left=no-such-namespace/x", "there is no network namespace 'no-such-namespace'"),
        ("--left=/dev/null/x", "cannot enter the network namespace /dev/null"),
        ("--left=a/b/c", "is no namespace's name"),
        ("--left=-/sixteen-letters-", "longer than 15"),
        ("--left=-/a%d", "cannot be a device's name"),
        ("--left=-/..", "cannot be a device's name"),
        ("--los=every:2", "did you mean '--loss'"),
        ("--zzzzzz=1", "--help lists them"),
        ("--rate=5Mbps", "rate must be 0 to 1000Gbit/s"),
        ("--rate=10", "at least 1kbit/s"),
        ("--mtu=10", "mtu must be 68 to 65521"),
        ("--device=veth", "auto|tap|packet"),
        ("--reorder=every:0", "--reorder: a 0 (packets count from 1)"),
        ("--duplicate=often", "--duplicate: no known pattern"),
        ("--reorder-by=0", "must be 1 to 1000"),
        ("--direction=up", "both|left-to-right|right-to-left"),
        ("--drops=/tmp/x", "give that too"),
        ("left", "options begin with --"),
        ("--queue", "--queue needs a value"),
        ("--loss=often", "no known pattern"),
        ("--loss=every:0", "packets count from 1"),
        ("--loss=every:5:0", "packets count from 1"),
        ("--loss=every:5x", "something left over"),
        ("--loss=every:-5", "no number where one is due"),
        ("--loss=every:99999999999999999999", "too large"),
        ("--loss=list:", "no number where one is due"),
        ("--loss=list:5,4", "do not rise"),
        ("--loss=list:0", "do not rise"),
        ("--loss=list:9-7", "do not rise"),
        ("--loss=list:1,5-9,9", "do not rise"),
        ("--loss=list:1;2", "something left over"),
        ("--loss=random:2:1", "a rate that is not from 0 to 1"),
        ("--loss=random:nan:1", "a rate that is not from 0 to 1"),
        ("--loss=random:0.1", "no seed"),
        ("--loss=random:0.1:1:1", "something left over"),
    ],
)
def test_a_wrong_argument_is_told_with_what_to_do(lab: Lab, option: str, words: str) -> None:
    error = lab.refused(option)
    assert words in error["message"]
    assert (error["code"], error["status"]) == ("bad-parameter", 2)
    assert not lab.exists(lab.right)


def test_a_wire_with_one_end_is_none(folder: Path) -> None:
    argv = [folder / "rail-wire", "--right", "-/x"]
    completed = subprocess.run(argv, capture_output=True, text=True)
    assert "give --left NETNS/IFNAME and --right" in completed.stderr
    assert (completed.returncode, completed.stdout) == (2, "")


@either
def test_a_device_that_is_there_already_is_left_alone(lab: Lab) -> None:
    wire_lab.ip(lab.right, "tuntap", "add", DEVICE, "mode", "tap")
    error = lab.refused()
    assert f"there is a device '{DEVICE}' in {lab.right} already" in error["message"]
    assert lab.exists(lab.right)
    lab.wait_until_gone(lab.left)


def test_a_list_of_drops_that_cannot_be_written_is_an_error(lab: Lab) -> None:
    error = lab.refused("--loss=every:2", "--drops=/nowhere/drops")
    assert (error["code"], error["status"]) == ("file-unusable", 1)
    assert "/nowhere/drops" in error["message"]


def test_who_may_not_enter_a_namespace_is_told_what_it_takes(lab: Lab, require) -> None:
    require(shutil.which("setpriv"), "setpriv")
    without = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    error = lab.refused(prefix=without)
    assert (error["code"], error["status"]) == ("not-permitted", 1)
    assert "run rail-wire as root, or inside `unshare -Urnm`" in error["message"]


def test_a_machine_without_tun_is_told_what_it_lacks(lab: Lab, require) -> None:
    require(shutil.which("unshare"), "unshare")
    script = 'mount -t tmpfs none /dev/net && exec "$@"'
    error = lab.refused(prefix=("unshare", "--mount", "sh", "-c", script, "sh"))
    assert (error["code"], error["status"]) == ("system-error", 1)
    assert "there is no /dev/net/tun" in error["message"]


def test_it_works_in_a_user_namespace_with_namespaces_of_its_own(folder: Path, require) -> None:
    user = ("unshare", "--user", "--map-root-user", "--net", "--mount")
    able = Path("/dev/net/tun").exists() and os.access("/dev/net/tun", os.R_OK | os.W_OK)
    require(able and subprocess.run([*user, "true"]).returncode == 0, "user namespaces and tun")
    script = (
        "mount -t tmpfs none /run && ip netns add a && ip netns add b && "
        'exec "$0" --json --left a/x --right b/x'
    )
    argv = [*user, "sh", "-c", script, str(folder / "rail-wire")]
    result = subprocess.run(argv, input="", capture_output=True, text=True, timeout=30)
    assert [json.loads(line)["event"] for line in result.stdout.splitlines()] == ["ready", "counts"]
    assert (result.returncode, result.stderr) == (0, "")


# Ending.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_its_counts(lab: Lab, number: int) -> None:
    joined = lab.joined("--delay=50s")
    with joined as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        wire_lab.send_numbers(a, b, 3)
        relay.wait_for(lambda c: c["left_to_right"]["counted"] == 3)
        relay.process.send_signal(number)
        counts = relay.event()
        assert relay.process.wait(timeout=30) == 0
        assert not lab.exists(lab.left)
    assert counts["left_to_right"]["queued"] >= 3  # under way for a minute


@either
def test_the_end_of_its_standard_input_ends_it(lab: Lab) -> None:
    with lab.joined() as relay:
        assert relay.finish()["event"] == "counts"
        assert not lab.exists(lab.right)


@either
def test_killed_it_leaves_no_device(lab: Lab) -> None:
    with lab.joined() as relay:
        assert lab.exists(lab.left)
        relay.process.kill()
        relay.process.wait()
        lab.wait_until_gone(lab.left, lab.right)


def test_a_deadline_ends_it_and_is_told(lab: Lab) -> None:
    # Not joined: the wire may be gone before its ends have addresses.
    relay = Relay(lab.argv("--deadline=0.5s"))
    try:
        counts, error = relay.event(), relay.event()
        status = relay.process.wait(timeout=30)
    finally:
        relay.stop()
    assert (counts["event"], error["code"], status) == ("counts", "deadline", 1)


@either
def test_a_device_that_is_taken_away_ends_it(lab: Lab) -> None:
    with lab.joined() as relay:
        wire_lab.ip(lab.right, "link", "del", DEVICE)
        counts, error = relay.event(), relay.event()
        status = relay.process.wait(timeout=30)
        assert not lab.exists(lab.left)
    assert (counts["event"], error["code"], status) == ("counts", "system-error", 1)
    assert "a device of the wire was taken away" in error["message"]


@either
def test_frames_that_nobody_read_in_time_are_counted_as_unread(lab: Lab) -> None:
    """A stopped process reads nothing; the kernel keeps a number of frames for it."""
    with lab.joined() as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        relay.process.send_signal(signal.SIGSTOP)
        wire_lab.send_numbers(a, b, 12_000)
        relay.process.send_signal(signal.SIGCONT)
        counts = relay.wait_for(
            lambda c: c["left_to_right"]["counted"] + c["left_to_right"]["unread"] >= 12_000
        )["left_to_right"]
    assert counts["unread"] > 0
    assert counts["counted"] + counts["unread"] - 12_000 <= 10  # the kernel's own now and then


@either
def test_ipv6_and_ipv4_share_the_wire(lab: Lab) -> None:
    with lab.joined(acquainted=False):
        for family in (socket.AF_INET, socket.AF_INET6):
            with lab.udp(lab.left, family) as a, lab.udp(lab.right, family) as b:
                wire_lab.send_numbers(a, b, 1)
                assert int.from_bytes(b.recv(100)[:8], "big") == 1
