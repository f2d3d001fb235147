"""TCP over 150 km in a box: what its window lets through, beside what the kernel says of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.support.boxes import Box

from railgauge.engine.deploy import bundle, deploy
from railgauge.hosts.transport.interface import Process
from railgauge.hosts.transport.local import LocalTransport
from railgauge.hosts.transport.netns import NetnsTransport

_DATA_PORT = 5998
_UNDER_WAY = 100_000  # bytes: by then the handshake's windows are past


@pytest.fixture
def pair(box: Box, require: Callable[[object, str], None]) -> Box:
    require(shutil.which("ss"), "ss")
    box.write("hosts: [gw, hh]\nlinks: [{between: [gw, hh], rate: 1Gbit/s, rtt: 2.9ms}]\n")
    return box


def _offered(namespace: str) -> list[int]:
    """Ask ss for the windows offered to the connections that send test data."""
    stdout = subprocess.run(
        [*("ip", "netns", "exec", namespace), *("ss", "-tinH", "dport", "=", f":{_DATA_PORT}")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    sent = [int(number) for number in re.findall(r"bytes_sent:(\d+)", stdout)]
    windows = [int(number) for number in re.findall(r"snd_wnd:(\d+)", stdout)]
    return windows if sent and min(sent) > _UNDER_WAY else []


def _events(client: Process) -> list[dict[str, Any]]:
    events = []
    while (line := client.read_line(60)) is not None:
        events.append(json.loads(line))
    return events


def _measure(box: Box, engine: str, address: str, sockbuf: str) -> tuple[dict[str, float], int]:
    """Measure once; return the metrics and the largest window that ss saw meanwhile."""
    near, far = (NetnsTransport(name, box.namespace(name)) for name in ("gw", "hh"))
    server = far.start([engine, "server", "--open=::", "--port", "5997", "--once", "--json"])
    server.read_line(60)
    client = near.start(
        [
            *(engine, "client", address, "--port", "5997", "--json", "--replications", "1"),
            *("--duration", "2s", "--congestion", "reno", "--link-rate", "1Gbit/s"),
            *("--sockbuf", sockbuf, "--data-port", str(_DATA_PORT)),
        ]
    )
    windows: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        events = pool.submit(_events, client)
        while not events.done():
            windows += _offered(box.namespace("gw"))
    results = [event["metrics"] for event in events.result() if event["event"] == "replication"]
    assert len(results) == 1, events.result()
    return results[0], max(windows, default=0)


def test_a_window_over_the_long_way_lets_through_what_it_holds_in_a_round_trip(
    pair: Box, paced: Callable[..., Any]
) -> None:
    address = pair.up()["hosts"]["hh"]["address"]
    engine = f"{deploy(LocalTransport('here'), bundle())}/rail-tcp"

    def measure(sockbuf: str) -> dict[str, float]:
        for _ in range(5):
            metrics, offered = _measure(pair, engine, address, sockbuf)
            # Each looks now and then: while the receiver waits for its CPU, less is offered.
            if metrics["window"] == offered:
                break
        assert metrics["window"] == offered
        assert metrics["window_bound"] == pytest.approx(offered * 8 / metrics["rtt"])
        assert metrics["throughput"] <= 1.02 * metrics["window_ceiling"]
        assert metrics["rtt"] >= metrics["min_rtt"] >= 2.9e-3
        return metrics

    for sockbuf in ("10KiB", "100KiB"):
        # A stalled machine lengthens the mean of the round trips that were looked at.
        paced(
            lambda sockbuf=sockbuf: measure(sockbuf),
            lambda metrics: 0.65 <= metrics["throughput"] / metrics["window_bound"] <= 1.35,
        )

    def fill() -> dict[str, float]:
        metrics, _ = _measure(pair, engine, address, "10MiB")
        assert metrics["window_bound"] <= metrics["window_ceiling"] == 1e9
        assert metrics["throughput"] <= 1.2 * 0.95e9
        return metrics

    paced(
        fill,
        lambda metrics: metrics["window_bound"] == 1e9 and 0.3e9 <= metrics["throughput"] <= 0.95e9,
    )
