"""What is built for others to install: a wheel and an sdist that run far from this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.engine_cache import copy_to

ROOT = Path(__file__).parents[2]
PLAN = """\
railgauge: 1
name: installed
hosts:
  here: {address: 127.0.0.1, transport: local}
tests:
  - name: greet
    engine: command
    set: {command: echo hello}
    replications: 2
"""


def build(source: Path, kind: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_every_folder_it_needs_and_nothing_that_was_built(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "railgauge/cli/__init__.py",
        "railgauge/py.typed",
        "railgauge/_assets/engines/Makefile",
        "railgauge/_assets/engines/external/command.yaml",
        "railgauge/_assets/schema/engines.json",
        "railgauge/_assets/schema/migrations/env.py",
        "railgauge/_assets/plans/quickstart.yaml",
        "railgauge/_assets/reports/quickstart.yaml",
        "railgauge/_assets/templates/html/index.html.j2",
    } <= names
    assert not [name for name in names if "/build/" in name or name.endswith((".o", ".pyc"))]


def test_a_wheel_measures_far_from_the_checkout_with_the_engines_of_the_same_sources(
    wheel: Path, tmp_path: Path
) -> None:
    copy_to(tmp_path)
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    (tmp_path / "plan.yaml").write_text(PLAN)
    completed = subprocess.run(
        [sys.executable, "-m", "railgauge", "run", "plan.yaml"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    # A source more or less would have another name, and be built.
    assert len(list((tmp_path / ".cache/railgauge/engines").iterdir())) == 1
    assert "2 measured" in completed.stdout
    where = subprocess.run(
        [sys.executable, "-c", "import railgauge; print(railgauge.__file__)"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )
    assert where.stdout.startswith(str(site))


def test_the_wheel_made_from_the_sdist_is_the_same(wheel: Path, tmp_path: Path) -> None:
    sdist = build(ROOT, "sdist", tmp_path / "sdist")
    subprocess.run(["tar", "-xf", str(sdist), "-C", str(tmp_path)], check=True)
    again = build(tmp_path / sdist.name.removesuffix(".tar.gz"), "wheel", tmp_path / "again")
    before, after = zipfile.ZipFile(wheel), zipfile.ZipFile(again)
    assert before.namelist() == after.namelist()
    for name in before.namelist():
        if not name.endswith("RECORD"):
            assert before.read(name) == after.read(name), name
