"""What `railgauge show` says of a run's numbers: how sure they are, and which never got there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.store_samples import LAUNCH, METRICS, MOMENT, RUN, case

from railgauge.cli import cli
from railgauge.store import Store
from railgauge.store.records import Outcome, PlannedCase

_RULE = "ci95(median) <= 1% of throughput"


@pytest.fixture
def where(tmp_path: Path) -> str:
    """A run of two cases with a rule: the first got narrow with 8, the other didn't."""
    path = str(tmp_path / "r.db")
    rng = np.random.default_rng(4)
    with Store.open(path) as store:
        cases = case(1), case(2)
        planned = [PlannedCase("stream", test_case, 12, least=6, rule=_RULE) for test_case in cases]
        run = store.begin_run(RUN, planned, METRICS)
        for test_case, n, spread, ended in zip(
            cases, (8, 12), (1e6, 1e8), ("narrow", "most"), strict=True
        ):
            for number in range(1, n + 1):
                values = {"throughput": float(rng.normal(1e9, spread)), "loss_rate": 0.0}
                store.add(run, "stream", test_case.key, Outcome(number, MOMENT, values), LAUNCH)
            store.end_cases(run, {("stream", test_case.key): ended})
        store.finish_run(run, "complete")
    return path


def _show(where: str, *more: str) -> str:
    result = CliRunner().invoke(cli, ["show", "1", "--db", where, *more], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_every_headline_metric_has_a_table_of_its_statistics(where: str) -> None:
    output = _show(where)
    assert "stream: throughput\n" in output
    assert "stream: loss rate\n" in output
    headings = ("95 % interval", "Arithmetic mean", "Mean abs. deviation", "CV (%)", "Minimum")
    (heading,) = [line for line in output.splitlines() if headings[1] in line]
    assert all(title in heading for title in headings)
    plain = _show(where, "--no-stats")
    assert "Arithmetic mean" not in plain
    assert "Median of 8 to 12 replications per cell" in " ".join(plain.split())


def test_the_case_that_never_got_narrow_is_named(where: str) -> None:
    output = _show(where)
    (named,) = [line for line in output.splitlines() if line.startswith("not narrow enough: ")]
    assert named.endswith(
        f": never got to {_RULE}: it had the most replications that the plan allows"
    )
    assert " ".join(output.split()).count("!! Not narrow enough: 1 of 2 cases never got to") == 3


def test_json_carries_every_statistic_and_why_each_case_ended(where: str) -> None:
    answer = json.loads(_show(where, "--json"))
    assert [(row["least"], row["rule"], row["ended"]) for row in answer["cases"]] == [
        (6, _RULE, "narrow"),
        (6, _RULE, "most"),
    ]
    statistics = {(row["case_key"], row["metric"]): row for row in answer["statistics"]}
    assert len(statistics) == 4
    first = statistics[case(1).key, "throughput"]
    assert (first["n"], first["asked"], first["mean_kind"]) == (8, 12, "arithmetic")
    assert first["minimum"] <= first["interval_low"] < first["median"] < first["interval_high"]
    lossless = statistics[case(1).key, "loss_rate"]
    assert (lossless["mean"], lossless["mean_kind"], lossless["median"]) == (None, "none", 0.0)


def test_the_reports_page_says_how_many_replications_were_asked_for(
    where: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = ["report", "1", "--db", where, "--out", str(out)]
    assert CliRunner().invoke(cli, arguments, catch_exceptions=False).exit_code == 0
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "<td>12 to 24</td>" in page
    assert page.count('<p class="alarm">') == 3
