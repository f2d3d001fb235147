"""What dispatching a case over ssh takes, beyond the engine's own time.

Two hosts in network namespaces of this machine, each behind a real sshd, connections warm. In turn:
one launch of a run that has many (over ssh on both hosts, followed, judged), from its beginning to
when the next may begin, and the same two programs with the same arguments started straight in the
namespaces. The difference of the two wall times is dispatch; dead time is what the first takes
beside the duration that is measured. Needs root and sshd.

    python -m benchmarks.dispatch [--cases 100] [--duration 50ms]
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.support import sshlab

from benchmarks.machine import need
from railgauge.engine.command_lines import Terms, client_argv, server_argv
from railgauge.engine.deploy import bundle, deploy
from railgauge.engine.events import Done, Listening, Replicated, parse
from railgauge.engine.launch_terms import launch_terms
from railgauge.engine.measure import EquippedHost
from railgauge.engine.outcome import Launch, Outcome
from railgauge.hosts.transport import open_transport
from railgauge.hosts.transport.interface import end
from railgauge.plan.cases import Case, expand
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.schedule import Dispatch
from railgauge.run.execution import Execution, Observer, Setting
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, PlannedCase

CLONE_NEWNET = 0x40000000
SECRET = "0" * 32
# As far apart as the lines of launches.
ECHOES, PAUSE = 30, 0.05
PLAN = """\
railgauge: 1
name: dispatch
hosts:
  a: {{address: {a}, ssh: host-a}}
  b: {{address: {b}, ssh: host-b}}
links:
  pair: {{from: a, to: b}}
tests:
  - name: tcp-latency
    engine: tcp
    set: {{mode: latency, duration: {duration}}}
    replications: 1
  - name: udp-latency
    engine: udp
    set: {{mode: latency, duration: {duration}}}
    replications: 1
  - name: tcp-stream
    engine: tcp
    set: {{mode: stream, duration: {duration}}}
    replications: 1
"""


class Strict(Observer):
    """Says nothing of a run, and fails with what failed."""

    def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        if outcome.status == "failed":
            sys.exit(f"{dispatch.test}: {outcome.error_message}")

    def lost(self, host: str, reason: str) -> None:
        sys.exit(reason)


class Bench:
    """The plan's cases, ready to be measured in both ways."""

    def __init__(self, lab: sshlab.Lab, loaded: LoadedPlan, database: Path, count: int) -> None:
        self.lab = lab
        self.loaded = loaded
        self.tests = expand(loaded)
        self.cleanup = contextlib.ExitStack()
        sources = bundle()
        self.sites = {}
        for name, host in loaded.plan.hosts.items():
            transport = open_transport(name, host)
            self.cleanup.callback(transport.close)
            self.sites[name] = EquippedHost(transport, deploy(transport, sources))
        self.store = self.cleanup.enter_context(Store.open(str(database)))
        catalogue = loaded.catalogue
        self.run = self.store.begin_run(
            NewRun("dispatch", "", "/", "", False, 1, "benchmark", "0", "", {}),
            [
                PlannedCase(expanded.test.name, case, count)
                for expanded in self.tests
                for case in expanded.cases
            ],
            {
                name: {
                    metric.name: MetricInfo.of(metric)
                    for metric in catalogue.engine(name).metrics.values()
                }
                for name in {expanded.test.engine for expanded in self.tests}
            },
        )

    def in_turn(self, test: str, case: Case, count: int) -> tuple[list[float], list[float]]:
        """Return the seconds of so many launches of one run, and of as many started straight."""
        setting = Setting(
            self.loaded.catalogue, str, self.sites, 1, partial(launch_terms, self.loaded.plan)
        )
        launches, straight = [], []

        def rounds() -> Iterator[tuple[Dispatch]]:
            for number in range(1, count + 1):
                began = time.perf_counter()
                yield (Dispatch(test, case, (number,)),)
                launches.append(time.perf_counter() - began)
                straight.append(self.straight(case))

        totals = Execution(self.store, self.run, Strict(), setting).run(rounds(), count)
        assert totals.measured == count, totals
        return launches, straight

    def round_trip(self) -> float:
        """Return the seconds from a line to a program over ssh until it comes back; a median."""
        process = self.sites["a"].transport.start(["cat"])
        seconds = []
        for _ in range(ECHOES):
            began = time.perf_counter()
            process.send_line("x")
            assert process.read_line(10) == "x"
            seconds.append(time.perf_counter() - began)
            time.sleep(PAUSE)
        end((process,))
        return statistics.median(seconds)

    def straight(self, case: Case) -> float:
        """Return the seconds that the same two programs take, started without any of that."""
        engine = self.loaded.catalogue.engine(case.engine)
        assert case.server is not None
        client, server = self.sites[case.client], self.sites[case.server]
        terms = Terms(at=("", self.loaded.plan.hosts[case.server].address))
        began = time.perf_counter()
        with program(self.lab.b.namespace, server_argv(engine, server.engines, terms, 60)) as far:
            assert far.stdin is not None and far.stdout is not None
            far.stdin.write(SECRET + "\n")
            far.stdin.flush()
            listening = parse(far.stdout.readline().rstrip("\n"))
            assert isinstance(listening, Listening), listening
            argv = client_argv(
                engine,
                case,
                client.engines,
                port=listening.port,
                count=1,
                terms=terms,
                deadline=60,
            )
            with program(self.lab.a.namespace, argv) as near:
                assert near.stdin is not None and near.stdout is not None
                near.stdin.write(SECRET + "\n")
                near.stdin.flush()
                events = [parse(line.rstrip("\n")) for line in near.stdout]
        seconds = time.perf_counter() - began
        assert isinstance(events[-1], Done), events
        assert any(isinstance(event, Replicated) for event in events), events
        return seconds


@contextlib.contextmanager
def program(namespace: str, argv: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a program in a network namespace; it has ended when this does."""
    with inside(namespace):
        started = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
    with started:
        yield started


@contextlib.contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Have this thread in a network namespace: what `ip netns exec` costs is no engine's time."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    target = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(target, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns to {namespace}")
        try:
            yield
        finally:
            if libc.setns(home, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns back")
    finally:
        os.close(target)
        os.close(home)


def compare(bench: Bench, cases: int) -> None:
    print(f"a line over ssh and back: {1e3 * bench.round_trip():.2f} ms")
    print(f"medians of {cases - 1} launches in ms; CPU is the controller's, of both ways")
    print(
        f"{'case':<12} {'over ssh':>9} {'dead time':>9} {'straight':>9} {'dispatch':>9} {'p90':>6} "
        f"{'CPU':>5}"
    )
    for expanded in bench.tests:
        (case,) = expanded.cases
        before = time.process_time()
        over, straight = bench.in_turn(expanded.test.name, case, cases)
        busy = 1e3 * (time.process_time() - before) / cases
        # The first opens the connections.
        more = [
            1e3 * (via_ssh - direct) for via_ssh, direct in zip(over[1:], straight[1:], strict=True)
        ]
        over_ssh = statistics.median(over[1:])
        print(
            f"{expanded.test.name:<12} {1e3 * over_ssh:>9.1f} "
            f"{1e3 * (over_ssh - float(case.parameters['duration'])):>9.1f} "
            f"{1e3 * statistics.median(straight[1:]):>9.1f} {statistics.median(more):>9.1f} "
            f"{statistics.quantiles(more, n=10)[-1]:>6.1f} {busy:>5.1f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100, help="three at least")
    parser.add_argument("--duration", default="50ms", help="of each replication")
    arguments = parser.parse_args()
    lacking = sshlab.missing()
    need(not lacking, lacking)
    with tempfile.TemporaryDirectory() as folder:
        try:
            lab = sshlab.build(Path(folder))
            os.environ["RAILGAUGE_SSH_CONFIG"] = str(lab.config)
            plan = Path(folder) / "plan.yaml"
            plan.write_text(
                PLAN.format(a=lab.a.address, b=lab.b.address, duration=arguments.duration)
            )
            bench = Bench(lab, load_plan(plan), Path(folder) / "results.db", arguments.cases)
            with bench.cleanup:
                compare(bench, arguments.cases)
        finally:
            sshlab.tear_down()


if __name__ == "__main__":
    main()
