"""rail-watch beside the engines: a stream's packets, as the kernel counted them at either end."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import long_way
from tests.support.watcher import Event, Watcher, differences

LEFT, RIGHT = "10.97.0.1", "10.97.0.2"
NAME = "rail-watch-stream"  # in each namespace one of its own


def _ip(*arguments: str) -> None:
    completed = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr


@pytest.fixture
def hosts(require) -> Iterator[tuple[str, str]]:
    """Two namespaces on a wire that carries nothing but what somebody sends."""
    require(os.geteuid() == 0, "root, to make network namespaces")
    with long_way.namespaces() as (left, right):
        ends = ((left, LEFT, "02:00:00:00:00:01"), (right, RIGHT, "02:00:00:00:00:02"))
        _ip("-n", left, "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", right)
        for (name, address, mac), (_, other, other_mac) in zip(ends, ends[::-1], strict=True):
            quiet = "echo 1 > /proc/sys/net/ipv6/conf/v0/disable_ipv6"
            _ip("netns", "exec", name, "sh", "-c", quiet)
            _ip("-n", name, "link", "set", "v0", "address", mac, "up")
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", "v0")
            _ip("-n", name, "neigh", "replace", other, "lladdr", other_mac, "dev", "v0")
        yield left, right


def _replications(watcher: Watcher, count: int) -> list[dict[str, int]]:
    """What moved between the marks of each, in their order."""
    deltas: list[dict[str, int]] = []
    before: dict[str, int] = {}
    while len(deltas) < count:
        mark: Event = watcher.next("mark")
        assert (mark["launch"], mark["replication"]) == (7, len(deltas) + 1)
        if mark["label"] == "begin":
            before = watcher.values
        else:
            deltas.append(differences(before, watcher.values))
    return deltas


def test_counters_between_marks_are_the_streams_own(
    engines, folder: Path, hosts: tuple[str, str]
) -> None:
    """Every packet on the interfaces is a datagram of the test or a segment of its control."""
    inside = [("ip", "netns", "exec", name) for name in hosts]
    options = ("--interval=50ms", f"--marks={NAME}")
    with (
        Watcher(folder / "rail-watch", *options, prefix=inside[0]) as left,
        Watcher(folder / "rail-watch", *options, prefix=inside[1]) as right,
    ):
        server = engines.server("udp", f"--watch={NAME}:7", prefix=inside[1])
        client = engines.argv(
            *("udp", "client", RIGHT, "--json", f"--port={server.port}", f"--watch={NAME}:7"),
            *("--replications=3", "--duration=0.3s", "--datagram=200", "--rate=20Mbit/s"),
        )
        measured = engines.start_other(*inside[0], *client).finish().metrics
        sent, received = _replications(left, 3), _replications(right, 3)
    for metrics, client_side, server_side in zip(measured, sent, received, strict=True):
        assert client_side["protocol/Udp/OutDatagrams"] == metrics["sent_packets"]
        datagrams = server_side["protocol/Udp/InDatagrams"]
        datagrams += server_side.get("protocol/Udp/RcvbufErrors", 0)
        assert datagrams == metrics["sent_packets"]  # at that rate a veth pair loses nothing
        assert server_side["protocol/Udp/InDatagrams"] == metrics["received_packets"]
        control = client_side["protocol/Tcp/OutSegs"]
        # One file is read after the other: an acknowledgement may leave in between.
        packets = client_side["interface/v0/tx_packets"] - metrics["sent_packets"]
        assert abs(packets - control) <= 1
        control = server_side["protocol/Tcp/InSegs"]
        assert server_side["interface/v0/rx_packets"] == metrics["sent_packets"] + control
        assert control <= 4
