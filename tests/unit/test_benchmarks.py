"""Benchmarks that nobody runs for months still run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_overhead_of_one_run_is_measured() -> None:
    command = [sys.executable, "benchmarks/overhead.py", "--runs", "1", "--repeats", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    header, (runs, *figures) = (line.split() for line in done.stdout.splitlines())
    assert header[0] == "runs"
    assert runs == "1"
    assert all(float(figure) > 0 for figure in figures)
    assert len(figures) == 3
