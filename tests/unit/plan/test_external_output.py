"""Values found in what other people's programs write, and errors where there are none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from railgauge.base.errors import EngineError
from railgauge.plan.catalogue import EngineInfo, output
from railgauge.plan.catalogue.info import MetricDescription
from railgauge.plan.catalogue.output import Match, ProgramOutput, ValueSource, split_path
from railgauge.plan.catalogue.program import Program

JOBS = """\
note: both iodepth >= 1 and a synchronous engine are selected
{"jobs": [{"name": "a", "bw": 1.5, "clat": {"99.9": 7}}, {"name": "b", "bw": "2e1"}],
 "error": "", "big": 1e400, "flag": true, "null": null}
trailing words
"""
TABLE = """\
# size  latency
1       0.50
2       0.75
Best:   12.5 GB/s
Worst:  250 MB/s
"""


def json_source(path: str, match: Match = "first") -> ValueSource:
    return ValueSource(split_path(path), match=match)


@pytest.mark.parametrize(
    ("path", "match", "value"),
    [
        ("jobs.0.bw", "first", 1.5),
        ("jobs.1.bw", "first", 20.0),
        ("jobs.*.bw", "sum", 21.5),
        ("jobs.*.bw", "mean", 10.75),
        ("jobs.*.bw", "max", 20.0),
        ("jobs.*.bw", "last", 20.0),
        (r"jobs.0.clat.99\.9", "first", 7.0),
        ("jobs.*.clat.x", "sum", None),
        ("jobs.7.bw", "first", None),
        ("jobs.-1.bw", "first", None),
        ("jobs.0.bw.deeper", "first", None),
    ],
)
def test_a_path_leads_to_a_number_of_json(path: str, match: Match, value: float | None) -> None:
    assert ProgramOutput(JOBS).number(json_source(path, match)) == value


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("jobs.0.name", "JSON jobs.0.name is 'a', which is no number"),
        ("flag", "is 'true', which is no number"),
        ("null", "is 'null', which is no number"),
        ("jobs", "which is no number"),
        ("big", "comes to inf, which is no measurement"),
    ],
)
def test_what_is_no_number_is_an_error_with_the_outputs_beginning(path: str, says: str) -> None:
    with pytest.raises(EngineError, match="it begins: 'note: both iodepth") as caught:
        ProgramOutput(JOBS).number(json_source(path))
    assert caught.value.code == "output"
    assert says in str(caught.value)


@pytest.mark.parametrize(("match", "value"), [("first", 5e6), ("last", 3e9)])
def test_what_is_not_chosen_may_have_any_unit(match: Match, value: float) -> None:
    source = ValueSource(regex=r"rate: (\d+) (\S+)", times={"MB/s": 1e6, "GB/s": 1e9}, match=match)
    output = ProgramOutput("rate: 5 MB/s\nrate: 1 KB/s\nrate: 3 GB/s\n")
    assert output.number(source) == value
    with pytest.raises(EngineError, match="found the unit 'KB/s': known are"):
        output.number(replace(source, match="max"))


@pytest.mark.parametrize("text", ["", "no JSON here", '{"a": ', '{"a": NaN}', "[" * 100_000])
def test_what_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(EngineError, match="it is no JSON") as caught:
        ProgramOutput(text).number(json_source("a"))
    assert caught.value.code == "output"


@pytest.mark.parametrize(
    ("regex", "match", "value"),
    [
        (r"(?m)^\d+\s+([\d.]+)$", "first", 0.5),
        (r"(?m)^\d+\s+([\d.]+)$", "last", 0.75),
        (r"(?m)^\d+\s+([\d.]+)$", "sum", 1.25),
        (r"(?m)^\d+\s+([\d.]+)$", "product", 0.375),
        (r"(?m)^\d+\s+([\d.]+)$", "share", 0.6),
        (r"Median: ([\d.]+)", "first", None),
    ],
)
def test_an_expression_finds_a_number_in_text(
    regex: str, match: Match, value: float | None
) -> None:
    assert ProgramOutput(TABLE).number(ValueSource(regex=regex, match=match)) == value


def test_a_number_is_multiplied_by_what_its_unit_says() -> None:
    times = {"GB/s": 1e9, "MB/s": 1e6}
    worst = ValueSource(regex=r"Worst:\s+([\d.]+) (\S+)", times=times)
    assert ProgramOutput(TABLE).number(worst) == 250e6
    best = ValueSource(regex=r"Best:\s+([\d.]+) (\S+)", times={"kB/s": 1e3})
    with pytest.raises(EngineError, match=r"found the unit 'GB/s': known are kB/s"):
        ProgramOutput(TABLE).number(best)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1e308 1e308", "sum"),
        ("1e308 1e308", "mean"),
        ("1e999 -1e999", "sum"),
        ("0 0", "share"),
        ("7", "share"),
    ],
)
def test_numbers_that_have_no_sum_are_an_error(text: str, match: Match) -> None:
    with pytest.raises(EngineError, match="which is no measurement") as caught:
        ProgramOutput(text).number(ValueSource(regex=r"(\S+)", match=match))
    assert caught.value.code == "output"


def test_an_expression_that_takes_for_ever_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_SECONDS", 0.2)
    endless = ValueSource(regex=r"(?:a|aa)+(\d)$")
    with pytest.raises(EngineError, match=r"is still looking after 0\.2 s: write the expression"):
        ProgramOutput("a" * 90 + "b1c").number(endless)


def test_the_cases_of_a_file_are_read_as_if_each_stood_alone() -> None:
    parts = ProgramOutput(JOBS.replace("1e400", "1")).parts(json_source("jobs"))
    assert [part.number(json_source("jobs.0.bw")) for part in parts] == [1.5, 20.0]
    rows = ProgramOutput(TABLE).parts(ValueSource(regex=r"(?m)^\d+\s+[\d.]+$"))
    assert [row.number(ValueSource(regex=r"^\d+\s+(.*)")) for row in rows] == [0.5, 0.75]


def program(**changes: object) -> Program:
    sources: dict[str, dict[str, ValueSource | str]] = {
        "speed": {"": json_source("jobs.0.bw")},
        "extra": {"": json_source("extra")},
        "time": {"": "wall_time"},
        "reads": {"read": json_source("jobs.1.bw")},
    }
    return Program(("prog",), metric_sources=sources, failed=json_source("error"), **changes)  # type: ignore[arg-type]


def test_metrics_come_from_the_output_and_from_rail_exec() -> None:
    metrics = program().read({"wall_time": 2.0}, ProgramOutput(JOBS), "write", frozenset({"extra"}))
    assert metrics == {"speed": 1.5, "time": 2.0}
    metrics = program().read({"wall_time": 2.0}, ProgramOutput(JOBS), "read", frozenset({"extra"}))
    assert metrics["reads"] == 20.0


def test_a_metric_that_is_missing_fails_the_replication() -> None:
    with pytest.raises(EngineError, match=r"extra is not where it should stand \(JSON extra\)"):
        program().read({"wall_time": 2.0}, ProgramOutput(JOBS), None)
    with pytest.raises(EngineError, match="rail-exec did not report wall_time"):
        program().read({}, ProgramOutput(JOBS), None, frozenset({"extra"}))


def test_a_program_that_says_it_failed_has_failed() -> None:
    text = JOBS.replace('"error": ""', '"error": "unable to connect"')
    with pytest.raises(EngineError, match="it failed: unable to connect") as caught:
        program().read({"wall_time": 2.0}, ProgramOutput(text), None)
    assert caught.value.code == "command-failed"


@pytest.mark.parametrize("word", ["false", "null", '""', "0", '"0"'])
def test_a_program_that_says_it_did_not_fail_has_not(word: str) -> None:
    text = JOBS.replace('"error": ""', f'"error": {word}')
    assert program().read({"wall_time": 2.0}, ProgramOutput(text), None, frozenset({"extra"}))


def test_figures_of_an_output_that_was_cut_are_not_trusted() -> None:
    whole = JOBS + "x" * ((1 << 20) - len(JOBS) - 1)
    extra = MetricDescription("extra", "", "neither", optional=True)
    engine = EngineInfo("prog", "1", "", ("client",), {}, {"extra": extra}, program=program())
    engine.read_metrics({"wall_time": 2.0}, whole)
    with pytest.raises(EngineError, match="longer than 1 MiB") as caught:
        engine.read_metrics({"wall_time": 2.0}, whole + "x")
    assert caught.value.code == "output"
