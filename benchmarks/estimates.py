"""How long `railgauge check` says that a run takes, and how long it then takes.

Shipped plans that measure this machine, shortened: of each axis of a grid the first and the last
value, and few replications. `said` is by what railgauge knows of engines, `again` by that run.

    python -m benchmarks.estimates [--replications 2] [PLAN ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

PLANS = Path(__file__).resolve().parents[1] / "plans"
# What the other plans measure isn't on one machine.
LOCAL = "hosts/this-machine.yaml"


def local_plans() -> list[str]:
    """Return the names of the shipped plans that measure this machine."""
    return [
        path.stem
        for path in sorted(PLANS.glob("*.yaml"))
        if yaml.safe_load(path.read_text()).get("hosts_file") == LOCAL
    ]


def shortened(name: str, replications: int) -> dict[str, Any]:
    """Return a shipped plan with the ends of each axis, and so many replications."""
    plan: dict[str, Any] = yaml.safe_load((PLANS / f"{name}.yaml").read_text())
    if "hosts_file" in plan:
        plan["hosts_file"] = str(PLANS / plan["hosts_file"])
    for test in plan["tests"]:
        test["replications"] = replications
        grid = test.get("grid", {})
        for axis, values in grid.items():
            if isinstance(values, list):
                grid[axis] = values[:1] + values[1:][-1:]
        excluded = [_within(entry, grid) for entry in test.pop("exclude", [])]
        test["exclude"] = [entry for entry in excluded if all(entry.values())]
    return plan


def _within(excluded: dict[str, Any], grid: dict[str, Any]) -> dict[str, list[Any]]:
    """Return an entry of `exclude` with those of its values that the shortened axes still have."""
    entry = {}
    for axis, values in excluded.items():
        listed = values if isinstance(values, list) else [values]
        axis_values = grid.get(axis)
        whole = not isinstance(axis_values, list)
        entry[axis] = [value for value in listed if whole or value in axis_values]
    return entry


def railgauge(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "railgauge", *map(str, arguments)]
    completed = subprocess.run(command, capture_output=True, text=True)
    # 1: some replications failed, as of a program that this machine lacks.
    if completed.returncode > 1:
        sys.exit(completed.stderr)
    return completed.stdout


def measure(folder: Path, name: str, replications: int) -> None:
    plan, database = folder / f"{name}.yaml", folder / f"{name}.db"
    plan.write_text(yaml.safe_dump(shortened(name, replications), sort_keys=False))

    def estimate() -> float:
        return float(json.loads(railgauge("check", plan, "--db", database, "--json"))["seconds"])

    before = estimate()
    load = os.getloadavg()[0]
    began = time.monotonic()
    railgauge("run", plan, "--db", database)
    took = time.monotonic() - began
    print(
        f"{name:<18} {before:>7.1f} {took:>7.1f} {before / took - 1:>+7.0%} {estimate():>7.1f} "
        f"{load:>6.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("plans", nargs="*", metavar="PLAN", help="names, without .yaml")
    parser.add_argument("--replications", type=int, default=2)
    arguments = parser.parse_args()
    print(f"{'plan':<18} {'said s':>7} {'took s':>7} {'off':>7} {'again s':>7} {'load':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.plans or local_plans():
            measure(Path(folder), name, arguments.replications)


if __name__ == "__main__":
    main()
