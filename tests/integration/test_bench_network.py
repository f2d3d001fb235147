"""The network benchmark gives a number and a ratio for every tool that is installed."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.network_works import WORKS
from tests.support import command_line

ROOT = Path(__file__).parents[2]
TOOLS = ("iperf3", "iperf", "sockperf", "qperf", "nuttcp", "NPtcp")


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    short = ("--rounds", "1", "--duration", "0.2")
    command = [sys.executable, "-m", "benchmarks.network", *short, *arguments]
    return command_line.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400)


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """Run the benchmark; again if one of the others' tools failed, which ours never may.

    But for tcp-1m, which is tcp-128k with longer messages, and below.
    """
    works = [work.key for work in WORKS if work.key != "tcp-1m"]
    for _ in range(3):
        completed = bench("--json", "--works", *works)
        document: dict[str, Any] = json.loads(completed.stdout)
        rows = [row for work in document["works"] for row in work["rows"]]
        own_rows = [row for row in rows if row["name"] in ("rail-udp", "rail-tcp", "probe")]
        assert not any(row["errors"] for row in own_rows), own_rows
        if completed.returncode == 0:
            break
    assert completed.returncode == 0, [row for row in rows if row["errors"]]
    return document


def test_every_contender_that_is_installed_yields_a_number_and_a_ratio(
    report: dict[str, Any], require: Callable[[object, str], None]
) -> None:
    for tool in TOOLS:
        require(shutil.which(tool), tool)
    rows = [(work["work"], row) for work in report["works"] for row in work["rows"]]
    for work, row in rows:
        if row["missing"]:
            # Debian 12's iperf3 is too old for --gsro, and netperf isn't in Debian's main.
            assert row["name"] in ("iperf3 --gsro", "netperf"), (work, row)
            continue
        assert not row["errors"], (work, row)
        assert row["median"] > 0 and math.isfinite(row["median"]), (work, row)
        assert row["ours_to_it"] > 0 and math.isfinite(row["ours_to_it"]), (work, row)
        assert row["client_cpu"] > 0 and row["server_cpu"] >= 0, (work, row)
    measured = {row["name"] for _, row in rows if not row["missing"]}
    assert {*TOOLS, "rail-udp", "rail-tcp", "probe"} <= measured


# From what a mistaken unit would give to what no machine does.
BOUNDS = {"bit/s": (1e6, 1e13), "packet/s": (100, 1e9), "s": (1e-7, 10)}


def test_rates_and_times_are_in_base_units(report: dict[str, Any]) -> None:
    """None is better than possible; in 0.2 s any contender but the best may get hardly a CPU."""
    for work in report["works"]:
        least, most = BOUNDS[work["unit"]]
        medians = [row["median"] for row in work["rows"] if not row["missing"]]
        if work["unit"] == "s":
            assert min(medians) > least and min(medians) < most, work
        else:
            assert max(medians) < most and max(medians) > least, work
        assert all(row["lost"] is None or 0 <= row["lost"] <= 1 for row in work["rows"]), work


@pytest.mark.long
def test_no_contender_has_a_mistaken_unit(
    report: dict[str, Any],
) -> None:
    for work in report["works"]:
        least, most = BOUNDS[work["unit"]]
        for row in work["rows"]:
            assert row["missing"] or least < row["median"] < most, (work["work"], row)


def test_table_names_the_machine_and_every_target(report: dict[str, Any]) -> None:
    completed = bench("--works", "tcp-1m", "udp-gso")
    # Other tools give up now and then where the machine is busy.
    failed = [line.split()[0] for line in completed.stdout.splitlines() if " failed: " in line]
    assert completed.returncode == (1 if failed else 0), completed.stderr + completed.stdout
    assert not any(name.startswith("rail-") for name in failed)
    assert "congestion control cubic" in completed.stdout
    assert f"Linux {report['kernel']}" in completed.stdout
    assert completed.stdout.count("target: ") == 2
    assert "rail-tcp" in completed.stdout and "rail-udp" in completed.stdout


def test_contender_that_fails_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    program = tmp_path / "rail-udp"
    program.write_text("#!/bin/sh\necho 'cannot be done today' >&2\nexit 3\n")
    program.chmod(0o755)
    completed = bench("--works", "udp-gso", "--json", "--engines", str(tmp_path))
    assert completed.returncode == 1
    rows = {row["name"]: row for row in json.loads(completed.stdout)["works"][0]["rows"]}
    assert "cannot be done today" in rows["rail-udp"]["errors"][0]
    assert rows["rail-udp"]["median"] is None
    assert rows["probe"]["median"] > 0


def test_iperf3_is_built_of_given_sources_and_measured(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    (sources / "src").mkdir(parents=True)
    configure = sources / "configure"
    configure.write_text("#!/bin/sh\nexit 0\n")
    configure.chmod(0o755)
    lines = "echo '#!/bin/sh' >iperf3", "echo 'echo built here' >>iperf3", "chmod +x iperf3"
    (sources / "src" / "Makefile").write_text("iperf3:\n" + "".join(f"\t{x}\n" for x in lines))
    completed = bench("--works", "udp-gso", "--json", "--iperf3", str(sources))
    assert json.loads(completed.stdout)["tools"]["iperf3"] == "built here", completed.stderr
    assert not (sources / "src" / "iperf3").exists()


def test_folder_without_iperf3s_sources_is_refused(tmp_path: Path) -> None:
    completed = bench("--iperf3", str(tmp_path))
    assert completed.returncode == 1 and "name a folder of sources" in completed.stderr
