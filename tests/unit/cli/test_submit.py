"""`railgauge submit`: what the job is told."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.support.store_samples import METRICS, RUN, case, planned

from railgauge.base.errors import InputError
from railgauge.cli.submitting import submit
from railgauge.run.job import Request
from railgauge.run.submission import Submission
from railgauge.store import Store

PLAN = """\
railgauge: 1
name: fabric
hosts: {slurm: all}
links: {fabric: all-pairs}
tests:
  - {name: stream, engine: udp, set: {mode: stream, duration: 1s}}
"""


def test_the_job_is_told_all_that_was_asked(tmp_path: Path) -> None:
    plan, hosts = tmp_path / "plan.yaml", tmp_path / "hosts.yaml"
    plan.write_text(PLAN)
    hosts.write_text("hosts: {slurm: all}\n")
    arguments = [
        *(str(plan), f"--hosts={hosts}", f"--db={tmp_path}/a.db", f"--out={tmp_path}/out"),
        *("--nodes=4", "--time=02:00:00", "--partition=main", "--account=physics"),
        *("--sbatch-option=--qos=high", "--sbatch-option=--comment=two words"),
        *("--margin=90s", "--wait=30min", "--keep-going", "--allow-large", "--label=site=a b"),
    ]
    result = CliRunner().invoke(submit, [*arguments, "--dry-run"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    words = shlex.split(result.output.splitlines()[-1])
    assert words[:6] == ["exec", sys.executable, "-m", "railgauge", "submit", "--inside"]
    expected, job_options = _parsed(arguments), _parsed(words[5:])
    assert job_options == {**expected, "inside": True}
    # Those that would exclude some of these, or say what the command is for.
    usual = _parsed([])
    silent = {name for name, value in expected.items() if value == usual[name]}
    assert silent == {"inside", "dry_run", "nodelist", "run"}


def test_no_job_is_submitted_to_go_on_with_a_run_that_was_imported(tmp_path: Path) -> None:
    where = str(tmp_path / "a.db")
    with Store.open(where) as store:
        imported = replace(RUN, origin="imported", plan_text="", files={})
        run = store.begin_run(imported, planned(case()), METRICS)
    with pytest.raises(InputError, match="imported: there is nothing to go on with"):
        submit.main([f"--resume={run}", "--db", where, "--dry-run"], standalone_mode=False)


def test_a_wrong_database_is_said_before_a_job_waits_for_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # without sbatch
    plan, database = tmp_path / "plan.yaml", tmp_path / "a.db"
    plan.write_text(PLAN)
    database.write_text("no database")
    with pytest.raises(InputError, match="is not a SQLite database"):
        submit.main([str(plan), "--nodes=2", f"--db={database}"], standalone_mode=False)
    assert sorted(tmp_path.iterdir()) == [database, plan]


def test_a_link_in_place_of_the_script_costs_nobody_the_file_it_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, out, mine = tmp_path / "bin", tmp_path / "out", tmp_path / "thesis.tex"
    for folder in (programs, out):
        folder.mkdir()
    sbatch = programs / "sbatch"
    sbatch.write_text("#!/bin/sh\necho 7\n")
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    mine.write_text("years of work")
    script = out / "fabric.slurm.sh"
    script.symlink_to(mine)
    options = ["--nodes=2", f"--db={tmp_path}/a.db", f"--out={out}"]
    result = CliRunner().invoke(submit, [str(plan), *options], catch_exceptions=False)
    assert result.output == f"submitted job 7: {script}\n"
    assert mine.read_text() == "years of work"
    assert script.read_text().startswith("#!/bin/sh\n#SBATCH ")


@pytest.mark.parametrize("option", ["--label=kernel=6.12", "--hosts=hosts.yaml"])
def test_what_a_run_began_with_cannot_be_changed_when_it_goes_on(
    tmp_path: Path, option: str
) -> None:
    where = str(tmp_path / "a.db")
    with Store.open(where) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
    with pytest.raises(click.UsageError, match=f"{option.partition('=')[0]} is not for --resume"):
        submit.main([f"--resume={run}", option, "--db", where, "--dry-run"], standalone_mode=False)


def test_the_job_that_goes_on_gets_neither_labels_nor_hosts(tmp_path: Path) -> None:
    """As the settings may name hosts, and the first of a run's jobs had labels."""
    request = Request(where="a.db", run=3, hosts=tmp_path / "hosts.yaml", labels={"kernel": "6.12"})
    words = Submission(request, tmp_path, None, None, None, None, None, ())._command()
    assert "--resume=3" in words
    assert not [word for word in words if word.startswith(("--label", "--hosts"))]


def _parsed(arguments: list[str]) -> dict[str, object]:
    context: click.Context = submit.make_context("submit", arguments)
    return context.params
