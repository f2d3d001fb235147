"""What a TCP sender makes of the rate asked of it, and who says so if that is too little."""

from __future__ import annotations

import pytest

from railgauge.base.units import parse_rate
from railgauge.engine.validity import under_rate


def _short(rate: str, metrics: dict[str, float]) -> list[str]:
    """Return the hosts that did not send at `rate`."""
    return [
        suspicion.host
        for suspicion in under_rate({"rate": parse_rate(rate)}, metrics, ("a", "b"), 0.01)
    ]


@pytest.mark.parametrize(
    ("rate", "options"),
    [
        ("50Mbit/s", ()),
        ("5Mbit/s", ("--nodelay=false", "--threads=2")),
        ("20Mbit/s", ("--write=1000", "--blocking=false")),
        ("20Mbit/s", ("--message=100", "--threads=3")),
        ("40Mbit/s", ("--send=sendfile", "--message=10000")),
        ("40Mbit/s", ("--source=file", "--message=1MiB")),
        ("2Mbit/s", ("--count=8", "--message=8KiB", "--threads=2")),
        ("20Mbit/s", ("--mode=bidirectional",)),
    ],
)
def test_a_rate_is_never_exceeded_and_kept_within_1_percent(
    engines, paced, rate: str, options: tuple[str, ...]
) -> None:
    def measure() -> list[list[str]]:
        # Longer than either end stalls: of what comes in one read there is no rate.
        rate_options = (f"--rate={rate}", "--duration=0.5s")
        outcome = engines.client(engines.server("tcp"), *rate_options, *options, count=3)
        for m in outcome.metrics:
            # A byte leaves when those before it have had their time, however late that is. Threads
            # that began late may not have taken turns.
            slack = 1e-6 if len(options) < 2 or "threads" not in options[-1] else 0.1
            for name in ("local_throughput", "reverse_local_throughput"):
                assert m.get(name, 0) <= parse_rate(rate) * (1 + slack)
            assert m["received_bytes"] == m["sent_bytes"]
        return [_short(rate, m) for m in outcome.metrics]

    paced(measure, lambda hosts: hosts == [[]] * 3)


def test_a_rate_counts_every_message(engines) -> None:
    options = ("--rate=4Mbit/s", "--count=7", "--message=10000", "--threads=3")
    outcome = engines.client(engines.server("tcp"), *options)
    assert [(m["sent_messages"], m["sent_bytes"]) for m in outcome.metrics] == [(21, 210_000)] * 2
    assert all(m["client_elapsed"] >= 210_000 * 8 / 4e6 * 0.9 for m in outcome.metrics)


@pytest.mark.parametrize(("mode", "hosts"), [("stream", ["a"]), ("bidirectional", ["a", "b"])])
def test_a_rate_that_no_host_can_send_is_suspect_at_each_sender(
    engines, mode: str, hosts: list[str]
) -> None:
    options = ("--rate=1000Gbit/s", "--message=100", f"--mode={mode}")
    outcome = engines.client(engines.server("tcp"), *options)
    assert [_short("1000Gbit/s", m) for m in outcome.metrics] == [hosts] * 2
    for m in outcome.metrics if mode == "bidirectional" else ():
        total = m["local_throughput"] + m["reverse_local_throughput"]
        assert m["total_local_throughput"] == pytest.approx(total)


@pytest.mark.parametrize(("mode", "sides"), [("stream", "client"), ("bidirectional", "server")])
def test_by_hand_a_rate_that_was_not_kept_is_warned_of(engines, mode: str, sides: str) -> None:
    options = ("--rate=1000Gbit/s", "--message=100", "--duration=0.3s", f"--mode={mode}")
    port = engines.server("tcp").port
    outcome = engines.run("tcp", "client", "127.0.0.1", f"--port={port}", *options)
    assert f"warning ({sides}, under-rate): replication 1 sent " in outcome.errors
    assert "of the 1000000 Mbit/s asked for: ask for less, or use more threads" in outcome.errors


def test_a_call_that_would_seem_a_dead_connection_is_refused(engines) -> None:
    options = ("--rate=100kbit/s", "--message=1MiB", "--write=1MiB")
    outcome = engines.client(engines.server("tcp"), *options)
    assert outcome.error["code"] == "bad-parameter"
    assert "rate: a call with 1.04858e+06 bytes lasts 83.9 s at it" in outcome.error["message"]
