"""A run's page shows what its engines were held against, and is made again when that changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.copy_samples import CERTIFICATE
from tests.support.site_samples import build_pages
from tests.support.verdict_samples import add_run, noisy

from railgauge.base.certificate import LEFT_OUT, Certificate, CertificateCheck
from railgauge.store import Store

RATE = CertificateCheck("rate of <udp>", "udp", "bit/s", 0.003, True, 1e9, 1e9, 0.0005, 0.001)
LOSS = CertificateCheck("loss", "udp", "", 0.0, False, 206.0, 206.0, 0.0, 0.0)
FACTS = {"gw1": {"boot_id": "b1", "hostname": "gw1"}, "hh1": {"boot_id": "b1", "hostname": "hh1"}}


def add(database: Path, day: int, *checks: CertificateCheck, boot: str = "b1") -> None:
    with Store.open(str(database)) as store:
        certificate: Certificate = replace(
            CERTIFICATE,
            uid=f"{day}",
            made_at=f"2026-11-{day}T00:00:00.000000Z",
            boot_id=boot,
            engines_hash=store.run(1).new.engines_hash,
            checks=checks,
        )
        store.add_certificate(certificate)


def test_a_new_certificate_changes_the_pages_of_its_boots_runs_alone(tmp_path: Path) -> None:
    database, out = tmp_path / "n.db", tmp_path / "site"
    add_run(database, {1: noisy(1e9, seed=1)}, facts=FACTS)
    add_run(database, {1: noisy(1e9, seed=2)}, facts={"gw1": {"boot_id": "b2"}})
    assert "runs/1.html" in build_pages(database, out)
    page = out / "runs/1.html"
    assert "Certificates" not in page.read_text()
    add(database, 20, RATE, replace(LOSS, error=None, uncertainty=None, reason=LEFT_OUT))
    assert build_pages(database, out) == {"runs/1.html", "index.html"}
    text = page.read_text()
    day = '<span class="date">2026-11-20</span>'
    assert f"Of engine udp 1 of 2 checks certified on {day}: rate of &lt;udp&gt;" in text
    assert "Engines checked against truths on gw1, hh1" in text
    assert "left out: only some of the checks were asked for" in text
    add(database, 21, RATE, LOSS)
    assert build_pages(database, out) == {"runs/1.html", "index.html"}
    assert f"Engine udp certified on {day.replace('20<', '21<')}" in page.read_text()
    # Of another machine: no page has to do with it.
    add(database, 22, RATE, boot="b9")
    assert build_pages(database, out) == set()
