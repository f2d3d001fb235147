"""The fuzz targets build, and stand a few seconds each; `make fuzz` takes longer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
TARGETS = sorted(path.stem.removesuffix("_fuzz") for path in FOLDER.glob("*_fuzz.c"))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, require) -> Path:
    require(shutil.which("clang"), "clang")
    build = tmp_path_factory.mktemp("fuzz")
    done = subprocess.run(
        ["make", "-s", "-j2", "-C", FOLDER, f"BUILD={build}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return build


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_breaks_it_in_a_few_seconds(built: Path, target: str) -> None:
    done = subprocess.run(
        ["make", "-s", "-C", FOLDER, f"BUILD={built}", "FUZZ_SECONDS=3", f"run-{target}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list((built / "corpus" / target).iterdir()), "it found no input worth keeping"
