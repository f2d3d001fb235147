"""What `railgauge export csv` wrote comes back by `railgauge import csv`, if all of it is right."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.export_samples import fill_export
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, measured, pair, planned, suspect

from railgauge.base.errors import FileProblems, InputError, RailgaugeError
from railgauge.cli import cli
from railgauge.exchange.exporting.export import export
from railgauge.exchange.exporting.read_back import import_exported
from railgauge.exchange.exporting.view_rows import COLUMNS
from railgauge.plan.catalogue import load_catalogue
from railgauge.store import Store
from railgauge.store.records import Launch

CATALOGUE = load_catalogue()
ROW = {
    "run": "1",
    "plan": "fabric",
    "git_commit": "",
    "started_at": "2026-11-21T02:00:01.250000Z",
    "test": "stream",
    "engine": "udp",
    "link": "gw→hh",
    "client_host": "gw1",
    "server_host": "hh1",
    "case_key": case().key,
    "parameters": '{"datagram": 1460, "duration": 5.0, "mode": "stream"}',
    "replication": "1",
    "metric": "throughput",
    "value": "1e9",
    "unit": "bit/s",
    "status": "ok",
}


def write(path: Path, *rows: dict[str, str]) -> Path:
    quoted = ['"' + '","'.join(v.replace('"', '""') for v in row.values()) + '"' for row in rows]
    path.write_text("\r\n".join([",".join(COLUMNS), *quoted, ""]), encoding="utf-8", newline="")
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), standalone_mode=False)


def _exported(database: str, file: Path) -> list[str]:
    with Store.open(database, create=False) as store:
        export(store, [], file, "csv")
    return file.read_bytes().decode().split("\r\n")


def _fill(store: Store) -> None:
    """Store two runs with every status, a replication that is missing, and hostile names."""
    cases = [case(512, folder="=1+1 \r\n'x"), case(link="@x→y", text="'")]
    for _ in range(2):
        run = store.begin_run(replace(RUN, plan="=plan"), planned(*cases, test=" t,\n"), METRICS)
        for stored_case in cases:
            launch = replace(LAUNCH)
            store.add(run, " t,\n", stored_case.key, measured(1, 0.1 + 0.2), launch)
            store.add(run, " t,\n", stored_case.key, measured(3, 5e-324), launch)
            store.add(run, " t,\n", stored_case.key, suspect(4), launch)
            lost = replace(measured(5), metrics={}, status="failed", error_code="timeout")
            store.add(run, " t,\n", stored_case.key, replace(lost, error_message="no"), launch)
        store.finish_run(run, "complete")


def test_what_was_exported_comes_back_and_is_exported_alike(where: str, tmp_path: Path) -> None:
    original = str(tmp_path / "original.db")
    with Store.open(original) as store:
        _fill(store)
    first, again = tmp_path / "first.csv", tmp_path / "again.csv"
    lines = _exported(original, first)
    result = call("import", "csv", first, "--db", where)
    assert result.output.splitlines() == [
        "run 1: 12 values of 2 cases from 8 replications",
        "run 2: 12 values of 2 cases from 8 replications",
    ]
    assert _exported(where, again) == lines
    with Store.open(where, create=False) as store:
        assert {run.origin for run in store.runs()} == {"imported"}
        better = {series.metric: series.better for series in store.series([1])}
        failure = store.failures(1)[0]
    assert better == {"throughput": "higher", "loss_rate": "lower"}
    assert failure.error_message == "the file that was imported does not say why"


def test_the_catalogue_says_what_the_metrics_of_a_file_are(where: str, tmp_path: Path) -> None:
    of_metrics = [
        {**ROW, "metric": name, "unit": unit, "value": "0.5"}
        for name, unit in (("lost_packets", ""), ("client_cpu_load", ""), ("laps", ""))
    ]
    file = write(tmp_path / "a.csv", ROW, *of_metrics)
    with Store.open(where) as store:
        import_exported(store, file, catalogue=CATALOGUE)
        kinds = {series.metric: (series.better, series.kind) for series in store.series([1])}
    assert kinds == {
        "throughput": ("higher", "rate"),
        "lost_packets": ("lower", "count"),
        "client_cpu_load": ("lower", "share"),
        "laps": ("neither", ""),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": "0"}, "run is '0', and no number from 1 on"),
        ({"replication": "1.5"}, "replication is '1.5'"),
        ({"replication": "99999999999"}, "replication is"),
        ({"value": "nan"}, "the value 'nan' is not a number"),
        ({"value": ""}, "the value '' is not a number"),
        ({"value": "1_000"}, "the value '1_000' is not a number"),
        ({"value": " 5 "}, "the value ' 5 ' is not a number"),
        ({"value": "٥"}, "the value '٥' is not a number"),
        ({"value": "+5"}, "the value '\\+5' is not a number"),
        ({"value": "1e999"}, "the value '1e999' is not a number"),
        ({"status": "good"}, "the status 'good' is none of ok, failed, suspect"),
        ({"status": "failed"}, "a failed replication has no metric"),
        ({"metric": ""}, "any other has one"),
        ({"started_at": "yesterday"}, "started_at is 'yesterday'"),
        ({"started_at": "2026-13-21T02:00:01.250000Z"}, "started_at is"),
        ({"parameters": "{"}, "parameters are no JSON"),
        ({"parameters": "[" * 100_000}, "parameters are no JSON"),
        ({"parameters": '{"a": [1]}'}, "parameters are not a JSON object of texts and numbers"),
        ({"parameters": '{"a": NaN}'}, "parameters are not a JSON object of texts and numbers"),
        ({"plan": "a\0b"}, "there is a NUL character in this row"),
        ({"link": "gw→kk"}, "case_key '.*' is not that of this engine, link"),
        ({"plan": "other", "replication": "2"}, "plan or git_commit differs"),
        ({"started_at": "", "metric": "loss_rate"}, "started_at or status differs"),
        ({"unit": "B/s", "replication": "2"}, "throughput is in 'bit/s' above"),
        ({}, "throughput of this replication stands in the file already"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_nothing_is_stored(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    file = write(tmp_path / "a.csv", {**ROW, "test": "two\nlines"}, ROW, {**ROW, **change})
    with Store.open(str(tmp_path / "a.db")) as store:
        with pytest.raises(FileProblems, match=rf"a\.csv:5:1: .*{message}"):
            import_exported(store, file, catalogue=CATALOGUE)
        assert store.runs() == []


def test_a_run_in_two_places_and_a_failure_told_twice_are_mistakes(tmp_path: Path) -> None:
    failed = {**ROW, "metric": "", "value": "", "unit": "", "status": "failed"}
    rows = [failed, failed, {**ROW, "run": "2"}, ROW]
    with (
        Store.open(str(tmp_path / "a.db")) as store,
        pytest.raises(FileProblems) as caught,
    ):
        import_exported(store, write(tmp_path / "a.csv", *rows), catalogue=CATALOGUE)
    assert [(x.line, x.message) for x in caught.value.problems] == [
        (3, "this failed replication stands in the file already"),
        (5, "run 1 stands in the file in two places"),
    ]


def test_what_is_wrong_with_a_case_is_told_once_and_with_a_value_in_each_line(
    tmp_path: Path,
) -> None:
    wrong = [{**ROW, "link": "gw→kk", "replication": str(n)} for n in (1, 2)]
    no_numbers = [{**ROW, "value": "nan", "replication": str(n)} for n in (1, 2)]
    with (
        Store.open(str(tmp_path / "a.db")) as store,
        pytest.raises(FileProblems) as caught,
    ):
        import_exported(store, write(tmp_path / "a.csv", *wrong, *no_numbers), catalogue=CATALOGUE)
    assert [problem.line for problem in caught.value.problems] == [2, 4, 5]


def test_a_pipe_is_refused_as_the_file_is_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (
        Store.open(str(tmp_path / "a.db")) as store,
        pytest.raises(InputError, match="write it to a file first"),
    ):
        import_exported(store, tmp_path / "pipe", catalogue=CATALOGUE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no file of `railgauge export csv`"),
        (b"a,b\r\n1,2\r\n", "is no file of `railgauge export csv`"),
        (",".join(COLUMNS).encode(), "holds no measurement"),
        (b"\xff\xfe", "it is no text in UTF-8"),
        (",".join(COLUMNS).encode() + b"\r\n1,2\r\n", "a.csv:2:1: this row has 2 fields"),
        (",".join(COLUMNS).encode() + b'\r\n"1"2', "a.csv:2:1: .*expected"),
    ],
)
def test_what_is_no_export_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with (
        Store.open(str(tmp_path / "a.db")) as store,
        pytest.raises(RailgaugeError, match=message),
    ):
        import_exported(store, tmp_path / "a.csv", catalogue=CATALOGUE)


def test_a_groups_case_is_refused_as_its_members_are_not_told(tmp_path: Path) -> None:
    group_case = pair("gw1", "hh1", ("gw1", "hh1", "kk1"))
    with Store.open(str(tmp_path / "a.db")) as store:
        run = store.begin_run(RUN, planned(group_case), METRICS)
        store.add(run, "stream", group_case.key, measured(1), Launch(1.0))
        store.finish_run(run, "complete")
        export(store, [], tmp_path / "a.csv", "csv")
        with pytest.raises(FileProblems, match="`railgauge db copy` copies it"):
            import_exported(store, tmp_path / "a.csv", catalogue=CATALOGUE)


def test_the_sample_with_a_key_of_its_own_is_told_too(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        fill_export(store)
        export(store, [], tmp_path / "a.csv", "csv")
        with pytest.raises(FileProblems, match="case_key 'f00d' is not that of"):
            import_exported(store, tmp_path / "a.csv", catalogue=CATALOGUE)


def test_half_a_mapping_says_what_else_to_say(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="say --engine and --metric, or FILE alone"):
        CliRunner().invoke(
            cli,
            ["import", "csv", str(tmp_path / "a.csv"), "--engine", "udp"],
            standalone_mode=False,
            catch_exceptions=False,
        )
