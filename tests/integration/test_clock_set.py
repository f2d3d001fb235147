"""Runs during which somebody sets the machine's clock: what they wait for is measured in time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.results import select

HOUR = 3600
STEP_AT = 3

# Sets the clock at its third replication, and notes when each began by a clock that nobody sets.
SCRIPT = """\
import pathlib, sys, time
folder = pathlib.Path(__file__).parent
with (folder / "began").open("a") as began:
    print(time.monotonic(), file=began)
if len((folder / "began").read_text().split()) == {step_at}:
    (folder / "writing").write_text("{step}")
    (folder / "writing").rename(folder / "step")
time.sleep({nap})
print("speed 1")
"""
ENGINE = """\
railgauge_engine: 1
name: gauge
summary: Always says the same
command: [{python}, -I, -S, {script}]
metrics:
  speed: {{unit: B/s, better: higher, regex: '(?m)^speed (\\S+)$'}}
"""
PLAN = """\
railgauge: 1
name: set
budget: {budget}
hosts:
  here: {{address: 127.0.0.1, transport: local}}
engines: [gauge.yaml]
tests:
  - {{name: steady, engine: gauge, replications: {replications}, system_log: off}}
"""


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]) -> Path:
    compiler = shutil.which("cc")
    require(compiler, "cc")
    library = tmp_path_factory.mktemp("clock") / "stepped.so"
    source = Path(__file__).with_name("stepped_clock.c")
    subprocess.run([str(compiler), "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def measure(
    folder: Path, clock: Path, *, step: int, replications: str, budget: str, nap: float = 0.0
) -> tuple[int, str]:
    """Run the plan while the clock is set by `step` seconds; return exit code and output."""
    script = folder / "gauge.py"
    script.write_text(SCRIPT.format(step=step, step_at=STEP_AT, nap=nap))
    (folder / "gauge.yaml").write_text(ENGINE.format(python=sys.executable, script=script))
    (folder / "plan.yaml").write_text(PLAN.format(budget=budget, replications=replications))
    completed = subprocess.run(
        [sys.executable, "-m", "railgauge", "run", "plan.yaml"],
        cwd=folder,
        env={**os.environ, "LD_PRELOAD": str(clock), "CLOCK_STEP": str(folder / "step")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (folder / "step").exists(), completed.stderr
    return completed.returncode, completed.stdout


def stored(folder: Path) -> int:
    ((count,),) = select(folder, "SELECT count(*) FROM value")
    return int(count)


def test_a_clock_set_forward_spends_no_budget(tmp_path: Path, clock: Path) -> None:
    code, out = measure(tmp_path, clock, step=HOUR, replications="8", budget="30min")
    assert (code, stored(tmp_path)) == (0, 8), out


def test_a_clock_set_back_gives_no_budget_back(tmp_path: Path, clock: Path) -> None:
    code, out = measure(tmp_path, clock, step=-HOUR, replications="200", budget="12s", nap=0.1)
    assert code == 1
    assert "stopped for the time limit" in out
    assert STEP_AT <= stored(tmp_path) < 200


def test_a_span_is_kept_whatever_is_done_to_the_clock(tmp_path: Path, clock: Path) -> None:
    code, out = measure(
        tmp_path,
        clock,
        step=HOUR,
        replications="{min: 8, max: 12, until: ci95 <= 1%, span: 2s}",
        budget="30min",
    )
    assert code == 0, out
    began = [float(timestamp) for timestamp in (tmp_path / "began").read_text().split()]
    assert began[-1] - began[0] >= 2.0
