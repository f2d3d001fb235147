"""The campaign of disasters: that it notices what it looks for, and a quick one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from tests.chaos.campaign import KINDS, Finding
from tests.chaos.measuring import Measuring, Outcome, nothing_left
from tests.support import ROOT

FIRST = "number = 1 AND run_case_id = (SELECT min(run_case_id) FROM replication)"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measuring:
    measuring = Measuring(tmp_path_factory.mktemp("measured"), figures=2, pings=1)
    assert measuring.call("run", "plan.yaml").code == 0
    assert len(measuring.stored()) == measuring.planned == 8
    return measuring


@pytest.fixture
def copy(measured: Measuring, tmp_path: Path) -> Measuring:
    shutil.copytree(measured.folder, tmp_path, dirs_exist_ok=True)
    return Measuring(tmp_path, figures=2, pings=1)


def kinds(findings: Iterable[Finding]) -> set[str]:
    return {finding.kind for finding in findings}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (f"DELETE FROM replication WHERE {FIRST}", "lost"),
        (f"DELETE FROM value WHERE {FIRST}", "lost"),
        ("UPDATE value SET value = value + 1", "changed"),
        (
            f"UPDATE replication SET status = iif(status = 'ok', 'suspect', 'ok') WHERE {FIRST}",
            "changed",
        ),
        ("UPDATE value SET value = (SELECT max(value) FROM value)", "doubled"),
    ],
)
def test_it_notices_what_became_of_stored_replications(
    copy: Measuring, change: str, kind: str
) -> None:
    before = copy.stored()
    assert [*copy.compare(before)] == []
    with closing(sqlite3.connect(copy.folder / copy.database)) as database, database:
        database.execute("PRAGMA foreign_keys = OFF")
        assert database.execute(change).rowcount
    assert kind in kinds(copy.compare(before))


def test_it_notices_replications_beyond_the_plan(copy: Measuring) -> None:
    copy.figures = 1
    assert kinds(copy.compare({})) == {"doubled"}


@pytest.mark.parametrize(
    ("ended", "kind"),
    [
        (Outcome(None, ""), "late"),
        (Outcome(4, "internal error: a bug"), "internal error"),
        (Outcome(1, "Traceback (most recent call last):"), "internal error"),
    ],
)
def test_it_notices_commands_that_stand_still_or_break(
    copy: Measuring, ended: Outcome, kind: str
) -> None:
    assert kinds(copy.complete(ended)) == {kind}


def test_it_notices_an_exit_code_that_says_too_much(copy: Measuring) -> None:
    copy.figures = 3
    assert kinds(copy.complete(Outcome(0, ""), attempts=1)) == {"wrong result", "late"}


def test_it_notices_and_ends_a_process_that_is_left() -> None:
    findings: list[Finding] = []
    with nothing_left(findings, seconds=0.1):
        sleep = subprocess.Popen(["sleep", "60"])
    assert findings == [Finding("left behind", "['sleep']")]
    assert sleep.wait() == -9
    assert "left behind" in KINDS


@pytest.mark.long
def test_a_quick_campaign_finds_nothing(require: Callable[[object, str], None]) -> None:
    require(os.geteuid() == 0, "root, for namespaces and mounts")
    command = [sys.executable, "-m", "tests.chaos", "--quick", "--minutes", "10"]
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert completed.returncode == 0, completed.stdout + completed.stderr
