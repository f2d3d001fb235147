"""Building the engines as a node does it: the folder alone, make and a compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.support.engine_cache import deploy_here

ENGINES = Path(__file__).resolve().parents[2] / "engines"
CLANG = ("CC=clang", "CFLAGS=-O1")
PROGRAMS = (
    "cpu",
    "disk",
    "exec",
    "hold",
    "mem",
    "reference",
    "soak",
    "tcp",
    "udp",
    "watch",
    "wire",
)


def _make(*arguments: object, path: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shutil.which("make") or "make", *(str(a) for a in arguments)],
        capture_output=True,
        text=True,
        env=None if path is None else {"PATH": path},
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory, require) -> Path:
    """A copy of the folder, built by clang: -O1, as its warnings come before it optimises."""
    require(shutil.which("clang"), "clang")
    folder = tmp_path_factory.mktemp("build") / "copy"
    shutil.copytree(ENGINES, folder, ignore=shutil.ignore_patterns("build"))
    completed = _make("-j4", "-C", folder, *CLANG)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return folder


def _programs(build: Path) -> list[str]:
    return sorted(path.name for path in build.glob("rail-*"))


def test_a_copy_of_the_folder_builds_by_itself(copy: Path) -> None:
    mpi = ["rail-mpi"] if shutil.which("mpicc") else []
    # The cache of a host has a copy, too, built by its own compiler: without rail-mpi.
    plain = _programs(deploy_here() / "build")
    assert plain == [f"rail-{name}" for name in PROGRAMS]
    assert _programs(copy / "build") == sorted([*plain, *mpi])


def test_programs_are_hardened_as_far_as_the_compiler_can(copy: Path, require) -> None:
    """By gcc as by clang; a compiler that takes none of it, or does not optimise, still builds."""
    require(shutil.which("readelf"), "readelf (binutils)")
    for folder in (copy, deploy_here()):
        completed = subprocess.run(
            ["readelf", "-hldW", "--dyn-syms", folder / "build/rail-udp"],
            capture_output=True,
            text=True,
            check=True,
        )
        words = ("DYN", "GNU_RELRO", "BIND_NOW", "__stack_chk_fail", "__snprintf_chk")
        assert [word for word in words if word not in completed.stdout] == []
    plain = _make("-n", "-C", ENGINES, "BUILD=/nonexistent", "CC=false", "compiler")
    assert "FORTIFY" not in plain.stdout


def test_what_needs_mpi_is_left_out_where_there_is_none(tmp_path: Path) -> None:
    completed = _make("-n", "-C", ENGINES, f"BUILD={tmp_path}", f"MPI={tmp_path}")
    assert completed.returncode == 0
    assert "rail-mpi is left out" in completed.stdout
    assert "rail-tcp" in completed.stdout
    mpi_make = _make("-C", ENGINES, f"BUILD={tmp_path}", f"MPI={tmp_path}", "mpi")
    assert mpi_make.returncode != 0
    assert f"no mpicc in {tmp_path}/bin" in mpi_make.stderr


def test_nothing_is_built_twice(copy: Path) -> None:
    completed = _make("-C", copy, *CLANG)
    assert completed.returncode == 0
    assert " -o " not in completed.stdout


def test_a_changed_header_rebuilds_what_includes_it(copy: Path) -> None:
    (copy / "lib/histogram.h").touch()
    completed = _make("-C", copy, *CLANG, "--just-print")
    assert "lib/histogram.o" in completed.stdout
    assert "lib/json.o lib/json.c" not in completed.stdout


def test_no_compiler_is_one_clear_sentence(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "mkdir"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    completed = _make("-C", ENGINES, f"BUILD={tmp_path / 'build'}", path=str(tools))
    assert completed.returncode != 0
    assert "no C compiler: install gcc or clang, or set CC" in completed.stderr


def test_a_compiler_that_is_not_there_is_named(tmp_path: Path) -> None:
    completed = _make("-C", ENGINES, f"BUILD={tmp_path / 'build'}", "CC=no-such-cc")
    assert "no C compiler 'no-such-cc'" in completed.stderr
