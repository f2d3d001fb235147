"""Every benchmark runs at its smallest size and prints its table; its times aren't judged."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from benchmarks import disk, estimates
from benchmarks.__main__ import BENCHMARKS, run_smallest
from benchmarks.machine import LACKING
from tests.support import command_line

from railgauge.plan.cases import expand
from railgauge.plan.load import load_plan

ROOT = Path(__file__).resolve().parents[2]


def _in_ci(package: str) -> bool:
    """Whether .ci/run installs that Debian package; what needs none can run there."""
    (tools,) = re.findall(r"^tools=\((.*?)\)", (ROOT / ".ci/run").read_text(), re.S | re.M)
    return not package or package in tools.split()


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark_ends_well_and_prints_its_table(
    name: str, require: Callable[[object, str], None], request: pytest.FixtureRequest
) -> None:
    if name == "soak":
        request.getfixturevalue("only_soaker")
    ran = run_smallest(name, command_line.run)
    if ran.status == LACKING:
        assert ran.headline.startswith("needs ")
        if not _in_ci(BENCHMARKS[name].package):
            pytest.skip(ran.headline)
        require(False, ran.headline.removeprefix("needs "))
    assert ran.status == 0, ran.output + ran.errors
    _, heading, table = ran.output.partition(BENCHMARKS[name].heading)
    assert heading, ran.output
    assert re.search(r"\d", table), ran.output


def test_every_benchmark_has_a_smallest_size() -> None:
    modules = (path for path in (ROOT / "benchmarks").glob("*.py") if path.stem != "__main__")
    assert {path.stem for path in modules if "__main__" in path.read_text()} == set(BENCHMARKS)


def test_every_benchmark_that_is_mentioned_is_there() -> None:
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/*/*.py")]
    paths += [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("runner/**/*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    mentioned = re.findall(r"(?<![\w-])bench-([a-z_]+)|-m benchmarks\.(\w+)", text)
    assert {target or module for target, module in mentioned} <= set(BENCHMARKS)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "it finished no operation after its ramp: use more --seconds"),
        ("fio: time_based requires a runtime/timeout setting\n", "fio: time_based requires"),
    ],
)
def test_fio_that_measured_nothing_is_named(words: str, reason: str) -> None:
    side = {"bw_bytes": 0, "total_ios": 0, "clat_ns": {"N": 0}}
    text = json.dumps({"jobs": [{"read": side, "usr_cpu": 0, "sys_cpu": 0, "job_runtime": 0}]})
    setting = disk.Setting("random_read", "4k", "psync", 1, direct=True)
    with pytest.raises(SystemExit, match=f"fio measured nothing of random_read .*: {reason}"):
        disk.fio_figures(setting, words + text)


@pytest.mark.parametrize("name", ["cpu", "disk", "mem", "mpi"])
def test_what_this_machine_lacks_is_named(name: str, tmp_path: Path) -> None:
    result = command_line.run(
        [sys.executable, "-m", f"benchmarks.{name}"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stdout) == (LACKING, "")
    assert re.fullmatch(rf"needs \S+ \(Debian: .*{BENCHMARKS[name].package}.*\)\n", result.stderr)


@pytest.mark.parametrize("name", [path.stem for path in sorted(estimates.PLANS.glob("*.yaml"))])
def test_a_shortened_plan_is_a_plan(name: str, tmp_path: Path) -> None:
    plan = estimates.shortened(name, 1)
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))
    shortened = expand(load_plan(tmp_path / "plan.yaml"))
    whole = expand(load_plan(estimates.PLANS / f"{name}.yaml"))
    assert len(shortened) == len(whole)
    for short, long in zip(shortened, whole, strict=True):
        assert 0 < len(short.cases) <= len(long.cases)
        # What the plan leaves out stays out.
        assert {case.key for case in short.cases} <= {case.key for case in long.cases}


def test_what_a_shortened_axis_has_is_still_excluded() -> None:
    grid = {"send": ["standard", "ready"], "size": {"from": 1, "to": 8}}
    entry = {"send": ["buffered", "ready"], "size": 8, "persistent": True}
    assert estimates._within(entry, grid) == {"send": ["ready"], "size": [8], "persistent": [True]}
    assert estimates._within({"send": "buffered"}, grid) == {"send": []}
