"""`railgauge export csv|json|parquet`: every row of the public view, whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select
from tests.support import command_line
from tests.support.export_samples import fill_export
from tests.support.results import csv_rows
from tests.support.series_samples import store_series, tcp_series, udp_series
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, measured, planned

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.cli import cli
from railgauge.exchange.exporting.export import FORMATS, export, written_whole
from railgauge.exchange.exporting.view_rows import COLUMNS, VIEWS, stretches
from railgauge.store import Store
from railgauge.store.copy import copy
from railgauge.store.models import Replication
from railgauge.store.read import fetch
from railgauge.store.records import MetricInfo

Rows = list[tuple[object, ...]]


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), standalone_mode=False)


@pytest.fixture
def filled(where: str) -> str:
    with Store.open(where) as store:
        fill_export(store)
    return where


def view(where: str) -> Rows:
    with Store.open(where, create=False) as store, store.reading() as connection:
        result = connection.exec_driver_sql("SELECT * FROM measurement")
        assert tuple(result.keys()) == COLUMNS
        return sort(tuple(row) for row in result)


def sort(rows: object) -> Rows:
    return sorted(rows, key=repr)  # type: ignore[call-overload, no-any-return]


def _from_csv(path: Path) -> Rows:
    """Undo what docs/export.md says: the apostrophe, and the types."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == COLUMNS
    types = {"run": int, "replication": int, "value": float}
    nullable = {"started_at", "server_host", "metric", "value", "unit"}

    def value(name: str, text: str) -> object:
        if name in nullable and not text:
            return None
        return types.get(name, str)(text.removeprefix("'"))

    return [tuple(map(value, COLUMNS, row)) for row in rows]


def _from_json(path: Path) -> Rows:
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    rows = [json.loads(line) for line in lines]
    for row in rows:
        assert tuple(row) == COLUMNS
        row["parameters"] = json.dumps(row["parameters"], sort_keys=True, ensure_ascii=False)
    return [tuple(row.values()) for row in rows]


def _from_parquet(path: Path) -> Rows:
    def value(of: object) -> object:
        if isinstance(of, datetime):
            return of.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return of

    table = parquet.read_table(path)
    assert tuple(table.column_names) == COLUMNS
    return [tuple(map(value, row.values())) for row in table.to_pylist()]


READERS = {"csv": _from_csv, "json": _from_json, "parquet": _from_parquet}


def _plain_parameters(rows: Rows) -> Rows:
    at = COLUMNS.index("parameters")
    return sort(
        (*row[:at], json.dumps(json.loads(str(row[at])), sort_keys=True), *row[at + 1 :])
        for row in rows
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_holds_every_row_of_the_view_as_it_is(
    filled: str, form: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = call("export", form, "--db", filled, "--out", out)
    rows = READERS[form](out)
    assert _plain_parameters(rows) == _plain_parameters(view(filled))
    assert result.output == f"{out}: {len(rows)} rows of 2 runs\n"
    piped = call("export", form, "--db", filled, "--out", "-")
    assert piped.stdout_bytes == out.read_bytes()
    assert piped.stderr == f"-: {len(rows)} rows of 2 runs\n"
    assert {row[-1] for row in rows} == {"ok", "failed", "suspect"}
    assert None in {row[COLUMNS.index("server_host")] for row in rows}


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_measurements_give_the_same_bytes_from_any_database(
    filled: str, form: str, tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("once", "again", "copied")]
    copied = str(tmp_path / "copy.db")
    with Store.open(filled, create=False) as source, Store.open(copied) as target:
        copy(source, target)
    for file, database in zip(files, (filled, filled, copied), strict=True):
        with Store.open(database, create=False) as store:
            export(store, [2, 1, 2] if file is files[1] else [], file, form)
    assert len({file.read_bytes() for file in files}) == 1


@pytest.mark.parametrize("form", FORMATS)
def test_only_the_runs_that_were_named_are_written(form: str, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        fill_export(store)
        assert export(store, [2], tmp_path / "out", form).runs == 1
    assert {row[0] for row in READERS[form](tmp_path / "out")} == {2}


def test_no_field_of_the_csv_begins_a_formula(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        fill_export(store)
        export(store, [], tmp_path / "out", "csv")
    text = (tmp_path / "out").read_bytes().decode()
    starts = {field[:1] for row in csv.reader(io.StringIO(text, newline="")) for field in row}
    assert "'" in starts
    assert not starts & set("=+-@\t\r\n＝＋－＠")


def test_a_row_group_is_of_one_run_unless_runs_are_small(tmp_path: Path) -> None:
    runs = many_values(tmp_path / "a.db", 12_000, 100, 100, 12_000)
    with Store.open(str(tmp_path / "a.db")) as store:
        export(store, [], tmp_path / "out", "parquet")
    metadata = parquet.ParquetFile(tmp_path / "out").metadata
    groups = [metadata.row_group(i).column(0).statistics for i in range(metadata.num_row_groups)]
    assert [(of.min, of.max) for of in groups] == [(runs[0], runs[0]), (runs[1], runs[3])]


def test_a_run_that_is_not_there_leaves_no_file(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        fill_export(store)
        with pytest.raises(InputError, match="no run 7"):
            export(store, [1, 7], tmp_path / "out", "csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.db"]


def test_a_database_without_runs_says_so(tmp_path: Path) -> None:
    with (
        Store.open(str(tmp_path / "a.db")) as store,
        pytest.raises(InputError, match="holds no run yet"),
    ):
        export(store, [], tmp_path / "out", "csv")


@pytest.mark.parametrize(
    ("out", "message"),
    [("", "is a folder"), ("/dev/null", "not a regular file"), ("none/out", "no folder")],
)
def test_what_cannot_be_a_file_is_refused(tmp_path: Path, out: str, message: str) -> None:
    with pytest.raises(InputError, match=message), written_whole(tmp_path / out):
        raise AssertionError("never begun")


def test_a_database_is_never_overwritten(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        fill_export(store)
        with pytest.raises(InputError, match="is a database, which would be lost"):
            export(store, [], tmp_path / "a.db", "csv")
        assert len(store.runs()) == 2


def test_the_file_that_a_link_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/file")
    with written_whole(tmp_path / "link") as out:
        out.write(b"all")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"all"
    assert [file.name for file in (tmp_path / "there").iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["n" * 250, "n" * 300])
def test_a_name_too_long_is_told(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(EnvironmentFailedError, match="File name too long"),
        written_whole(tmp_path / name),
    ):
        raise AssertionError("never begun")


def test_half_a_character_is_exported_as_json_names_it(tmp_path: Path) -> None:
    half = case(folder="\ud800")
    with Store.open(str(tmp_path / "a.db")) as store:
        run = store.begin_run(RUN, planned(half), METRICS)
        store.add(run, "stream", half.key, measured(1), LAUNCH)
        export(store, [], tmp_path / "out", "json")
    lines = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["parameters"]["folder"] for line in lines] == ["\ud800"] * 2


def test_what_fails_halfway_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("before")
    with (
        pytest.raises(EnvironmentFailedError, match=r"out can't be written: .*No space.*make room"),
        written_whole(out) as file,
    ):
        file.write(b"half")
        file.flush()
        with Path("/dev/full").open("wb", buffering=0) as full:
            full.write(b"x")
    assert out.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("form", FORMATS)
def test_a_disk_without_room_is_told_and_leaves_nothing(form: str, tmp_path: Path) -> None:
    many_values(tmp_path / "a.db", 20_000)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "railgauge", "export", form, "--db", "a.db", "--out", out]
    # No file may grow beyond that: the kernel's own way to say that there's no room.
    completed = subprocess.run(
        command,
        cwd=tmp_path,
        # make coverage: its data would have no room, either.
        env={**os.environ, "COVERAGE_PROCESS_CONFIG": ""},
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536)),
    )
    assert completed.returncode == 3, completed.stderr
    assert "out can't be written: File too large: make room" in completed.stderr
    assert "Traceback" not in completed.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.db"]


def test_what_reads_after_an_export_by_the_same_connection_has_all_rows(where: str) -> None:
    with Store.open(where) as store:
        runs = fill_export(store)
        with store.reading() as connection:
            before = len(list(fetch(connection, select(Replication.number))))
            assert sum(map(len, stretches(connection, runs))) > 0
            assert len(list(fetch(connection, select(Replication.number)))) == before > 0


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a database that takes seconds to export."""
    path = tmp_path_factory.mktemp("long") / "a.db"
    many_values(path, 300_000)
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_ctrl_c_leaves_nothing(form: str, long_run: Path, tmp_path: Path) -> None:
    command = [*command_line.COMMAND, "export", form, "--db", long_run, "--out", "out"]
    process = command_line.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".out.*.part")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert [*tmp_path.iterdir()] == []


def test_without_pyarrow_the_message_names_what_to_install(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "a.db")) as store:
        fill_export(store)
    body = "import sys; sys.modules['pyarrow'] = None; from railgauge.cli import main; main()"
    command = [sys.executable, "-c", body, "export", "parquet", "--db", "a.db", "--out", "out"]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert completed.returncode == 2
    assert "pip install 'railgauge[parquet]'" in completed.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.db"]


def many_values(path: Path, *sizes: int) -> list[int]:
    """Store a run of one case with so many replications for each of `sizes`; return their ids."""
    runs = []
    with Store.open(str(path)) as store:
        for count in sizes:
            metrics = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
            runs.append(store.begin_run(RUN, planned(case(), replications=count), metrics))
    # By SQL, as a commit for each takes long.
    with sqlite3.connect(path) as connection:
        for run, count in zip(runs, sizes, strict=True):
            connection.execute(
                "WITH RECURSIVE n(number) AS"
                " (SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < ?)"
                " INSERT INTO replication (run_case_id, number, status)"
                " SELECT id, number, 'ok' FROM n, run_case WHERE run_id = ?",
                (count, run),
            )
            connection.execute(
                "INSERT INTO value (run_case_id, metric_id, number, value)"
                " SELECT run_case_id, 1, number, number / 7.0"
                " FROM replication JOIN run_case ON id = run_case_id WHERE run_id = ?",
                (run,),
            )
    connection.close()
    return runs


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_series_are_exported_interval_by_interval(where: str, tmp_path: Path, form: str) -> None:
    with Store.open(where) as store:
        store_series(store, tcp_series())
        store_series(store, udp_series(), "udp")
    path = tmp_path / "series"
    exported = call("export", form, "--view=series", "--out", path, "--db", where)
    assert (exported.exception, exported.stdout) == (None, f"{path}: 29 rows of 2 runs\n")
    if form == "parquet":
        rows = parquet.read_table(path).to_pylist()
    elif form == "json":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    else:
        rows = csv_rows(path)

    def column(run: int, quantity: str, *names: str) -> list[tuple[float, ...]]:
        own = (row for row in rows if (int(row["run"]), row["quantity"]) == (run, quantity))
        return [tuple(float(row[name]) for name in names) for row in own]

    assert all(tuple(row) == tuple(VIEWS["series"].columns) for row in rows)
    assert column(1, "sent_bytes", "interval", "omitted", "value") == [
        (1, 1, 10_000),
        (2, 0, 20_000),
        (3, 0, 0),
        (4, 0, 5_000),
    ]
    assert column(1, "congestion_window", "value")[1:] == [(28_960,), (7_240,), (7_240,)]
    times = column(1, "received_bytes", "begin", "end")
    assert [time for interval in times for time in interval] == pytest.approx(
        [0, 0.01, 0.01, 0.02, 0.02, 0.03, 0.03, 0.036]
    )
    assert column(1, "rtt", "value")[1] == pytest.approx((0.9e-3,))
    assert column(2, "lost_packets", "value") == [(0,), (3,), (-1,)]
    assert {(row["quantity"], row["unit"]) for row in rows} >= {("rtt", "s"), ("sent_bytes", "B")}


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_what_was_granted_is_exported_by_its_own_view(filled: str, tmp_path: Path, form: str):
    path = tmp_path / "granted"
    exported = call("export", form, "--view=granted_setting", "--out", path, "--db", filled)
    assert exported.exception is None
    with Store.open(filled, create=False) as store, store.reading() as connection:
        result = connection.exec_driver_sql("SELECT * FROM granted_setting")
        columns, rows = tuple(result.keys()), [tuple(row) for row in result]
    assert rows
    assert columns == tuple(VIEWS["granted_setting"].columns)
    if form == "parquet":
        table = parquet.read_table(path)
        assert (tuple(table.column_names), table.num_rows) == (columns, len(rows))
    elif form == "json":
        read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert sort(tuple(row.values()) for row in read) == sort(rows)
    else:
        with path.open(encoding="utf-8", newline="") as file:
            read = list(csv.reader(file))
        assert (tuple(read[0]), len(read)) == (columns, len(rows) + 1)
