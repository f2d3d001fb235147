"""A matrix product by numpy's BLAS in a real plan, beside rail-cpu."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

from tests.support import command_line

PLAN = """\
railgauge: 1
name: blas
hosts: {here: {address: 127.0.0.1, transport: local}}
tests:
  - name: product
    engine: dgemm
    hosts: [here]
    replications: 2
    set: {order: 300, duration: 50ms}
    grid: {precision: [single, double]}
  - {name: chains, engine: cpu, hosts: [here], replications: 1, set: {duration: 50ms}}
"""


def test_a_plan_measures_a_matrix_product_beside_our_own_operations(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # the python3 that has numpy
    completed = command_line.run(
        [*command_line.COMMAND, "run", "--db", tmp_path / "db.sqlite", tmp_path / "plan.yaml"],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    with sqlite3.connect(tmp_path / "db.sqlite") as connection:
        rows = connection.execute(
            "SELECT test, json_extract(parameters, '$.precision'), value, unit FROM measurement"
            " WHERE metric = 'operation_rate' AND status <> 'failed'"
        ).fetchall()
        counts = connection.execute(
            "SELECT value FROM measurement WHERE metric = 'products'"
        ).fetchall()
    assert sorted((test, precision) for test, precision, _, _ in rows) == [
        ("chains", "double"), ("product", "double"), ("product", "double"),
        ("product", "single"), ("product", "single"),
    ]  # fmt: skip
    # Between what the slowest machine under load and the fastest one could do.
    assert all(1e6 < value < 1e14 and unit == "op/s" for _, _, value, unit in rows)
    assert all(count >= 1 for (count,) in counts)
