"""Cables that rail-wire makes: relays that outlive us, and what they count."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from railgauge.base.errors import EnvironmentFailedError
from railgauge.engine.build_all import BuildObserver
from railgauge.engine.deploy_all import deploy_local
from railgauge.hosts.transport.netns import enter
from railgauge.lab.testbed.layout import Cable
from railgauge.lab.testbed.shaping import burst_of
from railgauge.lab.testbed.state import TOKEN, ClusterRecord, State, translated
from railgauge.lab.testbed.system_commands import processes_of
from railgauge.lab.testbed.testbed_model import PacketPattern

_READY = 10.0  # seconds until a relay has made its devices
_ANSWER = 10.0  # seconds until a relay has written its counts
_BURSTS = 16  # of tbf that a relay has room for: it may be a few milliseconds late
_LONGEST = "720h"
# On a busy machine a relay without real-time priority is milliseconds late.
_AT_ONCE = ("chrt", "--fifo", "20")
_DIRECTIONS = {"both": "both", "there": "left-to-right", "back": "right-to-left"}


def start(state: State, observer: BuildObserver) -> None:
    """Start the testbed's relays; returns when their devices are there.

    The `observer` follows the build of what they run.

    EnvironmentFailedError says what a relay complains of, BuildError what the compiler does.
    """
    record = state.record
    assert record is not None
    relayed = list(_relayed(record))
    if not relayed:
        return
    program = f"{deploy_local(observer)}/rail-wire"
    argv = (*enter(record.holder), *_priority(), program)
    started = [(index, _start(state, record.token, argv, index, cable)) for index, cable in relayed]
    deadline = time.monotonic() + _READY
    for index, process in started:
        _await_ready(state, index, process, deadline)


def counts(state: State) -> dict[int, dict[str, Any]]:
    """Return what each relay has counted by now, by its cable's number.

    That is `left_to_right` and `right_to_left`, as rail-wire says them, nothing of one that doesn't
    answer; `running` says whether the relay still does.
    """
    record = state.record
    assert record is not None
    running = _running(record)
    before = {index: len(_counted(state, index)) for index in running}
    for pid in running.values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR1)
    deadline = time.monotonic() + _ANSWER
    answer: dict[int, dict[str, Any]] = {}
    for index, _ in _relayed(record):
        counted = _counted(state, index)
        while index in running and len(counted) == before[index] and time.monotonic() < deadline:
            time.sleep(0.005)
            counted = _counted(state, index)
        newest = counted[before.get(index, 0) :][-1:]
        answer[index] = {"running": index in running, **(newest[0] if newest else {})}
    return answer


def _relayed(record: ClusterRecord) -> Iterator[tuple[int, Cable]]:
    cables = enumerate(record.layout.cables)
    return ((index, cable) for index, cable in cables if cable.by == "rail-wire")


def _priority() -> tuple[str, ...]:
    """Return what gives a relay real-time priority, nothing where we may not."""
    if shutil.which(_AT_ONCE[0]) is None:
        return ()
    tried = subprocess.run([*_AT_ONCE, "true"], capture_output=True, check=False)
    return _AT_ONCE if tried.returncode == 0 else ()


def _start(
    state: State, token: str, argv: Sequence[str], index: int, cable: Cable
) -> subprocess.Popen[bytes]:
    with translated():
        out = state.relay_file(index, "out").open("wb")
        err = state.relay_file(index, "err").open("wb")
    with out, err:
        try:
            return subprocess.Popen(
                [*argv, *arguments(cable)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd="/",
                env={**os.environ, TOKEN: token},
                start_new_session=True,
            )
        except OSError as error:
            raise EnvironmentFailedError(f"can't start {argv[-1]}: {error}") from error


def arguments(cable: Cable) -> list[str]:
    """Return the options with which rail-wire makes the cable."""
    left, right = (f"{end.namespace}/{end.interface}" for end in cable.ends)
    words = ["--json", "--left", left, "--right", right, "--deadline", _LONGEST]
    words += ["--mtu", str(cable.mtu), "--delay", f"{cable.delay * 1e9:.0f}ns"]
    if cable.rate is not None:
        # What tbf lets pass at once waits here, and leaves at the rate.
        words += ["--rate", f"{cable.rate:.0f}bit/s", "--queue", f"{_BURSTS * burst_of(cable)}B"]
    patterns = {"loss": cable.loss, "duplicate": cable.duplicate, "reorder": cable.reorder}
    scope: list[str] = []
    for option, pattern in patterns.items():
        if pattern is not None:
            words += [f"--{option}", _pattern(pattern)]
            # All of them count the same packets.
            scope = ["--loss-of", pattern.of, "--direction", _DIRECTIONS[pattern.direction]]
    words += scope
    return words


def _pattern(pattern: PacketPattern) -> str:
    if pattern.every is not None:
        return f"every:{pattern.every}"
    if pattern.list_ is not None:
        return f"list:{','.join(map(str, pattern.list_))}"
    return f"random:{pattern.random}:{pattern.seed}"


def _await_ready(
    state: State, index: int, process: subprocess.Popen[bytes], deadline: float
) -> None:
    while not any(event.get("event") == "ready" for event in _events(state, index)):
        if process.poll() is not None or time.monotonic() >= deadline:
            raise EnvironmentFailedError(f"rail-wire can't make a link: {_complaint(state, index)}")
        time.sleep(0.002)
    process.returncode = 0  # it stays when we end, so that nobody waits for it


def _complaint(state: State, index: int) -> str:
    """Return what a relay that isn't ready says about it."""
    lines = [str(event["message"]) for event in _events(state, index) if "message" in event]
    with translated():
        lines += state.relay_file(index, "err").read_text("utf-8", "replace").splitlines()
    return "; ".join(lines) or f"it says nothing within {_READY:.0f} s; is this machine too busy?"


def _events(state: State, index: int) -> list[dict[str, Any]]:
    """Return what a relay has said in whole lines."""
    try:
        text = state.relay_file(index, "out").read_text("utf-8", "replace")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _counted(state: State, index: int) -> list[dict[str, Any]]:
    events = (event for event in _events(state, index) if event.get("event") == "counts")
    return [{key: value for key, value in event.items() if key != "event"} for event in events]


def _running(record: ClusterRecord) -> dict[int, int]:
    """Return the process of each relay that still runs, by its cable's number."""
    lefts = {
        f"{cable.ends[0].namespace}/{cable.ends[0].interface}": index
        for index, cable in _relayed(record)
    }
    pids = {}
    for pid in processes_of(record.token):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")
            pids.update({lefts[word]: pid for word in words if word in lefts})
    return pids
