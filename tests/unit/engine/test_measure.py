"""One launch of an engine, on the shipped fake transport: every way it can end."""

from __future__ import annotations

import base64
import json
import shlex
import threading
from dataclasses import replace

import pytest
from tests.support.series_samples import tcp_series

from railgauge.base.errors import EngineError, HostUnreachableError
from railgauge.base.intervals import encode as encode_series
from railgauge.base.trace import MAX_BYTES, decode
from railgauge.engine.command_lines import Terms
from railgauge.engine.events import Traced
from railgauge.engine.measure import EquippedHost, measure
from railgauge.engine.running_programs import RunningPrograms
from railgauge.engine.trace_parts import TraceParts
from railgauge.hosts.transport.fake import LINE, LOSS, NEVER, FakeTransport
from railgauge.hosts.transport.interface import Exit
from railgauge.hosts.transport.kept_shell import SHELL
from railgauge.hosts.transport.local import LocalTransport
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import EngineInfo, MetricDescription, ParameterInfo
from railgauge.plan.catalogue.program import Program

ENGINE = EngineInfo(
    name="toy",
    version="1",
    summary="",
    roles=("server", "client"),
    parameters={},
    metrics={"speed": MetricDescription("speed", "bit/s", "higher")},
)
CASE = Case("key", "toy", "a→b", "a", "b", {"duration": 0.1, "nodelay": True, "message": 64})
TERMS = Terms(at=("10.0.0.1", "10.0.0.2"))
SETTINGS = json.dumps(
    {
        "event": "settings",
        "engine": "toy",
        "version": "1",
        "parameters": {},
        "client": {"sndbuf": 4096},
        "server": {"rcvbuf": 8192},
    }
)


def listening_server(argv):
    yield '{"event":"listening","engine":"toy","version":"1","port":4711}'
    while (yield LINE) is not None:
        pass


def replication(number, *, warmup=False, **metrics):
    return json.dumps(
        {
            "event": "replication",
            "replication": number,
            "warmup": warmup,
            "started_at": 5.0,
            "metrics": metrics or {"speed": 10.0 * number},
        }
    )


def error(code, number=None):
    event = {"event": "error", "code": code, "message": f"it was {code}"}
    return json.dumps(event if number is None else event | {"replication": number})


def done_event(replications):
    return json.dumps({"event": "done", "replications": replications})


def client_saying(*lines, status=0):
    def script(argv):
        yield from lines
        return Exit(status, "words on stderr")

    return script


def play(
    client,
    server=listening_server,
    numbers=(1, 2),
    engine=ENGINE,
    programs=None,
    case=CASE,
    terms=TERMS,
):
    a = FakeTransport("a", {f"rail-{engine.name}": client, "rail-exec": client})
    b = FakeTransport("b", {f"rail-{engine.name}": server})
    outcomes = list(
        measure(
            engine,
            case,
            numbers,
            [EquippedHost(a, "/engines"), EquippedHost(b, "/engines")],
            terms=terms,
            programs=programs or RunningPrograms(),
        )
    )
    return outcomes, a, b


def play_until_a_host_is_lost(client, numbers, b=None):
    """Return the outcomes until then, and which host it is."""
    hosts = [
        EquippedHost(FakeTransport("a", {"rail-toy": client}), ""),
        EquippedHost(b or FakeTransport("b", {"rail-toy": listening_server}), ""),
    ]
    outcomes = []
    with pytest.raises(HostUnreachableError) as caught:
        for outcome, _ in measure(
            ENGINE, CASE, numbers, hosts, terms=TERMS, programs=RunningPrograms()
        ):
            outcomes.append(outcome)
    return outcomes, caught.value.host


def test_replications_come_under_the_numbers_that_were_asked_for():
    script = client_saying(SETTINGS, replication(1), replication(2), done_event(2))
    outcomes, _, _ = play(script, numbers=(4, 7))
    assert [(outcome.replication, outcome.metrics["speed"]) for outcome, _ in outcomes] == [
        (4, 10),
        (7, 20),
    ]
    launch = outcomes[0][1]
    assert launch is outcomes[1][1]
    assert (launch.client, launch.server) == ({"sndbuf": 4096}, {"rcvbuf": 8192})


def test_a_replication_that_contradicts_itself_is_failed_and_ends_the_launch():
    names = ("throughput", "reverse_throughput", "total_throughput")
    engine = replace(ENGINE, metrics={name: MetricDescription(name, "bit/s", "") for name in names})
    script = client_saying(
        SETTINGS,
        replication(0, warmup=True, throughput=1, reverse_throughput=1, total_throughput=9),
        replication(1, throughput=1e9, reverse_throughput=2e9, total_throughput=3e9),
        replication(2, throughput=1e9, reverse_throughput=2e9, total_throughput=3.1e9),
        replication(3, throughput=1e9, reverse_throughput=2e9, total_throughput=3e9),
        done_event(3),
    )
    outcomes, _, _ = play(script, numbers=(1, 2, 3), engine=engine)
    assert [
        (outcome.replication, outcome.status, outcome.error_code) for outcome, _ in outcomes
    ] == [
        (0, "ok", ""),
        (1, "ok", ""),
        (2, "failed", "inconsistent"),
    ]
    failed, _ = outcomes[-1]
    assert failed.metrics == {}
    assert failed.error_message.startswith(
        "engine toy contradicts itself: throughput + reverse_throughput, which is 3e+09, differs "
        "from total_throughput, which is 3.1e+09 by more than 0.5%; none of this replication's "
        "figures can be relied on."
    )


def test_figures_of_other_peoples_programs_mean_what_their_descriptions_say():
    names = ("throughput", "reverse_throughput", "total_throughput")
    foreign = replace(
        ENGINE,
        roles=("client",),
        metrics={name: MetricDescription(name, "bit/s", "") for name in names},
        program=Program(("echo",), metric_sources={name: {"": "wall_time"} for name in names}),
    )
    case = replace(CASE, server=None, parameters={"timeout": 2.0})
    script = client_saying(replication(1, wall_time=0.5), done_event(1))
    outcomes, _, _ = play(script, numbers=(1,), engine=foreign, case=case)
    assert [outcome.status for outcome, _ in outcomes] == ["ok"]


def test_both_ends_get_the_same_secret_and_never_as_an_argument():
    script = client_saying(SETTINGS, replication(1), replication(2), done_event(2))
    _, a, b = play(script)
    (client,), (server,) = a.started, b.started
    assert client.sent == server.sent
    assert len(client.sent[0]) == 32
    assert client.sent[0] not in " ".join(client.argv + server.argv)


def test_the_client_is_told_every_parameter_in_base_units():
    script = client_saying(SETTINGS, replication(1), replication(2), done_event(2))
    _, a, _ = play(script)
    argv = a.started[0].argv
    assert argv[:3] == ("/engines/rail-toy", "client", "10.0.0.2")
    assert {"--port=4711", "--replications=2"} < set(argv)
    assert {"--duration=0.1", "--nodelay=true", "--message=64"} < set(argv)


def test_everything_has_ended_after_a_launch():
    _, a, b = play(client_saying(error("no-data", 1)))
    assert all(process.stdin_closed for process in a.started + b.started)


@pytest.mark.parametrize("metrics", [{"speed": 1.0}, {}])
def test_a_warm_up_is_marked_and_takes_no_number_and_may_be_too_short_for_a_rate(metrics):
    script = client_saying(
        SETTINGS,
        replication(0, warmup=True, local=1.0, **metrics),
        replication(1, local=1.0, speed=1.0),
        done_event(1),
    )
    measured = {name: MetricDescription(name, "bit/s", "") for name in ("local", "speed")}
    outcomes, _, _ = play(script, numbers=(3,), engine=replace(ENGINE, metrics=measured))
    assert [(outcome.replication, outcome.warmup) for outcome, _ in outcomes] == [
        (0, True),
        (3, False),
    ]
    assert outcomes[0][0].metrics == {"local": 1.0} | metrics


def test_an_engines_error_fails_the_replication_under_way_and_ends_the_launch():
    outcomes, _, _ = play(client_saying(SETTINGS, replication(1), error("peer-lost", 2), status=1))
    assert [outcome.status for outcome, _ in outcomes] == ["ok", "failed"]
    failed = outcomes[1][0]
    assert (failed.replication, failed.error_code) == (2, "peer-lost")
    assert failed.metrics == {}


def test_what_the_server_says_stands_beside_the_clients_error():
    def server(argv):
        yield from (
            '{"event":"listening","engine":"toy","version":"1","port":1}',
            error("deadline"),
        )

    outcomes, _, _ = play(client_saying(error("peer-lost")), server)
    assert "it was peer-lost (server on b: it was deadline)" in outcomes[0][0].error_message


def test_a_server_that_cannot_start_fails_the_replication():
    outcomes, _, _ = play(client_saying(), client_saying(error("port-in-use"), status=1))
    ((failed, _),) = outcomes
    assert (failed.status, failed.error_code) == ("failed", "port-in-use")
    assert "server on b" in failed.error_message


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([SETTINGS], "engine-lost"),
        ([SETTINGS, "Segmentation fault"], "contract"),
        ([SETTINGS, replication(2)], "contract"),
        ([SETTINGS, replication(1, warp=9)], "contract"),
        ([SETTINGS, done_event(2)], "contract"),
        (['{"event":"listening","engine":"toy","version":"1","port":1}'], "contract"),
    ],
)
def test_an_engine_that_breaks_its_contract_gives_a_failure_and_no_number(lines, code):
    outcomes, _, _ = play(client_saying(*lines, status=-11))
    ((failed, _),) = outcomes
    assert (failed.status, failed.error_code, failed.metrics) == ("failed", code, {})


@pytest.mark.parametrize(
    "line",
    [
        SETTINGS,
        '{"event":"warning","code":"a","side":"client","message":"b"}',
        replication(0, warmup=True, speed=1.0),
    ],
)
def test_an_engine_that_never_comes_to_measure_is_ended(tmp_path, line):
    failed, launch = play_here(tmp_path, endless(line), "cat >/dev/null")[-1]
    assert (failed.status, failed.error_code, failed.metrics) == ("failed", "contract", {})
    assert len(launch.warnings) <= 10_000


def test_a_long_launch_may_warn_of_each_replication():
    numbers = range(1, 10_002)
    warning = '{"event":"warning","code":"under-rate","side":"client","message":"b"}'
    lines = [line for number in numbers for line in (warning, replication(number))]
    script = client_saying(SETTINGS, *lines, done_event(len(numbers)))
    outcomes, _, _ = play(script, numbers=tuple(numbers))
    assert {outcome.status for outcome, _ in outcomes} == {"ok"}
    assert len(outcomes) == len(numbers)


def test_a_server_that_only_warns_has_no_say_in_what_failed(tmp_path):
    warning = '{"event":"warning","code":"a","side":"server","message":"b"}'
    lost = f"echo '{error('peer-lost')}'"
    ((failed, _),) = play_here(tmp_path, lost, endless(warning))
    assert failed.error_message == "it was peer-lost"


def endless(line):
    """Return shell that says the line again and again, until its input ends."""
    return f"yes '{line}' & cat >/dev/null; kill $!; exit 1"


def play_here(folder, client, server):
    """Return the outcomes of a launch whose two ends are real, and do what this shell says."""
    listening = '{"event":"listening","engine":"toy","version":"1","port":1}'
    program = folder / "rail-toy"
    launches = shlex.join(SHELL)
    program.write_text(
        f'#!/bin/sh\n[ $1 = launches ] && exec {launches} "$2"\n'
        f"[ $1 = client ] || {{ echo '{listening}'; {server}; exit; }}\n{client}\n"
    )
    program.chmod(0o755)
    sites = [EquippedHost(LocalTransport(name), str(folder)) for name in "ab"]
    return list(measure(ENGINE, CASE, (1,), sites, terms=TERMS, programs=RunningPrograms()))


def test_an_engine_that_dies_says_its_status_and_last_words():
    ((failed, _),), _, _ = play(client_saying(SETTINGS, status=-11))
    assert "status -11" in failed.error_message
    assert "words on stderr" in failed.error_message


@pytest.mark.parametrize(
    "last",
    [replication(2), "Segmentation fault", error("peer-lost"), done_event(1)],
)
def test_what_goes_wrong_after_the_last_replication_changes_no_outcome(last):
    outcomes, _, _ = play(client_saying(SETTINGS, replication(1), last, status=1), numbers=(1,))
    assert [(outcome.replication, outcome.status) for outcome, _ in outcomes] == [(1, "ok")]


def test_a_host_lost_after_the_last_replication_is_still_a_lost_host():
    def client(argv):
        yield SETTINGS
        yield replication(1)
        yield LOSS

    outcomes, host = play_until_a_host_is_lost(client, (1,))
    assert ([outcome.status for outcome in outcomes], host) == (["ok"], "a")


def test_an_engine_that_leaves_a_metric_of_its_mode_out_gives_no_number():
    engine = replace(
        ENGINE,
        metrics={
            "speed": MetricDescription("speed", "bit/s", "higher"),
            "time": MetricDescription("time", "s", "lower", modes=("latency",)),
        },
    )
    script = client_saying(SETTINGS, replication(1), done_event(1))
    streaming, _, _ = play(script, numbers=(1,), engine=engine)
    assert streaming[0][0].status == "ok"
    case = replace(CASE, parameters={**CASE.parameters, "mode": "latency"})
    latency, _, _ = play(script, numbers=(1,), engine=engine, case=case)
    assert (latency[0][0].error_code, latency[0][0].metrics) == ("contract", {})


def test_a_host_lost_while_measuring_fails_that_replication_and_names_the_host():
    def client(argv):
        yield SETTINGS
        yield LOSS

    outcomes, host = play_until_a_host_is_lost(client, (1, 2))
    assert host == "a"
    assert [(outcome.replication, outcome.error_code) for outcome in outcomes] == [(1, "host-lost")]


def test_a_host_lost_before_anything_was_measured_leaves_no_outcome():
    b = FakeTransport("b", {"rail-toy": listening_server})
    b.lose()
    assert play_until_a_host_is_lost(client_saying(), (1,), b) == ([], "b")


def test_ending_all_programs_ends_one_that_hangs():
    programs = RunningPrograms()

    ender = threading.Thread(target=programs.end_all)

    def client(argv):
        yield SETTINGS
        ender.start()
        yield NEVER

    outcomes, _, _ = play(client, programs=programs)
    ender.join()
    assert programs.ended
    assert [outcome.error_code for outcome, _ in outcomes] == ["engine-lost"]


def test_a_foreign_engines_metrics_come_from_the_executors():
    foreign = EngineInfo(
        name="echo",
        version="1",
        summary="",
        roles=("client",),
        parameters={},
        metrics={"time": MetricDescription("time", "s", "lower", source="wall_time")},
        program=Program(("echo", "hello"), metric_sources={"time": {"": "wall_time"}}),
    )
    case = Case("key", "echo", "a", "a", None, {"timeout": 2.0})
    script = client_saying(replication(1, wall_time=0.5, max_rss=7), done_event(1))
    a = FakeTransport("a", {"rail-exec": script})
    ((outcome, _),) = measure(
        foreign,
        case,
        (1,),
        [EquippedHost(a, "/engines")],
        terms=TERMS,
        programs=RunningPrograms(),
    )
    assert outcome.metrics == {"time": 0.5}
    assert a.started[0].argv[-3:] == ("--", "echo", "hello")
    assert "--timeout=2" in a.started[0].argv


SOLO = replace(ENGINE, solo_modes=("generator",))
GENERATOR = replace(CASE, parameters={**CASE.parameters, "mode": "generator"})


def test_a_mode_without_a_server_starts_only_the_client_and_names_the_target():
    script = client_saying(SETTINGS, replication(1), done_event(1))
    terms = replace(TERMS, control_port=5, addresses=TERMS.at)
    outcomes, a, b = play(script, numbers=(1,), engine=SOLO, case=GENERATOR, terms=terms)
    assert [outcome.status for outcome, _ in outcomes] == ["ok"]
    assert b.started == []
    (client,) = a.started
    assert client.argv[:3] == ("/engines/rail-toy", "client", "10.0.0.2")
    assert "--plan-hosts=10.0.0.1,10.0.0.2" in client.argv
    assert "--mode=generator" in client.argv
    assert not [argument for argument in client.argv if argument.startswith(("--port", "--secret"))]
    assert client.sent == []
    assert client.stdin_closed


def test_a_mode_without_a_server_is_bounded_and_fails_as_any_other():
    script = client_saying(SETTINGS, error("target-refused"), status=1)
    outcomes, a, _ = play(script, numbers=(1,), engine=SOLO, case=GENERATOR)
    assert [outcome.error_code for outcome, _ in outcomes] == ["target-refused"]
    assert any(argument.startswith("--deadline=") for argument in a.started[0].argv)


def test_only_a_mode_without_a_server_is_told_the_plans_hosts():
    script = client_saying(SETTINGS, replication(1), done_event(1))
    terms = replace(TERMS, control_port=5, addresses=TERMS.at)
    _, a, b = play(script, numbers=(1,), engine=SOLO, terms=terms)
    assert "--port=5" in b.started[0].argv
    assert "plan-hosts" not in " ".join(a.started[0].argv)


@pytest.mark.parametrize(
    ("parameters", "seconds"),
    [
        ({"duration": 10.0}, 30 + 2 * 130),
        ({"duration": 10.0, "warmup": 5.0}, 30 + 2 * 135),
        ({"duration": 10.0, "count": 7}, 30 + 2 * 3_600),
        ({"duration": 10.0, "mode": "file"}, 30 + 2 * 3_600),
        # Where a count has no effect it ends nothing.
        ({"duration": 10.0, "count": 7, "mode": "generator"}, 30 + 2 * 130),
    ],
)
def test_a_launch_has_as_long_as_its_durations_unless_something_else_ends_it(parameters, seconds):
    timed = ParameterInfo("duration", "time", modes=("stream", "generator"))
    counted = ParameterInfo("count", "int", modes=("stream",))
    engine = replace(ENGINE, parameters={"duration": timed, "count": counted})
    case = replace(CASE, parameters={"mode": "stream", **parameters})
    _, a, b = play(client_saying(SETTINGS), engine=engine, case=case)
    assert f"--deadline={seconds}" in a.started[0].argv
    assert f"--deadline={seconds}" in b.started[0].argv


def test_a_launch_of_very_many_replications_gets_a_deadline_that_engines_take():
    case = replace(CASE, parameters={"count": 7})
    _, a, b = play(client_saying(SETTINGS), numbers=range(1, 1001), case=case)
    assert "--deadline=2592000" in a.started[0].argv
    assert "--deadline=2592000" in b.started[0].argv


@pytest.mark.parametrize(
    ("takes", "rate", "options"),
    [
        (True, 2.5e6, ["--link-rate=2500000"]),
        (True, None, []),
        (False, 1e9, []),
    ],
)
def test_a_link_s_known_rate_is_told_to_engines_that_make_something_of_it(takes, rate, options):
    script = client_saying(SETTINGS, replication(1), done_event(1))
    engine = replace(ENGINE, takes_link_rate=takes)
    _, a, _ = play(script, numbers=(1,), engine=engine, terms=replace(TERMS, link_rate=rate))
    assert [
        argument for argument in a.started[0].argv if argument.startswith("--link-rate")
    ] == options


TRACING = replace(
    ENGINE,
    parameters={
        "mode": ParameterInfo("mode", "choice", choices=("stream", "latency")),
        "trace": ParameterInfo("trace", "int", default=0, modes=("stream",)),
    },
)
STREAM = replace(CASE, parameters={**CASE.parameters, "mode": "stream", "trace": 5000})
# Monotonic clock, 3 sent, 2 arrived, 2 recorded at 7 and 8 ns, sent at 5 and 6: the second is lost.
TRACE = b"RGT1" + bytes([0, 3, 2, 2, 7, 5, 0, 0, 0, 2, 2, 2])


def traced(number, part, data):
    encoded = base64.b64encode(data).decode()
    return json.dumps({"event": "trace", "replication": number, "part": part, "data": encoded})


def play_traced(*lines, numbers=(4,), case=STREAM):
    script = client_saying(SETTINGS, *lines, done_event(len(numbers)))
    outcomes, _, _ = play(script, numbers=numbers, engine=TRACING, case=case)
    return [outcome for outcome, _ in outcomes]


def test_a_trace_comes_in_pieces_and_goes_on_with_its_replication():
    first, second = play_traced(
        traced(1, 0, TRACE[:5]),
        traced(1, 1, TRACE[5:6]),
        traced(1, 2, TRACE[6:]),
        replication(1),
        traced(2, 0, TRACE),
        replication(2),
        numbers=(4, 7),
    )
    assert (first.replication, first.trace) == (4, TRACE)
    assert (second.replication, second.trace) == (7, TRACE)
    assert decode(first.trace).sequence.tolist() == [0, 2]


def test_a_warm_up_may_have_a_trace_that_nobody_keeps():
    outcomes = play_traced(
        traced(0, 0, TRACE),
        replication(0, warmup=True, speed=1.0),
        traced(1, 0, TRACE),
        replication(1),
    )
    assert [(outcome.warmup, outcome.trace) for outcome in outcomes] == [
        (True, b""),
        (False, TRACE),
    ]
    outcomes = play_traced(
        replication(0, warmup=True, speed=1.0), traced(1, 0, TRACE), replication(1)
    )
    assert [outcome.status for outcome in outcomes] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([replication(1)], "sent no trace of replication 1"),
        (
            [traced(1, 1, TRACE), replication(1)],
            "sent part 1 of the trace of replication 1 after 0",
        ),
        (
            [traced(1, 0, TRACE[:9]), traced(1, 2, TRACE[9:]), replication(1)],
            "sent part 2 of the trace of replication 1 after 1 parts",
        ),
        (
            [traced(1, 0, TRACE[:9]), traced(2, 1, TRACE[9:]), replication(1)],
            "sent part 1 of the trace of replication 2 after 1 parts of that of 1",
        ),
        ([traced(2, 0, TRACE), replication(1)], "sent the trace of 2 with replication 1"),
        ([traced(0, 0, TRACE), replication(1)], "sent the trace of 0 with replication 1"),
        ([traced(1, 0, TRACE[:-1]), replication(1)], "it is cut off"),
        ([traced(1, 0, TRACE), traced(1, 1, b"x"), replication(1)], "1 bytes follow its end"),
    ],
)
def test_what_is_not_the_next_replications_whole_trace_gives_a_failure(lines, says):
    (failed,) = play_traced(*lines)
    assert (failed.status, failed.error_code) == ("failed", "contract")
    assert (failed.metrics, failed.trace) == ({}, b"")
    assert says in failed.error_message


def test_a_trace_that_nobody_asked_for_gives_a_failure():
    for parameters in ({"trace": 0}, {"mode": "latency"}):
        case = replace(STREAM, parameters={**STREAM.parameters, **parameters})
        (failed,) = play_traced(traced(1, 0, TRACE), replication(1), case=case)
        assert failed.error_code == "contract"
        assert "sent a trace that nobody asked for" in failed.error_message
        (measured,) = play_traced(replication(1), case=case)
        assert (measured.status, measured.trace) == ("ok", b"")


def test_what_somebody_elses_program_calls_a_trace_is_its_own():
    parts = TraceParts(
        replace(TRACING, program=Program(("prog",))), replace(CASE, parameters={"trace": "on"})
    )
    assert parts.take(1) == b""


def test_an_endless_trace_is_refused_before_it_fills_the_memory():
    parts = TraceParts(TRACING, STREAM)
    piece = bytes(MAX_BYTES // 8)
    with pytest.raises(EngineError, match=f"more than {MAX_BYTES:,} bytes"):
        for number in range(9):
            parts.add(Traced(1, number, piece))
    assert number == 8


def test_a_series_comes_as_a_trace_does():
    parameters = {**ENGINE.parameters, "series": ParameterInfo("series", "time", default=0.0)}
    engine, case = (
        replace(ENGINE, parameters=parameters),
        replace(CASE, parameters={**CASE.parameters, "series": 0.01}),
    )
    parts, data = TraceParts(engine, case), encode_series(tcp_series())
    parts.add(Traced(1, 0, data))
    assert parts.take(1) == data
    parts.add(Traced(2, 0, TRACE))
    with pytest.raises(EngineError, match="RGI1"):
        parts.take(2)
