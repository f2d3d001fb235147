"""Which heavy libraries a command imports: each of them costs as much CPU as many a command.

One process a command, as what one of them has imported the next one has for nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import ROOT
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, measured, planned

from railgauge.report.site.site_builder import build_site
from railgauge.store import Store

# What no command needs that neither measures over ssh nor reads a switch, nor migrates a database,
# nor uses PostgreSQL.
ELSEWHERE = {
    "alembic",
    "fabric",
    "paramiko",
    "pysnmp",
    "rich",
    "scipy",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.orm",
}
HEAVY = ELSEWHERE | {"jinja2", "numpy", "pydantic", "sqlalchemy", "yaml"}
# command -> the heavy libraries that it may import
ALLOWED = {
    ("check", "plans/quickstart.yaml", "--db", "{folder}/absent.db"): {"pydantic", "yaml"},
    ("list", "--db", "{folder}/runs.db"): {"sqlalchemy"},
    ("export", "csv", "--db", "{folder}/runs.db", "--out", "{folder}/runs.csv"): {"sqlalchemy"},
    ("show", "1", "--db", "{folder}/runs.db"): HEAVY - ELSEWHERE,
    ("report", "1", "--db", "{folder}/runs.db", "--out", "{folder}/report"): HEAVY - ELSEWHERE,
    ("history", "stream", "--db", "{folder}/runs.db"): {"numpy", "sqlalchemy"},
    ("compare", "1", "8", "--db", "{folder}/runs.db"): {"numpy", "scipy", "sqlalchemy"},
    # Nothing changed since it was made.
    ("site", "--db", "{folder}/runs.db", "--out", "{folder}/site"): {"sqlalchemy"},
    ("site", "--db", "{folder}/runs.db", "--out", "{folder}/new"): (
        {"jinja2", "numpy", "scipy", "sqlalchemy"}
    ),
}
_SCRIPT = """
import json, sys
from railgauge.cli import cli
cli(json.loads(sys.argv[1]), standalone_mode=False)
print(json.dumps(list(sys.modules)), file=sys.stderr)
"""


def imported(script: str, *arguments: str) -> set[str]:
    """Return which of the heavy libraries a Python that ran the script has imported."""
    completed = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    return HEAVY & set(json.loads(completed.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a database, runs.db, that holds runs of one case, faster at the end.

    Beside it is its site.
    """
    path = tmp_path_factory.mktemp("imports")
    with Store.open(str(path / "runs.db"), create=True) as store:
        for level in (1e9, 1e9, 1e9, 1e9, 2e9, 2e9, 2e9, 2e9):
            run = store.begin_run(RUN, planned(case(), replications=10), METRICS)
            for number in range(1, 11):
                store.add(run, "stream", case().key, measured(number, level + run + number), LAUNCH)
            store.finish_run(run, "complete")
    build_site(str(path / "runs.db"), path / "site")
    return path


@pytest.mark.parametrize("command", ALLOWED, ids=lambda command: command[0])
def test_a_command_imports_only_the_heavy_libraries_that_it_needs(
    command: tuple[str, ...], folder: Path
) -> None:
    arguments = [word.format(folder=folder) for word in command]
    assert imported(_SCRIPT, json.dumps(arguments)) <= ALLOWED[command]


def test_no_commands_own_module_imports_what_only_some_of_its_uses_need() -> None:
    script = """
import click, json, sys
from railgauge.cli import cli
for name in cli.list_commands(click.Context(cli)):
    cli.get_command(click.Context(cli), name)
print(json.dumps(list(sys.modules)), file=sys.stderr)
"""
    assert not imported(script) & (ELSEWHERE | {"jinja2"})


def test_a_run_has_numpy_before_it_measures_anything() -> None:
    # Its import takes a CPU for a while, and that CPU may be one that is measured.
    script = "import json, sys; import railgauge.cli.running; " + (
        "print(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    assert "numpy" in imported(script)
