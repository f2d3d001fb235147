"""Kill -9, and stopping, of whatever is at work; at any instant."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tests.chaos.campaign import Disaster, Finding, Place
from tests.chaos.measuring import Measuring, descendants, finish, nothing_left

ENGINES = ("rail-udp", "sh", "sleep")
WATCHERS = ("rail-watch", "rail-hold", "rail-exec")
RANKS = ("rail-mpi", "mpirun", "orted")


def strike(
    place: Place, names: Sequence[str], number: signal.Signals, **plan: Any
) -> list[Finding]:
    """Send the signal to the controller, or to a process of one of the names, while it measures.

    What is stopped goes on after a while, as a machine that was suspended does.
    """
    findings: list[Finding] = []
    measuring = Measuring(place.folder, **plan)
    with nothing_left(findings):
        controller = measuring.start("run", "plan.yaml")
        measuring.await_stored(place.chance.randrange(measuring.planned), controller)
        time.sleep(place.chance.uniform(0, 0.2))
        before = measuring.stored()
        victims = _send(place, controller.pid, names, number)
        if number == signal.SIGSTOP:
            time.sleep(place.chance.uniform(0, 3))
            for pid in victims:
                with suppress(OSError):
                    os.kill(pid, signal.SIGCONT)
        findings += measuring.complete(finish(controller))
        findings += measuring.compare(before)
    return findings


def _send(place: Place, controller: int, names: Sequence[str], number: int) -> list[int]:
    """Signal one process; return which. Between two launches there may be none for a moment."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        below = [pid for pid, name in descendants(controller).items() if name in names]
        if not names:
            below = [controller]
        if below:
            victim = place.chance.choice(sorted(below))
            with suppress(ProcessLookupError):
                os.kill(victim, number)
                return [victim]
        elif not descendants(controller):
            return []
        time.sleep(0.001)
    return []


DISASTERS = (
    Disaster(
        "kill-controller",
        "kill -9 of the controller",
        lambda place: strike(place, (), signal.SIGKILL),
        100,
        3,
    ),
    Disaster(
        "kill-engine",
        "kill -9 of an engine",
        lambda place: strike(place, ENGINES, signal.SIGKILL),
        100,
        3,
    ),
    Disaster(
        "kill-rank",
        "kill -9 of a rank of MPI or of what launches them",
        lambda place: strike(place, RANKS, signal.SIGKILL, figures=1, pings=1, ranks=6),
        30,
        1,
        lambda: "" if shutil.which("mpicc") else "Open MPI (libopenmpi-dev)",
    ),
    Disaster(
        "kill-watcher",
        "kill -9 of a watcher or of what holds the machine",
        lambda place: strike(place, WATCHERS, signal.SIGKILL),
        50,
        3,
    ),
    Disaster(
        "stop-controller",
        "the controller stands still for a while",
        lambda place: strike(place, (), signal.SIGSTOP),
        20,
        1,
    ),
    Disaster(
        "stop-engine",
        "an engine stands still for a while",
        lambda place: strike(place, ENGINES, signal.SIGSTOP),
        50,
        2,
    ),
    Disaster(
        "stop-watcher",
        "a watcher stands still for a while",
        lambda place: strike(place, WATCHERS, signal.SIGSTOP),
        20,
        1,
    ),
)
