"""What the tests of the store share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from railgauge.store import Store


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    """Open a new database of each kind."""
    with Store.open(where) as opened:
        yield opened
