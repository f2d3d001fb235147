"""What rail-watch says becomes system logs: what was counted between two marks."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.watch_samples import NAMES, counters, mark, own_mark, ready, sample

from railgauge.base.derived import cpu_load
from railgauge.base.errors import EngineError, EnvironmentFailedError
from railgauge.engine.watch.watch_events import parse
from railgauge.engine.watch.watch_record import WatchRecord
from railgauge.engine.watch.watcher import Watcher, idle
from railgauge.hosts.transport.fake import LINE, LOSS, NEVER, FakeTransport, Program


def record(*lines: str, ends: int = 1) -> WatchRecord:
    watch_record = WatchRecord("gw1")
    watch_record.expect(7, ends)
    for line in lines:
        watch_record.take(parse(line))
    return watch_record


BASE = (ready(), counters(), sample(0.0, 0, 1000, 1, 5000, 2, 1 << 30, 3, 10))


def test_a_log_is_what_was_counted_between_the_marks() -> None:
    watch_record = record(
        *BASE,
        mark(1.0, "begin", 0, 5),
        sample(1.5, 0, 20, 3, 100),
        mark(2.25, "end", 0, 3, 1, 40, 2, -4096, 3, 1),
        sample(3.0, 0, 500),
    )
    log = watch_record.logs[7, 1]
    assert log.counts == {
        "cpu/all/user": 23,
        "cpu/all/idle": 40,
        "interface/eth0/rx_packets": 101,
    }
    assert log.gauges == {"memory/MemFree": (1 << 30) - 4096}
    assert (log.host, log.phase, log.ticks_per_second) == ("gw1", "replication", 100)
    assert (log.started_at, log.elapsed) == (1001.0, 1.25)


def test_replications_that_follow_each_other_share_nothing() -> None:
    watch_record = record(
        *BASE,
        mark(1.0, "begin"),
        mark(2.0, "end", 3, 100),
        mark(2.1, "begin", 3, 7, replication=2),
        mark(3.0, "end", 3, 200, replication=2),
    )
    assert [
        watch_record.logs[7, number].counts["interface/eth0/rx_packets"] for number in (1, 2)
    ] == [
        100,
        200,
    ]


def test_with_two_ends_on_one_machine_a_log_lasts_from_the_first_mark_to_the_last() -> None:
    watch_record = record(
        *BASE,
        mark(1.0, "begin"),
        mark(1.1, "begin", 3, 1),
        mark(2.0, "end", 3, 10),
        mark(2.1, "end", 3, 100),
        ends=2,
    )
    assert watch_record.logs[7, 1].counts["interface/eth0/rx_packets"] == 111
    assert watch_record.logs[7, 1].elapsed == pytest.approx(1.1)


def test_a_replication_without_an_end_has_no_log_and_is_forgotten() -> None:
    watch_record = record(*BASE, mark(1.0, "begin"))
    assert watch_record.logs == {}
    watch_record.forget(7)
    watch_record.take(parse(mark(2.0, "end")))
    assert watch_record.logs == {}


def test_marks_of_an_unknown_launch_are_ignored() -> None:
    watch_record = record(*BASE, mark(1.0, "begin", launch=6), mark(2.0, "end", launch=6))
    assert watch_record.logs == {}


def test_a_counter_that_was_reset_or_began_meanwhile_is_left_out() -> None:
    watch_record = record(
        *BASE,
        mark(1.0, "begin"),
        counters(["interface/tap0/rx_packets"], first=len(NAMES), gauges=()),
        mark(2.0, "end", 3, -10, 5, 1234),
    )
    assert watch_record.logs[7, 1].counts == {}


def test_a_counter_that_was_reset_and_then_passed_its_old_value_is_left_out() -> None:
    watch_record = record(
        *BASE, mark(1.0, "begin"), sample(1.5, 3, -10, 0, 1), mark(2.0, "end", 3, 5000, 0, 1)
    )
    assert watch_record.logs[7, 1].counts == {"cpu/all/user": 2}


def test_of_what_the_kernel_takes_back_of_idle_time_the_rest_counts() -> None:
    iowait = counters(["cpu/all/iowait"], first=len(NAMES), gauges=())
    watch_record = record(
        *BASE,
        iowait,
        mark(1.0, "begin", 5, 900),
        sample(1.5, 1, 60, 5, 35),
        mark(2.0, "end", 0, 10, 1, -2, 5, -3),
    )
    log = watch_record.logs[7, 1]
    assert log.counts == {"cpu/all/user": 10, "cpu/all/idle": 58, "cpu/all/iowait": 32}
    assert cpu_load(log) == pytest.approx(0.1)
    assert log.series is not None
    assert log.series.values[-1].tolist() == [10, 58, 32]


def test_a_counter_that_is_gone_is_left_out_and_a_new_one_of_its_name_counts() -> None:
    lines = (
        *BASE,
        json.dumps({"event": "gone", "indices": [3]}),
        counters([NAMES[3]], first=len(NAMES), gauges=()),
        mark(1.0, "begin", 5, 3),
        mark(2.0, "end", 5, 8),
    )
    assert record(*lines).logs[7, 1].counts == {"interface/eth0/rx_packets": 8}


def test_a_counter_that_a_line_has_twice_counts_twice() -> None:
    watch_record = record(
        *BASE, mark(1.0, "begin"), sample(1.5, 3, 10, 0, 1, 3, 5), mark(2.0, "end", 3, 2, 3, 4)
    )
    log = watch_record.logs[7, 1]
    assert log.counts == {"cpu/all/user": 1, "interface/eth0/rx_packets": 21}
    assert log.series is not None
    assert log.series.values.tolist() == [[0, 0], [1, 15], [1, 21]]


def test_a_gauge_that_has_no_name_is_ignored() -> None:
    watch_record = record(
        ready(), counters(gauges=(2, 99)), mark(1.0, "begin"), mark(2.0, "end", 2, 4096)
    )
    assert watch_record.logs[7, 1].gauges == {"memory/MemFree": 4096}


def test_an_interrupts_devices_are_told_with_what_it_counted() -> None:
    labels = json.dumps(
        {"event": "labels", "labels": {"interrupt/24": "eth0-rx", "interrupt/25": "ahci"}}
    )
    watch_record = record(*BASE, labels, mark(1.0, "begin"), mark(2.0, "end", 4, 3))
    assert watch_record.logs[7, 1].labels == {"interrupt/24": "eth0-rx"}


def test_a_series_begins_with_nothing_counted_and_ends_with_all_of_it() -> None:
    watch_record = record(
        *BASE,
        mark(1.0, "begin"),
        sample(1.5, 3, 10, 2, 5),
        sample(2.0, 3, 20),
        mark(2.5, "end", 0, 4),
    )
    series = watch_record.logs[7, 1].series
    assert series is not None
    assert series.times == pytest.approx([0, 0.5, 1.0, 1.5])
    columns = {name: series.values[:, at].tolist() for at, name in enumerate(series.names)}
    assert columns == {
        "cpu/all/user": [0, 0, 0, 4],
        "memory/MemFree": [1 << 30, (1 << 30) + 5, (1 << 30) + 5, (1 << 30) + 5],
        "interface/eth0/rx_packets": [0, 10, 30, 30],
    }


def test_without_a_sample_in_between_there_is_no_series() -> None:
    watch_record = record(*BASE, mark(1.0, "begin"), mark(2.0, "end", 0, 1))
    assert watch_record.logs[7, 1].series is None


def test_with_two_ends_on_one_machine_their_marks_are_no_samples() -> None:
    watch_record = record(
        *BASE,
        mark(1.0, "begin"),
        mark(1.1, "begin", 3, 1),
        mark(2.0, "end", 3, 2),
        mark(2.1, "end", 3, 4),
        ends=2,
    )
    log = watch_record.logs[7, 1]
    assert (log.series, log.counts) == (None, {"interface/eth0/rx_packets": 7})


def test_what_a_mark_in_between_counts_is_in_the_next_sample() -> None:
    watch_record = record(
        *BASE,
        mark(1.0, "begin"),
        mark(1.2, "begin", 3, 1, launch=8),
        sample(1.5, 3, 10, 0, 2),
        mark(1.7, "end", 0, 1, launch=8),
        mark(1.9, "begin", 3, 5, launch=9),
        mark(2.0, "end", 3, 20),
    )
    series = watch_record.logs[7, 1].series
    assert series is not None
    assert series.times == pytest.approx([0, 0.5, 1.0])
    columns = {name: series.values[:, at].tolist() for at, name in enumerate(series.names)}
    assert columns == {"cpu/all/user": [0, 2, 3], "interface/eth0/rx_packets": [0, 11, 36]}


@given(length=st.integers(3990, 9000), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_a_long_series_gets_coarser_and_loses_nothing(length: int, seed: int) -> None:
    steps = np.random.default_rng(seed).integers(0, 1000, length).tolist()
    watch_record = record(*BASE, mark(1.0, "begin"))
    for at, step in enumerate(steps):
        watch_record.take(parse(sample(1.1 + at, 3, step)))
    watch_record.take(parse(mark(2.0 + len(steps), "end", 0, 1)))
    log = watch_record.logs[7, 1]
    assert log.series is not None
    assert len(log.series.times) <= 4002
    assert np.all(np.diff(log.series.times) > 0)
    if sum(steps):
        column = log.series.values[:, log.series.names.index("interface/eth0/rx_packets")]
        assert column[-1] == log.counts["interface/eth0/rx_packets"] == sum(steps)


def test_an_idle_stretch_is_what_was_counted_between_our_own_marks() -> None:
    watch_record = record(*BASE, own_mark(1.0, "idle", 0, 5), own_mark(1.5, "before", 0, 2))
    assert watch_record.own["before"].counts == {"cpu/all/user": 2}
    assert watch_record.own["before"].phase == "before"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        '{"event": "new"}',
        '{"event": "sample", "at": 1.0, "changed": [1]}',
        '{"event": "sample", "at": 1.0, "changed": [1, 2.5]}',
        '{"event": "sample", "at": 1.0, "changed": [1, true]}',
        '{"event": "sample", "at": 1.0, "changed": [1, 99999999999999999999]}',
        '{"event": "sample", "at": -1.0, "changed": []}',
        sample(1.0, -1, 1),
        '{"event": "sample", "at": NaN, "changed": []}',
        '{"event": "counters", "first": 0, "names": [3], "gauges": []}',
        '{"event": "counters", "first": 99999999, "names": [], "gauges": []}',
        *(ready(ticks_per_second=ticks) for ticks in (0, -100, 10**9, 10**400)),
        *(ready(started_at=moment) for moment in (1e300, 1e18, -1.0, math.nan, math.inf)),
        sample(1e300),
        mark(1e300, "end"),
        f'{{"event": "sample", "at": 1{"0" * 400}, "changed": []}}',
        '{"event": "labels", "labels": []}',
        "[" * 100_000,
    ],
)
def test_what_rail_watch_may_not_say_is_refused(line: str) -> None:
    with pytest.raises(EngineError, match="rail-watch said"):
        parse(line)


@pytest.mark.parametrize(
    "line", [sample(1.0, 99, 1), counters(first=9), sample(0.5), mark(0.5, "end")]
)
def test_lines_that_contradict_those_before_are_refused(line: str) -> None:
    with pytest.raises(EngineError, match="rail-watch on gw1"):
        record(*BASE, sample(1.0), line)


def test_what_comes_before_it_watches_is_refused() -> None:
    with pytest.raises(EngineError, match="rail-watch on gw1"):
        record(counters(), own_mark(1.0, "idle"), own_mark(1.5, "before"))


def watcher(*lines: str | object) -> Watcher:
    """Return a watcher of a host that says this, and then waits for its input to end."""

    def play(argv: object) -> Program:
        for line in lines:
            _ = yield line  # type: ignore[misc]
        while (command := (yield LINE)) is not None:
            yield own_mark(
                5.0 if command == "mark idle" else 5.5, command.removeprefix("mark "), 0, 3
            )
        return 0

    return Watcher(FakeTransport("gw1", {"rail-watch": play}), "/engines", "name", 0.5)


def test_a_watcher_is_started_with_its_name_and_interval() -> None:
    def play(argv: object) -> Program:
        yield ready()
        yield LINE
        return 0

    transport = FakeTransport("gw1", {"rail-watch": play})
    Watcher(transport, "/engines", "name", 0.01).close()
    assert transport.started[0].argv == (
        "/engines/rail-watch",
        "--json",
        "--interval=0.01s",
        "--marks=name",
        "--deadline=2592000s",
    )


def test_a_watcher_gives_each_log_once() -> None:
    # The script goes on to the marks once it is told something.
    host_watcher = watcher(
        ready(), counters(), LINE, mark(1.0, "begin"), mark(2.0, "end", 0, 9), LOSS
    )
    host_watcher.expect(7, 1)
    host_watcher.mark_idle()
    log = host_watcher.log(7, 1)
    assert log is not None
    assert log.counts == {"cpu/all/user": 9}
    assert host_watcher.log(7, 1) is None
    host_watcher.close()


def test_idle_stretches_are_marked_on_every_machine() -> None:
    watchers = [watcher(ready(), counters()) for _ in range(2)]
    logs = idle(watchers, "before", 0.0)
    assert [(log.phase, log.counts) for log in logs] == [("before", {"cpu/all/user": 3})] * 2
    for host_watcher in watchers:
        host_watcher.close()


def test_a_watcher_that_cannot_watch_says_why_and_what_to_do() -> None:
    error = '{"event": "error", "code": "system", "message": "there is no /proc"}'
    with pytest.raises(EnvironmentFailedError) as caught:
        watcher(error)
    assert str(caught.value) == (
        "gw1: the system logs can't be kept: there is no /proc (system): mend it, or say "
        "'system_log: off' in the plan's tests"
    )


@pytest.mark.parametrize("last", [LOSS, "nonsense"])
def test_a_watcher_that_is_lost_gives_no_logs_and_does_not_wait(last: object) -> None:
    host_watcher = watcher(ready(), counters(), last)
    host_watcher.expect(7, 1)
    assert host_watcher.log(7, 1) is None
    assert host_watcher.failure
    assert idle([host_watcher], "before", 0.0) == []
    host_watcher.close()


def test_a_watcher_that_hangs_is_ended() -> None:
    host_watcher = watcher(ready(), NEVER)
    host_watcher.close()
    assert host_watcher.failure


def test_an_absurd_figure_of_one_driver_costs_no_other_counter() -> None:
    largest = 2**63 - 1
    watch_record = record(
        *BASE,
        mark(1.0, "begin"),
        sample(1.1, 2, largest, 3, 5),
        sample(1.2, 2, largest, 3, 5),
        mark(1.3, "end", 2, -largest, 3, 5),
    )
    log = watch_record.logs[7, 1]
    assert log.counts["interface/eth0/rx_packets"] == 15
    assert log.series is not None
    at = log.series.names.index("interface/eth0/rx_packets")
    assert log.series.values[:, at].tolist() == [0, 5, 10, 15]


def test_a_counter_that_was_reset_while_the_machine_was_idle_is_left_out() -> None:
    watch_record = record(*BASE, own_mark(1.0, "idle"), sample(1.1, 3, -4000, 4, 2))
    watch_record.take(parse(own_mark(1.5, "before", 3, 9000)))
    counts = watch_record.own["before"].counts
    assert "interface/eth0/rx_packets" not in counts
    assert counts["interrupt/24/0"] == 2
