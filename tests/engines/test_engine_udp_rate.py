"""Whether the sender of a real UDP stream keeps the rate that it was asked for, and who says so."""

from __future__ import annotations

import pytest

from railgauge.base.units import parse_rate
from railgauge.engine.validity import under_rate

CALLS = ("threads", "batch", "gso")


def _short(options: tuple[str, ...], metrics: dict[str, float]) -> list[str]:
    """Return the hosts that did not send at the rate among `options`."""
    values = dict(option.removeprefix("--").split("=") for option in options)
    parameters = {name: int(values.get(name, 0)) for name in CALLS}
    rate = {"rate": parse_rate(values["rate"])}
    return [
        suspicion.host for suspicion in under_rate(parameters | rate, metrics, ("a", "b"), 0.01)
    ]


@pytest.mark.parametrize(
    "options",
    [
        # Longer than a sender stalls, in whose time there are two at the least.
        ("--rate=200kbit/s", "--duration=0.5s"),  # 9 datagrams
        ("--rate=20kbit/s", "--duration=1.1s"),  # 2 datagrams
        ("--rate=10Mbit/s", "--duration=0.3s", "--datagram=1001"),
        ("--rate=300kbit/s", "--duration=0.3s", "--threads=3"),
        ("--rate=10Mbit/s", "--duration=0.3s", "--batch=7"),
        ("--rate=10Mbit/s", "--duration=0.3s", "--gso=4"),
        ("--rate=5Mbit/s", "--count=50"),
        ("--rate=5Mbit/s", "--duration=0.3s", "--mode=bidirectional"),
    ],
)
def test_a_rate_that_is_kept_is_not_suspect_however_few_datagrams_that_is(
    engines, paced, options: tuple[str, ...]
) -> None:
    def measure() -> list[list[str]]:
        outcome = engines.client(engines.server("udp"), *options, count=5)
        return [_short(options, m) for m in outcome.metrics]

    paced(measure, lambda hosts: hosts == [[]] * 5)


def test_the_last_datagram_of_a_count_has_its_time_too_however_slow_it_is(engines) -> None:
    options = ("--rate=4kbit/s", "--datagram=1000", "--count=2")  # 2 s each
    for m in engines.client(engines.server("udp"), *options, count=1).metrics:
        assert m["client_elapsed"] >= 4
        assert m["local_throughput"] <= 4000


@pytest.mark.parametrize(("mode", "hosts"), [("stream", ["a"]), ("bidirectional", ["a", "b"])])
def test_a_rate_that_no_host_can_send_is_suspect_at_each_sender(
    engines, mode: str, hosts: list[str]
) -> None:
    options = ("--rate=1000Gbit/s", "--datagram=100")
    outcome = engines.client(engines.server("udp"), *options, f"--mode={mode}")
    assert [_short(options, m) for m in outcome.metrics] == [hosts] * 2


@pytest.mark.parametrize(("mode", "sides"), [("stream", "client"), ("bidirectional", "server")])
def test_by_hand_a_rate_that_was_not_kept_is_warned_of(engines, mode: str, sides: str) -> None:
    options = ("--rate=1000Gbit/s", "--datagram=100", "--duration=0.3s", f"--mode={mode}")
    port = engines.server("udp").port
    outcome = engines.run("udp", "client", "127.0.0.1", f"--port={port}", *options)
    assert f"warning ({sides}, under-rate): replication 1 sent " in outcome.errors
    assert "of the 1000000 Mbit/s asked for: " in outcome.errors
