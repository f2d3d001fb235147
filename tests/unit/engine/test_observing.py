"""What is seen of a launch's replications, also when a host is lost in the middle of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.watch_samples import log, mark, ready

from railgauge.base.errors import HostUnreachableError
from railgauge.base.systemlog import SoakLoad
from railgauge.engine.command_lines import Terms
from railgauge.engine.measure import EquippedHost
from railgauge.engine.observing.judging import judged
from railgauge.engine.observing.observe import Observing
from railgauge.engine.observing.opening import set_scene
from railgauge.engine.observing.scene import Scene, TrafficWay
from railgauge.engine.outcome import Launch, Outcome
from railgauge.engine.running_programs import RunningPrograms
from railgauge.engine.watch.watcher import Watcher
from railgauge.hosts.transport.fake import LINE, LOSS, FakeTransport
from railgauge.hosts.transport.interface import Transport
from railgauge.hosts.transport.local import LocalTransport
from railgauge.plan.cases import Case, expand
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.load import load_plan_text
from railgauge.plan.model import Test
from railgauge.plan.schedule import Dispatch

LAUNCH = Launch(5.0, client={"mss": 1448})
CALIBRATED = json.dumps({"event": "calibrated", "elapsed": 1.0, "cpus": []})


class Holds:
    """What holds machines: `lost` ones it takes again, unless it `fails` or another run has one."""

    def __init__(self, *lost: str, fails: bool = False, other_run_on: str = "") -> None:
        self.lost = {*lost}
        self._fails, self._other_run_on = fails, other_run_on

    def renew(self, machine: str) -> None:
        if machine == self._other_run_on:
            raise HostUnreachableError(f"{machine} is held by run 2")
        if not self._fails:
            self.lost.discard(machine)

    def failure(self, machine: str) -> str:
        return f"{machine}: lost" if machine in self.lost else ""


def scene(test: dict[str, Any], transports: Sequence[Transport] = (), **more: Any) -> Scene:
    """Return the scene of a test between `a` and `b`, without watchers."""
    hosts = ("a", "b")
    return Scene(
        load_catalogue(),
        {"t": Test.model_validate({"name": "t", "engine": "tcp", **test})},
        {transport.host: EquippedHost(transport, "/engines") for transport in transports},
        dict(zip(hosts, hosts, strict=True)),
        dict(zip(hosts, hosts, strict=True)),
        alone=True,
        token="token",
        **{"holds": Holds(), **more},
    )


def dispatch(**parameters: Any) -> Dispatch:
    case = Case("key", "tcp", "ab", "a", "b", {"mode": "stream", "duration": 0.1, **parameters})
    return Dispatch("t", case, (1, 2), ())


def soaker(argv: Sequence[str]) -> Iterator[Any]:
    yield CALIBRATED
    while (yield LINE) is not None:
        yield CALIBRATED
        yield '{"event":"done"}'


def watching(argv: Sequence[str]) -> Iterator[Any]:
    yield ready()
    while (yield LINE) is not None:
        pass
    return 0


def lost_watcher(argv: Sequence[str]) -> Iterator[Any]:
    yield ready()
    return 3


def lost_soaker(argv: Sequence[str]) -> Iterator[Any]:
    yield CALIBRATED
    yield LINE
    yield LOSS


def observe(
    hosts: Sequence[FakeTransport], outcomes: Sequence[Outcome], error: Exception | None = None
) -> tuple[list[Outcome], HostUnreachableError]:
    """Return what a soaked launch gives that measures `outcomes`, and what it ends with."""

    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        yield from ((outcome, LAUNCH) for outcome in outcomes)
        if error is not None:
            raise error

    results: list[Outcome] = []
    observing = Observing(scene({"soak": True}, hosts))
    dispatched = dispatch(soak=True)
    with pytest.raises(HostUnreachableError) as caught:
        for outcome, _ in observing.launch(dispatched, (1, 2), Terms(), measure, RunningPrograms()):
            results.append(outcome)
    return results, caught.value


def test_a_replication_whose_host_was_lost_is_kept_as_failed_beside_soakers() -> None:
    hosts = [FakeTransport(name, {"rail-soak": soaker}) for name in "ab"]
    lost = HostUnreachableError("b is lost")
    lost.host = "b"
    failed = Outcome(1, 5.0, {}, status="failed", error_code="host-lost", error_message="b")
    outcomes, error = observe(hosts, [failed], lost)
    assert outcomes == [failed]
    assert error is lost


def test_a_host_that_is_lost_with_its_soaker_is_named_and_the_replication_failed() -> None:
    hosts = [
        FakeTransport("a", {"rail-soak": soaker}),
        FakeTransport("b", {"rail-soak": lost_soaker}),
    ]
    (outcome,), error = observe(hosts, [Outcome(1, 5.0, {"throughput": 1e9})])
    assert (outcome.status, outcome.error_code, outcome.metrics) == ("failed", "host-lost", {})
    assert error.host == "b"


def test_soakers_of_two_hosts_calibrate_at_the_same_time_afterwards_too() -> None:
    sent: list[list[str]] = []

    def seeing_soaker(argv: Sequence[str]) -> Iterator[Any]:
        yield CALIBRATED
        yield LINE
        sent.append([line for host in hosts for process in host.started for line in process.sent])
        yield CALIBRATED
        yield '{"event":"done"}'

    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        yield Outcome(1, 5.0, {"throughput": 1e9}), LAUNCH

    hosts = [FakeTransport(name, {"rail-soak": seeing_soaker}) for name in "ab"]
    observing = Observing(scene({"soak": True}, hosts))
    dispatched = dispatch(soak=True)
    ((outcome, _),) = observing.launch(dispatched, (1,), Terms(), measure, RunningPrograms())
    assert outcome.status != "failed"
    # Neither waits for the other's calibration.
    assert sent == [["finish", "finish"], ["finish", "finish"]]


def test_a_host_that_is_lost_before_its_soaker_starts_is_named() -> None:
    hosts = [FakeTransport(name, {"rail-soak": soaker}) for name in "ab"]
    hosts[1].lose()
    outcomes, error = observe(hosts, [])
    assert (outcomes, error.host) == ([], "b")


@pytest.mark.parametrize(
    ("name", "figure"), [("launch", "Infinity"), ("cpu", "1e999"), ("load", f"1{'0' * 400}")]
)
def test_a_load_that_is_no_number_fails_the_replication(name: str, figure: str) -> None:
    cpu = {"cpu": 0, "load": 0.5, "lost": 0, "slowdown": 0}
    load = json.dumps({"event": "load", "launch": 1, "replication": 1, "cpus": [cpu]})
    value = {"launch": 1, **cpu}[name]

    def odd_soaker(argv: Sequence[str]) -> Iterator[Any]:
        yield CALIBRATED
        yield LINE
        yield load.replace(f'"{name}": {value}', f'"{name}": {figure}')
        yield '{"event":"done"}'

    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        yield Outcome(1, 5.0, {"throughput": 1e9}), LAUNCH

    hosts = [FakeTransport(host, {"rail-soak": odd_soaker}) for host in "ab"]
    observing = Observing(scene({"soak": True}, hosts))
    ((outcome, _),) = observing.launch(
        dispatch(soak=True), (1, 2), Terms(), measure, RunningPrograms()
    )
    assert (outcome.status, outcome.error_code) == ("failed", "contract")


@pytest.mark.parametrize("endless", [CALIBRATED, '{"event":"tick"}'])
def test_a_soaker_that_is_never_done_fails_the_replication(
    endless: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("railgauge.engine.watch.soaker._CALIBRATION_SECONDS", 0.2)

    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        yield Outcome(1, 5.0, {"throughput": 1e9}), LAUNCH

    until_it_ends = f"yes '{endless}' & cat >/dev/null; kill $!"
    hosts = [LocalTransport(host, ("sh", "-c", until_it_ends)) for host in "ab"]
    observing = Observing(scene({"soak": True}, hosts))
    ((outcome, _),) = observing.launch(
        dispatch(soak=True), (1, 2), Terms(), measure, RunningPrograms()
    )
    assert (outcome.status, outcome.error_code) == ("failed", "no-answer")
    assert "rail-soak on a wasn't done after 0.2 s" in outcome.error_message


@pytest.mark.parametrize(("own", "status"), [(1.9, "ok"), (0.4, "suspect")])
def test_what_others_compute_beside_somebody_elses_program_is_told(own: float, status: str) -> None:
    # fio's description has no CPU time: rail-exec reports it all the same.
    case = Case("key", "fio", "a", "a", None, {"mode": "read"})
    fio_scene = scene({"engine": "fio", "system_log": {}})
    busy = log({"cpu/all/user": 190, "cpu/all/idle": 10}, host="a")
    outcome = Outcome(1, 5.0, {"throughput": 1e8}, logs=(busy,), user_time=own)
    result = judged(fio_scene, Dispatch("t", case, (1,), ()), outcome, LAUNCH)
    assert (result.status, len(result.suspicions)) == (status, status == "suspect")


@pytest.mark.parametrize(("engine", "hosts"), [("osu", []), ("mpi", ["a"])])
def test_only_of_our_own_ranks_is_known_what_they_compute(engine: str, hosts: list[str]) -> None:
    # Of what srun starts rail-exec knows nothing, and nothing of the other host's rank.
    mpi_scene = scene({"engine": engine, "system_log": {}})
    case = Case("key", engine, "ab", "a", "b", {"mode": "latency"})
    logs = tuple(
        log({"cpu/all/user": user, "cpu/all/idle": 200 - user}, host=host)
        for host, user in (("a", 190), ("b", 10))
    )
    metrics = {"latency": 1e-6, "client_user_time": 0.01, "server_user_time": 0.1}
    outcome = Outcome(1, 5.0, metrics, logs=logs, user_time=0.01)
    suspicions = judged(mpi_scene, Dispatch("t", case, (1,)), outcome, LAUNCH).suspicions
    assert [suspicion.host for suspicion in suspicions] == hosts


@pytest.mark.parametrize(("times", "status"), [(2, "ok"), (3, "suspect")])
def test_between_two_names_of_one_machine_all_traffic_counts_twice(times: int, status: str) -> None:
    # What leaves by the loopback interface arrives on it too: each byte is counted both ways.
    counts = {"interface/lo/rx_bytes": 10**8, "interface/lo/tx_bytes": (times - 1) * 10**8}
    loopback_scene = scene(
        {"system_log": {"suspect": {"foreign_cpu": "off"}}}, way=lambda *_: TrafficWay("lo", 0)
    )
    outcome = Outcome(
        1,
        5.0,
        {"sent_bytes": 1e8, "sent_segments": 2e3},
        logs=(log(counts, host="a"), log(host="b")),
    )
    assert judged(loopback_scene, dispatch(), outcome, LAUNCH).status == status


@pytest.mark.parametrize(
    ("test", "suspect"),
    [
        ({"system_log": {}}, ["a", "b"]),
        ({"system_log": {"suspect": {"unwatched": "off"}}}, []),
        ({"system_log": {"suspect": "off"}}, []),
        ({"system_log": "off"}, []),
    ],
)
def test_a_replication_without_the_logs_that_the_plan_asks_for_is_suspect(
    test: dict[str, Any], suspect: list[str]
) -> None:
    result = judged(scene(test), dispatch(), Outcome(1, 5.0, {"throughput": 1e9}), LAUNCH)
    assert result.status == ("suspect" if suspect else "ok")
    assert [(suspicion.code, suspicion.host) for suspicion in result.suspicions] == [
        ("unwatched", host) for host in suspect
    ]


def test_a_watcher_that_is_lost_is_named_with_what_ended_it() -> None:
    transport = FakeTransport("b", {"rail-watch": lost_watcher})
    watcher = Watcher(transport, "/engines", "name", 1.0)
    watched_scene = replace(scene({"system_log": {}}), watchers={"b": watcher})
    outcome = Outcome(1, 5.0, {"throughput": 1e9}, logs=(log(host="a"),))
    assert watcher.log(1, 1) is None  # it has ended
    (suspicion,) = judged(watched_scene, dispatch(), outcome, LAUNCH).suspicions
    assert suspicion.message == (
        "b: no system log shows what else ran there, as rail-watch ended with status 3: see that "
        "it runs there, and measure again"
    )


@pytest.mark.parametrize(
    "lines",
    [
        (ready(started_at=1e300), mark(1.0, "begin", launch=1), mark(2.0, "end", launch=1)),
        (ready(), mark(1.0, "begin", launch=1), mark(1e300, "end", launch=1)),
        (ready(), mark(9.0, "begin", launch=1), mark(2.0, "end", launch=1)),
    ],
)
def test_a_watcher_that_says_absurd_figures_counts_for_none(lines: Sequence[str]) -> None:
    def absurd(argv: Sequence[str]) -> Iterator[Any]:
        yield ready()
        yield LINE
        yield from lines
        yield LINE

    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        transport.started[0].send_line("")
        yield Outcome(1, 5.0, {"throughput": 1e9}), LAUNCH

    transport = FakeTransport("a", {"rail-watch": absurd})
    watcher = Watcher(transport, "/engines", "name", 1.0)
    watched = scene({"system_log": {}}, [transport], watchers={"a": watcher})
    ((outcome, _),) = Observing(watched).launch(
        dispatch(), (1,), Terms(), measure, RunningPrograms()
    )
    assert outcome.status == "suspect"
    assert [suspicion.host for suspicion in outcome.suspicions] == ["a", "b"]
    assert {suspicion.code for suspicion in outcome.suspicions} == {"unwatched"}
    assert outcome.logs == ()
    assert watcher.failure


def test_all_that_is_said_of_watchers_that_do_not_start_is_said_by_the_thread_that_asks() -> None:
    """As what takes it is no more than a line of the terminal."""

    def failing(argv: Sequence[str]) -> Iterator[Any]:
        yield from ()
        return 3

    names = [f"h{number}" for number in range(8)]
    hosts = ", ".join(f"{name}: {{address: 10.0.0.1, ssh: {name}}}" for name in names)
    head = f"railgauge: 1\nname: p\nhosts: {{{hosts}}}\n"
    plan = load_plan_text(f"{head}tests: [{{name: t, engine: cpu}}]", "p.yaml", Path("none"))
    (test,) = expand(plan)
    sites = {
        name: EquippedHost(FakeTransport(name, {"rail-watch": failing}), "/engines")
        for name in names
    }
    threads, sentences = set[int](), []

    def say(text: str) -> None:
        threads.add(threading.get_ident())
        sentences.append(text)

    opened = set_scene(
        plan,
        [Dispatch("t", case, (1,)) for case in test.cases],
        sites,
        {name: name for name in names},
        {},
        Holds(),
        say,
    )
    assert not opened.watchers
    assert sorted(sentence[:2] for sentence in sentences) == names
    assert threads == {threading.get_ident()}


def test_a_watcher_that_is_lost_is_started_again_for_the_next_launch_but_not_for_ever() -> None:
    transport = FakeTransport("b", {"rail-watch": lost_watcher})
    watched_scene = replace(
        scene({"system_log": {}}), watchers={"b": Watcher(transport, "/engines", "name", 1.0)}
    )
    # Both names are of one machine, which has one watcher.
    shared_scene = replace(watched_scene, machines={"a": "b", "b": "b"})
    for _ in range(8):
        assert shared_scene.watchers["b"].log(1, 1) is None  # it has ended
        shared_scene.renew(dispatch())
    names = [
        next(word for word in program.argv if "marks" in word) for program in transport.started
    ]
    assert names == ["--marks=name", *(f"--marks=name-{number}" for number in range(2, 6))]


@pytest.mark.parametrize(
    ("engine", "watched"),
    [
        # None of its ranks marks anything, then, which says nothing of the other host's watcher.
        ("mpi", ()),
        # Its replications are marked on the first host alone, by rail-exec.
        ("osu", ("name", "")),
    ],
)
def test_only_who_measures_in_a_group_has_to_have_a_watcher(
    engine: str, watched: tuple[str, ...]
) -> None:
    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        assert terms.watch == watched
        status = "failed" if watched else "ok"  # which has no log
        yield Outcome(1, 5.0, {}, status), LAUNCH

    watcher = Watcher(FakeTransport("a", {"rail-watch": watching}), "/engines", "name", 1.0)
    group_scene = replace(scene({"engine": engine, "system_log": {}}), watchers={"a": watcher})
    case = Case("key", engine, "ab", "a", None, {"mode": "barrier"}, ("a", "b"))
    launched = Observing(group_scene).launch(
        Dispatch("t", case, (1,)), (1,), Terms(), measure, RunningPrograms()
    )
    ((outcome, _),) = launched
    hosts = [suspicion.host for suspicion in outcome.suspicions]
    assert (hosts, watcher.failure) == ([] if watched else ["a", "b"], "")
    watcher.close()


@pytest.mark.parametrize("outcome", [{"warmup": True}, {"status": "failed"}])
def test_what_counts_for_nothing_needs_no_watcher(outcome: dict[str, Any]) -> None:
    bare = Outcome(1, 5.0, {}, **outcome)
    unheld_scene = scene({"system_log": {}}, holds=Holds("a"))
    assert judged(unheld_scene, dispatch(), bare, LAUNCH) is bare


@pytest.mark.parametrize(
    ("engine", "figures"),
    [
        ("udp", {"sent_bytes": 1e308, "reverse_sent_bytes": 1e308, "sent_packets": 1.0}),
        ("udp", {"sent_bytes": 1e9, "sent_packets": 5e-324}),
        ("tcp", {"sent_bytes": -1e12, "sent_segments": 1.0}),
        ("tcp", {"client_user_time": -1e9, "server_user_time": 0.0}),
        ("tcp", {"untimed_bytes": 1e12}),
        ("tcp", {"received_bytes": 1e-320}),
        ("tcp", {"received_bytes": 1e-300}),
    ],
)
def test_figures_that_no_host_can_have_are_an_error(engine: str, figures: dict[str, float]) -> None:
    # The interface's counters have not moved.
    absurd_scene = scene(
        {"engine": engine, "system_log": {}}, way=lambda *_: TrafficWay("eth0", 1500)
    )
    case = Case("key", engine, "ab", "a", "b", {"mode": "stream", "datagram": 1460})
    soak = (SoakLoad(0, 0.5, 0.5, 0.0),)
    logs = tuple(replace(log(host=host), soak=soak) for host in "ab")
    outcome = Outcome(1, 5.0, figures, logs=logs)
    result = judged(absurd_scene, Dispatch("t", case, (1,)), outcome, LAUNCH)
    assert (result.status, result.error_code, result.metrics) == ("failed", "inconsistent", {})
    assert f"engine {engine} reported figures that no host can have" in result.error_message


@pytest.mark.parametrize("test", [{"system_log": "off"}, {"system_log": {"suspect": "off"}}])
def test_what_was_measured_on_a_machine_that_was_lost_is_suspect_until_that_is_held_again(
    test: dict[str, Any],
) -> None:
    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        for number in numbers:
            yield Outcome(number, 5.0, {"throughput": 1e9}), LAUNCH
            holds.lost.add("b")

    holds = Holds("a")
    observing = Observing(scene(test, holds=holds))
    for numbers in ((1, 2), (3, 4)):
        launched = observing.launch(dispatch(), numbers, Terms(), measure, RunningPrograms())
        first, second = (outcome for outcome, _ in launched)
        assert (first.status, second.status) == ("ok", "suspect")
        (suspicion,) = second.suspicions
        assert (suspicion.code, suspicion.host) == ("unheld", "b")
        assert suspicion.message.startswith("b: lost: another run may have measured")


def test_nothing_is_launched_on_a_machine_that_another_run_has_taken() -> None:
    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        raise AssertionError("both runs would measure each other")

    taken_scene = scene({"system_log": "off"}, holds=Holds("a", "b", other_run_on="b"))
    launched = Observing(taken_scene).launch(
        dispatch(), (1, 2), Terms(), measure, RunningPrograms()
    )
    with pytest.raises(HostUnreachableError, match="b is held by run 2"):
        next(iter(launched))


def test_a_machine_that_cannot_be_held_again_makes_all_suspect() -> None:
    def measure(numbers: Sequence[int], terms: Terms) -> Iterator[tuple[Outcome, Launch]]:
        yield from ((Outcome(number, 5.0, {}), LAUNCH) for number in numbers)

    unheld_scene = scene({"system_log": "off"}, holds=Holds("a", "b", fails=True))
    launched = Observing(unheld_scene).launch(
        dispatch(), (1, 2), Terms(), measure, RunningPrograms()
    )
    hosts = [[suspicion.host for suspicion in outcome.suspicions] for outcome, _ in launched]
    assert hosts == [["a", "b"], ["a", "b"]]


@pytest.mark.parametrize(
    ("test", "status"),
    [
        ({"system_log": "off"}, "suspect"),  # what the sender tells needs no log
        ({"system_log": {"suspect": {"unwatched": "off"}}}, "suspect"),
        ({"system_log": {"suspect": {"unwatched": "off", "under_rate": "off"}}}, "ok"),
        ({"system_log": {"suspect": {"unwatched": "off", "under_rate": "95%"}}}, "ok"),
        ({"system_log": {"suspect": "off"}}, "ok"),
    ],
)
def test_a_sender_below_its_rate_is_suspect(test: dict[str, Any], status: str) -> None:
    case = Case("key", "udp", "ab", "a", "b", {"mode": "stream", "rate": 40e9})
    outcome = Outcome(1, 5.0, {"sent_packets": 350e3, "local_throughput": 2.8e9})
    result = judged(scene(test), Dispatch("t", case, (1,), ()), outcome, LAUNCH)
    assert result.status == status
    assert {suspicion.code for suspicion in result.suspicions} == (
        {"under-rate"} if status != "ok" else set()
    )


@pytest.mark.parametrize(
    ("metrics", "limits", "status"),
    [
        ({"throughput": 1e9, "lost_packets": 17.0}, {}, "ok"),
        ({"rtt_p50": 1e-5, "dropped_messages": 17.0}, {}, "ok"),
        ({"throughput": 1e9, "lost_packets": 17.0}, {"receive_drops": "on"}, "suspect"),
        ({"throughput": 1e9}, {}, "suspect"),
        ({"throughput": 1e9}, {"receive_drops": "off"}, "ok"),
    ],
)
def test_drops_disturb_what_does_not_measure_them(
    metrics: dict[str, float], limits: dict[str, str], status: str
) -> None:
    logs = (log(host="a"), log({"protocol/Udp/RcvbufErrors": 17}, host="b"))
    outcome = Outcome(1, 5.0, metrics, logs=logs)
    limited_scene = scene({"system_log": {"suspect": limits}})
    assert judged(limited_scene, dispatch(), outcome, LAUNCH).status == status
