"""Whether the sender of a real UDP stream keeps the rate that it was asked for, and who says so."""

from __future__ import annotations

import pytest

from railgauge.base.units import parse_rate
from railgauge.engine.validity import under_rate

CALLS = ("threads", "batch", "gso")


def _short(options: tuple[str, ...], metrics: dict[str, float]) -> list[str]:
    """Return the hosts that did not send at the rate among `options`."""
    given = dict(option.removeprefix("--").split("=") for option in options)
    parameters = {name: int(given.get(name, 0)) for name in CALLS}
    asked = {"rate": parse_rate(given["rate"])}
    return [each.host for each in under_rate(parameters | asked, metrics, ("a", "b"), 0.01)]


@pytest.mark.parametrize(
    "options",
    [
        ("--rate=1Mbit/s", "--duration=0.1s"),  # 9 datagrams
        ("--rate=200kbit/s", "--duration=0.1s"),  # 2 datagrams
        ("--rate=10Mbit/s", "--duration=0.1s", "--datagram=1001"),
        ("--rate=1Mbit/s", "--duration=0.1s", "--threads=3"),
        ("--rate=10Mbit/s", "--duration=0.1s", "--batch=7"),
        ("--rate=10Mbit/s", "--duration=0.1s", "--gso=4"),
        ("--rate=5Mbit/s", "--count=50"),
        ("--rate=5Mbit/s", "--duration=0.1s", "--mode=bidirectional"),
    ],
)
def test_a_rate_that_is_kept_is_not_suspect_however_few_datagrams_that_is(
    engines, paced, options: tuple[str, ...]
) -> None:
    def measure() -> list[list[str]]:
        done = engines.client(engines.server("udp"), *options, count=5)
        return [_short(options, m) for m in done.metrics]

    paced(measure, lambda found: found == [[]] * 5)


@pytest.mark.parametrize(("mode", "hosts"), [("stream", ["a"]), ("bidirectional", ["a", "b"])])
def test_a_rate_that_no_host_can_send_is_suspect_at_each_sender(
    engines, mode: str, hosts: list[str]
) -> None:
    options = ("--rate=1000Gbit/s", "--datagram=100")
    done = engines.client(engines.server("udp"), *options, f"--mode={mode}")
    assert [_short(options, m) for m in done.metrics] == [hosts] * 2


@pytest.mark.parametrize(("mode", "sides"), [("stream", "client"), ("bidirectional", "server")])
def test_by_hand_a_rate_that_was_not_kept_is_warned_of(engines, mode: str, sides: str) -> None:
    options = ("--rate=1000Gbit/s", "--datagram=100", "--duration=0.1s", f"--mode={mode}")
    port = engines.server("udp").port
    done = engines.run("udp", "client", "127.0.0.1", f"--port={port}", *options)
    assert f"warning ({sides}, under-rate): replication 1 sent " in done.errors
    assert "of the 1000000 Mbit/s asked for: " in done.errors
