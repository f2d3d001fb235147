"""How far builds on many hosts are: on hosts that aren't there, and with a real make here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from railgauge.base.errors import BuildError
from railgauge.engine.build_all import LineTaker, build_all
from railgauge.engine.deploy import Bundle
from railgauge.engine.deploy_all import deploy_all
from railgauge.hosts.transport.fake import FakeTransport, Program
from railgauge.hosts.transport.local import LocalTransport

SECONDS = 60.0
SOURCES = Bundle.of({"Makefile": b"all:\n"})
Shown = tuple[tuple[str, ...], int, int]


class Follower:
    """What an observer of builds is given; `on_shown` gets each state of them."""

    def __init__(self, on_shown: Callable[[Shown], None] = lambda _: None) -> None:
        self.lines: list[str] = []
        self.states: list[Shown] = []
        self._on_shown = on_shown

    def say(self, text: str) -> None:
        self.lines.append(text)

    def building(self, hosts: Sequence[str], begun: int, steps: int) -> None:
        self.states.append((tuple(hosts), begun, steps))
        self._on_shown(self.states[-1])


def shell(steps: int, pause: Callable[[], object], argv: Sequence[str]) -> Program:
    """Play a host that builds in so many steps, with a pause in the last; of none has all."""
    if "stepwise" not in argv[2]:
        yield f"railgauge-deploy: {'missing' if steps else 'ready'} /cache/engines"
        return 0
    yield f"railgauge-steps: {steps}"
    for step in range(steps):
        yield f"cc -c -o build/{step}.o {step}.c"
    pause()
    yield "railgauge-deploy: built"
    return 0


def test_it_says_where_the_engines_are_built_and_shows_which_hosts_build_and_how_far_they_are() -> (
    None
):
    is_shown = threading.Event()
    last = (("n1",), 5, 5)
    follower = Follower(lambda state: is_shown.set() if state == last else None)
    hosts = {
        "n1": partial(shell, 3, lambda: is_shown.wait(SECONDS)),
        "n2": partial(shell, 2, lambda: None),
        "n3": partial(shell, 0, lambda: None),
    }
    transports = {name: FakeTransport(name, {"sh": script}) for name, script in hosts.items()}
    folders = deploy_all(transports, SOURCES, follower)
    assert folders == dict.fromkeys(hosts, "/cache/engines/build")
    assert follower.lines == ["building the engines on n1, n2: about half a minute"]
    assert follower.states[0] == (("n1", "n2"), 0, 0)
    assert last in follower.states
    assert follower.states[-1] == ((), 0, 0)


def test_what_may_be_there_already_is_shown_where_it_is_built_alone() -> None:
    is_shown = threading.Event()
    follower = Follower(lambda state: is_shown.set() if state == (("n2",), 1, 4) else None)

    def build(machine: str, on_line: LineTaker) -> str:
        if machine == "n2":
            on_line("railgauge-steps: 4")
            on_line("mkdir -p build")
            on_line("mpicc -c -o build/a.o a.c")
            assert is_shown.wait(SECONDS)
        return machine

    transports = {name: FakeTransport(name, {}) for name in ("n1", "n2", "n3")}
    assert build_all(build, transports, "rail-mpi", follower) == {name: name for name in transports}
    assert follower.lines == ["building rail-mpi on n2: about half a minute"]
    assert follower.states[-1] == ((), 0, 0)


def test_where_nothing_is_built_nothing_is_said() -> None:
    follower = Follower()
    transports = {"n1": FakeTransport("n1", {"sh": partial(shell, 0, lambda: None)})}
    deploy_all(transports, SOURCES, follower)
    assert build_all(lambda name, _: name, transports, "rail-mpi", follower) == {"n1": "n1"}
    assert follower.lines == []
    assert follower.states == []


def test_the_display_ends_with_a_build_that_fails() -> None:
    def fail() -> None:
        raise BuildError("n1: no compiler")

    follower = Follower()
    transports = {"n1": FakeTransport("n1", {"sh": partial(shell, 1, fail)})}
    with pytest.raises(BuildError, match="no compiler"):
        deploy_all(transports, SOURCES, follower)
    assert follower.states[-1] == ((), 0, 0)


def test_the_steps_are_those_of_a_real_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    gate = tmp_path / "gate"
    makefile = f"""BUILD = build
all: $(BUILD)/second
$(BUILD)/first:
\tmkdir -p $(BUILD)
\tsort -o $@ Makefile
$(BUILD)/second: $(BUILD)/first
\tsort -o $@ Makefile; until [ -e {gate} ]; do sleep 0.1; done
"""
    follower = Follower(lambda state: gate.touch() if state == (("here",), 2, 2) else None)
    folder = deploy_all(
        {"here": LocalTransport("here")}, Bundle.of({"Makefile": makefile.encode()}), follower
    )["here"]
    assert Path(folder, "second").is_file()
    assert gate.exists()
