"""A paper made by command line of its numbers and of a run that was measured for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support import command_line
from tests.support.results import csv_rows

FILES = {
    "tiny.yaml": """\
railgauge: 1
name: tiny
hosts:
  here: {address: 127.0.0.1, transport: local}
links:
  loop: {from: here, to: here}
tests:
  - name: stream
    engine: udp
    set: {mode: stream, count: 20, sockbuf: 1MiB}
    grid: {datagram: [64, 1460]}
    replications: 6
""",
    "published.csv": """\
bytes,mbps,sd,n
64,10.5,0.5,10
1460,200.25,,10
9000,impossible,,
""",
    "sizes.yaml": """\
railgauge_report: 1
name: by-size
title: UDP by size
tables:
  - name: sizes
    title: UDP throughput
    select: {engine: udp, mode: stream}
    rows: [datagram]
    cells: [{metric: throughput, statistic: arithmetic_mean, unit: Mbit/s, digits: 2}]
figures:
  - name: curve
    title: UDP throughput
    kind: lines
    select: {engine: udp, mode: stream}
    x: {axis: datagram}
    y: {metric: throughput, statistic: arithmetic_mean, unit: Mbit/s}
""",
    "old.yaml": """\
railgauge_paper: 1
name: old
title: What was measured long ago
citation: Somebody, somewhere
year: 1999
plans: [tiny.yaml]
minutes: 1
published:
  - source: Table 7, means of ten.
    file: published.csv
    engine: udp
    test: stream
    metrics: {throughput: "mbps:Mbit/s"}
    parameters: {datagram: "bytes:B"}
    set: {mode: stream}
    link_name: loop
    mean_of: n
    stdev: {throughput: "sd:Mbit/s"}
items:
  - {name: table-7, number: Table 7, report: sizes.yaml, series: [link], tests: [none]}
""",
}


def railgauge(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command_line.railgauge(*arguments, cwd=folder)


def test_a_paper_is_made_of_a_run_and_again_alike(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    alone = railgauge(tmp_path, "paper", "old.yaml", "--out", "alone")
    assert alone.returncode == 0, alone.stderr
    assert "published alone, as there is no database at railgauge.db; some" in alone.stderr
    assert f"railgauge run {Path('tiny.yaml')}" in alone.stderr
    assert not (tmp_path / "railgauge.db").exists()
    measured = railgauge(tmp_path, "run", "tiny.yaml")
    assert measured.returncode == 0, measured.stderr
    for out in ("one", "two"):
        completed = railgauge(tmp_path, "paper", "old.yaml", "--out", out)
        assert completed.returncode == 0, completed.stderr
        assert completed.stderr == ""
    files = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "two").iterdir()} == files
    assert {"index.html", "old.txt", "old.tex", "table-7-sizes.csv", "table-7-curve.svg"} <= {
        *files
    }
    differences = csv_rows(tmp_path / "one" / "table-7-sizes-difference.csv")
    rows = {line["datagram"]: line for line in differences}
    assert [float(rows[size]["against_value"]) for size in ("64", "1460")] == [10.5e6, 200.25e6]
    for row in rows.values():
        assert row["run"] == "1"
        mean = float(row["arithmetic_mean"])
        assert float(row["value"]) == mean - float(row["against_value"])
        assert float(row["compared_low"]) <= float(row["value"]) <= float(row["compared_high"])
    text = (tmp_path / "one" / "old.txt").read_text(encoding="utf-8")
    assert "impossible" in text
    flat = " ".join(text.split())
    assert "the published ones being taken for exact" in flat
    assert "Welch's, of both means' replications and standard deviations" in flat


def test_the_papers_that_ship_are_listed(tmp_path: Path) -> None:
    listed = railgauge(tmp_path, "paper")
    assert listed.returncode == 0, listed.stderr
    names = [line.split()[0] for line in listed.stdout.splitlines() if not line.startswith(" ")]
    assert names == ["hpcbench", "machine", "sharcnet", "udpmon", "zc"]
    wrong = railgauge(tmp_path, "paper", "sharknet")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'sharcnet'" in wrong.stderr
