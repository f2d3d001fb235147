"""Settings in files: which goes before which, and every mistake with its place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import ROOT, command_line

from railgauge.cli.gating import gate
from railgauge.cli.planning import check
from railgauge.cli.submitting import submit
from railgauge.store import Store


def listed(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `railgauge list`, which names the database that isn't there."""
    return command_line.railgauge(
        "list",
        *options,
        cwd=folder,
        env={**os.environ, "XDG_CONFIG_HOME": str(folder.parent / "config"), **environment},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder two below that of a project's settings, beside a user's."""
    (tmp_path / "config" / "railgauge").mkdir(parents=True)
    (tmp_path / "config" / "railgauge" / "config.toml").write_text('db = "user.db"\n')
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_the_command_line_goes_before_the_environment_the_project_and_the_user(
    folder: Path,
) -> None:
    def database(*options: str, **environment: str) -> str:
        completed = listed(folder, *options, **environment)
        assert completed.returncode == 2
        return completed.stderr

    assert str(folder.parent / "config" / "railgauge" / "user.db") in database()
    (folder.parent / "railgauge.toml").write_text('db = "sub/project.db"\n')
    assert str(folder.parent / "sub" / "project.db") in database()
    (folder / "railgauge.toml").write_text('wait = "1min"\n')
    assert "user.db" in database()
    (folder / "railgauge.toml").write_text('db = "nearest.db"\n')
    assert "nearest.db" in database()
    assert "variable.db" in database(RAILGAUGE_DB="variable.db")
    assert "option.db" in database("--db", "option.db", RAILGAUGE_DB="variable.db")


def test_what_is_to_be_typed_next_names_the_database_unless_it_is_the_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def to_type(name: str) -> str:
        with Store.open(name) as store:
            return store.command("resume 3")

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAILGAUGE_DB", raising=False)
    assert to_type("railgauge.db") == "railgauge resume 3"
    assert to_type("my runs.db") == "railgauge resume 3 --db 'my runs.db'"
    monkeypatch.setenv("RAILGAUGE_DB", "my runs.db")
    assert to_type("railgauge.db") == "railgauge resume 3 --db railgauge.db"
    assert to_type("my runs.db") == "railgauge resume 3"


def test_the_usual_database_is_named_where_a_file_names_another(folder: Path) -> None:
    with Store.open(str(folder / "railgauge.db")):
        pass
    output = listed(folder, "--db", "railgauge.db").stdout
    assert output == f"{folder}/railgauge.db holds no run yet: railgauge run PLAN makes one\n"


def test_the_home_folder_is_the_same_to_all_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    # Shells leave the `~` of `--db=~/runs.db` alone, and systemd that of a variable.
    for command in (check, gate, submit):
        context = command.make_context("command", ["plan.yaml", "--db=~/runs.db"])
        assert context.params["where"] == str(tmp_path / "runs.db")
    monkeypatch.setenv("RAILGAUGE_DB", "~/runs.db")
    assert check.make_context("check", ["plan.yaml"]).params["where"] == str(tmp_path / "runs.db")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('db = "a"\ndbb = "b"\n', "railgauge.toml:2:1: unknown setting 'dbb': did you mean 'db'?"),
        ("\n[report]\nx = 1\n", "railgauge.toml:2:1: 'report' is no text"),
        ("db = 3\n", "railgauge.toml:1:1: 'db' is no text"),
        ("db = [\n1", "railgauge.toml:1:1: not TOML: Unclosed array (at end of document)"),
        ("wait = \n", "railgauge.toml:1:8: not TOML: Invalid value"),
        ('db = "a"\nwait = "5"\n', "railgauge.toml:2:1: 'wait': '5' has no unit: write a time"),
        (b"db = '\xff'\n", "railgauge.toml:1:1: these settings can't be read: not UTF-8 text"),
    ],
)
def test_a_mistake_has_its_place(folder: Path, text: str | bytes, says: str) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "railgauge.toml").write_bytes(content)
    completed = listed(folder)
    assert completed.returncode == 2
    assert says in completed.stderr


@pytest.mark.parametrize("name", ["RAILGAUGE_DB", "RAILGAUGE_WAIT", "RAILGAUGE_MARGIN"])
def test_the_settings_of_who_runs_the_tests_are_none_of_theirs(name: str) -> None:
    """They would store what they try in a database with real results."""
    script = "import os; from tests.support.own_machine import separate; separate();"
    environment = {**os.environ, name: "value"}
    environment.pop("PYTEST_XDIST_WORKER", None)  # which would be given a network, too
    argv = [sys.executable, "-c", f"{script} print({name!r} in os.environ)"]
    ended = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("False\n", "")
