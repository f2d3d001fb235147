"""The engines, built once and run as a user would, and a peer that speaks their protocol badly."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support import ROOT
from tests.support.engine_cache import COUNTED, SANITIZE, build_engines, deploy_here
from tests.support.engine_lab import Engines
from tests.support.mpi_library import PREFIXES, Mpi
from tests.support.wire import PATIENCE, Wire


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this session's engines are, with sanitizers if RAILGAUGE_SANITIZE names some."""
    return build_engines(tmp_path_factory)


@pytest.fixture
def engines(folder: Path) -> Iterator[Engines]:
    programs = Engines(folder)
    yield programs
    programs.stop()


@pytest.fixture
def shipped_engines() -> Iterator[Engines]:
    """The engines as a host has them, in any case: for what sanitizers or counters would change."""
    programs = Engines(deploy_here() / "build")
    yield programs
    programs.stop()


@pytest.fixture(scope="session")
def probe(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """Compile a C program of this folder against the engines' library; run it on some input."""
    flags = [f"-fsanitize={SANITIZE}"] if SANITIZE else ["--coverage"] if COUNTED else []
    return _make_probe(folder, tmp_path_factory.mktemp("probes"), flags)


@pytest.fixture(scope="session")
def shipped_probe(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """The same, against the library of the engines as a host has them."""
    return _make_probe(deploy_here() / "build", tmp_path_factory.mktemp("shipped_probes"), [])


def _make_probe(folder: Path, place: Path, flags: list[str]) -> Callable[[str, str], str]:
    built: dict[str, Path] = {}

    def run(name: str, text: str) -> str:
        if name not in built:
            built[name] = place / name
            source = Path(__file__).with_name(f"{name}.c")
            objects = sorted((folder / "lib").glob("*.o"))
            command = [
                os.environ.get("CC", "cc"),
                "-std=c11",
                "-D_GNU_SOURCE",
                *flags,
                "-I",
                ROOT / "engines/lib",
            ]
            tail = [source, *objects, "-lm", "-pthread", "-o", built[name]]
            subprocess.run([*command, *tail], check=True)
        completed = subprocess.run(
            [built[name]], input=text, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
        return completed.stdout

    return run


@pytest.fixture(scope="session")
def wire() -> type[Wire]:
    return Wire


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """A port that neither TCP nor UDP uses just now."""

    def find() -> int:
        for _ in range(50):
            with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
                tcp.bind(("127.0.0.1", 0))
                port: int = tcp.getsockname()[1]
                try:
                    udp.bind(("127.0.0.1", port))
                except OSError:
                    continue
                return port
        raise AssertionError("no free port in fifty tries")

    return find


@pytest.fixture(scope="session", params=PREFIXES or [""])
def mpi_build(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    require: Callable[[object, str], None],
) -> tuple[str, Path]:
    require(PREFIXES, "Open MPI (mpicc in PATH)")
    return request.param, build_engines(tmp_path_factory, request.param) / "rail-mpi"


@pytest.fixture
def mpi(engines: Engines, mpi_build: tuple[str, Path]) -> Mpi:
    return Mpi(engines, *mpi_build)
