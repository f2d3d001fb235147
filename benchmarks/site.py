"""How long `railgauge site` takes over a year of nights: all pages, none, and one night more.

A database of 365 nights of 200 cases of ten replications of three headline metrics, with the
facts of 21 hosts, is made in some seconds by SQL. Then, as commands: the first build, the same
again, and once more after another night; medians of `--repeats` for what can be repeated.

    python -m benchmarks.site [--nights 365] [--cases 200] [--repeats 3] [--keep DIR]
        [--no-limits]
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from railgauge.plan.cases import Case, case_key
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, PlannedCase

REPLICATIONS = 10
HOSTS = 20
FACTS = 60
NOISE = 0.01
METRICS = {
    "throughput": MetricInfo("bit/s", "higher"),
    "loss_rate": MetricInfo("1", "lower"),
    "client_cpu_per_gigabyte": MetricInfo("s", "lower"),
}
LEVELS = (1e9, 1e-3, 0.4)
# What is measured is held against these, in s.
MOST_FIRST, MOST_SECOND = 60.0, 3.0


def case(number: int) -> Case:
    size, host = divmod(number, HOSTS)
    link, client, server = f"gw→n{host}", "gw", f"n{host}"
    parameters: dict[str, int | float | str] = {
        "mode": "stream",
        "duration": 5.0,
        "datagram": 64 * (size + 1),
    }
    key = case_key("udp", link, client, server, parameters)
    return Case(key, "udp", link, client, server, parameters)


def add_nights(path: Path, first: int, nights: int, cases: int) -> None:
    """Store so many nights more; each case got 5 % slower once in a year."""
    planned = [PlannedCase("stream", case(number), REPLICATIONS) for number in range(cases)]
    hosts = ["gw", *(f"n{host}" for host in range(HOSTS))]
    with Store.open(str(path)) as store:
        runs = []
        for night in range(first, first + nights):
            commit = hashlib.sha1(f"{night // 7}".encode()).hexdigest()
            new = NewRun("nightly", "", "/", commit, False, 1, "benchmark", "0", "", {})
            run = store.begin_run(new, planned, {"udp": METRICS})
            runs.append((run, night))
    connection = sqlite3.connect(path)
    with connection:
        for run, night in runs:
            add_values(connection, run, night, cases)
            kernel = f"6.1.{night // 100}"
            facts = [("kernel", kernel), *((f"nic.eth{n}.mtu", "1500") for n in range(FACTS - 1))]
            connection.executemany(
                "INSERT INTO host_fact (run_id, host, name, recorded_at, value)"
                " SELECT ?, ?, ?, started_at, ? FROM run WHERE id = ?",
                [(run, host, name, value, run) for host in hosts for name, value in facts],
            )
    connection.close()
    with Store.open(str(path)) as store:
        for run, _ in runs:
            store.finish_run(run, "complete")


def add_values(connection: sqlite3.Connection, run: int, night: int, cases: int) -> None:
    random = np.random.default_rng([5, night])
    # As reproducible as its numbers.
    connection.execute(
        "UPDATE run SET uid = ?, checksum = NULL,"
        " started_at = strftime('%Y-%m-%dT02:00:00.000000Z', '2025-01-01', ?) WHERE id = ?",
        (f"{night:032x}", f"{night} days", run),
    )
    ids = dict(connection.execute("SELECT name, id FROM metric"))
    rows = connection.execute("SELECT id FROM run_case WHERE run_id = ? ORDER BY id", (run,))
    changed = np.random.default_rng(6).integers(10, 355, cases)
    for place, (run_case,) in enumerate(rows.fetchall()):
        level = np.exp(NOISE * random.standard_normal(3))
        level[0] *= 0.95 if night >= changed[place] else 1
        values = (
            np.array(LEVELS) * level * np.exp(0.005 * random.standard_normal((REPLICATIONS, 3)))
        )
        statuses = ["suspect" if random.random() < 0.002 else "ok" for _ in range(REPLICATIONS)]
        connection.executemany(
            "INSERT INTO replication (run_case_id, number, status) VALUES (?, ?, ?)",
            [(run_case, number, status) for number, status in enumerate(statuses, 1)],
        )
        connection.executemany(
            "INSERT INTO value (run_case_id, metric_id, number, value) VALUES (?, ?, ?, ?)",
            [
                (run_case, ids[name], number, value)
                for at, name in enumerate(METRICS)
                for number, value in enumerate(values[:, at].tolist(), 1)
            ],
        )


def build_site(path: Path, out: Path) -> tuple[float, float]:
    """Return how long it took, and how much CPU time of all processes."""
    command = [sys.executable, "-m", "railgauge", "site", "--db", str(path), "--out", str(out)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=int, default=365)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="make database and site here, and leave them")
    parser.add_argument("--no-limits", action="store_true", help="exit status 0 in any case")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        path, out = folder / "site.db", folder / "site"
        have = 0
        if not path.exists():
            add_nights(path, 0, arguments.nights, arguments.cases)
            with Store.open(str(path)) as store:
                store.set_baseline("nightly", [1, 2, 3])
        shutil.rmtree(out, ignore_errors=True)
        with Store.open(str(path)) as store:
            have = len(store.runs())
        print(f"{have} nights of {arguments.cases} cases, {path.stat().st_size / 1e6:.0f} MB")
        first, cpu = build_site(path, out)
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        print(f"first build: {first:.1f} s ({cpu:.1f} s of CPU), {size / 1e6:.0f} MB", flush=True)
        trials = [build_site(path, out) for _ in range(arguments.repeats)]
        again, cpu = (statistics.median(times) for times in zip(*trials, strict=True))
        print(f"nothing changed: {again:.2f} s ({cpu:.2f} s of CPU)", flush=True)
        add_nights(path, have, 1, arguments.cases)
        more, cpu = build_site(path, out)
        print(f"one night more: {more:.1f} s ({cpu:.1f} s of CPU)")
    sys.exit((first > MOST_FIRST or again > MOST_SECOND) and not arguments.no_limits)


if __name__ == "__main__":
    main()
