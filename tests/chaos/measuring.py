"""A plan whose every number is known beforehand, a controller at work on it, and what is stored."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from tests.chaos.campaign import Finding
from tests.support import command_line

# Each call writes a number that no other has into the ledger before it says it.
SCRIPT = """\
number=$$$(date +%N)
echo $number >>"$1/ledger"
read -r began rest </proc/uptime
sleep $2
read -r ended rest </proc/uptime
echo $began $ended >>"$1/times"
echo "figure $number"
"""
ENGINE = """\
railgauge_engine: 1
name: ledger
summary: says a number that it has written down before
command: [sh, "{script}", "{folder}", "{{nap}}", "{{lane}}"]
parameters:
  lane: {{type: int, default: 1}}
  nap: {{type: text, default: "0.02"}}
metrics:
  figure: {{unit: "1", better: higher, regex: "figure ([0-9]+)"}}
"""
PLAN = """\
railgauge: 1
name: ledger
engines: [ledger.yaml]
hosts:
{hosts}
links: {{'a→b': {{from: a, to: b}}}}
tests:
  - name: figure
    engine: ledger
    hosts: [a]
    grid: {{lane: [1, 2, 3]}}
    replications: {figures}
{limit}  - name: ping
    engine: udp
    set: {{mode: latency, duration: 20ms}}
    grid: {{datagram: [64, 1024]}}
    replications: {pings}
"""
RANKS = """\
  - name: ranks
    engine: mpi
    set: {{mode: latency, duration: 50ms, yield: true}}
    replications: {ranks}
"""
HERE = """\
  a: {address: 127.0.0.1, transport: local}
  b: {address: 127.0.0.1, transport: local}"""
# A command that takes longer stands still; generous, as a busy machine isn't a fault.
LIMIT = 300.0
Stored = Mapping[tuple[object, ...], frozenset[tuple[object, ...]]]
_FAULT = re.compile(r"Traceback \(most recent call last\)|internal error")
# Characters: where it comes from, and what it is.
_BEFORE, _AFTER = 300, 3000


@dataclass
class Outcome:
    """How a command ended: `code` is None where it had to be killed."""

    code: int | None
    output: str

    def findings(self, command: str) -> Iterator[Finding]:
        """Yield that it stood still, or failed by a fault of railgauge's."""
        if self.code is None:
            yield Finding("late", f"{command} took more than {LIMIT:g} s")
        if fault := _FAULT.search(self.output):
            begin = max(0, fault.start() - _BEFORE)
            excerpt = self.output[begin : fault.end() + _AFTER]
            yield Finding("internal error", f"{command}: {excerpt}")


@dataclass
class Measuring:
    """A folder with the plan, its ledger and its database."""

    folder: Path
    figures: int = 6
    pings: int = 6
    ranks: int = 0
    hosts: str = HERE
    limit: str = ""
    database: str = "railgauge.db"

    def __post_init__(self) -> None:
        """Write the plan."""
        script = self.folder / "ledger.sh"
        script.write_text(SCRIPT)
        (self.folder / "ledger.yaml").write_text(ENGINE.format(script=script, folder=self.folder))
        plan = PLAN.format(
            hosts=self.hosts,
            figures=self.figures,
            pings=self.pings,
            limit=f"    limit: {self.limit}\n" if self.limit else "",
        )
        if self.ranks:
            plan += RANKS.format(ranks=self.ranks)
        (self.folder / "plan.yaml").write_text(plan)

    @property
    def planned(self) -> int:
        """How many replications the plan asks for."""
        return 3 * self.figures + 2 * self.pings + self.ranks

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start railgauge in the folder."""
        return command_line.Popen(
            [*command_line.COMMAND, *arguments, "--db", self.database],
            cwd=self.folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def call(self, *arguments: str) -> Outcome:
        """Run railgauge to its end."""
        return finish(self.start(*arguments))

    def stored(self) -> Stored:
        """Return the values of each replication, by run, test, case and number."""
        values: dict[tuple[object, ...], set[tuple[object, ...]]] = {}
        for *key, status, metric, value in self._rows():
            values.setdefault((*key,), set()).add((status, metric, value))
        return {key: frozenset(value) for key, value in values.items()}

    def _rows(self) -> list[tuple[object, ...]]:
        query = "SELECT run, test, case_key, replication, status, metric, value FROM measurement"
        if "://" in self.database:
            with contextlib.suppress(psycopg.Error), psycopg.connect(self._address()) as server:
                return server.execute(query).fetchall()
        path = self.folder / self.database
        if path.exists():
            with (
                contextlib.suppress(sqlite3.OperationalError),  # the schema is being made
                contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database,
            ):
                return database.execute(query).fetchall()
        return []

    def _address(self) -> str:
        return self.database.replace("+psycopg", "")

    def await_stored(self, count: int, controller: subprocess.Popen[str]) -> Stored:
        """Return what is stored as soon as it is so much, or the controller has ended."""
        end = time.monotonic() + LIMIT
        while True:
            stored = self.stored()
            if len(stored) >= count or controller.poll() is not None or time.monotonic() > end:
                return stored
            time.sleep(0.01)

    def compare(self, before: Stored) -> Iterator[Finding]:
        """Yield what became of replications that were stored before, and what can't be so."""
        now = self.stored()
        lost = [key for key in before if key not in now]
        if lost:
            yield Finding("lost", f"{len(lost)} replications that were stored, such as {lost[0]}")
        changed = [key for key in before if key in now and now[key] != before[key]]
        if changed:
            yield Finding("changed", f"{len(changed)} replications, such as {changed[0]}")
        ledger = set((self.folder / "ledger").read_text().split()) if now else set()
        figures = Counter(
            int(str(value).partition(".")[0])
            for (_, test, *_), values in now.items()
            for _, metric, value in values
            if test == "figure" and metric == "figure"
        )
        for figure, times in figures.items():
            if times > 1:
                yield Finding("doubled", f"the figure {figure} is stored {times} times")
            if str(figure) not in ledger:
                yield Finding("changed", f"the figure {figure} is stored, and nobody said it")
        if len(now) > self.planned * len({run for run, *_ in now}):
            yield Finding("doubled", f"{len(now)} replications where {self.planned} were planned")

    def disturbed(
        self, chance: random.Random, disturb: Callable[[int], object]
    ) -> tuple[Outcome, Stored]:
        """Begin a run and disturb it (given the controller's pid) at any instant.

        Return how it ended, and what was stored before the disturbance.
        """
        controller = self.start("run", "plan.yaml")
        self.await_stored(chance.randrange(self.planned), controller)
        time.sleep(chance.uniform(0, 0.2))
        before = self.stored()
        disturb(controller.pid)
        return finish(controller), before

    def complete(self, ended: Outcome, *, attempts: int = 4) -> Iterator[Finding]:
        """Resume the first run until it is complete; yield what should not have happened."""
        yield from ended.findings("the run")
        for _ in range(attempts):
            yield from self._truth(ended)
            if len(self.stored()) >= self.planned:
                return
            arguments = ("resume", "1") if self._has_run() else ("run", "plan.yaml")
            ended = self.call(*arguments)
            yield from ended.findings(arguments[0])
        if len(self.stored()) < self.planned:
            yield Finding("late", f"not complete after {attempts} attempts: {ended.output[-300:]}")

    def _truth(self, ended: Outcome) -> Iterator[Finding]:
        stored = self.stored()
        failed = sum(status == "failed" for values in stored.values() for status, *_ in values)
        if ended.code == 0 and (len(stored) != self.planned or failed):
            yield Finding(
                "wrong result", f"exit code 0, {len(stored)} of {self.planned}, {failed} failed"
            )

    def _has_run(self) -> bool:
        listed = self.call("list", "--json")
        return listed.code == 0 and '"id"' in listed.output


def finish(process: subprocess.Popen[str], limit: float = LIMIT) -> Outcome:
    """Wait for railgauge to end, at most so many seconds."""
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return Outcome(None, output)
    return Outcome(process.returncode, output)


def descendants(of: int) -> dict[int, str]:
    """Return the processes below one, zombies left out: their ids, and how they are called."""
    children: dict[int, list[tuple[int, str]]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            head, _, rest = (entry / "stat").read_text().rpartition(")")
            state, parent, *_ = rest.split()
            name = head.partition("(")[2]
            # A database's server starts its own processes when it likes.
            if state != "Z" and name != "postgres":
                children.setdefault(int(parent), []).append((int(entry.name), name))
    below: dict[int, str] = {}
    pending = [of]
    while pending:
        for pid, name in children.get(pending.pop(), ()):
            below[pid] = name
            pending.append(pid)
    return below


@contextlib.contextmanager
def nothing_left(
    findings: list[Finding],
    seconds: float = 60.0,
    spared: Callable[[], Iterable[int]] = tuple,
) -> Iterator[None]:
    """Add what is running after the strike that wasn't before, beyond a time to end.

    A lab's daemons, which a strike may have started again, are `spared`, with what is below them.
    The campaign is a subreaper (PR_SET_CHILD_SUBREAPER, prctl(2)): what its children leave behind
    becomes its own child.
    """
    before = descendants(os.getpid())
    yield
    end = time.monotonic() + seconds
    while left := {p: n for p, n in descendants(os.getpid()).items() if p not in before}:
        for daemon in spared():
            for pid in (daemon, *descendants(daemon)):
                left.pop(pid, None)
        if not left:
            break
        reap()
        if time.monotonic() > end:
            findings.append(Finding("left behind", f"{sorted(left.values())}"))
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.05)
    reap()


def kill(pid: int) -> None:
    """Kill a process that may have ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def reap() -> None:
    """Wait for orphans that have ended; what a Popen waits for, it waits for itself."""
    for entry in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        with contextlib.suppress(OSError):
            if (Path("/proc") / entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                os.waitpid(int(entry), os.WNOHANG)


def become_subreaper() -> None:
    """Take over what orphans the children leave (prctl(2), PR_SET_CHILD_SUBREAPER)."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
