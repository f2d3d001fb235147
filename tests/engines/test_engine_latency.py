"""Round trips: how they wait, when they leave, what they are timed from, which answer is whose."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time

import pytest
from tests.support.echo_peer import EchoPeer

ENGINES = ["udp", "tcp"]
POLLS = ["block", "busy"]
STALL = 0.2  # seconds
PLAIN = "--congestion=system"


def _options(engine: str, *options: object, size: int = 64) -> list[object]:
    own = [f"--datagram={size}"] if engine == "udp" else [f"--message={size}", PLAIN]
    return ["--mode=latency", *own, *options]


def _ask(engines, peer: EchoPeer, *options: object):
    flags = ("--json", f"--port={peer.port}", "--replications=1")
    return engines.run(peer.engine, "client", "127.0.0.1", *flags, *_options(peer.engine), *options)


def _metrics(outcome) -> dict[str, float]:
    (metrics,) = outcome.metrics
    return metrics


def _trips(metrics: dict[str, float], threads: int = 1) -> float:
    """Return how many there were: of udp those too that a stalled server answered too late.

    One is lost after a second, and no sooner.
    """
    lost = metrics.get("lost_packets", 0)
    assert metrics["client_elapsed"] * threads >= lost
    return metrics["round_trips"] + lost


def _times_are_of_trips_alone(metrics: dict[str, float], threads: int = 1) -> bool:
    """Whether the seconds that losses took are in no round trip, however late the client's CPU."""
    times = metrics["round_trips"] * metrics["rtt_mean"]
    return times + metrics["lost_packets"] <= metrics["client_elapsed"] * threads


@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_round_trip_takes_what_the_server_makes_it_take(engines, paced, engine, poll) -> None:
    """Answers after 20 ms and after 60 ms in turn, as Python's own sleep has it."""

    def answer(number: int, message: bytes) -> list[tuple[float, bytes]]:
        return [(0.02 if number % 2 == 0 else 0.06, message)]

    def measure() -> dict[str, float]:
        with EchoPeer(engine, answer) as peer:
            m = _metrics(_ask(engines, peer, "--count=20", f"--poll={poll}"))
        assert m["round_trips"] == 20
        assert 0.02 <= m["rtt_min"] <= m["rtt_p50"] <= m["rtt_p90"] <= m["rtt_max"]
        assert m["rtt_mean"] >= 0.04
        return m

    m = paced(
        measure,
        lambda m: (
            m["rtt_p50"] < 0.06 <= m["rtt_p90"]
            and m["rtt_mean"] < 0.12
            and 0.007 < m["rtt_stdev"] < 0.2
        ),
    )
    # Of twenty, the longest is the 99th percentile and all beyond.
    assert m["rtt_p99"] == m["rtt_p999"] == m["rtt_p9999"] == pytest.approx(m["rtt_max"], rel=0.01)


@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_other_side_counts_as_many_messages(engines, engine, poll) -> None:
    with EchoPeer(engine) as peer:
        m = _metrics(_ask(engines, peer, "--count=300", f"--poll={poll}"))
    assert (_trips(m), peer.received) == (300, [301])  # the first isn't timed


@pytest.mark.parametrize("engine", ENGINES)
def test_busy_polling_takes_the_cpu_that_blocking_leaves_alone(engines, engine, paced) -> None:
    def times() -> list[float]:
        used = []
        for poll in ("busy", "block"):
            with EchoPeer(engine, lambda _, message: [(0.05, message)]) as peer:
                m = _metrics(_ask(engines, peer, "--count=12", f"--poll={poll}"))
            used.append(m["client_user_time"] + m["client_system_time"])
        return used

    busy, block = paced(times, lambda used: used[0] > 5 * used[1])
    assert busy > block


@pytest.mark.parametrize("engine", ENGINES)
def test_both_ends_of_ours_poll_busily(engines, engine, paced) -> None:
    """A server that waits in the kernel needs no CPU between two round trips."""

    def share() -> float:
        server = engines.server(engine)
        options = _options(engine, "--poll=busy", "--interval=20ms", "--duration=0.1s")
        m = _metrics(engines.client(server, *options, count=1))
        assert _trips(m) == 5
        return (m["server_user_time"] + m["server_system_time"]) / m["server_elapsed"]

    paced(share, lambda share: share > 0.1)


def _stall_once(number: int, message: bytes) -> list[tuple[float, bytes]]:
    return [(STALL if number == 300 else 0, message)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stall_is_seen_by_all_that_it_delayed(engines, engine) -> None:
    """Of 1000, a millisecond apart, the stall delays 200: a tenth of all by 100 ms or more."""
    with EchoPeer(engine, _stall_once) as peer:
        m = _metrics(_ask(engines, peer, "--count=1000", "--interval=1ms"))
    assert _trips(m) == 1000
    assert m["rtt_max"] >= STALL
    assert m["rtt_p90"] > STALL / 3
    assert m["late_sends"] >= 150


@pytest.mark.parametrize("engine", ENGINES)
def test_without_a_pace_a_stall_is_one_round_trip(engines, engine, paced) -> None:
    def ninth_of_ten() -> float:
        with EchoPeer(engine, _stall_once) as peer:
            m = _metrics(_ask(engines, peer, "--count=400"))
        assert m["rtt_max"] >= STALL
        assert "late_sends" not in m
        return m["rtt_p90"]

    paced(ninth_of_ten, lambda rtt: rtt < STALL / 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pace_keeps_to_its_schedule(engines, engine, paced) -> None:
    """Forty a replication, 5 ms apart, never before they are due."""

    def span() -> float:
        moments: list[float] = []

        def answer(_: int, message: bytes) -> list[tuple[float, bytes]]:
            moments.append(time.monotonic())
            return [(0, message)]

        with EchoPeer(engine, answer) as peer:
            m = _metrics(_ask(engines, peer, "--duration=0.2s", "--interval=5ms"))
        assert (_trips(m), len(moments)) == (40, 40)
        assert m["client_elapsed"] >= 39 * 0.005
        return moments[-1] - moments[0]

    paced(span, lambda seconds: seconds == pytest.approx(39 * 0.005, abs=0.1))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pace_that_cannot_be_held_gives_no_number(engines, engine) -> None:
    with EchoPeer(engine, lambda _, message: [(0.1, message)]) as peer:
        outcome = _ask(engines, peer, "--duration=11s", "--interval=100us")
    assert (outcome.error["code"], outcome.of("replication")) == ("overloaded", [])
    assert "interval of 0.0001 s" in outcome.error["message"]


@pytest.mark.parametrize("size", [1, 2, 7, 8, 15, 16, 23, 24, 64, 1000])
def test_a_late_answer_is_not_taken_for_the_next_ones(engines, size: int) -> None:
    """The third answer comes after its second is over, and the fourth's is held back a while."""
    backlog: list[bytes] = []

    def answer(number: int, message: bytes) -> list[tuple[float, bytes]]:
        if number == 2:
            backlog.append(message)
            return []
        return [(0, backlog.pop()), (0.3, message)] if backlog else [(0, message)]

    with EchoPeer("udp", answer) as peer:
        m = _metrics(_ask(engines, peer, "--count=8", f"--datagram={size}"))
    assert (m["round_trips"], m["lost_packets"]) == (7, 1)
    assert m["rtt_max"] >= 0.3
    assert _times_are_of_trips_alone(m)


@pytest.mark.parametrize("poll", POLLS)
def test_a_lost_answer_is_a_loss_after_a_second_and_no_round_trip(engines, poll) -> None:
    def answer(number: int, message: bytes) -> list[tuple[float, bytes]]:
        return [] if number == 1 else [(0, message)]

    with EchoPeer("udp", answer) as peer:
        m = _metrics(_ask(engines, peer, "--count=4", f"--poll={poll}"))
    assert (m["round_trips"], m["lost_packets"], m["loss_rate"]) == (3, 1, 0.25)
    # The lost one is longer than any: of four, the fourth isn't known.
    assert {name for name in m if name.startswith("rtt_p")} == {"rtt_p50"}
    assert _times_are_of_trips_alone(m)


def test_one_lost_answer_at_a_slow_pace_is_no_silence(engines) -> None:
    """It is lost after a second, ten and a half after the answer before."""
    with EchoPeer("udp", lambda number, m: [(0, m)] if number != 1 else []) as peer:
        m = _metrics(_ask(engines, peer, "--count=2", "--interval=9.5s"))
    assert (m["round_trips"], m["lost_packets"]) == (1, 1)


def test_an_answer_that_a_frozen_client_takes_late_is_not_lost(engines) -> None:
    pids: queue.Queue[int] = queue.Queue()

    def answer(number: int, message: bytes) -> list[tuple[float, bytes]]:
        if number == 2:
            pid = pids.get()
            time.sleep(0.1)  # it waits in its call
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(1.3, os.kill, (pid, signal.SIGCONT)).start()
        return [(0, message)]

    with EchoPeer("udp", answer) as peer:
        arguments = ("--json", f"--port={peer.port}", "--replications=1", "--count=5")
        client = engines.start("udp", "client", "127.0.0.1", *arguments, *_options("udp"))
        pids.put(client.pid)
        m = _metrics(client.finish())
    assert (m["round_trips"], m["lost_packets"]) == (5, 0)
    assert m["rtt_max"] > 1


@pytest.mark.parametrize("poll", POLLS)
def test_each_threads_losses_end_by_themselves(engines, poll) -> None:
    """Two in a row, and the last: what waits for the first is set anew for the others."""

    def answer(number: int, message: bytes) -> list[tuple[float, bytes]]:
        return [] if number in (1, 2, 4) else [(0, message)]

    with EchoPeer("udp", answer, streams=3) as peer:
        m = _metrics(_ask(engines, peer, "--count=5", "--threads=3", f"--poll={poll}"))
    assert (m["round_trips"], m["lost_packets"], m["loss_rate"]) == (6, 9, 9 / 15)
    assert _times_are_of_trips_alone(m, threads=3)
    assert m["client_elapsed"] >= 3


@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize(
    ("engine", "size"),
    [("udp", 1), ("udp", 23), ("udp", 65507), ("tcp", 1), ("tcp", 17), ("tcp", 1_000_000)],
)
def test_messages_of_every_size_go_back_and_forth(engines, engine, size, poll) -> None:
    options = _options(engine, "--count=20", f"--poll={poll}", size=size)
    outcome = engines.client(engines.server(engine), *options)
    assert [_trips(m) for m in outcome.metrics] == [20, 20]


@pytest.mark.parametrize("poll", POLLS)
def test_connections_that_do_not_block_go_back_and_forth_too(engines, poll) -> None:
    options = _options("tcp", "--count=20", f"--poll={poll}", "--blocking=false", size=300_000)
    outcome = engines.client(engines.server("tcp"), *options)
    assert [m["round_trips"] for m in outcome.metrics] == [20, 20]


@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize("engine", ENGINES)
def test_each_thread_has_a_stream_of_its_own(engines, engine, poll) -> None:
    with EchoPeer(engine, streams=3) as peer:
        m = _metrics(_ask(engines, peer, "--count=40", "--threads=3", f"--poll={poll}"))
    assert _trips(m, threads=3) == 120
    assert peer.received == [41] * 3
    assert len(peer.clients) == 3


@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize("engine", ENGINES)
def test_threads_on_both_ends_count_together(engines, engine, poll) -> None:
    options = _options(engine, "--count=10", "--threads=4", f"--poll={poll}")
    outcome = engines.client(engines.server(engine), *options)
    assert [_trips(m, threads=4) for m in outcome.metrics] == [40, 40]


def test_strong_scaling_shares_a_count_of_round_trips(engines) -> None:
    with EchoPeer("tcp", streams=3) as peer:
        m = _metrics(_ask(engines, peer, "--count=40", "--threads=3", "--scaling=strong"))
    assert m["round_trips"] == 40
    assert sorted(peer.received) == [14, 14, 15]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_slow_stream_shows_in_the_times_of_all(engines, engine) -> None:
    """The histogram is that of both threads together."""
    threads: list[int] = []

    def answer(_: int, message: bytes) -> list[tuple[float, bytes]]:
        threads.append(threading.get_ident())
        return [(0.02 if threads[0] == threading.get_ident() else 0, message)]

    with EchoPeer(engine, answer, streams=2) as peer:
        m = _metrics(_ask(engines, peer, "--count=20", "--threads=2"))
    assert _trips(m, threads=2) == 40
    assert m["rtt_min"] < 0.02 <= m["rtt_p90"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_killed_in_the_middle_is_an_error(engines, engine, poll, threads) -> None:
    server = engines.server(engine)
    options = _options(engine, f"--poll={poll}", f"--threads={threads}")
    client = engines.start_client(server, *options)
    server.process.kill()
    outcome = client.finish()
    assert (outcome.error["code"], outcome.of("replication")) == ("peer-lost", [])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_busy_client_killed_in_the_middle_frees_the_server(engines, engine) -> None:
    server = engines.server(engine)
    client = engines.start_client(server, *_options(engine, "--poll=busy", "--threads=2"))
    client.process.kill()
    client.process.wait()
    outcome = engines.client(server, *_options(engine, "--poll=busy", "--count=50"), count=1)
    assert _trips(_metrics(outcome)) == 50


@pytest.mark.parametrize("engine", ENGINES)
def test_a_deadline_ends_a_client_that_polls_busily(engines, engine) -> None:
    options = _options(engine, "--poll=busy", "--duration=60s", "--deadline=1s")
    assert engines.client(engines.server(engine), *options).error["code"] == "deadline"


def test_silence_in_the_middle_of_a_busy_poll_ends(engines) -> None:
    """A server that stops answering, but lives, costs ten seconds of lost datagrams."""
    with EchoPeer("udp", lambda number, m: [(0, m)] if number < 5 else []) as peer:
        outcome = _ask(engines, peer, "--count=100", "--poll=busy")
    assert outcome.error["code"] == "no-answer"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may ask for more than the host's own")
@pytest.mark.parametrize("engine", ENGINES)
def test_the_kernels_busy_polling_is_recorded_as_granted(engines, engine) -> None:
    options = _options(engine, "--count=10", "--busy-poll=50us")
    settings = engines.client(engines.server(engine), *options, count=1).settings
    assert settings["client"]["busy_poll"] == settings["server"]["busy_poll"] == 5e-05


def test_a_user_gets_the_kernels_busy_polling_or_is_told_why_not(engines, require) -> None:
    """Kernels differ in whom they allow it."""
    require(os.geteuid() == 0, "a right that can be given up")
    unprivileged = ("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin")
    server = engines.server("udp", prefix=unprivileged)
    outcome = engines.client(server, *_options("udp", "--busy-poll=50us"))
    if outcome.status == 0:
        assert outcome.settings["server"]["busy_poll"] == 5e-05
    else:
        assert outcome.error["code"] == "not-permitted"
        assert "net.core.busy_read=50" in outcome.error["message"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose a real-time class")
@pytest.mark.parametrize("scheduler", ["rr", "fifo"])
@pytest.mark.parametrize("engine", ENGINES)
def test_real_time_threads_that_never_sleep_still_end(engines, engine, scheduler) -> None:
    last = max(os.sched_getaffinity(0))
    if last == 0:
        pytest.skip("needs two CPUs")
    server = engines.server(engine, "--deadline=30s")
    placed = ("--client-cpu=0", f"--server-cpu={last}", f"--scheduler={scheduler}")
    options = _options(engine, "--poll=busy", "--deadline=30s", "--count=100", *placed)
    outcome = engines.client(server, *options)
    assert [m["round_trips"] for m in outcome.metrics] == [100, 100]
