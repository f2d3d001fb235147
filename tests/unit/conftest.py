"""What the unit tests share: databases of both kinds, the engines' descriptions, gnuplot."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.engine_cache import session_folder
from tests.support.postgres_lab import make_database, postgres_folder, postgres_server

from railgauge.base.errors import EnvironmentFailedError
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.store import Store

_numbers = itertools.count()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Name a file for a database, which isn't there yet."""
    return tmp_path / "railgauge.db"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Open a new database, a file."""
    with Store.open(str(tmp_path / "railgauge.db")) as opened:
        yield opened


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """Give the engines that ship."""
    return load_catalogue()


@pytest.fixture
def gnuplot(require: Callable[[object, str], None]) -> None:
    """Skip the test where there is no gnuplot that can be used."""
    try:
        available = bool(find_gnuplot())
    except EnvironmentFailedError:
        available = False
    require(available, "gnuplot")


@pytest.fixture
def latex(require: Callable[[object, str], None]) -> None:
    """Skip the test where there is no LaTeX, or nothing that reads its pages."""
    for program in ("pdflatex", "pdftotext"):
        require(shutil.which(program), program)


@pytest.fixture(scope="session")
def postgres_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name the folder with the data of an empty PostgreSQL server, which workers share."""
    return session_folder(tmp_path_factory) / "postgres"


@pytest.fixture(scope="session")
def postgres(require: Callable[[object, str], None], postgres_data: Path) -> Iterator[Path]:
    """Give the socket's folder of a PostgreSQL server that runs for this session."""
    binaries = postgres_folder()
    require(binaries, "PostgreSQL (initdb and postgres)")
    assert binaries is not None
    with postgres_server(binaries, postgres_data) as folder:
        yield folder


@pytest.fixture(scope="session")
def newest(postgres: Path) -> str:
    """Name a PostgreSQL database with the newest schema and nothing in it."""
    Store.open(make_database(postgres, "newest")).close()
    return "newest"


@pytest.fixture(params=["sqlite", "postgresql"])
def without_schema(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name a database in which nothing is: a file's path, then a PostgreSQL URL."""
    if request.param == "sqlite":
        return str(tmp_path / "railgauge.db")
    return make_database(request.getfixturevalue("postgres"), f"test_{next(_numbers)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name a new database as above; the one on a server has the schema, which takes 0.1 s."""
    if request.param == "sqlite":
        return str(tmp_path / "railgauge.db")
    server, template = map(request.getfixturevalue, ("postgres", "newest"))
    return make_database(server, f"test_{next(_numbers)}", template)
