"""The runner at the size of a large cluster: all pairs of up to 1,000 hosts that aren't there.

The hosts are simulated and their engines take no time; the plan, the rounds, the threads and the
database are real. Some hosts die on the way. Checked: each pair is measured exactly once or was
with a host that died, and no host is in two launches of a round. Prints, for each number of hosts,
what laying out the rounds takes, what a case takes in all, and how much memory.

    python -m benchmarks.scale [--hosts 125 250 500 1000] [--deaths 5]
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from tests.support.simulated import SimulatedTransport

from railgauge.engine.launch_terms import launch_terms
from railgauge.engine.measure import EquippedHost
from railgauge.plan.cases import Case, ExpandedTest, expand
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.schedule import Round, Schedule, most_replications
from railgauge.run.execution import Execution, Observer, Setting
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, PlannedCase

ENGINE = "tcp"
PLAN = """\
railgauge: 1
name: all-pairs
concurrency: {concurrency}
hosts:
{hosts}
links:
  fabric: all-pairs
tests:
  - name: latency
    engine: {engine}
    links: [fabric]
    set: {{mode: latency, duration: 1s}}
    replications: 1
"""


def read_plan(folder: Path, hosts: int) -> LoadedPlan:
    names = "\n".join(
        f"  n{number:04}: {{address: 10.0.{number // 250}.{number % 250 + 1}, ssh: n{number:04}}}"
        for number in range(hosts)
    )
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.format(concurrency=max(1, hosts // 2), hosts=names, engine=ENGINE))
    return load_plan(plan)


def one_way(tests: tuple[ExpandedTest, ...]) -> ExpandedTest:
    """Return the test with each pair in one direction only."""
    (test,) = tests
    return ExpandedTest(test.test, tuple(filter(is_forward, test.cases)))


def is_forward(case: Case) -> bool:
    return case.server is not None and case.client < case.server


def begin(store: Store, loaded: LoadedPlan, test: ExpandedTest) -> int:
    metrics = loaded.catalogue.engine(ENGINE).metrics.values()
    return store.begin_run(
        NewRun("all-pairs", "", "/", "", False, 1, "benchmark", "0", "", {}),
        [PlannedCase(test.test.name, case, 1) for case in test.cases],
        {ENGINE: {metric.name: MetricInfo.of(metric) for metric in metrics}},
    )


def check_rounds(rounds: list[Round], hosts: int) -> None:
    assert len(rounds) == hosts - 1 + hosts % 2, len(rounds)
    for dispatches in rounds:
        busy = [name for dispatch in dispatches for name in dispatch.hosts]
        assert len(busy) == len(set(busy))


def check_stored(database: Path, test: ExpandedTest, dead: set[str]) -> None:
    """Check that what is stored is what could be measured, exactly once."""
    connection = sqlite3.connect(database)
    query = (
        "SELECT client_host, server_host, status FROM replication "
        "JOIN run_case ON run_case.id = run_case_id JOIN bench_case ON bench_case.id = case_id"
    )
    rows = connection.execute(query).fetchall()
    connection.close()
    stored = {(client, server): status for client, server, status in rows}
    assert len(stored) == len(rows)
    healthy = {
        (case.client, case.server) for case in test.cases if not {case.client, case.server} & dead
    }
    assert all(stored.get(pair) == "ok" for pair in healthy)
    assert all(status == "ok" or set(pair) & dead for pair, status in stored.items())


def measure(hosts: int, deaths: int) -> None:
    """Run one size and print its row."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as cleanup:
        began = time.perf_counter()
        loaded = read_plan(Path(folder), hosts)
        test = one_way(expand(loaded, allow_large=True))
        read = time.perf_counter() - began

        began = time.perf_counter()
        rounds = list(
            Schedule(
                [test],
                machines={name: name for name in loaded.plan.hosts},
                concurrency=loaded.plan.concurrency,
                seed=1,
            ).rounds()
        )
        scheduled = time.perf_counter() - began
        check_rounds(rounds, hosts)

        database = Path(folder) / "results.db"
        store = cleanup.enter_context(Store.open(str(database)))
        began = time.perf_counter()
        run = begin(store, loaded, test)
        recorded = time.perf_counter() - began
        engine = loaded.catalogue.engine(ENGINE)
        # Spread over the hosts, each half-way through its own pairs.
        dead = {f"n{number * hosts // deaths:04}" for number in range(deaths)} if deaths else set()
        sites = {
            name: EquippedHost(
                SimulatedTransport(name, engine, dies_at=hosts // 2 if name in dead else None), "/"
            )
            for name in loaded.plan.hosts
        }
        terms = partial(launch_terms, loaded.plan)
        setting = Setting(loaded.catalogue, str, sites, loaded.plan.concurrency, terms)
        execution = Execution(store, run, Observer(), setting)
        began, busy = time.perf_counter(), time.process_time()
        totals = execution.run(
            rounds, most_replications(dispatch for dispatches in rounds for dispatch in dispatches)
        )
        measured = time.perf_counter() - began
        case_ms = (
            1e3 * measured / totals.planned,
            1e3 * (time.process_time() - busy) / totals.planned,
        )
        assert set(execution.lost) == dead, execution.lost
        assert totals.measured + totals.failed + totals.missing == totals.planned == len(test.cases)
        check_stored(database, test, dead)
        cases = len(test.cases)
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{hosts:>6} {cases:>8,} {read:>7.2f} {scheduled:>9.2f} {len(rounds):>7} "
            f"{recorded:>7.1f} {measured:>8.1f} {case_ms[0]:>8.3f} {case_ms[1]:>8.3f}"
            f" {resident:>10.0f} "
            f"{totals.failed:>7} {totals.missing:>8}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", default=[125, 250, 500, 1000])
    parser.add_argument("--deaths", type=int, default=5)
    parser.add_argument("--alone", action="store_true", help="one size, in this process")
    arguments = parser.parse_args()
    if arguments.alone:
        measure(arguments.hosts[0], arguments.deaths)
        return
    print("times in s, CPU in ms a case, memory in MiB")
    print(
        f"{'hosts':>6} {'pairs':>8} {'read':>7} {'schedule':>9} {'rounds':>7} {'record':>7} "
        f"{'measure':>8} {'ms/case':>8} {'CPU':>8} {'resident':>10} {'failed':>7} {'missing':>8}",
        flush=True,
    )
    for hosts in arguments.hosts:
        # In a process of its own, for the memory it takes.
        command = [sys.executable, "-m", "benchmarks.scale", "--alone", "--hosts", str(hosts)]
        subprocess.run([*command, "--deaths", str(arguments.deaths)], check=True)


if __name__ == "__main__":
    main()
