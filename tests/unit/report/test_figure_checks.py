"""Mistakes in a definition's figures: each is told with its line and column, before a picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from railgauge.base.assets import folder
from railgauge.base.errors import FileProblems
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.figures.kinds import KINDS

_HEAD = """\
railgauge_report: 1
name: report
title: A report
figures:
  - name: one
    title: One
    select: {engine: udp}
"""
_POINTS = "kind: points\n    x: {axis: datagram}\n    y: {metric: throughput"
_HISTOGRAM = "kind: histogram\n    x: {metric: throughput"
_MAP = "kind: heatmap\n    x: {axis: datagram}\n    y: {axis: sockbuf, metric: throughput"
_REPLICATIONS = "kind: replications\n    y: {metric: throughput}"


def _problems(tmp_path: Path, figure: str) -> list[str]:
    path = tmp_path / "r.yaml"
    path.write_text(f"{_HEAD}    {figure}\n", encoding="utf-8")
    try:
        load_spec(path, load_catalogue())
    except FileProblems as error:
        return [str(problem).removeprefix(f"{path}:") for problem in error.problems]
    return []


@pytest.mark.parametrize(
    "figure",
    [
        f"{_POINTS}, unit: Mbit/s, log: true, from: 1, to: 900}}\n    errors: stdev",
        f"{_POINTS}, statistic: median}}\n    errors: interval\n    series: [link]",
        "kind: bars\n    x: {axis: link}\n    y: {metric: throughput}",
        f"{_HISTOGRAM}, log: true}}\n    bins: 20",
        "kind: ecdf\n    x: {metric: lost_packets}\n    y: {unit: '1'}",
        f"{_MAP}, log: true, statistic: cv}}",
        f"{_REPLICATIONS}\n    x: {{axis: time}}",
        f"{_REPLICATIONS}\n    x: {{axis: replication}}",
    ],
)
def test_what_a_kind_takes_is_accepted(tmp_path: Path, figure: str) -> None:
    assert _problems(tmp_path, figure) == []


@pytest.mark.parametrize(
    ("figure", "problem"),
    [
        (f"{_POINTS}}}\n    errors: sd", "11:13: 'errors' is"),
        (f"{_POINTS}, statistic: cv}}\n    errors: range", "11:13: a range stands around a mean"),
        (f"{_POINTS}, statistic: mean}}\n    errors: interval", "11:13: the 95 % interval stands"),
        (f"{_POINTS}, statistic: median}}\n    errors: stdev", "11:13: standard deviations stand"),
        (f"{_POINTS}, log: true, from: 0}}", "10:46: a logarithmic axis can't end at 0"),
        (f"{_POINTS}, from: 5, to: 4}}", "10:42: the axis would end at 4, below its begin"),
        (f"{_POINTS}, from: low}}", "10:35: 'from' is the text 'low', but a number is wanted"),
        (f"{_POINTS}}}\n    bins: 7", "11:5: a figure of kind points has no bins: drop 'bins'"),
        (f"{_POINTS}}}\n    series: [datagram]", "11:14: axis 'datagram' is there already"),
        (f"{_POINTS}}}\n    series: [lnk]", "11:14: unknown axis 'lnk': did you mean 'link'?"),
        (f"{_HISTOGRAM}}}\n    bins: 0", "10:11: 'bins' is the number 0, but"),
        (f"{_HISTOGRAM}}}\n    errors: range", "10:5: a figure of kind histogram has no error"),
        (f"{_HISTOGRAM}, axis: datagram}}", "9:29: a figure of kind histogram chooses its x axis"),
        (f"{_HISTOGRAM}, statistic: mean}}", "9:29: unknown key 'statistic'"),
        (f"{_HISTOGRAM}, unit: ms}}", "9:35: 'ms' can't show the median of throughput"),
        (f"{_HISTOGRAM}}}\n    y: {{log: true}}", "10:14: 'y' can't be logarithmic in a figure of"),
        (f"{_HISTOGRAM}}}\n    y: {{to: 3}}", "10:9: a figure of kind histogram ends where its"),
        ("kind: ecdf", "5:5: a figure of kind ecdf needs the key 'metric' in 'x'"),
        ("kind: ecdf\n    x: {metric: thruput}", "9:17: unknown metric 'thruput'"),
        ("kind: bars\n    y: {metric: throughput}", "5:5: a figure of kind bars needs the key"),
        (f"{_MAP}}}\n    series: [link]", "11:5: a figure of kind heatmap has no series"),
        (f"{_MAP}}}\n    errors: none", "11:5: a figure of kind heatmap has no error bars"),
        (
            "kind: bars\n    x: {axis: link, unit: ms}\n    y: {metric: throughput}",
            "9:21: what the x axis shows is written as in a plan: drop 'unit'",
        ),
        (
            f"{_REPLICATIONS}\n    x: {{axis: tme}}",
            "10:15: unknown axis 'tme': did you mean 'time'?",
        ),
        (
            "kind: replications\n    y: {metric: throughput, statistic: mean}",
            "9:29: a figure of kind replications chooses its y axis itself: drop 'statistic'",
        ),
        (
            f"{_REPLICATIONS}\n    replication: 2",
            "10:5: a figure of kind replications shows all replications: drop 'replication'",
        ),
    ],
)
def test_each_mistake_is_told_where_it_stands(tmp_path: Path, figure: str, problem: str) -> None:
    problems = _problems(tmp_path, figure)
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_every_example_of_the_documentation_is_a_valid_definition(tmp_path: Path) -> None:
    text = (folder("templates").parent / "docs" / "figures.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    kinds = set()
    for number, example in enumerate(examples):
        listed = example if example.startswith("figures:") else f"figures:\n{example}"
        path = tmp_path / f"{number}.yaml"
        path.write_text(f"railgauge_report: 1\nname: r\ntitle: R\n{listed}", encoding="utf-8")
        kinds |= {figure.kind for figure in load_spec(path, load_catalogue()).figures}
    assert kinds | {"ecdf"} == set(KINDS)
