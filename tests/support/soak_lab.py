"""rail-soak as a test runs it: started when no other one holds the machine, marked, read."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.support import watcher
from tests.support.processes import end_process
from tests.support.wire import PATIENCE

LOCK = Path("/dev/shm/rail-soak.lock")
#: On a machine that other tests keep busy there is no idle moment; what is no claim about accuracy
#: is tested without one.
ANYHOW = ("--tolerance=1", "--calibrate=0.5s")
CPUS = sorted(os.sched_getaffinity(0))

Event = dict[str, Any]


def free_name() -> str:
    return f"soak-test-{os.getpid()}-{time.monotonic_ns()}"


def children(pid: int) -> set[int]:
    """All processes below that one; none where it has ended meanwhile."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return set()
    direct = {int(word) for word in text.split()}
    return direct.union(*(children(child) for child in direct)) if direct else direct


def living(pids: set[int]) -> set[int]:
    """Those that run; one that has ended and waits to be asked for its status doesn't."""
    left = set()
    for pid in pids:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if stat.rpartition(")")[2].split()[0] not in "ZX":
            left.add(pid)
    return left


# Seconds in which soakers, whose priority is the lowest, get a CPU beside busy loops.
STARVED = 10 * PATIENCE


def are_gone(pids: set[int]) -> bool:
    """Whether they end, at a priority that lets them do so beside busy loops."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, pid, 0)
    limit = time.monotonic() + STARVED
    while living(pids) and time.monotonic() < limit:
        time.sleep(0.02)
    return not living(pids)


def try_again(code: object, options: tuple[str, ...]) -> bool:
    """Whether a start failed for what other tests do on this machine."""
    starved = code == "not-idle" and set(ANYHOW) <= set(options)
    return starved or code == "soak-busy"


class Soak:
    """A rail-soak --json under way; `first` is what it said first."""

    def __init__(self, program: Path, *options: str, prefix: tuple[str, ...] = ()) -> None:
        self.name = free_name()
        argv = [*prefix, str(program), "--json", f"--marks={self.name}", *options]
        limit = time.monotonic() + STARVED
        while True:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.first = self.event()
            if not try_again(self.first.get("code"), options):
                break
            self.stop()
            assert time.monotonic() < limit, self.first
            time.sleep(0.2)

    def event(self) -> Event:
        assert self.process.stdout
        event: Event = json.loads(self.process.stdout.readline())
        return event

    def say(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def events(self) -> list[Event]:
        """What it says from now to its end."""
        assert self.process.stdout
        events = [json.loads(line) for line in self.process.stdout]
        self.process.wait(timeout=PATIENCE)
        return events

    def close_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def stop(self) -> None:
        end_process(self.process)


class Marker(watcher.Marker):
    """An engine's side of marks."""

    def mark(self, label: str, launch: int, replication: int) -> None:
        assert self.ask(f"{label} {launch} {replication}") == b"ok"


def table(text: str) -> dict[str, list[float]]:
    """The rows of the table by hand: CPU or `all` -> numbers."""
    rows = re.findall(r"^ +(\d+|all)((?: +-?[\d.]+){6})$", text, re.MULTILINE)
    return {name: [float(word) for word in numbers.split()] for name, numbers in rows}
