"""`railgauge db` and `railgauge baseline`, as a user sees them."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text
from tests.support import command_line
from tests.support.copy_samples import fill
from tests.support.store_samples import METRICS, MOMENT, RUN, case, measured, planned

from railgauge.base.errors import InputError, StoreError
from railgauge.cli import cli
from railgauge.plan.partial import only_texts
from railgauge.store import Store
from railgauge.store.records import Launch


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "source.db"
    with Store.open(str(path)) as store:
        fill(store)
    return path


def test_a_copy_tells_each_run_and_what_it_came_to(filled: Path, where: str) -> None:
    result = CliRunner().invoke(cli, ["db", "copy", str(filled), where], standalone_mode=False)
    assert result.return_value == 0
    lines = result.stderr.splitlines()
    assert lines[0].startswith("run 1 (sharcnet-udp, 20")
    assert lines[0].endswith("Z): 6 replications, run 1 there")
    assert lines[1].endswith("Z): 12 replications, run 2 there")
    (line,) = result.stdout.splitlines()
    assert line.endswith(
        ": 3 new runs, 0 with more, 0 as they were; 19 replications, 1 new baseline"
    )
    (line,) = call("db", "copy", filled, where).output.splitlines()
    assert line.endswith(
        ": 0 new runs, 0 with more, 3 as they were; 0 replications, 0 new baselines"
    )


def test_a_copy_to_whose_output_nobody_listens_is_whole(filled: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    process = command_line.Popen(
        [*command_line.COMMAND, "db", "copy", str(filled), str(target)],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 0
    with Store.open(str(target)) as store:
        assert [(run.state, run.measured) for run in store.runs()] == [
            ("complete", 4),
            ("unfinished", 12),
            ("complete", 1),
        ]


def test_a_whole_database_is_called_so_and_backed_up(filled: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["db", "check", "--db", str(filled)], standalone_mode=False)
    assert (result.return_value, result.output) == (0, f"{filled}: 19 replications, whole\n")
    target = tmp_path / "backup.db"
    result = call("db", "backup", target, "--db", filled)
    assert result.output == f"{target}: {target.stat().st_size:,} bytes, whole\n"
    with pytest.raises(InputError, match=r"there is no folder .*: make it"):
        call("db", "backup", tmp_path / "none" / "backup.db", "--db", filled)


def test_a_check_lists_what_changed_with_exit_code_3(filled: Path) -> None:
    connection = sqlite3.connect(filled)
    with connection:
        connection.execute("UPDATE value SET value = 7 WHERE number = 2")
    connection.close()
    result = CliRunner().invoke(cli, ["db", "check", "--db", str(filled)], standalone_mode=False)
    assert result.return_value == 3
    *lines, last = result.output.splitlines()
    assert lines
    assert all(", replication 2: not what was stored" in line for line in lines)
    assert last == f"{filled}: 19 replications, {len(lines)} changed"


def test_what_is_thinned_is_told_before_and_only_said_in_a_dry_run(filled: Path) -> None:
    thin = ("db", "thin", "--db", filled, "--baselines", "--older-than")
    assert call(*thin, "1d").output.startswith(f"{filled}: of 0 runs 0 system logs, ")
    before = filled.read_bytes()
    expected = f"{filled}: of 2 runs 12 system logs, 2 rows of ports, 1 trace, 1 series"
    (line,) = call(*thin, "0s", "--dry-run").output.splitlines()
    assert line.startswith(f"{expected} would go, about ")
    assert filled.read_bytes() == before
    first, last = call(*thin, "0s").output.splitlines()
    assert first.startswith(f"{expected} go, about ")
    assert last == f"{filled}: {len(before) - filled.stat().st_size:,} bytes smaller, 0 bytes free"
    assert call("db", "check", "--db", filled).output == f"{filled}: 19 replications, whole\n"
    assert "such as 30d or 12h" in call(*thin, "3w").output
    assert "'999999d' ago was before 1970" in call(*thin, "999999d").output


def test_a_file_that_stays_as_large_while_a_run_is_measured_is_told(filled: Path) -> None:
    thin = ("db", "thin", "--db", filled, "--older-than", "1d")
    with Store.open(str(filled)) as store:
        with store.writing() as connection:
            connection.execute(text("CREATE TABLE large AS SELECT zeroblob(1000000) AS data"))
            connection.execute(text("DROP TABLE large"))
        run = store.begin_run(RUN, planned(case()), METRICS)
        with store.claim(run):
            *_, size, reason = call(*thin).output.splitlines()
    assert size.startswith(f"{filled}: 0 bytes smaller, ")
    assert reason.startswith(f"{filled}: the file stays as large while a run is measured")
    assert not call(*thin).output.splitlines()[-1].startswith(f"{filled}: 0 bytes smaller")


def test_a_difference_is_told_and_makes_the_exit_code_1(filled: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    call("db", "copy", filled, target)
    for path, value in ((filled, 1.0), (target, 2.0)):
        with Store.open(str(path)) as store:
            store.reopen_run(1)
            store.add(1, "stream", case(64).key, measured(2, value), Launch(MOMENT + value))
            store.finish_run(1, "complete")
    copy = CliRunner().invoke(cli, ["db", "copy", str(filled), str(target)], standalone_mode=False)
    assert copy.return_value == 1
    assert "replication 2 of case " in copy.stderr
    assert "it stays as it is" in copy.stderr


def test_a_copy_needs_a_source(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no database at .*: run a plan first or pass another FROM"
    ):
        call("db", "copy", tmp_path / "nosuch.db", tmp_path / "target.db")
    assert list(tmp_path.iterdir()) == []


def test_a_copy_to_a_place_that_cannot_be_names_its_own_argument(filled: Path) -> None:
    with pytest.raises(InputError, match="does not exist: create it, or pass another TO"):
        call("db", "copy", filled, filled.parent / "nosuch" / "target.db")
    text = filled.with_name("text")
    text.write_text("no database")
    for arguments, name in (((text, filled), "FROM"), ((filled, text), "TO")):
        with pytest.raises(InputError, match=f"is not a SQLite database: pass another {name}"):
            call("db", "copy", *arguments)


def test_a_copy_of_a_damaged_database_makes_no_new_one(filled: Path, tmp_path: Path) -> None:
    content = bytearray(filled.read_bytes())
    content[4096 * 8 : 4096 * 12] = b"\xff" * (4096 * 4)
    filled.write_bytes(content)
    target = tmp_path / "target.db"
    with pytest.raises(StoreError, match="is damaged"):
        call("db", "copy", filled, target)
    assert not target.exists()


def test_baselines_are_set_listed_shown_and_dropped(tmp_path: Path) -> None:
    db = ("--db", tmp_path / "r.db")
    with Store.open(str(db[1])) as store:
        for _ in range(3):
            run = store.begin_run(RUN, planned(case()), METRICS)
            store.add(run, "stream", case().key, measured(1), Launch(MOMENT))
            store.finish_run(run, "complete")
    assert "holds no baseline: railgauge baseline set" in call("baseline", "list", *db).output
    result = call("baseline", "set", "good", 1, 3, "--description", "a\nfine one", *db)
    assert result.output == "baseline good: runs 1 3\n"
    (line,) = call("baseline", "list", *db).output.splitlines()
    assert line.startswith("good (runs 1 3, set 20")
    assert line.endswith("): a\\nfine one")
    head, first, second = call("baseline", "show", "good", *db).output.splitlines()
    assert head == line
    assert first.startswith("  run 1 of plan sharcnet-udp: complete, started 20")
    assert first.endswith(", commit 0123abcd+changes; 1/3 measured, 0 failed")
    assert second.startswith("  run 3 ")
    (listed,) = json.loads(call("baseline", "list", "--json", *db).output)
    assert (listed["name"], listed["description"], listed["runs"]) == (
        "good",
        "a\nfine one",
        [1, 3],
    )
    baseline = json.loads(call("baseline", "show", "good", "--json", *db).output)
    assert [run["id"] for run in baseline["runs"]] == [1, 3]
    assert baseline["created_at"] == listed["created_at"]
    with pytest.raises(InputError, match="--replace"):
        call("baseline", "set", "good", 2, *db)
    assert call("baseline", "set", "good", 2, "--replace", *db).output == "baseline good: run 2\n"
    assert "its runs are still there" in call("baseline", "drop", "good", *db).output
    with pytest.raises(InputError, match="no baseline 'good'"):
        call("baseline", "show", "good", *db)


def test_a_baseline_of_a_run_that_was_stopped_is_noted(tmp_path: Path) -> None:
    where = str(tmp_path / "r.db")
    with Store.open(where) as store:
        run = store.begin_run(RUN, planned(case(), replications=10), METRICS)
        store.add(run, "stream", case().key, measured(1), Launch(MOMENT))
        store.finish_run(run, "interrupted")
    assert call("baseline", "set", "good", 1, "--db", where).stderr == (
        "note: run 1 is interrupted and lacks 9 of 10 replications, which nothing can be compared"
        f" with: railgauge resume 1 --db {where} measures them\n"
    )


def test_a_run_that_only_confirms_is_told_from_a_whole_one(tmp_path: Path) -> None:
    db = ("--db", tmp_path / "r.db")
    with Store.open(str(db[1])) as store:
        for new in (RUN, replace(RUN, files=only_texts({("stream", case().key)}))):
            run = store.begin_run(new, planned(case()), METRICS)
            store.add(run, "stream", case().key, measured(1), Launch(MOMENT))
            store.finish_run(run, "complete")
    _, whole, partial = call("list", *db).output.splitlines()
    assert "1 (some)" in partial
    assert "some" not in whole
    assert [run["partial"] for run in json.loads(call("list", "--json", *db).output)] == [0, 1]
    result = call("baseline", "set", "good", 1, 2, *db)
    assert result.stdout == "baseline good: runs 1 2\n"
    assert result.stderr.startswith("note: run 2 measured only some of its plan's cases")
    assert call("baseline", "set", "good", 1, "--replace", *db).stderr == ""


def test_a_baseline_of_several_plans_says_so(tmp_path: Path) -> None:
    db = ("--db", tmp_path / "r.db")
    with Store.open(str(db[1])) as store:
        for plan in ("a", "b\x1b", "a"):
            run = store.begin_run(replace(RUN, plan=plan), planned(case()), METRICS)
            store.finish_run(run, "complete")
    result = call("baseline", "set", "good", 1, 2, 3, *db)
    assert result.stdout == "baseline good: runs 1 2 3\n"
    assert result.stderr.startswith("note: these are runs of 2 plans (a, b")
    assert "\x1b" not in result.stderr
    assert call("baseline", "set", "good", 1, 3, "--replace", *db).stderr == ""
