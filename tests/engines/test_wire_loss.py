"""rail-wire loses exactly the packets that its pattern says, and lists exactly those."""

from __future__ import annotations

import base64
import itertools
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import AF_INET, AF_INET6

import pytest
from tests.support import wire_lab
from tests.support.wire_lab import RIGHT, Lab, either

from railgauge.base import trace

COUNT = 150
DIRECTIONS = ("left_to_right", "right_to_left")
MASK = 2**64 - 1


@pytest.fixture
def lab(folder: Path, require, request: pytest.FixtureRequest) -> Iterator[Lab]:
    yield from wire_lab.lab_fixture(folder, require, getattr(request, "param", "tap"))


def _splitmix(seed: int, number: int) -> int:
    z = (seed + number * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def _random(number: int, direction: int) -> bool:
    return (_splitmix(~42 & MASK if direction else 42, number) >> 11) / 2**53 < 0.2


PATTERNS: dict[str, Callable[[int, int], bool]] = {
    "every:7": lambda number, _: number % 7 == 0,
    "every:5:2": lambda number, _: number % 5 == 2,
    "every:10:33": lambda number, _: number >= 33 and number % 10 == 3,
    "every:1": lambda number, _: True,
    "list:1,4-6,8,149-9999999": lambda number, _: number in {1, 4, 5, 6, 8, 149, 150},
    "random:0.2:42": _random,
    "random:0:1": lambda number, _: False,
    "random:1:1": lambda number, _: True,
}


def _drops(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _all_arrived(counts: wire_lab.Event) -> bool:
    return all(counts[d]["counted"] == COUNT and counts[d]["queued"] == 0 for d in DIRECTIONS)


@pytest.mark.parametrize(
    ("lab", "pattern", "family"),
    [("tap", pattern, family) for pattern in PATTERNS for family in (AF_INET, AF_INET6)]
    + [("packet", "every:7", AF_INET), ("packet", "random:0.2:42", AF_INET6)],
    indirect=["lab"],
)
def test_exactly_the_patterns_packets_are_lost_both_ways(
    lab: Lab, tmp_path: Path, pattern: str, family: int
) -> None:
    expected = [
        [n for n in range(1, COUNT + 1) if PATTERNS[pattern](n, direction)] for direction in (0, 1)
    ]
    joined = lab.joined("--loss", pattern, "--drops", tmp_path / "drops")
    with joined as relay, lab.udp(lab.left, family) as a, lab.udp(lab.right, family) as b:
        wire_lab.send_numbers(a, b, COUNT)
        wire_lab.send_numbers(b, a, COUNT)
        relay.wait_for(_all_arrived)
        # As long as the devices are there: with them goes what the kernel hasn't passed on yet.
        arrived = [
            wire_lab.numbers(end, COUNT - len(lost))
            for end, lost in zip((b, a), expected, strict=True)
        ]
        relay.finish()
        names = [f"[{s.getsockname()[0]}]:{s.getsockname()[1]}" for s in (a, b)]
    drops = _drops(tmp_path / "drops")
    for direction, lost, came in zip(DIRECTIONS, expected, arrived, strict=True):
        assert came == [n for n in range(1, COUNT + 1) if n not in lost]
        own = [drop for drop in drops if drop["direction"] == direction]
        assert [drop["number"] for drop in own] == lost
        assert [int(str(drop["payload"])[:16], 16) for drop in own] == lost
        header = 28 if family == AF_INET else 48
        assert {drop["ip_length"] for drop in own} <= {100 + header}
        ends = names if direction == "left_to_right" else names[::-1]
        if family == AF_INET:
            ends = [end.replace("[", "").replace("]", "") for end in ends]
        assert {(drop["source"], drop["destination"]) for drop in own} <= {tuple(ends)}


@either
@pytest.mark.parametrize("family", [AF_INET, AF_INET6])
def test_hosts_find_each_other_even_where_everything_is_lost(
    lab: Lab, tmp_path: Path, family: int
) -> None:
    """A datagram is only sent once its neighbour has answered."""
    options = ("--loss=every:1", "--drops", tmp_path / "drops")
    joined = lab.joined(*options, acquainted=False)
    with joined as relay, lab.udp(lab.left, family) as a, lab.udp(lab.right, family) as b:
        wire_lab.send_numbers(a, b, 1)
        counts = relay.wait_for(lambda c: c["left_to_right"]["lost"] == 1)
    assert counts["left_to_right"]["passed"] >= 1
    assert [drop["protocol"] for drop in _drops(tmp_path / "drops")] == ["udp"]


@pytest.mark.parametrize("direction", ["left-to-right", "right-to-left"])
def test_only_the_direction_named_loses(lab: Lab, direction: str) -> None:
    joined = lab.joined("--loss=every:2", "--direction", direction)
    with joined as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        wire_lab.send_numbers(a, b, 40)
        wire_lab.send_numbers(b, a, 40)
        counts = relay.wait_for(lambda c: all(c[d]["counted"] == 40 for d in DIRECTIONS))
    lossy = direction.replace("-", "_")
    assert {d: counts[d]["lost"] for d in DIRECTIONS} == {
        d: 20 if d == lossy else 0 for d in DIRECTIONS
    }


def test_what_loss_of_leaves_out_is_neither_counted_nor_lost(lab: Lab, tmp_path: Path) -> None:
    joined = lab.joined("--loss=every:1", "--loss-of=udp", "--drops", tmp_path / "drops")
    with (
        joined as relay,
        lab.open_socket(lab.right, AF_INET, socket.SOCK_STREAM) as listener,
        lab.open_socket(lab.left, AF_INET, socket.SOCK_STREAM) as client,
        lab.udp(lab.left) as a,
        lab.udp(lab.right) as b,
    ):
        listener.bind((RIGHT, 0))
        listener.listen()
        client.connect(listener.getsockname())
        wire_lab.send_numbers(a, b, 3)
        counts = relay.wait_for(lambda c: c["left_to_right"]["lost"] == 3)
    assert counts["left_to_right"]["counted"] == 3
    assert {drop["protocol"] for drop in _drops(tmp_path / "drops")} == {"udp"}


def test_losing_all_of_tcp_leaves_udp_alone(lab: Lab, tmp_path: Path) -> None:
    joined = lab.joined("--loss=every:1", "--loss-of=tcp", "--drops", tmp_path / "drops")
    with (
        joined as relay,
        lab.open_socket(lab.left, AF_INET, socket.SOCK_STREAM) as client,
        lab.udp(lab.left) as a,
        lab.udp(lab.right) as b,
    ):
        client.setblocking(False)
        assert client.connect_ex((RIGHT, 5999))  # under way
        wire_lab.send_numbers(a, b, 3)
        relay.wait_for(lambda c: c["left_to_right"]["lost"] >= 1)
        assert b.recv(100)[:8] == (1).to_bytes(8, "big")
    first = _drops(tmp_path / "drops")[0]
    assert (first["protocol"], first["destination"], first["number"]) == ("tcp", f"{RIGHT}:5999", 1)
    assert "payload" not in first


@either
def test_a_fragment_is_a_packet_of_its_own(lab: Lab, tmp_path: Path) -> None:
    joined = lab.joined("--loss=list:2", "--drops", tmp_path / "drops")
    with joined as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        wire_lab.send_numbers(a, b, 1, size=4000)
        counts = relay.wait_for(lambda c: c["left_to_right"]["counted"] == 3)
        assert wire_lab.numbers(b) == []
    assert counts["left_to_right"]["lost"] == 1
    (drop,) = _drops(tmp_path / "drops")
    assert (drop["source"], drop["ip_length"]) == (wire_lab.LEFT, 1500)  # no ports in there
    assert "payload" not in drop


def _runs(numbers: list[int]) -> list[list[int]]:
    """Return rows of (number before the loss, how many), as a trace's loss runs have them."""
    runs = [
        [n for _, n in group]
        for _, group in itertools.groupby(
            enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]
        )
    ]
    return [[run[0] - 1, len(run)] for run in runs]


@pytest.mark.parametrize(
    ("lab", "pattern"),
    [
        ("tap", "random:0.05:7"),
        ("tap", "every:3"),
        ("packet", "list:1,2,17-40,500,1999-2003,3999-4000"),
    ],
    indirect=["lab"],
)
def test_rail_udp_reports_the_very_losses_that_the_wire_lists(
    engines, lab: Lab, tmp_path: Path, pattern: str
) -> None:
    """Two replications of 2000 datagrams; 2001 on are the second one's."""
    options = ("--loss", pattern, "--loss-of=udp", "--drops", tmp_path / "drops")
    inside = ("ip", "netns", "exec")
    with lab.joined(*options, "--direction=left-to-right") as relay:
        server = engines.server("udp", prefix=(*inside, lab.right))
        stream = ("--count=2000", "--replications=2", "--rate=30Mbit/s", "--sockbuf=4MiB")
        argv = engines.argv(
            "udp", "client", RIGHT, "--json", f"--port={server.port}", *stream, "--trace=2000"
        )
        outcome = engines.start_other(*inside, lab.left, *argv).finish()
        counts = relay.finish()["left_to_right"]
    assert (counts["overflowed"], counts["refused"], counts["unread"]) == (0, 0, 0)
    assert counts["counted"] == 4000
    drops = _drops(tmp_path / "drops")
    by_token = itertools.groupby(drops, lambda drop: str(drop["payload"])[:16])
    listed = [[int(str(d["payload"])[16:], 16) for d in group] for _, group in by_token]
    reported = []
    for replication in (1, 2):
        parts = [e["data"] for e in outcome.of("trace") if e["replication"] == replication]
        decoded = trace.decode(b"".join(base64.b64decode(part) for part in parts))
        reported.append(trace.loss_runs(decoded).tolist())
    assert reported == [_runs(numbers) for numbers in listed]
    assert [m["lost_packets"] for m in outcome.metrics] == [len(numbers) for numbers in listed]
    assert counts["lost"] == len(drops)


@pytest.mark.parametrize("direction", ["left-to-right", "right-to-left"])
def test_round_trips_that_the_wire_loses_are_counted_lost(
    engines, lab: Lab, direction: str
) -> None:
    """The 5th, 6th and 11th that come to the wire; blocked calls are woken up for each."""
    options = ("--loss=list:5,6,11", "--loss-of=udp", "--direction", direction)
    inside = ("ip", "netns", "exec")
    with lab.joined(*options) as relay:
        server = engines.server("udp", prefix=(*inside, lab.right))
        trips = ("--mode=latency", "--count=20", "--replications=1")
        argv = engines.argv("udp", "client", RIGHT, "--json", f"--port={server.port}", *trips)
        outcome = engines.start_other(*inside, lab.left, *argv).finish()
        counts = relay.finish()[direction.replace("-", "_")]
    (m,) = outcome.metrics
    assert counts["lost"] == 3
    assert (m["round_trips"], m["lost_packets"], m["loss_rate"]) == (17, 3, 3 / 20)
    assert m["client_elapsed"] >= 3
