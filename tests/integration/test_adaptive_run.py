"""Real runs that measure until it is enough: settling, never settling, killed, out of time."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.boxes import Box, new_name
from tests.support.results import select

from railgauge.stats.stopping_rule import StopRule, narrow_enough

# Its values are made of its case and of how many launches of that there were, so a run that was
# killed and went on should have the values of one that wasn't. It waits where there were more in
# all than the file `hold` says. (What is stored would not do: the next begins meanwhile.)
SCRIPT = """\
import pathlib, random, sys, time
folder = pathlib.Path(__file__).parent
with (folder / "launches").open("a") as file:
    file.write(sys.argv[1] + "\\n")
launches = (folder / "launches").read_text().split()
while (folder / "hold").exists() and len(launches) > int((folder / "hold").read_text()):
    time.sleep(0.02)
number = launches.count(sys.argv[1])
noise = random.Random(f"{sys.argv[1]}/{number}").gauss(0, int(sys.argv[1]) / 1000)
print("speed", 1e6 * (1 + noise))
"""
ENGINE = """\
railgauge_engine: 1
name: gauge
summary: Says a number that spreads as much as it is told
parameters:
  noise: {{type: int, default: 0, min: 0, help: standard deviation in thousandths}}
command: [{python}, -I, -S, {script}, "{{noise}}"]
metrics:
  speed: {{unit: B/s, better: higher, regex: '(?m)^speed (\\S+)$'}}
"""
PLAN = """\
railgauge: 1
name: adaptive
seed: 7
hosts:
  here: {{address: 127.0.0.1, transport: local}}
engines: [gauge.yaml]
{budget}
tests:
  - name: settle
    engine: gauge
    grid: {{noise: [{noises}]}}
    replications: {replications}
    system_log: off
"""
RULE = StopRule(8, 12, "median", 0.01)
UNTIL = "{min: 8, max: 12, until: ci95 <= 1%}"
NOISES = (0, 4, 60)


def write(folder: Path, replications: str, *noises: int, budget: str = "") -> None:
    (folder / "gauge.py").write_text(SCRIPT)
    (folder / "gauge.yaml").write_text(
        ENGINE.format(python=sys.executable, script=folder / "gauge.py")
    )
    (folder / "plan.yaml").write_text(
        PLAN.format(replications=replications, noises=", ".join(map(str, noises)), budget=budget)
    )


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return command_line.Popen(
        [*command_line.COMMAND, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def railgauge(folder: Path, *arguments: str) -> tuple[int, str, str]:
    process = start(folder, *arguments)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def ends(folder: Path) -> dict[int, str | None]:
    """Return why each case ended, by its noise."""
    sql = (
        "SELECT json_extract(parameters, '$.noise'), ended FROM run_case "
        "JOIN bench_case ON bench_case.id = case_id"
    )
    return dict(select(folder, sql))


def values(folder: Path) -> dict[int, list[float]]:
    """Return the values of each case in order, by its noise."""
    sql = (
        "SELECT json_extract(parameters, '$.noise'), value.number, value FROM value "
        "JOIN run_case ON run_case.id = run_case_id "
        "JOIN bench_case ON bench_case.id = case_id ORDER BY 1, 2"
    )
    by_noise: dict[int, list[float]] = {}
    for noise, number, value in select(folder, sql):
        by_noise.setdefault(noise, []).append(value)
        assert number == len(by_noise[noise])
    return by_noise


def expected_samples(noise: int) -> tuple[list[float], str]:
    """Return what a case should give, and why it should end."""
    samples: list[float] = []
    while len(samples) < RULE.most:
        spread = random.Random(f"{noise}/{len(samples) + 1}").gauss(0, noise / 1000)
        samples.append(1e6 * (1 + spread))
        if narrow_enough(samples, RULE):
            return samples, "narrow"
    return samples, "most"


def check(folder: Path) -> None:
    """See that each case has the values it should have, no more, and ended as it should."""
    by_noise = values(folder)
    for noise in NOISES:
        samples, ended = expected_samples(noise)
        assert by_noise[noise] == pytest.approx(samples, rel=1e-12)
        assert ends(folder)[noise] == ended
    assert [len(expected_samples(noise)[0]) for noise in (0, 60)] == [8, 12]


def test_a_case_that_settles_stops_early_and_one_that_does_not_is_told(tmp_path: Path) -> None:
    write(tmp_path, UNTIL, *NOISES)
    code, out, err = railgauge(tmp_path, "run", "plan.yaml")
    assert code == 0, err
    check(tmp_path)
    assert "NOT SETTLED: 1 case never got within 1%:" in out
    assert "settle: here · noise 60: 12 replications, the most it may take" in out
    assert "3 cases with a rule" in err
    rules = select(tmp_path, "SELECT DISTINCT least, replications, rule FROM run_case")
    assert rules == [(8, 12, "ci95(median) <= 1% of speed")]
    assert select(tmp_path, "SELECT state FROM run") == [("complete",)]

    code, out, err = railgauge(tmp_path, "resume", "1")
    assert code == 0, err
    assert "nothing is left to measure" in out
    assert "NOT SETTLED: 1 case" in out
    check(tmp_path)


def test_each_block_is_in_the_order_that_the_stored_seed_gives(tmp_path: Path) -> None:
    orders = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        write(folder, "{min: 8, max: 8, until: ci95 <= 1%}", 0, 1, 2, 3)
        code, _, err = railgauge(folder, "run", "plan.yaml")
        assert code == 0, err
        sql = (
            "SELECT number, json_extract(parameters, '$.noise') FROM replication "
            "JOIN run_case ON run_case.id = run_case_id "
            "JOIN bench_case ON bench_case.id = case_id ORDER BY launch_id"
        )
        orders.append(select(folder, sql))
    assert orders[0] == orders[1]
    numbers = [number for number, _ in orders[0]]
    assert numbers == sorted(numbers)
    blocks = [tuple(noise for _, noise in orders[0][at : at + 4]) for at in range(0, 32, 4)]
    assert all(sorted(block) == [0, 1, 2, 3] for block in blocks)
    assert len(set(blocks)) > 1


@pytest.mark.parametrize("stored", [5, 25])
def test_a_killed_run_goes_on_and_stops_where_it_would_have(tmp_path: Path, stored: int) -> None:
    write(tmp_path, UNTIL, *NOISES)
    (tmp_path / "hold").write_text(str(stored))
    controller = start(tmp_path, "run", "plan.yaml")
    try:
        deadline = time.monotonic() + 120
        while _count(tmp_path) < stored:
            assert controller.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        controller.kill()
        controller.communicate()
    (tmp_path / "hold").unlink()
    assert _count(tmp_path) == stored
    of_cases = values(tmp_path)
    launches = "".join(f"{noise}\n" * len(of_cases[noise]) for noise in of_cases)
    (tmp_path / "launches").write_text(launches)
    assert select(tmp_path, "SELECT state FROM run") == [("unfinished",)]
    code, out, err = railgauge(tmp_path, "resume", "1")
    assert code == 0, err
    assert "NOT SETTLED: 1 case never got within 1%:" in out
    check(tmp_path)


def _count(folder: Path) -> int:
    try:
        ((count,),) = select(folder, "SELECT count(*) FROM replication")
    except sqlite3.OperationalError:
        return 0
    return int(count)


def test_a_case_gets_no_more_than_its_budget(tmp_path: Path) -> None:
    write(tmp_path, "{min: 8, max: 5000, until: ci95 <= 0.1%, budget: 10s}", 60)
    code, out, err = railgauge(tmp_path, "run", "plan.yaml")
    assert code == 0, err
    assert ends(tmp_path) == {60: "budget"}
    assert 1 <= len(values(tmp_path)[60]) < 5000
    assert "replications, its time was over" in out


def test_a_runs_budget_ends_it_in_order(tmp_path: Path) -> None:
    rule = "{min: 2, max: 5000, until: ci95(mean) <= 0.1%}"
    write(tmp_path, rule, 60, budget="budget: 10s")
    code, out, err = railgauge(tmp_path, "run", "plan.yaml")
    assert code == 0, err
    assert ends(tmp_path) == {60: "budget"}
    assert 2 <= len(values(tmp_path)[60]) < 5000
    assert select(tmp_path, "SELECT state FROM run") == [("complete",)]
    assert "NOT SETTLED: 1 case never got within 0.1%" in out


def test_a_budget_leaves_what_has_a_fixed_number_to_a_resume(tmp_path: Path) -> None:
    write(tmp_path, "5000", 0, budget="budget: 10s")
    for arguments in (["run", "plan.yaml"], ["resume", "1"]):
        before = _count(tmp_path)
        code, out, err = railgauge(tmp_path, *arguments)
        assert code == 1, err
        assert "stopped for the time limit" in out
        assert before < _count(tmp_path) < 5000
        assert select(tmp_path, "SELECT state FROM run") == [("interrupted",)]


def test_the_first_and_the_last_replication_are_the_span_apart(tmp_path: Path) -> None:
    write(tmp_path, "{min: 8, max: 12, until: ci95 <= 1%, span: 7s}", 0)
    code, _, err = railgauge(tmp_path, "run", "plan.yaml")
    assert code == 0, err
    assert ends(tmp_path) == {0: "narrow"}
    moments = [
        datetime.fromisoformat(started_at)
        for (started_at,) in select(tmp_path, "SELECT started_at FROM replication ORDER BY number")
    ]
    assert len(moments) == 8
    for number, moment in enumerate(moments):
        # Each has its part of the span behind it, not just the last.
        assert (moment - moments[0]).total_seconds() >= number - 0.001


PAIRS = """\
railgauge: 1
name: pairs
hosts_file: {hosts}
tests:
  - name: matrix
    engine: mpi
    set: {{mode: matrix, size: 16KiB, pair_time: 20ms, yield: true}}
    replications: {{min: 8, max: 9, until: ci95 <= 5%}}
    system_log: off
"""


def test_a_launch_of_all_pairs_goes_on_while_any_of_them_is_open(
    tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    require(os.geteuid() == 0 and shutil.which("ip"), "network namespaces need root and iproute2")
    require(shutil.which("mpicc"), "Open MPI (libopenmpi-dev)")
    box = Box(new_name(), tmp_path)
    box.write("hosts: [n1, n2, n3]\nswitches: {lan: {hosts: [n1, n2, n3], rate: 1Gbit/s}}\n")
    box.up()
    try:
        (tmp_path / "plan.yaml").write_text(PAIRS.format(hosts=box.hosts_file))
        code, out, err = railgauge(tmp_path, "run", "plan.yaml")
    finally:
        box.down()
    assert code == 0, err
    rows = select(
        tmp_path,
        "SELECT ended, count(*), (SELECT group_concat(value) FROM value JOIN metric "
        "ON metric.id = metric_id WHERE value.run_case_id = run_case.id AND name = 'throughput' "
        "ORDER BY number) FROM run_case JOIN replication ON run_case_id = run_case.id "
        "WHERE number > 0 GROUP BY run_case.id",
    )
    assert len(rows) == 6
    counts = {count for _, count, _ in rows}
    rule = StopRule(8, 9, "median", 0.05)
    series = [[float(text) for text in texts.split(",")] for _, _, texts in rows]
    early = [narrow_enough(sample[:8], rule) for sample in series]
    assert counts == ({8} if all(early) else {9})
    assert [ended for ended, _, _ in rows] == [
        "narrow" if narrow or narrow_enough(sample, rule) else "most"
        for narrow, sample in zip(early, series, strict=True)
    ]
    assert select(tmp_path, "SELECT state FROM run") == [("complete",)]
    unsettled = sum(ended == "most" for ended, _, _ in rows)
    assert ("NOT SETTLED" in out) == (unsettled > 0)


def test_a_run_that_waits_for_its_span_stops_at_once_when_told_to(tmp_path: Path) -> None:
    write(tmp_path, "{min: 8, max: 12, until: ci95 <= 1%, span: 2h}", 0)
    controller = start(tmp_path, "run", "plan.yaml")
    try:
        for line in controller.stderr or ():
            if "begins in" in line:
                break
        controller.send_signal(signal.SIGINT)
        controller.communicate(timeout=120)
    finally:
        controller.kill()
        controller.communicate()
    assert controller.returncode == 130
    assert _count(tmp_path) == 1
    assert ends(tmp_path) == {0: None}
