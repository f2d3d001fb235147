"""An imported run began when it was measured, not when it was imported."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support import FIXTURES
from tests.support.history_samples import Database

from railgauge.base.errors import FileProblems, InputError, StoreError
from railgauge.base.units import parse_moment
from railgauge.cli import cli
from railgauge.store import Store

TOOLS = FIXTURES / "tools"
FIO = 1795274254  # as the file says
CSV = ["--engine", "udp", "--link-name", "a", "--metric", "throughput=mbps:Mbit/s"]
AT = "2025-11-21T02:00:00Z"


def call(*arguments: object) -> tuple[str, BaseException | None]:
    result = CliRunner().invoke(cli, list(map(str, arguments)), standalone_mode=False)
    return result.output, result.exception


def starts(path: Path) -> list[str]:
    with Store.open(str(path), create=False) as store:
        return [store.run(run).started_at for run in store.run_ids()]


def history_output(path: Path, *arguments: str) -> str:
    output, error = call("history", *arguments, "--db", path)
    assert error is None, output
    return output


def test_twelve_nights_come_back_as_twelve_nights(tmp_path: Path) -> None:
    nights = Database(tmp_path / "a.db")
    nights.nights([1e9] * 7 + [0.8e9] * 5)
    nights.date()
    connection = sqlite3.connect(nights.path)
    with connection:
        connection.execute(
            "UPDATE replication SET started_at = (SELECT run.started_at FROM run JOIN run_case"
            " ON run.id = run_id WHERE run_case.id = run_case_id), checksum = NULL"
        )
    connection.close()
    assert call("export", "csv", "--db", nights.path, "--out", tmp_path / "a.csv")[1] is None
    output, error = call("import", "csv", tmp_path / "a.csv", "--db", tmp_path / "b.db")
    assert (error, "--at" in output) == (None, False)
    assert starts(tmp_path / "b.db") == starts(nights.path)
    before = history_output(nights.path, "--all")
    assert "2026-09-08" in before
    assert history_output(tmp_path / "b.db", "--all") == before.replace(str(nights.path), "b.db")


@pytest.mark.parametrize(
    ("nights", "lines"),
    [
        (2, ["run 1: 1 value of 1 case from 1 row", "run 2: 1 value of 1 case from 1 row"]),
        (9, ["9 runs, 1 to 9: 9 values from 9 rows"]),
    ],
)
def test_an_import_says_a_line_of_each_run_and_of_many_nights_one(
    tmp_path: Path, nights: int, lines: list[str]
) -> None:
    rows = [f"2025-11-{day:02}T02:00:00Z,{900 + day}\n" for day in range(1, nights + 1)]
    (tmp_path / "nights.csv").write_text("".join(["begun,mbps\n", *rows]))
    options = [*CSV, "--started-at", "begun", "--db", tmp_path / "railgauge.db"]
    output, error = call("import", "csv", tmp_path / "nights.csv", *options)
    assert error is None, output
    assert output.splitlines() == lines


def test_an_import_that_fails_at_its_second_night_leaves_none(tmp_path: Path) -> None:
    nights = Database(tmp_path / "a.db")
    nights.nights([1e9] * 2)
    assert call("export", "csv", "--db", nights.path, "--out", tmp_path / "a.csv")[1] is None
    day = write(tmp_path / "b.csv", "when,mbps\n1763604000,1\n1763704000,2\n")
    path = tmp_path / "b.db"
    Store.open(str(path)).close()
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TRIGGER full BEFORE INSERT ON run WHEN (SELECT count(*) FROM run) = 1"
        " BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
    )
    connection.close()
    for arguments in ([tmp_path / "a.csv"], [day, *CSV, "--started-at", "when"]):
        _, error = call("import", "csv", *arguments, "--db", path)
        assert isinstance(error, StoreError)
        assert starts(path) == []


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_column_tells_when_each_row_was_measured(tmp_path: Path) -> None:
    file = write(
        tmp_path / "r.csv",
        "when,mbps\n2025-11-21 03:00+01:00,1\n1763604000.25,2\n,3\n",
    )
    output, error = call(
        "import", "csv", file, *CSV, "--started-at", "when", "--db", tmp_path / "r.db"
    )
    assert error is None, output
    assert starts(tmp_path / "r.db") == [
        "2025-11-20T02:00:00.250000Z",
        "2025-11-21T02:00:00.000000Z",
    ]
    _, error = call(
        *("import", "csv", file, *CSV, "--started-at", "when", "--apart", "48h"),
        *("--db", tmp_path / "together.db"),
    )
    assert error is None
    assert starts(tmp_path / "together.db") == ["2025-11-20T02:00:00.250000Z"]


def test_an_import_is_as_of_when_it_was_measured_and_ended_at_no_time(tmp_path: Path) -> None:
    file = write(tmp_path / "r.csv", "when,mbps\n2025-11-21T02:00:00Z,1\n")
    db = ["--db", tmp_path / "r.db"]
    assert call("import", "csv", file, *CSV, "--started-at", "when", *db)[1] is None
    output, error = call("show", "1", *db)
    assert error is None
    assert "imported as of 2025-11-21 02:00:00 UTC" in output
    assert "ended" not in output
    _, error = call("report", "1", *db, "--out", tmp_path / "report")
    assert error is None
    page = (tmp_path / "report" / "index.html").read_text()
    assert "Run 1 of plan r, imported as of" in page
    assert re.search(r"<th[^>]*>Ended</th>\s*<td[^>]*>–</td>", page)


@pytest.mark.parametrize(
    "moment",
    ["yesterday", "2025-11-21T02:00:00", "9" * 30, "20251121", "202511210200", "953.2"],
)
def test_what_is_no_time_is_told_with_its_place(tmp_path: Path, moment: str) -> None:
    file = write(tmp_path / "r.csv", f"when,mbps\n{moment},1\n")
    _, error = call("import", "csv", file, *CSV, "--started-at", "when", "--db", tmp_path / "r.db")
    assert isinstance(error, FileProblems)
    assert f"r.csv:2:1: '{moment}' is no time: write it with its zone" in str(error)


@pytest.mark.parametrize(
    "arguments",
    [
        ["netperf", TOOLS / "netperf-2.7.0-tcp_stream.txt", "--link", "a"],
        ["osu", TOOLS / "osu-7.2-latency.txt", "--link", "a"],
        ["csv", "r.csv", *CSV],
    ],
)
def test_a_file_without_any_time_says_so_or_takes_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[object]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "r.csv", "mbps\n1\n")
    output, error = call("import", *arguments, "--db", "now.db")
    assert error is None, output
    (began,) = starts(Path("now.db"))
    assert f"no time of measurement is given, so it begins now, {began}; say --at" in output
    output, error = call("import", *arguments, "--at", AT, "--db", "then.db")
    assert (error, "--at" in output) == (None, False)
    assert starts(Path("then.db")) == ["2025-11-21T02:00:00.000000Z"]


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        (["iperf3", TOOLS / "iperf3-3.12-tcp.json"], None),
        (["fio", TOOLS / "fio-3.33-randread.json", "--link", "a"], FIO),
    ],
)
def test_a_file_that_tells_its_time_is_believed(
    tmp_path: Path, arguments: Sequence[object], seconds: int | None
) -> None:
    output, error = call("import", *arguments, "--db", tmp_path / "r.db")
    assert (error, "--at" in output) == (None, False)
    (began,) = starts(tmp_path / "r.db")
    with sqlite3.connect(tmp_path / "r.db") as connection:
        ((first,),) = connection.execute("SELECT min(started_at) FROM replication")
    connection.close()
    assert began == first
    if seconds is not None:
        assert datetime.fromisoformat(began) == datetime.fromtimestamp(seconds, UTC)
    _, error = call("import", *arguments, "--at", AT, "--db", tmp_path / "other.db")
    assert isinstance(error, InputError)
    assert "leave --at out" in str(error)
    assert not (tmp_path / "other.db").exists()


def test_moments_are_read_with_their_zone() -> None:
    assert parse_moment("1763690400.25") == 1763690400.25
    assert parse_moment("2025-11-21T02:00:00.25Z") == parse_moment("2025-11-21 03:00:00.25+01:00")
