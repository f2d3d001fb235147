"""Traces of round trips: which are recorded, by whose clock, and that the metrics are theirs."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from tests.support.echo_peer import EchoPeer

from railgauge.base.trace import Trace, decode, loss_runs, transits

SHORT, LONG = 0.002, 0.008  # seconds until an answer, in turn
OPTIONS = {"udp": ["--datagram=64"], "tcp": ["--message=64", "--congestion=system"]}


def _ask(engines, peer: EchoPeer, *options: str):
    arguments = ("--json", f"--port={peer.port}", "--replications=1", "--mode=latency")
    own = OPTIONS[peer.engine]
    return engines.run(peer.engine, "client", "127.0.0.1", *arguments, *own, *options)


def _trace(outcome) -> Trace:
    (part,) = outcome.of("trace")
    assert outcome.events.index(part) < outcome.events.index(outcome.of("replication")[-1])
    return decode(base64.b64decode(part["data"]))


@pytest.mark.parametrize("engine", ["udp", "tcp"])
def test_every_round_trip_is_recorded_and_the_metrics_are_theirs(
    engines, tmp_path: Path, engine: str
) -> None:
    file = tmp_path / "trips"

    def answer(number: int, message: bytes) -> list[tuple[float, bytes]]:
        return [(SHORT if number % 2 == 0 else LONG, message)]

    with EchoPeer(engine, answer) as peer:
        outcome = _ask(engines, peer, "--count=25", "--trace=1000", f"--trace-out={file}")
    (m,) = outcome.metrics
    trace = _trace(outcome)
    assert (trace.clock, trace.sent, trace.arrived) == ("sender", 25, 25)
    assert trace.sequence.tolist() == list(range(25))
    times = transits(trace) / 1e9
    assert (times >= SHORT).all()
    assert (times[1::2] >= LONG).all()
    # Without a pace the next one begins where the one before ends.
    assert (trace.received[:-1] - trace.sent_at[1:] + int(transits(trace)[0])).tolist() == [0] * 24
    assert m["rtt_min"] == pytest.approx(times.min(), rel=1e-9)
    assert m["rtt_max"] == pytest.approx(times.max(), rel=1e-9)
    assert m["rtt_mean"] == pytest.approx(times.mean(), rel=1e-6)
    for name, place in (("rtt_p50", 13), ("rtt_p90", 23), ("rtt_p99", 25)):
        assert m[name] == pytest.approx(sorted(times)[place - 1], rel=1e-3)
    first, *rows = file.read_text().splitlines()
    assert first == "# replication 1: sequence, end s, begin s"
    ends = [[float(word) for word in row.split()] for row in rows]
    assert [end - begin for _, end, begin in ends] == pytest.approx(times.tolist(), abs=2e-9)


def test_a_lost_round_trip_is_a_gap_and_what_is_beyond_the_room_is_counted(engines) -> None:
    def answer(number: int, message: bytes) -> list[tuple[float, bytes]]:
        return [] if number == 1 else [(0, message)]

    with EchoPeer("udp", answer) as peer:
        outcome = _ask(engines, peer, "--count=6", "--trace=3")
    (m,) = outcome.metrics
    trace = _trace(outcome)
    assert (m["round_trips"], m["lost_packets"]) == (5, 1)
    assert (trace.sent, trace.arrived, trace.sequence.tolist()) == (6, 5, [0, 2, 3])
    assert loss_runs(trace).tolist() == [[0, 1]]


def test_with_a_pace_each_is_recorded_from_when_it_was_due(engines) -> None:
    with EchoPeer("udp", lambda number, m: [(0.02 if number == 2 else 0, m)]) as peer:
        outcome = _ask(engines, peer, "--count=10", "--interval=2ms", "--trace=10", "--warmup=10ms")
    (m,) = outcome.metrics
    trace = _trace(outcome)
    assert trace.sent_at.tolist() == [2_000_000 * number for number in range(10)]
    assert transits(trace).max() / 1e9 == pytest.approx(m["rtt_max"], rel=1e-9)


@pytest.mark.parametrize(
    ("engine", "options", "advice"),
    [
        ("tcp", ["--mode=latency", "--trace=5", "--threads=2"], "set threads to 1"),
        ("tcp", ["--mode=stream", "--trace=5", "--trace-out=/nowhere"], "in mode latency"),
        ("udp", ["--mode=latency", "--trace-out=/nowhere"], "in mode stream|latency"),
    ],
)
def test_what_cannot_be_recorded_is_refused(engines, engine, options, advice: str) -> None:
    outcome = engines.client(engines.server(engine), *options, count=1)
    assert outcome.error["code"] == "bad-parameter"
    assert advice in outcome.error["message"]
