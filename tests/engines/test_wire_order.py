"""rail-wire sends on twice, and in another order, exactly the packets that its patterns say."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import wire_lab
from tests.support.processes import stopped
from tests.support.wire_lab import RIGHT, Lab, either

COUNT = 50


@pytest.fixture
def lab(folder: Path, require, request: pytest.FixtureRequest) -> Iterator[Lab]:
    yield from wire_lab.lab_fixture(folder, require, getattr(request, "param", "packet"))


def _sent_through(lab: Lab, count: int, *options: str) -> tuple[list[int], wire_lab.Counts]:
    """Return the numbers of the datagrams as they arrived, and the wire's counts."""
    with lab.joined(*options) as relay, lab.udp(lab.left) as a, lab.udp(lab.right) as b:
        # All are there when it reads the first: a frame waits for others only so long.
        with stopped(relay.pid):
            wire_lab.send_numbers(a, b, count)
        counts = relay.wait_for(
            lambda c: c["left_to_right"]["counted"] == count and not c["left_to_right"]["queued"]
        )["left_to_right"]
        arrived = count - int(counts["lost"]) + int(counts["duplicated"])
        return wire_lab.numbers(b, arrived), counts


@either
def test_the_patterns_packets_come_twice(lab: Lab) -> None:
    numbers, counts = _sent_through(lab, COUNT, "--duplicate=every:7")
    assert numbers == sorted([*range(1, COUNT + 1), *range(7, COUNT + 1, 7)])
    assert (counts["duplicated"], counts["reordered"], counts["lost"]) == (7, 0, 0)


@pytest.mark.parametrize("by", [1, 3])
def test_as_many_as_asked_overtake_the_patterns_packets(lab: Lab, by: int) -> None:
    numbers, counts = _sent_through(lab, COUNT, "--reorder=every:10:5", f"--reorder-by={by}")
    expected = list(range(1, COUNT + 1))
    for number in range(5, COUNT + 1, 10):
        expected.remove(number)
        expected.insert(number - 1 + by, number)
    assert numbers == expected
    assert (counts["duplicated"], counts["reordered"], counts["lost"]) == (0, 5, 0)


def test_a_packet_that_nothing_overtakes_goes_on_and_is_not_counted(lab: Lab) -> None:
    numbers, counts = _sent_through(lab, 3, "--reorder=list:3")
    assert (numbers, counts["reordered"]) == ([1, 2, 3], 0)


def test_what_came_while_the_wire_had_no_cpu_overtakes(lab: Lab) -> None:
    """A frame waits for that 0.05 s, and was read before the wire was stopped for longer."""
    for _ in range(20):
        with (
            lab.joined("--reorder=list:1") as relay,
            lab.udp(lab.left) as a,
            lab.udp(lab.right) as b,
        ):
            began = time.monotonic()
            wire_lab.send_numbers(a, b, 1)
            relay.wait_for(lambda c: c["left_to_right"]["counted"])
            with stopped(relay.pid):
                passed = time.monotonic() - began
                a.sendto((2).to_bytes(8, "big"), b.getsockname())
                time.sleep(0.06)
            numbers = wire_lab.numbers(b, 2)
        if passed < 0.05:
            break
    assert (numbers, passed < 0.05) == ([2, 1], True)


def test_one_packet_at_a_time_is_overtaken(lab: Lab) -> None:
    numbers, counts = _sent_through(lab, 6, "--reorder=list:1-4", "--reorder-by=2")
    assert (numbers, counts["reordered"]) == ([2, 3, 1, 5, 6, 4], 2)


def test_what_is_lost_overtakes_nothing_and_never_comes_twice(lab: Lab) -> None:
    options = ("--loss=list:2,6,7,9", "--duplicate=list:2-3", "--reorder=list:1")
    numbers, counts = _sent_through(lab, 10, *options)
    assert numbers == [3, 3, 1, 4, 5, 8, 10]
    assert {k: counts[k] for k in ("lost", "loss_runs", "duplicated", "reordered")} == {
        "lost": 4,
        "loss_runs": 3,
        "duplicated": 1,
        "reordered": 1,
    }


def test_rail_udp_reports_the_very_duplicates_and_reordering_of_the_wire(engines, lab: Lab) -> None:
    """The datagram that waits is never the last one, which nothing could overtake."""
    patterns = ("--duplicate=every:31", "--reorder=every:17:3", "--loss=every:13", "--loss-of=udp")
    inside = ("ip", "netns", "exec")
    with lab.joined(*patterns, "--direction=left-to-right") as relay:
        server = engines.server("udp", prefix=(*inside, lab.right))
        stream = ("--count=1000", "--replications=1", "--rate=20Mbit/s", "--sockbuf=4MiB")
        argv = engines.argv("udp", "client", RIGHT, "--json", f"--port={server.port}", *stream)
        (metrics,) = engines.start_other(*inside, lab.left, *argv).finish().metrics
        counts = relay.finish()["left_to_right"]
    names = {"lost_packets": "lost", "duplicate_packets": "duplicated"}
    names |= {"reordered_packets": "reordered"}
    assert {name: metrics[name] for name in names} == {k: counts[v] for k, v in names.items()}
    assert min(counts[name] for name in names.values()) > 0
