"""`railgauge submit`: what the job is told."""

from __future__ import annotations

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


def _parsed(arguments: list[str]) -> dict[str, object]:
    context: click.Context = submit.make_context("submit", arguments)
    return context.params
