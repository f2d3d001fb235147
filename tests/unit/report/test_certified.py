"""A certificate is cited below tables of runs on the machines that it holds for, no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.copy_samples import CERTIFICATE
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, measured, planned

from railgauge.base.certificate import LEFT_OUT, Certificate, CertificateCheck
from railgauge.cli.tables import default_text
from railgauge.plan.catalogue import load_catalogue
from railgauge.store import Store

RIGHT = CertificateCheck("rate", "udp", "bit/s", 0.003, True, 1e9, 1e9, 0.0, 0.001)
ELSEWHERE = CertificateCheck("time", "tcp", "s", 0.01, True, reason="a busy machine")
DAY = "certified on 2026-11-22"


def certificate(host: str, **changes: object) -> Certificate:
    head = replace(
        CERTIFICATE,
        uid=f"{host} {sorted(changes.items())}",
        host=host,
        boot_id=f"boot of {host}",
        engines_hash=RUN.engines_hash,
        kernel="6.1.0",
        checks=(RIGHT, ELSEWHERE),
    )
    return replace(head, **changes)  # type: ignore[arg-type]


def text(tmp_path: Path, *certificates: Certificate) -> str:
    """Return the table of a run between gw1 and hh1, wrapped lines joined."""
    with Store.open(str(tmp_path / "r.db")) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        for host in ("gw1", "hh1"):
            store.add_facts(run, host, {"kernel": "6.1.0", "boot_id": f"boot of {host}"})
        for number in (1, 2, 3):
            store.add(run, "stream", case().key, measured(number), LAUNCH)
        for cert in certificates:
            store.add_certificate(cert)
        return " ".join(default_text(store, [run], load_catalogue()).split())


def test_an_engine_that_is_certified_on_all_hosts_is_told_with_the_oldest_day(
    tmp_path: Path,
) -> None:
    later = certificate("hh1", made_at="2026-11-23T00:00:00.000000Z")
    rendered = text(tmp_path, certificate("gw1"), later)
    assert f"Engine udp {DAY} (railgauge calibrate). Run 1 of plan sharcnet-udp" in rendered


def test_hosts_that_are_one_machine_need_one_certificate(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "r.db")) as store:
        run = store.begin_run(RUN, planned(case()), METRICS)
        for host in ("gw1", "hh1"):
            store.add_facts(run, host, {"kernel": "6.1.0", "boot_id": "boot of here"})
        store.add(run, "stream", case().key, measured(1), LAUNCH)
        store.add_certificate(certificate("here"))
        assert f"Engine udp {DAY}" in default_text(store, [run], load_catalogue())


@pytest.mark.parametrize(
    "other",
    [
        {"boot_id": "another boot"},
        {"engines_hash": "beef"},
        {"checks": (ELSEWHERE,)},
        {"checks": ()},
        # The last one counts, whatever was certified before.
        {"made_at": "2026-11-24T00:00:00.000000Z", "checks": (replace(RIGHT, error=0.01),)},
    ],
)
def test_a_certificate_of_anything_else_is_not_cited(
    tmp_path: Path, other: dict[str, object]
) -> None:
    certificates = [certificate("gw1"), certificate("hh1", **other)]
    if "made_at" in other:
        certificates.append(certificate("hh1"))
    assert "ertified" not in text(tmp_path, *certificates)


def test_without_certificates_nothing_is_said(tmp_path: Path) -> None:
    assert "ertified" not in text(tmp_path)


def test_an_engine_certified_in_part_is_told_with_its_checks(tmp_path: Path) -> None:
    left_out = replace(RIGHT, name="loss", error=None, uncertainty=None, reason=LEFT_OUT)
    short = {"checks": (RIGHT, left_out)}
    rendered = text(tmp_path, certificate("gw1", **short), certificate("hh1", **short))
    assert f"Of engine udp 1 of 2 checks {DAY}: rate (railgauge calibrate)." in rendered


def test_a_short_certificate_takes_nothing_from_the_one_before(tmp_path: Path) -> None:
    left_out = replace(RIGHT, error=None, uncertainty=None, reason=LEFT_OUT)
    later = {"made_at": "2026-11-24T00:00:00.000000Z"}
    short = certificate("hh1", **later, checks=(left_out,))
    rendered = text(tmp_path, certificate("gw1"), certificate("hh1"), short)
    assert f"Engine udp {DAY} (railgauge calibrate)." in rendered


def test_an_engine_that_is_wrong_is_told_wherever_it_measured(tmp_path: Path) -> None:
    wrong = certificate("hh1", checks=(replace(RIGHT, error=0.01),))
    rendered = text(tmp_path, certificate("gw1"), wrong)
    assert "Engine udp is wrong by its truths: rate (railgauge calibrate)." in rendered


def test_a_certificate_of_a_pair_is_cited_for_its_direction_and_these_boots(tmp_path: Path) -> None:
    pair = {"peer": "hh1", "peer_boot_id": "boot of hh1", "checks": (RIGHT,)}
    rendered = text(tmp_path, certificate("gw1", **pair))
    assert f"From gw1 to hh1 rate {DAY} (railgauge calibrate HOSTS)." in rendered
    # It says nothing of what a machine of its own is certified for.
    assert "Engine udp" not in rendered


@pytest.mark.parametrize(
    "other",
    [
        {"peer_boot_id": "another boot"},
        {"boot_id": "another boot"},
        {"engines_hash": "beef"},
        {"host": "hh1", "peer": "gw1", "boot_id": "boot of hh1", "peer_boot_id": "boot of gw1"},
        {"checks": (replace(RIGHT, engine="tcp"),)},
    ],
)
def test_a_certificate_of_another_pair_is_not_cited(
    tmp_path: Path, other: dict[str, object]
) -> None:
    pair = {"peer": "hh1", "peer_boot_id": "boot of hh1", "checks": (RIGHT,)}
    assert "calibrate HOSTS" not in text(tmp_path, replace(certificate("gw1"), **(pair | other)))


def test_a_pair_that_is_wrong_is_told(tmp_path: Path) -> None:
    pair = {"peer": "hh1", "peer_boot_id": "boot of hh1", "checks": (replace(RIGHT, error=0.03),)}
    rendered = text(tmp_path, certificate("gw1", **pair))
    assert "From gw1 to hh1 rate wrong by the interfaces' counters (railgauge" in rendered
