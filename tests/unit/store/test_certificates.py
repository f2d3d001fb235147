"""Certificates of calibrations: stored and copied as they were made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from railgauge.base.certificate import Certificate, Check
from railgauge.store import Store
from railgauge.store.copy import copy

RATE = Check("rate", "udp", "bit/s", 0.003, True, 1e9 / 3, 1e9, -2 / 3, 0.001, "a busy machine")
NOTHING = Check("lost", "udp", "", 0.0, False, reason="no /dev/net/tun \x1b[31m\0")
FIRST = Certificate(
    uid="a1",
    made_at="2026-11-22T00:00:00.000000Z",
    version="0.1.0",
    engines_hash="89ab",
    host="n1",
    kernel="6.1.0",
    boot_id="b",
    clock_source="tsc",
    load=0.25,
    checks=(RATE, NOTHING),
)
SECOND = replace(FIRST, uid="a2", made_at="2026-11-23T00:00:00.000000Z", checks=())


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    with Store.open(where) as store:
        yield store


def test_certificates_come_back_as_they_were_by_the_time_they_were_made(store: Store) -> None:
    assert store.certificates() == []
    assert store.add_certificate(SECOND)
    assert store.add_certificate(FIRST)
    first, second = store.certificates()
    assert second == SECOND
    assert replace(first, checks=()) == replace(FIRST, checks=())
    assert first.checks[0] == RATE
    assert first.checks[1] == replace(NOTHING, reason="no /dev/net/tun \x1b[31m\ufffd")


def test_a_certificate_is_copied_once(store: Store, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "other.db")) as other:
        for certificate in (FIRST, SECOND):
            other.add_certificate(certificate)
        store.add_certificate(SECOND)
        assert copy(other, store).certificates == 1
        assert copy(other, store).certificates == 0
        assert store.certificates() == other.certificates()
