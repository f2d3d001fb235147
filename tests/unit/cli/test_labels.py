"""Labels of runs, and what `show` says of a run's plan and of what was granted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.store_samples import METRICS, MOMENT, RUN, case, measured, planned

from railgauge.base.errors import InputError
from railgauge.cli import cli
from railgauge.store import Store
from railgauge.store.records import Launch

_SIDE = {"rcvbuf": 425984, "sndbuf": 1024000, "tos": 0}


@pytest.fixture
def where(tmp_path: Path) -> str:
    """Give a run whose receive buffers were clamped, and two imported runs with a label."""
    path = str(tmp_path / "r.db")
    with Store.open(path) as store:
        asking = case(sockbuf=512000)
        run = store.begin_run(RUN, planned(asking, replications=1), METRICS)
        store.add(run, "stream", asking.key, measured(1), Launch(MOMENT, _SIDE, _SIDE))
        store.finish_run(run, "complete")
    table = tmp_path / "old.csv"
    table.write_text("mbps\n10\n", encoding="utf-8")
    for night in "12":
        _railgauge(
            "import", "csv", str(table), "--engine=udp", "--metric=throughput=mbps:Mbit/s",
            "--set=mode=stream", "--link-name=a", f"--label=night={night}", "--label=site=x=y",
            "--db", path,
        )  # fmt: skip
    return path


def _railgauge(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def test_list_shows_labels_and_chooses_by_them(where: str) -> None:
    lines = _railgauge("list", "--db", where).splitlines()
    assert lines[0].endswith("labels")
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3"]
    assert lines[2].endswith("night=1, site=x=y")
    chosen = _railgauge("list", "--db", where, "--label=site=x=y", "--label=night=2").splitlines()
    assert [line.split()[0] for line in chosen[1:]] == ["3"]
    assert [run["labels"] for run in json.loads(_railgauge("list", "--db", where, "--json"))] == [
        {},
        {"night": "1", "site": "x=y"},
        {"night": "2", "site": "x=y"},
    ]
    assert "has the label night=3" in _railgauge("list", "--db", where, "--label=night=3")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["night"], "'night' is no KEY=VALUE"),
        (["a/b=1"], "'a/b=1' is no KEY=VALUE"),
        (["night="], "the label 'night' has no value"),
        (["night=1", "night=2"], "the label 'night' is given twice"),
    ],
)
def test_a_wrong_label_is_refused(where: str, labels: list[str], message: str) -> None:
    options = [f"--label={label}" for label in labels]
    assert message in _railgauge("list", "--db", where, *options, code=2)


def test_show_and_report_say_a_runs_labels(where: str, tmp_path: Path) -> None:
    assert "labels night=1, site=x=y" in _railgauge("show", "2", "--db", where).splitlines()
    answer = json.loads(_railgauge("show", "2", "--db", where, "--json"))
    assert answer["labels"] == {"night": "1", "site": "x=y"}
    out = tmp_path / "out"
    _railgauge("report", "2", "3", "--by", "label/night", "--out", str(out), "--db", where)
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "labels night 1, site x=y" in page
    (text,) = out.glob("report.txt")
    assert "Night" in text.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="--by labl/night: no axis that distinguishes runs"):
        _railgauge("report", "2", "3", "--by", "labl/night", "--db", where)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("label/nigth", "none of these runs has the label 'nigth': did you mean 'night'?"),
        ("fact/kernle", "no host of these runs has the fact 'kernle': did you mean 'kernel'?"),
        ("client/fact/kernle", "no host of these runs has the fact 'kernle'"),
        ("git_commit", "none of these runs has a git commit"),
    ],
)
def test_a_report_by_what_its_run_lacks_is_refused(
    where: str, tmp_path: Path, by: str, message: str
) -> None:
    """Also of one run, which nothing has to distinguish."""
    with Store.open(where) as store:
        store.add_facts(2, "a", {"kernel": "6.12"})
    out = tmp_path / "out"
    with pytest.raises(InputError, match=re.escape(message)):
        _railgauge("report", "2", "--by", by, "--out", str(out), "--db", where)
    assert not out.exists()
    for axis in ("label/night", "fact/kernel", "started_at", "run"):
        _railgauge("report", "2", "--by", axis, "--out", str(out), "--db", where)


def test_show_says_what_was_granted_and_what_was_not_as_asked(where: str) -> None:
    lines = _railgauge("show", "1", "--db", where).splitlines()
    words = "rcvbuf at both ends: asked 500KiB, got 208KiB"
    assert f"not as asked: stream: gw→hh: {words}" in lines
    in_effect = "in effect in all cases: stream: both ends rcvbuf 416KiB, sndbuf 1000KiB, tos 0"
    assert in_effect in lines
    (row,) = json.loads(_railgauge("show", "1", "--db", where, "--json"))["cases"]
    assert row["unlike_asked"] == words
    assert row["server"] == {name: [value] for name, value in _SIDE.items()}


def test_show_prints_the_stored_plan(where: str) -> None:
    assert _railgauge("show", "1", "--plan", "--db", where) == RUN.plan_text
    answer = json.loads(_railgauge("show", "1", "--plan", "--json", "--db", where))
    assert answer == {"plan": RUN.plan, "text": RUN.plan_text, "files": dict(RUN.files)}
    with pytest.raises(InputError, match="run 2 was imported: it has no plan's text"):
        _railgauge("show", "2", "--plan", "--db", where)
