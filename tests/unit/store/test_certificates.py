"""Certificates of calibrations: stored and copied as they were made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.copy_samples import CERTIFICATE

from railgauge.store import Store
from railgauge.store.copy import copy

FIRST = CERTIFICATE
SECOND = replace(
    FIRST,
    uid="a2",
    made_at="2026-11-23T00:00:00.000000Z",
    checks=(),
    source_hash="cd",
    peer="n2",
    peer_kernel="6.2.0",
    peer_boot_id="b2",
    peer_clock_source="hpet",
    peer_load=1.5,
)


def test_certificates_come_back_as_they_were_by_the_time_they_were_made(store: Store) -> None:
    assert store.certificates() == []
    assert store.add_certificate(SECOND)
    assert store.add_certificate(FIRST)
    assert store.certificates() == [FIRST, SECOND]


def test_a_reason_is_stored_without_what_a_database_refuses(store: Store) -> None:
    odd = replace(FIRST.checks[1], reason="no \x1b[31m\0")
    store.add_certificate(replace(FIRST, checks=(odd,)))
    (stored,) = store.certificates()
    assert stored.checks[0].reason == "no \x1b[31m\ufffd"


def test_a_certificate_is_copied_once(store: Store, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "other.db")) as other:
        for certificate in (FIRST, SECOND):
            other.add_certificate(certificate)
        store.add_certificate(SECOND)
        assert copy(other, store).certificates == 1
        assert copy(other, store).certificates == 0
        assert store.certificates() == other.certificates()
