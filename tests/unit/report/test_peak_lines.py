"""Theoretical values as lines of a figure: which there are, their names, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.report_data import definition_problems
from tests.support.store_samples import MOMENT, RUN

from railgauge.base.errors import FileProblems, InputError
from railgauge.hosts.peaks.peak import Peak
from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.checks.spec import load_spec
from railgauge.report.definition.definition_model import Spec
from railgauge.report.figures.figure import Content
from railgauge.report.figures.figures import build_figures
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, Outcome, PlannedCase

_FIGURE = """\
railgauge_report: 1
name: r
title: R
figures:
  - name: disk
    title: Disk
    kind: {kind}
    series: [mode]
    x: {{axis: threads}}
    y: {{metric: throughput, unit: MB/s, peak: "{peak}"}}
"""
_METRICS = {"disk": {"throughput": MetricInfo("B/s", "higher")}}


def _case(**parameters: Value) -> Case:
    return Case(case_key("disk", "a", "a", None, parameters), "disk", "a", "a", None, parameters)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    cases = [_case(mode=mode, threads=threads) for mode in ("read", "write") for threads in (1, 2)]
    with Store.open(str(tmp_path / "r.db")) as opened:
        run = opened.begin_run(RUN, [PlannedCase("t", case, 1) for case in cases], _METRICS)
        opened.add_peaks(
            run,
            [
                Peak("a", "disk_read", 400e6, "B/s", "declared: data sheet"),
                Peak("a", "disk_write", 200e6, "B/s", "declared: data sheet"),
                Peak("a", "memory", 60e9, "B/s", "declared: data sheet"),
                Peak("a", "disk_iops", 1e5, "op/s", "declared: data sheet"),
            ],
        )
        for case in cases:
            opened.add(run, "t", case.key, Outcome(1, MOMENT, {"throughput": 1e8}), Launch(MOMENT))
        opened.finish_run(run, "complete")
        yield opened


def drawn(store: Store, peak: str, kind: str = "lines") -> Content:
    spec = validate(loads(_FIGURE.format(kind=kind, peak=peak), "r.yaml"), Spec)
    (figure,) = build_figures(spec.figures[0], store, [1], catalogue=load_catalogue())
    return figure.content


def lines(content: Content) -> dict[str, list[list[float]]]:
    return {
        series.label: series.points.tolist() for series in content.plotted if series.theoretical
    }


@pytest.mark.parametrize("kind", ["lines", "points"])
def test_a_value_that_all_series_share_is_one_line(store: Store, kind: str) -> None:
    content = drawn(store, "memory", kind)
    assert lines(content) == {"theoretical": [[1.0, 60e3], [2.0, 60e3]]}
    assert "theoretical: 60000 MB/s." in content.summary
    assert any("data sheet" in note for note in content.notes)


def test_each_series_has_the_line_of_its_own_resource(store: Store) -> None:
    assert lines(drawn(store, "disk_{mode}")) == {
        "theoretical: mode read": [[1.0, 400.0], [2.0, 400.0]],
        "theoretical: mode write": [[1.0, 200.0], [2.0, 200.0]],
    }


def test_a_value_that_nobody_knows_is_a_note_and_one_of_another_kind_refused(store: Store) -> None:
    content = drawn(store, "disk_random_{mode}")
    assert lines(content) == {}
    assert any("No theoretical value" in note for note in content.notes)
    with pytest.raises(InputError, match="can't stand beside throughput in B/s"):
        drawn(store, "disk_iops")


@pytest.mark.parametrize(
    ("kind", "peak", "message"),
    [
        ("lines", "memry", "unknown resource 'memry': did you mean 'memory'"),
        ("bars", "memory", "has no line of theoretical values: drop 'peak', or use lines"),
        ("lines", "memory_latency", "memory_latency is in s and throughput in"),
    ],
)
def test_mistakes_are_told_before_anything_is_read(
    tmp_path: Path, kind: str, peak: str, message: str
) -> None:
    (problem,) = definition_problems(tmp_path, _FIGURE.format(kind=kind, peak=peak))
    assert message in problem


@pytest.mark.parametrize("statistic", ["cv", "n", "outliers"])
def test_what_is_in_no_unit_of_its_metric_has_no_theoretical_value(
    tmp_path: Path, statistic: str
) -> None:
    text = _FIGURE.format(kind="lines", peak="memory")
    (tmp_path / "r.yaml").write_text(text.replace("unit: MB/s", f"statistic: {statistic}"))
    with pytest.raises(FileProblems, match=f"10:\\d+: the {statistic} has no theoretical value"):
        load_spec(tmp_path / "r.yaml", load_catalogue())
