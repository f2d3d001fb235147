"""Damaged SQLite files: told as such, and never a part of what is in them given for all of it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.copy_samples import fill
from tests.support.export_samples import fill_export
from tests.support.history_samples import Database
from tests.support.store_samples import case

from railgauge.base.errors import RailgaugeError, StoreError
from railgauge.cli import cli
from railgauge.store import Store

PAGE = 4096
PLACES = 54
COMMANDS = (
    ("list",),
    ("show", "3"),
    ("compare", "3", "4"),
    ("diff", "3", "4"),
    ("history", "--all"),
    ("export", "csv", "--out", "out"),
    ("export", "json", "--out", "out"),
    ("report", "3", "--out", "folder"),
    ("db", "copy", "damaged.db", "copy.db"),
)
Result = tuple[int, str, bytes]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "whole.db"
    with Store.open(str(path)) as store:
        fill_export(store)
    nights = Database(path)
    for level in (1e9, 1.1e9):
        nights.night(*((case(64 * size), level) for size in range(1, 13)))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("VACUUM")
    connection.close()
    return path.read_bytes()


@pytest.fixture
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, content: bytes) -> Path:
    for file in folder.glob("*.db*"):
        file.unlink()
    path = folder / "damaged.db"
    path.write_bytes(content)
    return path


def run(folder: Path, content: bytes, command: Sequence[str]) -> Result:
    """Return exit code, output and the file written, as the command line's main would have them."""
    path = put(folder, content)
    (folder / "out").unlink(missing_ok=True)
    where = [] if command[0] == "db" else ["--db", path.name]
    result = CliRunner().invoke(cli, [*command, *where], standalone_mode=False)
    written = (folder / "out").read_bytes() if (folder / "out").exists() else b""
    if result.exception is None:
        return result.return_value or 0, result.output, written
    if not isinstance(result.exception, RailgaugeError):
        raise result.exception
    return result.exception.exit_code, str(result.exception), written


def damage(content: bytes) -> Iterator[bytes]:
    """Yield copies with a bit flipped anywhere, one flipped in a page's header, a page of noise."""
    chance = random.Random(20)
    for place in range(PLACES):
        page = chance.randrange(1, len(content) // PAGE) * PAGE
        changed = bytearray(content)
        if place % 3 == 2:
            changed[page : page + PAGE] = chance.randbytes(PAGE)
        else:
            changed[page + chance.randrange((PAGE, 40)[place % 3])] ^= 1 << chance.randrange(8)
        yield bytes(changed)


def without_root(path: Path, table: str) -> bytes:
    """Return the file with the first page of a table overwritten."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    ((root,),) = connection.execute(query, (table,))
    connection.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * PAGE : root * PAGE] = b"\xff" * PAGE
    return bytes(content)


def is_sound(path: Path) -> bool:
    """Tell what SQLite's own check says: what it finds nothing in is a changed value at most."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return False
    finally:
        connection.close()


def test_a_damaged_file_is_told_or_changes_nothing(work_folder: Path, whole: bytes) -> None:
    detections = 0
    expected = {command: run(work_folder, whole, command) for command in COMMANDS}
    assert all(code == 0 for code, _, _ in expected.values())
    for place, content in enumerate(damage(whole)):
        sound = is_sound(put(work_folder, content))
        command = COMMANDS[place // 3 % len(COMMANDS)]
        result = run(work_folder, content, command)
        if result[0] == 3:
            assert "damaged" in result[1], (command, result)
            assert result[2] == b"", "a part of the values was written"
            detections += 1
        elif not sound:
            assert result == expected[command], f"place {place}: {command}"
    assert detections > PLACES // 3


@pytest.mark.parametrize("command", COMMANDS)
def test_a_schema_that_is_no_text_is_told_by_each_command(
    work_folder: Path, whole: bytes, command: Sequence[str]
) -> None:
    name = b"CREATE TABLE run_label"
    assert whole.count(name) == 1
    code, output, written = run(
        work_folder, whole.replace(name, b"CREATE T\xcaBLE run_label"), command
    )
    assert (code, written) == (3, b"")
    assert "damaged" in output


@pytest.mark.parametrize("command", COMMANDS)
def test_an_index_that_lacks_a_row_is_told_by_each_command(
    work_folder: Path, whole: bytes, command: Sequence[str]
) -> None:
    path, name = put(work_folder, whole), "ix_run_case_run_id"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    query = "SELECT * FROM sqlite_master WHERE name = ?"
    (index,) = connection.execute(query, [name]).fetchall()
    connection.execute("DELETE FROM sqlite_master WHERE name = ?", [name])
    connection.commit()
    connection.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE run_case SET run_id = 4, test = 'moved' WHERE run_id = 3")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index)
    connection.commit()
    connection.close()
    code, output, written = run(work_folder, path.read_bytes(), command)
    assert (code, written) == (3, b"")
    assert "is damaged: copy the file away" in output


@pytest.mark.parametrize(
    ("statement", "command"),
    [
        ("UPDATE run_case SET case_id = id + 9999", ("db", "copy", "damaged.db", "c.db")),
        ("UPDATE bench_case SET parameters = '{'", ("show", "3")),
        ("UPDATE bench_case SET parameters = '7'", ("show", "3")),
        ("UPDATE bench_case SET link = CAST(x'ff' AS TEXT)", ("show", "3")),
        ("UPDATE run SET started_at = 'yesterday'", ("export", "csv", "--out", "out")),
        ("UPDATE value SET value = 'fast'", ("show", "3")),
        ("UPDATE value SET value = 'fast'", ("export", "csv", "--out", "out")),
    ],
)
def test_what_railgauge_never_stored_is_no_bug_of_it(
    work_folder: Path, whole: bytes, statement: str, command: Sequence[str]
) -> None:
    connection = sqlite3.connect(put(work_folder, whole))
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(statement)
    connection.commit()
    connection.close()
    code, output, _ = run(work_folder, (work_folder / "damaged.db").read_bytes(), command)
    assert code == 3
    assert "is damaged" in output or "not what was stored" in output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_was_cut_short_is_told(
    work_folder: Path, whole: bytes, command: Sequence[str]
) -> None:
    code, output, written = run(work_folder, whole[: len(whole) // 2 // PAGE * PAGE], command)
    assert (code, written) == (3, b"")
    assert "damaged: copy the file away, then restore a backup" in output
    assert "sqlite3 COPY .recover" in output


def test_an_error_over_an_undamaged_database_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Store.open(str(tmp_path / "r.db")) as store:
        fill(store)
        raise KeyError("a bug")


def test_damage_where_no_value_is_stored_is_told_before_it_is_copied(work_folder: Path) -> None:
    path = work_folder / "railgauge.db"
    with Store.open(str(path)) as store:
        fill(store)
    path.write_bytes(without_root(path, "cpu_log"))
    with Store.open(str(path)) as store, pytest.raises(StoreError, match="is damaged"):
        store.check()
    code, output, _ = run(work_folder, path.read_bytes(), ("db", "copy", "damaged.db", "copy.db"))
    assert code == 3
    assert "damaged.db is damaged" in output


def test_of_a_large_file_values_are_looked_at_by_who_reads_them(work_folder: Path) -> None:
    path = work_folder / "large.db"
    with Store.open(str(path)) as store:
        fill(store)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE padding AS SELECT zeroblob(33 << 20) AS zeros")
    connection.close()
    content = without_root(path, "value")
    assert run(work_folder, content, ("list",))[0] == 0
    for command in (("show", "1"), ("export", "csv", "--out", "out")):
        code, output, written = run(work_folder, content, command)
        assert (code, written) == (3, b"")
        assert "is damaged" in output
