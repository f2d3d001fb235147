"""What `railgauge check` expects of each launch, part by part, and of rounds of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.plan.test_schedule import arranged, expanded

from railgauge.plan.cases import Case
from railgauge.plan.catalogue import SOAK, EngineInfo, Value, load_catalogue
from railgauge.plan.catalogue.program import Program
from railgauge.plan.equipment import DevicePort
from railgauge.plan.links import Link
from railgauge.plan.model import Plan
from railgauge.plan.schedule import Dispatch
from railgauge.plan.wall_time import LaunchTime, LaunchTimes, Spanned, estimate, within

CATALOGUE = load_catalogue()
RUN = 2.5  # What a run takes beside its launches.
PLAN = Plan.model_validate(
    {
        "railgauge": 1,
        "name": "two-sites",
        "hosts": {
            "here": {"address": "10.0.0.1", "transport": "local"},
            "far": {"address": "10.0.0.2", "ssh": "far"},
        },
        "equipment": {
            name: {"address": "10.0.0.9", "snmp": {"version": "2c", "community": "x"}, "settle": s}
            for name, s in (("quick", "2s"), ("slow", "12s"))
        },
        "tests": [{"name": "t", "engine": "tcp"}],
    }
).model_copy(
    update={
        "links": {
            "plain": Link("here", "far", rate=100e6, rtt=0.01),
            "counted": Link(
                "here", "far", path=(DevicePort("quick", "1"), DevicePort("slow", "1"))
            ),
        }
    }
)


def launch(
    engine: str, *, link: str = "plain", replications: int = 1, test: str = "t", **set_: Value
) -> Dispatch:
    info = CATALOGUE.engines.get(engine)
    defaults = {
        name: parameter.default
        for name, parameter in (info.parameters if info else {}).items()
        if parameter.default is not None
    }
    server = "far" if info is None or info.two_sided else None
    parameters = {**defaults, "mode": "stream", **set_}
    case = Case(f"{engine} {link} {sorted(set_.items())}", engine, link, "here", server, parameters)
    return Dispatch(test, case, tuple(range(1, replications + 1)))


def expected(dispatch: Dispatch, plan: Plan | None = PLAN) -> LaunchTime:
    return LaunchTimes(CATALOGUE, plan).of(dispatch)


def test_a_launch_takes_its_warm_up_and_each_duration() -> None:
    time = expected(launch("tcp", duration=2.0, warmup=1.0))
    assert (time.warmup, time.duration, time.ending, time.guessed) == (1.0, 2.0, 0.0, False)
    assert time.seconds(3) == pytest.approx(time.start + 1 + 3 * 2)


def test_a_soaked_replication_is_a_launch_between_two_calibrations() -> None:
    time = expected(launch("tcp", duration=1.0, **{SOAK: True}))
    assert time.single and time.calibration >= 1
    assert time.seconds(3) == pytest.approx(3 * (time.start + 2 * time.calibration + 1))


def test_the_equipment_of_a_path_is_awaited_for_as_long_as_its_slowest() -> None:
    time = expected(launch("tcp", link="counted", duration=1.0))
    assert time.single
    assert time.settle == 12
    assert expected(launch("tcp", link="plain")).settle == 0
    assert expected(launch("tcp", link="counted"), plan=None).settle == 0


def test_rounds_wait_for_equipment_before_too_unless_it_has_just_been_awaited() -> None:
    counted, plain = (launch("tcp", link=link, duration=1.0) for link in ("counted", "plain"))
    times = LaunchTimes(CATALOGUE, PLAN)
    counted_seconds, plain_seconds = times.seconds(counted), times.seconds(plain)

    def seconds(*rounds: tuple[Dispatch, ...], concurrency: int = 1) -> float:
        return estimate(rounds, times, concurrency=concurrency).seconds - RUN

    assert counted_seconds > 13
    assert seconds((counted,)) == pytest.approx(12 + counted_seconds)
    assert seconds((counted,), (counted,)) == pytest.approx(12 + 2 * counted_seconds)
    assert seconds((counted,), (plain,), (counted,)) == pytest.approx(
        24 + 2 * counted_seconds + plain_seconds
    )
    # Other launches may be under way.
    assert seconds((counted,), (counted,), concurrency=2) == pytest.approx(24 + 2 * counted_seconds)


def test_programs_of_far_hosts_and_mpi_take_longer_to_start() -> None:
    near = expected(launch("tcp"), plan=None).start
    far = expected(launch("tcp")).start
    alone = expected(launch("cpu")).start
    assert 0 < alone < near < far < expected(launch("mpi")).start


def test_memory_is_touched_and_files_are_laid_out_first() -> None:
    def prepared(engine: str, **set_: Value) -> float:
        return expected(launch(engine, **set_)).preparation

    gib = 2**30
    triad = prepared("mem", mode="triad", block=gib)
    assert triad > 1
    assert triad == pytest.approx(3 * prepared("mem", mode="read", block=gib))
    assert prepared("mem", mode="read", block=gib, threads=2) == pytest.approx(triad * 2 / 3)
    assert prepared("mem", mode="random", block=gib) > prepared("mem", mode="sequential", block=gib)
    disk = launch("disk", mode="read", size=gib, threads=4, folder="/var/tmp")
    assert expected(disk).preparation > 4
    # Somebody else's program lays them out for each replication, and more slowly.
    fio = expected(launch("fio", mode="read", size=gib, threads=4, folder="/var/tmp"))
    assert fio.preparation == 0
    assert fio.ending > expected(disk).preparation
    assert prepared("pmbw", area=gib) == prepared("udp") == 0


def test_what_the_page_cache_has_is_flushed_after_a_replication() -> None:
    def ending(mode: str, *, direct: bool) -> float:
        return expected(launch("disk", mode=mode, direct=direct, size=2**30, folder="/x")).ending

    assert ending("random_write", direct=False) > 1
    assert ending("random_write", direct=True) == ending("read", direct=False) == 0


def test_datagrams_that_may_be_lost_are_awaited() -> None:
    def ending(**set_: Value) -> float:
        return expected(launch("udp", **set_)).ending

    # On a machine with CPUs to spare: engines/udp waits for no more than that.
    assert ending(mode="stream") == 0.05
    assert ending(mode="bidirectional") == 0.1
    assert ending(mode="latency") == ending(rate=1e8) == ending(wait=1e-3) == 0


@pytest.mark.parametrize(
    ("parameters", "seconds"),
    [
        ({"wait": 2e-5, "datagram": 100}, 0.1),
        ({"datagram": 1250}, 0.5),  # 10,000 bit each at 100 Mbit/s
        ({"datagram": 125, "mode": "latency"}, 50),  # a round trip takes 10 ms
    ],
)
def test_a_short_count_is_known_by_its_pace_and_a_long_one_guessed(
    parameters: dict[str, Value], seconds: float
) -> None:
    time = expected(launch("udp", count=5000, **parameters))
    assert time.duration == pytest.approx(seconds)
    assert time.guessed == (seconds > 1)
    assert time.seconds(1) > time.duration


def test_a_count_is_sent_faster_within_a_machine_than_over_a_link_of_unknown_rate() -> None:
    def length(link: Link) -> float:
        plan = PLAN.model_copy(update={"links": {"plain": link}})
        dispatch = launch("tcp", count=1000, message=125_000)
        case = replace(dispatch.case, client=link.client, server=link.server)
        return expected(dispatch._replace(case=case), plan).duration

    assert length(Link("here", "far")) == pytest.approx(1)
    assert length(Link("here", "here")) == pytest.approx(0.1)
    assert length(Link("here", "here", rate=1e8)) == pytest.approx(10)


def test_connections_one_after_another_carry_nothing_and_take_two_round_trips_each() -> None:
    # Made in the one, closed by the other end in the next: 10 ms each.
    time = expected(launch("tcp", mode="connect", count=50, message=2**30))
    assert (time.duration, time.guessed) == (pytest.approx(1.0), False)


def test_a_cpu_is_under_load_for_its_clock_to_settle_before_a_launch_measures() -> None:
    time = expected(launch("cpu", duration=0.5))
    assert time.preparation == pytest.approx(0.12)
    assert expected(launch("dgemm")).preparation == 0


def test_small_messages_take_a_cpus_time_rather_than_the_links() -> None:
    small, large = (expected(launch("tcp", count=n, message=1000)) for n in (1000, 2000))
    assert large.duration == 2 * small.duration > 1000 * 8000 / 1e10


@pytest.mark.parametrize(("members", "rounds"), [("ab", 1), ("abc", 3), ("abcd", 3)])
def test_a_matrix_takes_four_parts_for_each_round_of_its_pairs(members: str, rounds: int) -> None:
    case = launch("mpi", mode="matrix", pair_time=0.5).case
    time = expected(Dispatch("t", replace(case, members=tuple(members)), (1,)))
    assert (time.duration, time.guessed) == (4 * rounds * 0.5, False)


def test_a_program_takes_what_its_description_says_beside_its_duration() -> None:
    program = Program(("x",), overhead=1.5)
    iperf3 = CATALOGUE.engines["iperf3"]
    engine: EngineInfo = replace(iperf3, program=program)
    times = LaunchTimes(replace(CATALOGUE, engines={"iperf3": engine}))
    time = times.of(launch("iperf3", duration=2.0))
    assert time.seconds(1) == pytest.approx(time.start + 1.5 + 2)
    assert CATALOGUE.engines["dgemm"].program is not None
    assert CATALOGUE.engines["dgemm"].program.overhead > 0


def test_what_an_earlier_run_took_takes_the_place_of_all_parts() -> None:
    dispatch = launch("udp", replications=3, count=10**9)
    times = LaunchTimes(CATALOGUE, PLAN, {("t", dispatch.case.key): 7.0})
    assert times.seconds(dispatch) == 21
    assert not times.of(dispatch).guessed
    assert times.of(dispatch._replace(test="another")).guessed


def test_the_estimate_adds_up_rounds_by_their_longest_launch() -> None:
    times = LaunchTimes(CATALOGUE)
    cases = expanded([("a", "b")], warmup=1.0, duration=0.5).cases
    cases += (replace(expanded([("c", "d")], duration=2.0).cases[0], key="1"),)
    test = replace(expanded([], order="sequential", replications=10), cases=cases)
    start = times.of(Dispatch("t", cases[0], (1,))).start
    guess = estimate(arranged(test), times)
    assert guess.seconds == pytest.approx(RUN + 6 + 20 + 2 * start)
    guess = estimate(arranged(test, concurrency=2), times)
    assert guess.seconds == pytest.approx(RUN + 20 + start)
    assert estimate((), times).seconds == 0


def test_rounds_are_counted() -> None:
    rounds = ((launch("tcp"),) if number != 3 else () for number in range(5))
    assert estimate(rounds, LaunchTimes(CATALOGUE)).rounds == 5


def test_launches_that_take_as_long_share_what_they_take() -> None:
    times = LaunchTimes(CATALOGUE)
    first, second = (launch("tcp", duration=1.0, tos=tos) for tos in (0, 8))
    assert first.case.key != second.case.key
    assert times.of(first) is times.of(second)
    assert times.of(first) is not times.of(launch("tcp", duration=2.0))


def test_a_test_takes_at_least_the_time_that_it_spans() -> None:
    test = expanded([("a", "b")], replications=4, duration=5.0)
    times = LaunchTimes(CATALOGUE)
    whole = estimate(arranged(test), times).seconds
    replication = times.of(Dispatch("t", test.cases[0], (4,))).seconds(1)
    # The span begins with the end of the first replication, and the last one when it is over.
    spanned = estimate(arranged(test), times, {"t": Spanned(4, 600.0)}).seconds
    assert spanned == pytest.approx(RUN + replication + 600 + replication)
    # Of a short one the second alone waits: for its third.
    short = estimate(arranged(test), times, {"t": Spanned(4, 1.0)}).seconds
    assert short == pytest.approx(whole + 1 / 3)


@pytest.mark.parametrize(("interleaved", "waits"), [(False, 2), (True, 1)])
def test_tests_in_turns_span_the_same_time(interleaved: bool, waits: int) -> None:
    tests = [expanded([("a", "b")], replications=4, duration=5.0, name=name) for name in "tu"]
    times = LaunchTimes(CATALOGUE)
    replication = times.of(Dispatch("t", tests[0].cases[0], (1,))).seconds(1)
    rounds = arranged(*tests, interleaved=interleaved)
    seconds = estimate(rounds, times, {name: Spanned(4, 600.0) for name in "tu"}).seconds
    # In turns the second test's first replication is in the first test's span.
    assert seconds == pytest.approx(RUN + waits * 600 + (2 + waits) * replication)


def test_a_mode_without_use_for_a_duration_is_a_guess() -> None:
    udp = CATALOGUE.engines["udp"]
    duration = replace(udp.parameters["duration"], modes=("stream",))
    engine = replace(udp, parameters={**udp.parameters, "duration": duration})
    times = LaunchTimes(replace(CATALOGUE, engines={"udp": engine}))
    for mode, unknown in (("stream", 0), ("generator", 1)):
        dispatch = launch("udp", mode=mode, duration=2.0)
        assert estimate([(dispatch,)], times).unknown == unknown


def test_launches_of_unknown_length_are_counted() -> None:
    test = expanded([("a", "b")], replications=3, duration=5.0, count=10**9)
    assert estimate(arranged(test), LaunchTimes(CATALOGUE)).unknown == 3
    guess = estimate(arranged(expanded([("a", "b")], duration=0.0)), LaunchTimes(CATALOGUE))
    assert guess.unknown == 1


def test_of_soaked_replications_those_are_begun_that_end_in_time() -> None:
    times = LaunchTimes(CATALOGUE, PLAN)
    dispatch = launch("tcp", replications=5, duration=1.0, **{SOAK: True})
    replication_seconds = times.of(dispatch).seconds(1)
    begun = within(dispatch, 2.5 * replication_seconds, times)
    assert begun is not None and begun.replications == (1, 2)
    assert within(dispatch, 0.9 * replication_seconds, times) is None


def test_a_trace_is_fetched_and_stored_after_its_replication() -> None:
    paced = launch("udp", wait=1e-5, count=5000)
    traced = launch("udp", wait=1e-5, count=5000, trace=5000)
    assert expected(traced).ending > expected(paced).ending == 0
