"""What the controller makes of what rail-hold says on a host, whatever that is."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from railgauge.base.errors import EngineError, EnvironmentFailedError, HostUnreachableError
from railgauge.engine.measure import EquippedHost
from railgauge.hosts.transport.fake import LINE, LOSS, NEVER, FakeTransport, Program, Wait
from railgauge.run.holding import Claim, HeldMachines

HELD = json.dumps({"event": "held"})
BUSY = {"event": "busy", "user": "ann", "uid": 1000, "pid": 42, "seconds": 3.5, "text": "run 12"}


def host(*lines: str | Wait) -> FakeTransport:
    def program(argv: Sequence[str]) -> Program:
        yield from lines
        while (yield LINE) is not None:
            pass
        return 0

    return FakeTransport("n1", {"rail-hold": program})


def claim(transport: FakeTransport) -> Claim:
    return Claim(EquippedHost(transport, "/engines"), "token", "run of plan p")


def busy(**changed: object) -> str:
    return json.dumps({**BUSY, **changed})


def test_a_machine_that_is_free_is_ours() -> None:
    transport = host(HELD)
    assert claim(transport).busy is None
    assert "--text=run of plan p" in transport.started[0].argv
    assert not any("=token" in argument for argument in transport.started[0].argv)
    assert transport.started[0].sent == ["token"]


def test_one_that_is_held_says_by_whom_and_since_when() -> None:
    words = str(claim(host(busy())).busy)
    assert words.startswith("since 20")
    assert words.endswith(" UTC by process 42 of user ann there: run 12")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        # In another namespace of processes, it has no number here.
        ({"pid": None}, " UTC by a process of user ann there: run 12"),
        ({"user": ""}, "by process 42 of user number 1000 there"),
        ({"pid": None, "uid": None, "seconds": None, "text": ""}, "a process that doesn't answer"),
        ({"text": "a\x1b[2Jb\nc"}, ": a [2Jb c"),
        ({"seconds": -1}, "by process 42"),
        ({"seconds": 1e300}, "by process 42"),
        ({"seconds": "soon"}, "by process 42"),
    ],
)
def test_what_the_holder_leaves_open_or_makes_up_does_no_harm(
    changed: dict[str, object], says: str
) -> None:
    assert says in str(claim(host(busy(**changed))).busy)


@pytest.mark.parametrize(
    "line", ["", "held", "[]", "{}", "null", '{"event": "busy"}', '{"event": 1}', "[" * 10_000]
)
def test_what_is_no_answer_is_an_error_of_the_contract(line: str) -> None:
    with pytest.raises(EngineError, match="rail-hold on n1 said") as caught:
        claim(host(line))
    assert caught.value.code == "contract"


def test_what_rail_hold_could_not_do_is_told_with_its_host() -> None:
    event = {"event": "error", "code": "not-permitted", "message": "cannot take the lock"}
    with pytest.raises(EnvironmentFailedError, match="n1: cannot take the lock"):
        claim(host(json.dumps(event)))


def test_a_program_that_ends_without_a_word_is_told() -> None:
    def program(argv: Sequence[str]) -> Program:
        yield from ()
        return 127

    with pytest.raises(EnvironmentFailedError, match="n1: the machine can't be held"):
        claim(FakeTransport("n1", {"rail-hold": program}))


def test_a_lost_host_is_one() -> None:
    with pytest.raises(HostUnreachableError) as caught:
        claim(host(LOSS))
    assert caught.value.host == "n1"


def test_waiting_ends_with_the_other_s_end() -> None:
    waiting = claim(host(busy(), busy(text="run 13"), HELD))
    assert waiting.busy is not None
    waiting.wait(time.monotonic() + 60)
    assert waiting.busy is None


def test_waiting_ends_at_its_limit_with_the_last_holder() -> None:
    waiting = claim(host(busy(), busy(text="run 13"), NEVER))
    waiting.wait(time.monotonic() + 0.1)
    assert waiting.busy is not None
    assert waiting.busy.text == "run 13"


@pytest.mark.parametrize(
    ("given_up", "lost"),
    [
        (["c"], ["a"]),
        # Its connection broke, and the run went on over another one.
        ([], ["a", "c"]),
    ],
)
def test_what_was_taken_away_is_known_at_the_end_and_lost_hosts_are_no_news(
    given_up: list[str], lost: list[str]
) -> None:
    def ends(argv: Sequence[str]) -> Program:
        yield HELD
        return 1

    ended, stays, dead = FakeTransport("a", {"rail-hold": ends}), host(HELD), host(HELD)
    dead.host = "c"
    machines = HeldMachines(
        {transport.host: claim(transport) for transport in (ended, stays, dead)}
    )
    last_known = datetime.now(UTC)
    machines.say("run 1")
    dead.lose()
    machines.give_up(given_up)
    machines.close()
    assert list(machines.lost) == lost
    assert machines.lost["a"] <= last_known
    assert stays.started[0].sent == ["token", "run 1"]
    assert stays.started[0].stdin_closed
    machines.close()
