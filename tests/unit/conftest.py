"""What the unit tests share: databases of both kinds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.postgres_lab import make_database, postgres_folder, postgres_server

from railgauge.store import Store

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres(require: Callable[[object, str], None]) -> Iterator[Path]:
    """Give the socket's folder of a PostgreSQL server that runs for this session."""
    binaries = postgres_folder()
    require(binaries, "PostgreSQL (initdb and postgres)")
    assert binaries is not None
    with postgres_server(binaries) as folder:
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
