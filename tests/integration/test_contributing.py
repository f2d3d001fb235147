"""CONTRIBUTING.md's table of files: changes that touch those and no others work, all together."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support import ROOT
from tests.support import contributions as parts
from tests.support.contributions import CONTRIBUTIONS, PACKAGE, Contribution
from tests.support.engine_cache import deploy_here

from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.hosts.transport.local import LocalTransport, search_path

ROWS = parts.rows()
COPIED = (
    "docs",
    "engines",
    "plans",
    "reports",
    "runner",
    "schema",
    "templates",
    "tests/support",
    "Makefile",
)
PLAN = """\
railgauge: 1
name: contributed
hosts:
  here: {{address: 127.0.0.1, prefix: [{wrapper}]}}
  also: {{address: 127.0.0.1, prefix: [{wrapper}]}}
links: {{along: {{chain: [here, also]}}}}
tests:
  - name: stream
    engine: tcp
    set: {{mode: stream, count: 200, congestion: reno}}
    replications: 2
    system_log: off
"""
# A way to elsewhere that leads back here, and tells who went it.
WRAPPER = '#!/bin/sh\necho "$1" >>"$0.log"\nexec "$@"\n'
DEFINITION = """\
railgauge_report: 1
name: contributed
title: What was contributed
tables:
  - name: table
    title: Handshakes
    rows: [message]
    cells:
      - {metric: handshakes, statistic: top_decile, digits: 1}
      - {metric: handshakes, statistic: mean, digits: 1}
figures:
  - {name: steps, title: Handshakes, kind: staircase, y: {metric: handshakes}}
"""
# As many cases as are summed up together, not one by one; the first has 1 to 20, and so on.
MESSAGES = range(1, 9)
VALUES = "message,handshakes\n" + "".join(
    f"{message},{message * value}\n" for message in MESSAGES for value in range(1, 21)
)
REPORT = ("report", "--db", "imported.db", "--spec", "report.yaml", "--out", "report")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A copy of this checkout with all contributions in it, and a folder to work in."""

    root: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": search_path(),
            "PYTHONPATH": str(self.root / "runner"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )

    def railgauge(self, *arguments: str, status: int = 0) -> str:
        """Return what the copy's railgauge prints, which ends with `status`."""
        completed = self.python("-m", "railgauge", *arguments)
        assert completed.returncode == status, completed.stderr
        return completed.stdout

    @contextmanager
    def without(self, path: str) -> Iterator[None]:
        """Have one file as it is in this checkout."""
        changed = (self.root / path).read_bytes()
        try:
            shutil.copyfile(ROOT / path, self.root / path)
            yield
        finally:
            (self.root / path).write_bytes(changed)


def _copy(root: Path) -> None:
    for name in COPIED:
        if (ROOT / name).is_dir():
            # Compiled modules come along, with the times that they go by, if they are whole.
            ignored = shutil.ignore_patterns("build", "gallery", "*.pyc.*")
            shutil.copytree(ROOT / name, root / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy2(ROOT / name, root / name)
    for path in {path for change in CONTRIBUTIONS for path in change.files if "tests/" in path}:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, root / path)


def _copy_builds(root: Path) -> None:
    """Have make begin with what is built of the same sources: all objects are newer than those."""
    build = deploy_here() / "build"
    mpi = Path(deploy_mpi(LocalTransport("here"), str(build), None).program).parent
    for folder in (mpi, build):
        shutil.copytree(
            folder, root / "engines/build", copy_function=shutil.copy, dirs_exist_ok=True
        )


@pytest.fixture(scope="module")
def checkout(
    tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]
) -> Checkout:
    for program in ("mpicc", "gnuplot"):
        require(shutil.which(program, path=search_path()), program)
    root, folder = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("work")
    copy = Checkout(root, folder)
    _copy(root)
    _copy_builds(root)
    for change in CONTRIBUTIONS:
        change.write(root)
    # This Python has all that `make setup` would install.
    command = ["make", "-s", "-o", "setup", "schema", f"BIN={Path(sys.executable).parent}"]
    completed = subprocess.run(
        command, cwd=root, env=copy.environment, capture_output=True, text=True, timeout=600
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    (folder / "wrapper").write_text(WRAPPER)
    (folder / "wrapper").chmod(0o755)
    (folder / "plan.yaml").write_text(PLAN.format(wrapper=folder / "wrapper"))
    (folder / "report.yaml").write_text(DEFINITION)
    (folder / "values.csv").write_text(VALUES)
    return copy


@pytest.fixture(scope="module")
def run(checkout: Checkout) -> str:
    """What a run of the plan prints: it measures with the engines that make built."""
    code = "from railgauge.engine.deploy import bundle; print(bundle().digest)"
    digest = checkout.python("-c", code).stdout.strip()
    cache = checkout.folder / "cache/railgauge/engines" / f"{digest}-{platform.machine()}"
    shutil.copytree(checkout.root / "engines", cache, symlinks=True)
    sums = "find . -type f ! -name '*.[do]' -exec sha256sum {} + >../built && mv ../built ."
    subprocess.run(sums, shell=True, cwd=cache, check=True)
    text = checkout.railgauge("run", "plan.yaml")
    assert "2 measured" in text
    return text


@pytest.fixture(scope="module")
def imported(checkout: Checkout) -> Checkout:
    """With a database that has the values."""
    columns = ("--parameter", "message=message:B", "--metric", "handshakes", "--link-name", "a→b")
    source = ("values.csv", "--engine", "tcp", "--set", "mode=stream")
    checkout.railgauge("import", "csv", *source, *columns, "--db", "imported.db")
    return checkout


def adds(change: Contribution) -> str:
    return change.adds


def _existing(path: str) -> Path:
    """Return the part of a row's path that is there, whatever its NAME will be."""
    whole = [part for part in Path(path).parts if not re.search(r"[A-Z]{4}", part)]
    return ROOT.joinpath(*whole)


def test_the_files_and_folders_that_the_table_names_are_there() -> None:
    paths = [path for row in ROWS.values() for path in row.paths]
    assert len(paths) > 20
    assert [path for path in paths if not _existing(path).exists()] == []


@pytest.mark.parametrize("change", CONTRIBUTIONS, ids=adds)
def test_a_change_touches_exactly_the_files_that_its_row_names(change: Contribution) -> None:
    row = ROWS[change.adds]
    assert row.named(change.names) == {*change.files, *change.docs}
    assert row.schema == bool(change.generated)


def test_make_schema_changes_what_those_changes_are_about_and_no_more(checkout: Checkout) -> None:
    changed = {
        path.name
        for path in (checkout.root / "schema").iterdir()
        if path.is_file() and path.read_bytes() != (ROOT / "schema" / path.name).read_bytes()
    }
    assert changed == {name for change in CONTRIBUTIONS for name in change.generated}
    for change in CONTRIBUTIONS:
        for name in change.generated:
            assert change.word in (checkout.root / "schema" / name).read_text(encoding="utf-8")


def test_modules_and_assets_are_the_copys(checkout: Checkout) -> None:
    code = "from railgauge.base import assets; print(assets.__file__, assets.folder('schema'))"
    module, schema = checkout.python("-c", code).stdout.split()
    assert Path(module).is_relative_to(checkout.root)
    assert Path(schema) == checkout.root / "schema"


def test_a_metric_is_measured_and_stands_in_the_default_table(run: str) -> None:
    lines = run.splitlines()
    heading = next(line for line in lines if line.startswith("Link"))
    row = next(line for line in lines if line.startswith("here→also"))
    assert "Handshakes" in heading
    assert "1.00" in row.split()


def test_a_transport_starts_what_runs_on_a_plans_host(run: str, checkout: Checkout) -> None:
    programs = (checkout.folder / "wrapper.log").read_text().split()
    # Engines are started by the shell that it keeps there.
    assert {"rail-hold", "sh"} <= {Path(program).name for program in programs}


def test_a_fact_and_a_pattern_of_links_stand_with_the_run(run: str, checkout: Checkout) -> None:
    stored = json.loads(checkout.railgauge("show", "1", "--json"))
    assert [case["link"] for case in stored["cases"]] == ["here→also"]
    assert int(stored["facts"]["here"]["entropy_pool"]) > 0


def test_a_statistic_stands_in_a_table_and_a_kind_of_figure_is_drawn(imported: Checkout) -> None:
    imported.railgauge(*REPORT)
    text = (imported.folder / "report/contributed.txt").read_text()
    for message in MESSAGES:
        # The engine's table says that handshakes are counted: their mean is the arithmetic one.
        row = rf"^{message} .* {message * 18}\.0 .* {message * 10.5}$"
        assert re.search(row, text, re.MULTILINE), text
    assert "<svg" in (imported.folder / "report/steps.svg").read_text()


def test_a_command_is_listed_and_runs(checkout: Checkout) -> None:
    listed = checkout.railgauge("--help")
    assert re.search(r"^ *rooms +List the rooms", listed, re.MULTILINE)
    assert "hosts\nlab\n" in checkout.railgauge("rooms")


# What shows without much ado that a change works: a command, and what it then says. Of an engine's
# table and its values each is useless without the other, which the engine itself refuses.
STATISTICS = """
from typing import get_args
from numpy import arange
from railgauge.report.definition.statistic import Number, value_of
from railgauge.stats.summaries import summaries
print({name: value_of(summary, name) for summary in summaries([arange(20.0)] * 8)
       for name in get_args(Number)})
"""
FACTS = """
from railgauge.hosts.facts import gather
from railgauge.hosts.transport.local import LocalTransport
print(gather(LocalTransport("here")))
"""
PAIRS = """
from railgauge.plan.links import WrittenLink
from railgauge.plan.patterns import OF_HOSTS
written = WrittenLink.model_validate({"chain": ["a", "b", "c"]})
print(*OF_HOSTS["chain"](written.pattern("chain")).pairs)
"""
KINDS = "from railgauge.report.figures.kinds import KINDS; print(*KINDS)"
RAILGAUGE = ("-m", "railgauge")
DOCTOR = ((*RAILGAUGE, "doctor", "plan.yaml", "--links", "0"), "its programs are user ")
SHOWN_BY: Mapping[str, tuple[tuple[str, ...], str]] = {
    parts.FIGURE.adds: (("-c", KINDS), "staircase"),
    parts.STATISTIC.adds: (("-c", STATISTICS), "'top_decile': 17.0"),
    parts.FACT.adds: (("-c", FACTS), "'entropy_pool': "),
    parts.TRANSPORT.adds: DOCTOR,
    parts.CHECK.adds: DOCTOR,
    parts.PATTERN.adds: (("-c", PAIRS), "('a', 'b') ('b', 'c')"),
    parts.COMMAND.adds: ((*RAILGAUGE, "rooms"), "hosts\nlab\n"),
}


def _shows(checkout: Checkout, change: Contribution) -> bool:
    command, words = SHOWN_BY[change.adds]
    return words in checkout.python(*command).stdout


@pytest.mark.parametrize(
    "change", [parts.FIGURE, parts.STATISTIC, parts.FACT, parts.CHECK, parts.PATTERN], ids=adds
)
def test_with_all_files_of_its_row_a_change_works(checkout: Checkout, change: Contribution) -> None:
    assert _shows(checkout, change)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        pytest.param(change, path, id=path)
        for change in CONTRIBUTIONS
        for path in change.files
        if change.adds in SHOWN_BY and path.startswith(PACKAGE) and (ROOT / path).exists()
    ],
)
def test_without_a_file_that_its_row_names_it_does_not(
    checkout: Checkout, change: Contribution, path: str
) -> None:
    with checkout.without(path):
        assert not _shows(checkout, change)
