"""Series within a replication: to the byte what the metrics are; and peers that lie about them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

import pytest
from tests.support.between import Between
from tests.support.stream_peer import StreamClient, datagram
from tests.support.wire import Wire

from railgauge.base.intervals import Intervals, decode, encode

OMITTED = 1 << 63  # marks a number of the omitted part
# Longer than a machine stalls: what lies there when a late receiver looks has no rate.
TCP = ("--congestion=system", "--series=10ms", "--duration=500ms")


def _series(outcome) -> Iterator[tuple[dict[str, float], Intervals]]:
    """Yield each replication's metrics and its series, of a warm-up none."""
    parts = outcome.of("trace")
    for event in outcome.of("replication"):
        own = [part for part in parts if part["replication"] == event["replication"]]
        if event["warmup"]:
            assert own == []
        else:
            data = b"".join(base64.b64decode(part["data"]) for part in own)
            yield event["metrics"], decode(data)


def _sums(series: Intervals, name: str) -> tuple[int, int]:
    """Return what was counted before what counts, and what counts."""
    column = series.columns[name]
    counts = column.counts
    return int(counts[: column.omitted].sum()), int(counts[column.omitted :].sum())


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("omit", ["0", "25ms"])
def test_tcp_counts_in_intervals_what_it_counts_in_all(engines, threads: int, omit: str) -> None:
    options = (*TCP, f"--omit={omit}", f"--threads={threads}", "--warmup=300ms")
    rows = list(_series(engines.client(engines.server("tcp"), *options)))
    assert rows
    for metrics, series in rows:
        names = ("sent_bytes", "received_bytes", "retransmits")
        assert {*series.columns} == {*names, "congestion_window", "rtt"}
        for name in names:
            before = metrics.get(f"omitted_{name}", 0)
            assert _sums(series, name) == (before, metrics[name])
        assert series.columns["rtt"].omitted == (0 if omit == "0" else 3)
        assert (
            series.columns["rtt"].readings[-1]
            > 0
            < series.columns["congestion_window"].readings[-1]
        )
        ends = series.columns["received_bytes"].ends
        # A series begins with the very first read, the time that counts with it or later.
        assert ends[-1] / 1e9 >= metrics["server_elapsed"] - 1e-6
        assert (ends[1:] >= ends[:-1]).all()


# Longer than a machine stalls whose buffers the omitted part has filled.
@pytest.mark.parametrize(
    "options", [(), ("--rate=80Mbit/s", "--threads=2"), ("--omit=25ms", "--duration=500ms")]
)
def test_udp_counts_in_intervals_what_it_counts_in_all(engines, options) -> None:
    arguments = ("--series=10ms", "--duration=300ms", "--sockbuf=4KiB", *options)
    for metrics, series in _series(engines.client(engines.server("udp"), *arguments)):
        assert {*series.columns} == {"sent_packets", "received_packets", "lost_packets"}
        before = metrics.get("omitted_sent_packets", 0), metrics.get("omitted_lost_packets", 0)
        assert _sums(series, "sent_packets") == (before[0], metrics["sent_packets"])
        assert _sums(series, "lost_packets") == (before[1], metrics["lost_packets"])
        received = (before[0] - before[1], metrics["received_packets"])
        assert _sums(series, "received_packets") == received


def test_what_was_lost_stands_where_its_successor_arrived(engines) -> None:
    """A late datagram takes its loss back; what never comes is lost at the end."""
    client = StreamClient(engines.server("udp").port, datagram=100, series=0.001, omit=0.001)
    client.start(count=8)
    (stream,) = client.sockets
    for number in (OMITTED, OMITTED + 3, 0, 1, 5, 3):
        stream.send(datagram(number))
    _, result = client.end(8)
    assert (result["received"], result["omitted"]) == ("4", "200")
    series = decode(client.trace(int(result["trace_bytes"])))
    assert _sums(series, "received_packets") == (2, 4)
    assert _sums(series, "lost_packets") == (2, 4)  # the client knows of omitted ones at the end


def test_a_slow_sender_s_datagrams_stand_where_they_were_sent(engines) -> None:
    options = ("--series=10ms", "--duration=100ms", "--wait=25ms", "--datagram=100")
    for _, series in _series(engines.client(engines.server("udp"), *options, count=1)):
        column = series.columns["sent_packets"]
        assert max(column.counts) <= 1 <= sum(column.counts)


def test_a_series_goes_on_until_everything_is_there(engines) -> None:
    """By count nobody knows how long it takes."""
    options = (*TCP, "--count=40", "--message=10000", "--rate=40Mbit/s")
    for metrics, series in _series(engines.client(engines.server("tcp"), *options, count=1)):
        assert _sums(series, "received_bytes") == (0, 400_000) == (0, metrics["received_bytes"])
        assert len(series.columns["sent_bytes"].ends) >= 7


def test_by_hand_a_series_is_written_to_a_file(engines, tmp_path) -> None:
    out = tmp_path / "series.txt"
    outcome = engines.client(engines.server("tcp"), *TCP, f"--trace-out={out}", count=1)
    blocks = out.read_text().split("\n\n\n")
    assert [block.splitlines()[0] for block in blocks] == [
        "# replication 1: end s, sent B, retransmits, congestion window B, rtt ns",
        "# replication 1: end s, received B",
    ]
    assert int(blocks[1].split()[-1]) == outcome.metrics[0]["received_bytes"]


@pytest.mark.parametrize("engine", ["tcp", "udp"])
def test_an_interval_is_as_long_as_asked_for(engines, engine: str) -> None:
    """The product of 4.1e-3 and 1e9 is just below 4100000: ten of them are 41 ms."""
    options = (*TCP[engine == "udp" :], "--series=4.1ms", "--omit=41ms")
    for _, series in _series(engines.client(engines.server(engine), *options, count=1)):
        assert series.length == 4_100_000
        assert {column.omitted for column in series.columns.values()} == {10}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--series=999us",), "too short"),
        (("--series=1ms", "--duration=1000s"), "use longer ones"),
    ],
)
def test_intervals_that_cannot_be_are_refused(engines, options: tuple[str, ...], reason) -> None:
    outcome = engines.client(engines.server("tcp"), "--congestion=system", *options)
    assert outcome.error["code"] == "bad-parameter"
    assert reason in outcome.error["message"]


@pytest.mark.parametrize("engine", ["tcp", "udp"])
def test_elsewhere_than_in_streams_there_is_no_series(engines, engine: str) -> None:
    options = ("--mode=latency", "--series=10ms", "--count=5")
    outcome = engines.client(engines.server(engine), *options, count=1)
    assert outcome.metrics
    assert outcome.of("trace") == []


def _changed(**more: int) -> Callable[[bytes], bytes]:
    """Return what changes a series' header or, by `first`, its first reading."""

    def change(data: bytes) -> bytes:
        series = decode(data)
        column = series.columns["received_bytes"]
        column.readings[0] += more.get("first", 0)
        column.readings[-1] += more.get("last", 0)
        length, omit = series.length + more.get("length", 0), series.omit + more.get("omit", 0)
        return encode(Intervals(length, omit, series.columns))

    return change


@pytest.mark.parametrize(
    "change",
    [
        _changed(last=1),
        _changed(length=1),
        _changed(omit=1),
        lambda data: data[:-1] + b"\x80",
        lambda data: data + b"\0",
        lambda data: b"RGT1" + data[4:],
        # So short intervals that there are the most rows.
        lambda data: (b"RGI1" + data[4:9] + b"\x01\x04\xa0\x8d\x06").ljust(len(data), b"\0"),
        lambda data: b"\xff" * len(data),
        lambda data: b"",
    ],
)
def test_a_series_that_is_none_or_disagrees_is_refused(engines, change) -> None:
    """What a server says that it counted has to be what its result says."""
    server = engines.server("tcp")
    parts: list[bytes] = []

    def change_part(whole: bytes) -> bytes:
        if parts:
            return whole
        data = change(whole[12:])
        parts.append(data)
        return Wire.frame(Wire.PART, data)

    with Between(server.port, Wire.PART, change_part) as between:
        arguments = ("127.0.0.1", "--json", f"--port={between.port}", *TCP, "--replications=1")
        outcome = engines.start("tcp", "client", *arguments).finish()
    assert parts
    assert outcome.of("replication") == outcome.of("trace") == []
    assert outcome.error["code"] == "bad-peer"
