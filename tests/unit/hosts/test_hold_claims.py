"""What the controller makes of what rail-hold says on a host, whatever that is."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

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


SILENCE = {"event": "error", "code": "no-answer", "message": "let go: the controller said nothing"}


def restarted(*programs: Sequence[str | Wait]) -> FakeTransport:
    """A host whose rail-hold says these when it is started first, second …, and ends then."""
    left = iter(programs)

    def program(argv: Sequence[str]) -> Program:
        yield from next(left, ())
        return 1

    return FakeTransport("n1", {"rail-hold": program})


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ([HELD], "n1: the machine can't be held for this run: rail-hold ended unexpectedly"),
        ([HELD, json.dumps(SILENCE)], "n1: let go: the controller said nothing"),
        ([HELD, LOSS], "n1: this fake host is lost"),
        ([HELD, busy()], "n1 is held since 20"),
        ([HELD, "what?"], "rail-hold on n1 said 'what?'"),
    ],
)
def test_a_machine_that_is_lost_stays_so_until_it_is_renewed(
    says: Sequence[str | Wait], reason: str
) -> None:
    transport = restarted(says, [HELD, NEVER])
    machines = HeldMachines({"n1": claim(transport)})
    machines.say("run 1")
    assert machines.failure("n1").startswith(reason)
    transport.lost = False
    assert machines.failure("n1").startswith(reason)
    if "is held" not in reason:
        machines.renew("n1")
        assert machines.failure("n1") == ""
        first, second = transport.started
        assert first.stdin_closed
        assert "--text=run 1" in second.argv
        assert second.sent == first.sent[:1] == ["token"]
    machines.close()
    assert transport.started[-1].stdin_closed
    machines.close()


def test_one_that_another_run_has_taken_is_left_to_it_and_to_those_who_wait_for_it() -> None:
    transport = restarted([HELD], [busy(), NEVER], [HELD, NEVER])
    machines = HeldMachines({"n1": claim(transport)})
    with pytest.raises(HostUnreachableError, match="process 42 of user ann there: run 12") as lost:
        machines.renew("n1")
    assert lost.value.host == "n1", "nothing is launched there: both would measure each other"
    assert transport.started[1].stdin_closed, "it would have the machine when that lets go"
    machines.say("run 1")
    assert "process 42 of user ann there: run 12" in machines.failure("n1")
    machines.renew("n1")  # as for another name of the machine
    assert machines.failure("n1") == ""
    assert len(transport.started) == 3
    machines.close()


def test_one_whose_holder_cannot_be_started_again_stays_lost() -> None:
    transport = restarted([HELD], [])
    machines = HeldMachines({"n1": claim(transport)})
    for _ in range(2):
        machines.renew("n1")
        assert "rail-hold ended unexpectedly" in machines.failure("n1")
    machines.close()


def test_one_that_is_held_is_left_alone() -> None:
    transport = host(HELD)
    machines = HeldMachines({"n1": claim(transport)})
    machines.renew("n1")
    assert machines.failure("n1") == ""
    assert len(transport.started) == 1
    machines.close()
    assert transport.started[0].stdin_closed


@pytest.mark.parametrize("beats", [True, False])
def test_a_machine_is_lost_after_a_silence_before_its_rail_hold_says_so(
    monkeypatch: pytest.MonkeyPatch, beats: bool
) -> None:
    """As by Ctrl-Z: what another host has measured since then may come first."""
    machines = HeldMachines({"n1": (first := claim(host(HELD)))})
    try:
        assert machines.failure("n1") == ""
        with monkeypatch.context() as patch:
            patch.setattr("railgauge.run.holding._SILENCE", 0.0)
            if beats:
                first.beat()
            else:
                first.failure()
        assert machines.failure("n1").startswith("n1: rail-hold got no sign of life for")
        machines.renew("n1")
        assert machines.failure("n1") == ""
    finally:
        machines.close()
