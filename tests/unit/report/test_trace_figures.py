"""Figures of a trace's times: which numbers they show, which they count, what they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.support.figure_reports import report_sentences, write_figure
from tests.support.report_data import store_traces, trace
from tests.support.results import csv_rows

from railgauge.base.errors import InputError
from railgauge.base.trace import Trace, encode
from railgauge.plan.cases import Case, case_key
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

# ns: what the receiver's clock is ahead of the sender's, and each datagram's way above the least.
_AHEAD = 3_000_000_000
_ABOVE = [500, 0, 250, 40_000, 250, 1_000_000]
_ARRIVED = [0, 1, 3, 4, 5, 6]
_TRIPS = [12_000, 11_000, 90_000, 12_000, 13_000]


pytestmark = pytest.mark.usefixtures("gnuplot")


def _stream(clock: str = "monotonic") -> Trace:
    """Seven datagrams, 100 µs apart, the third lost; the least was 20 µs on its way."""
    sent = np.array(_ARRIVED, np.int64) * 100_000
    received = sent + np.array(_ABOVE, np.int64)
    return Trace(
        clock=clock,  # type: ignore[arg-type]
        sent=7,
        arrived=6,
        sequence=np.array(_ARRIVED, np.int64),
        received=received - received[0],
        sent_at=sent,
        first_received=5_000_000 + _AHEAD + 20_000 + _ABOVE[0],
        first_sent=5_000_000,
    )


def _round_trips() -> Trace:
    ends = np.cumsum(_TRIPS).astype(np.int64)
    begins = np.append([0], ends[:-1])
    return Trace(
        clock="sender",
        sent=5,
        arrived=5,
        sequence=np.arange(5, dtype=np.int64),
        received=ends - ends[0],
        sent_at=begins,
        first_received=9_000_000 + _TRIPS[0],
        first_sent=9_000_000,
    )


def _stored(
    store: Store,
    single_trace: Trace,
    client: Mapping[str, float] | None = None,
    launched_before: float = 0,
) -> int:
    """Store a run of a single trace, whose launch's client told these settings.

    Its warm-up began so many seconds earlier, and there was a launch before.
    """
    mode = "latency" if single_trace.clock == "sender" else "stream"
    parameters = {"mode": mode, "datagram": 64, "trace": 10}
    case = Case(case_key("udp", "a→b", "a", "b", parameters), "udp", "a→b", "a", "b", parameters)
    run = NewRun("udpmon", "text", "/home/me/plans", "", False, 7, "ctl", "0.1.0", "ab12", {})
    infos = {"lost_packets": MetricInfo("", "lower")}
    number = store.begin_run(run, [PlannedCase("t", case, 1)], {"udp": infos})
    launch, lost = Launch(1.0, dict(client or {})), {"lost_packets": 1.0}
    for outcome, its_launch in (
        (Outcome(0, 1.0, lost, warmup=True), Launch(1.0)),
        (Outcome(0, 1e6, lost, warmup=True), launch),
        (Outcome(1, 1e6 + launched_before, lost, trace=encode(single_trace)), launch),
    ):
        store.add(number, "t", case.key, outcome, its_launch)
    store.finish_run(number, "complete")
    return number


def _draw(store: Store, run: int, out: Path, figure: str) -> tuple[list[dict[str, str]], str]:
    """Return the records of the figure's CSV and the report as text."""
    write_figure(store, [run], out, figure)
    return csv_rows(out / "fig.csv"), report_sentences(out)


def _counts(records: list[dict[str, str]], times: list[int], counted: str) -> None:
    """Hold each bin against a count of its own of the `times` (ns)."""
    assert sum(int(row[counted]) for row in records) == len(times)
    for row in records:
        low, high = (round(float(row[name]) * 1e9, 6) for name in ("from_seconds", "to_seconds"))
        assert int(row[counted]) == sum(low <= time < high for time in times) or row is records[-1]


def test_delays_show_each_packet_and_tell_the_clocks(store: Store, tmp_path: Path) -> None:
    clocks = {"clock_offset": _AHEAD / 1e9, "clock_offset_error": 9e-6}
    run = _stored(store, _stream(), clocks)
    records, text = _draw(store, run, tmp_path / "d", "kind: delays, y: {unit: ns}")
    assert [int(row["sequence"]) for row in records] == _ARRIVED
    assert [float(row["seconds"]) for row in records] == pytest.approx([t / 1e9 for t in _ABOVE])
    points = np.loadtxt(tmp_path / "d" / "fig.dat")
    assert points[:, 0].tolist() == _ARRIVED
    assert points[:, 1].tolist() == pytest.approx(_ABOVE)
    assert "6 one-way delays, minimum 0 s, median 250.0 ns" in text
    assert (
        "a→b: the server's clock was 3.000 s ahead of the client's, ± 9.000 µs, before the first"
        " replication; by that, and by how they drifted apart since, the smallest delay is"
        " 20.00 µs, ± 9.050 µs." in text
    )


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        # The least way takes 20 µs.
        (25_000, "the smallest delay is -5.000 µs, ± 9.050 µs."),
        (3_020_000, "the smallest delay would be 3.000 ms below 0: they didn't drift evenly."),
    ],
)
def test_no_delay_is_said_to_be_negative_beyond_the_clocks_error(
    store: Store, tmp_path: Path, apart: int, words: str
) -> None:
    clocks = {"clock_offset": (_AHEAD + apart) / 1e9, "clock_offset_error": 9e-6}
    run = _stored(store, _stream(), clocks)
    assert words in _draw(store, run, tmp_path / "d", "kind: delays")[1]


def _drifting(ppm: float, launched_before: float) -> Trace:
    """A second of datagrams, the least 20 µs on its way; the clocks were compared before."""
    sent = np.arange(100, dtype=np.int64) * 10_000_000
    moment = launched_before + sent / 1e9
    above = np.where(sent == 0, 0, 1_000 * (np.arange(100) % 3))
    received = sent + above + np.rint(ppm * 1e3 * moment).astype(np.int64)
    return Trace(
        clock="monotonic",
        sent=100,
        arrived=100,
        sequence=np.arange(100, dtype=np.int64),
        received=received - received[0],
        sent_at=sent,
        first_received=5_000_000 + _AHEAD + 20_000 + int(received[0]),
        first_sent=5_000_000,
    )


def test_what_clocks_drift_apart_from_replication_to_replication_is_reckoned_in(
    store: Store, tmp_path: Path
) -> None:
    clocks = {"clock_offset": _AHEAD / 1e9, "clock_offset_error": 9e-6}
    run = _stored(store, _drifting(40, 60), clocks, launched_before=60)
    text = _draw(store, run, tmp_path / "d", "kind: delays")[1]
    # By the offset alone it would be 2.42 ms.
    assert "drifted apart since, the smallest delay is 20.00 µs, ± 9.000 µs." in text
    run = _stored(store, _stream(), clocks, launched_before=60)
    text = _draw(store, run, tmp_path / "u", "kind: delays")[1]
    assert "drifted apart since, the smallest delay is 20.00 µs, ± 30.01 ms." in text


def test_delays_by_clocks_that_nobody_compared_are_told(store: Store, tmp_path: Path) -> None:
    untold = _draw(store, _stored(store, _stream()), tmp_path / "m", "kind: delays")[1]
    assert "by how much the two ends' clocks differ was not measured" in untold
    stamped = _draw(store, _stored(store, _stream("realtime")), tmp_path / "r", "kind: delays")[1]
    assert "only differences between delays are measured" in stamped
    assert "clock was" not in stamped


def test_delays_and_their_changes_are_counted(store: Store, tmp_path: Path) -> None:
    run = _stored(store, _stream())
    rows, _ = _draw(store, run, tmp_path / "a", "kind: delay_histogram, x: {log: false}")
    _counts(rows, _ABOVE, "arrivals")
    rows, text = _draw(store, run, tmp_path / "b", "kind: delay_histogram")
    _counts(rows, [time for time in _ABOVE if time], "arrivals")
    assert "Times of 0 or less, which have no place on a logarithmic axis: 1." in text
    changes = [abs(b - a) for a, b in pairwise(_ABOVE)]
    rows, _ = _draw(store, run, tmp_path / "c", "kind: jitter_histogram")
    _counts(rows, changes, "arrivals")
    rows, text = _draw(store, run, tmp_path / "e", "kind: jitter_ecdf")
    shares = [(float(row["seconds"]), float(row["share"])) for row in rows]
    assert shares == [
        (pytest.approx(time / 1e9), pytest.approx(sum(c <= time for c in changes) / 5))
        for time in sorted(set(changes))
    ]
    assert "5 changes of delay" in text


def test_round_trips_are_shown_counted_and_summed_up(store: Store, tmp_path: Path) -> None:
    run = _stored(store, _round_trips())
    rows, text = _draw(store, run, tmp_path / "a", "kind: round_trips")
    assert [float(row["seconds"]) for row in rows] == pytest.approx([t / 1e9 for t in _TRIPS])
    summary = "5 round trips, minimum 11.00 µs, median 12.00 µs, 99th percentile 90.00 µs"
    assert summary in text
    rows, text = _draw(store, run, tmp_path / "b", "kind: round_trip_histogram")
    _counts(rows, _TRIPS, "round_trips")
    assert summary in text
    rows, _ = _draw(store, run, tmp_path / "c", "kind: round_trip_ecdf")
    assert [float(row["share"]) for row in rows] == pytest.approx([0.2, 0.6, 0.8, 1.0])


def test_loss_runs_are_counted_by_their_length(store: Store, tmp_path: Path) -> None:
    lost = {10: 1, 20: 3, 30: 1, 40: 1, 50: 5}
    run = store_traces(store, {("a→b", 0.0): [trace(lost, sent=60)], ("b→a", 0.0): [trace()]})
    rows, text = _draw(store, run, tmp_path / "a", "kind: loss_runs")
    counts = {(row["link"], row["from_lost"], row["to_lost"]): row["loss_runs"] for row in rows}
    assert counts == {
        ("a→b", str(n), str(n)): str({1: 3, 3: 1, 5: 1}.get(n, 0)) for n in range(1, 6)
    }
    assert "a→b: 11 of 60 lost in 5 loss runs, shortest 1, median 1, longest 5." in text
    assert "b→a: none of 5,000 lost." in text
    partly = replace(trace(lost, sent=60, recorded=35), arrived=49)
    rows, text = _draw(
        store, store_traces(store, {("a→b", 0.0): [partly]}), tmp_path / "b", "kind: loss_runs"
    )
    assert sum(int(row["loss_runs"]) for row in rows) == 3
    assert "5 of 60 lost in 3 loss runs up to number 39" in text


def test_nothing_lost_is_a_sentence_and_no_picture(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {("a→b", 0.0): [trace()]})
    rows, text = _draw(store, run, tmp_path / "a", "kind: loss_runs")
    assert rows == []
    assert "Not drawn, as there is no value to show." in text
    assert not list((tmp_path / "a").glob("f*.svg"))


@pytest.mark.parametrize("kind", ["delays", "delay_histogram", "jitter_histogram", "jitter_ecdf"])
def test_round_trips_are_no_one_way_delays(store: Store, tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError, match=r"is of mode latency, and has no .*mode: stream"):
        _draw(store, _stored(store, _round_trips()), tmp_path / "a", f"kind: {kind}")


@pytest.mark.parametrize("kind", ["round_trips", "round_trip_histogram", "round_trip_ecdf"])
def test_arrivals_are_no_round_trips(store: Store, tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError, match=r"is of mode stream, and has no round trips"):
        _draw(store, _stored(store, _stream()), tmp_path / "a", f"kind: {kind}")
