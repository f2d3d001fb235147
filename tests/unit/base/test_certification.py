"""What certificates come to: the last result of each check, on these boots, of these engines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.copy_samples import CERTIFICATE

from railgauge.base.certificate import LEFT_OUT, Certificate, CertificateCheck
from railgauge.base.certification import (
    certification_notes,
    certification_text,
    engine_standings,
    pair_standings,
)
from railgauge.base.own_source import source_hash

RATE = CertificateCheck("rate", "udp", "bit/s", 0.003, True, 1e9, 1e9, 0.0, 0.001)
LOSS = CertificateCheck("loss", "udp", "", 0.0, False, 7.0, 7.0, 0.0, 0.0)
TIME = CertificateCheck("time", "tcp", "s", 0.01, True, reason="a busy machine")
FACTS = {"hostname": "n1", "boot_id": "b1", "kernel": "Linux version 6.1.0 (gcc)"}


def certificate(day: int, *checks: CertificateCheck, **changes: str) -> Certificate:
    head = replace(
        CERTIFICATE,
        uid=f"{day} {changes}",
        made_at=f"2026-11-{day}T00:00:00.000000Z",
        host="n1",
        boot_id="b1",
        engines_hash="e1",
        kernel="6.1.0",
        checks=checks,
    )
    return replace(head, **changes)  # type: ignore[arg-type]


def left_out(check: CertificateCheck) -> CertificateCheck:
    return replace(check, error=None, uncertainty=None, reason=LEFT_OUT)


def test_the_last_result_of_each_check_counts_and_one_left_out_is_none() -> None:
    whole = certificate(10, RATE, LOSS, TIME)
    short = certificate(12, left_out(RATE), LOSS)
    standings = engine_standings([short, whole], "e1", ["b1"])
    assert standings["udp"].whole
    assert standings["udp"].since.startswith("2026-11-10")
    assert (standings["tcp"].certified, standings["tcp"].open) == ((), ("time",))
    wrong = certificate(13, left_out(RATE), replace(LOSS, error=1.0))
    later = engine_standings([whole, short, wrong], "e1", ["b1"])["udp"]
    assert (later.certified, later.wrong, later.whole) == (("rate",), ("loss",), False)


def test_a_busy_machine_does_not_make_a_fault_that_was_shown_go_away() -> None:
    wrong = certificate(10, replace(RATE, error=0.1), LOSS)
    busy = certificate(11, replace(RATE, error=0.1, reason="a busy machine"), LOSS)
    assert busy.checks[0].conclusion == "not certifiable here"
    assert engine_standings([wrong, busy], "e1", ["b1"])["udp"].wrong == ("rate",)
    repaired = certificate(12, RATE, LOSS)
    assert engine_standings([wrong, busy, repaired], "e1", ["b1"])["udp"].whole
    assert engine_standings([repaired, certificate(13, *busy.checks)], "e1", ["b1"])["udp"].open


def test_a_check_that_an_engine_no_longer_has_holds_nothing_up() -> None:
    old = replace(RATE, name="old", error=None, uncertainty=None, reason="a busy machine")
    standings = engine_standings(
        [certificate(10, old, RATE, TIME), certificate(11, RATE, LOSS)], "e1", ["b1"]
    )
    assert standings["udp"].certified == ("rate", "loss")
    assert standings["udp"].whole
    # What a certificate of another engine says stands beside it.
    assert standings["tcp"].open == ("time",)


def test_short_certificates_make_a_whole_one_together() -> None:
    parts = [certificate(10, RATE, left_out(LOSS)), certificate(11, left_out(RATE), LOSS)]
    assert not engine_standings(parts[:1], "e1", ["b1"])["udp"].whole
    assert engine_standings(parts, "e1", ["b1"])["udp"].whole


def test_all_machines_need_what_one_has() -> None:
    first, second = certificate(10, RATE, LOSS), certificate(11, RATE, boot_id="b2")
    alone = engine_standings([first], "e1", ["b1", "b2"])["udp"]
    assert (alone.certified, alone.open) == ((), ("rate", "loss"))
    standing = engine_standings([first, second], "e1", ["b1", "b2"])["udp"]
    assert (standing.certified, standing.open) == (("rate",), ("loss",))
    wrong = certificate(12, replace(RATE, error=0.1))
    assert engine_standings([wrong], "e1", ["b1", "b2"])["udp"].wrong == ("rate",)
    # A boot that nobody knows is none.
    assert engine_standings([certificate(10, RATE, boot_id="")], "e1", [""]) == {}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "udp certified on 2026-11-10"),
        ({"boot_id": "b0"}, "udp certified on 2026-11-10, until the machine was booted since"),
        (
            {"boot_id": "b0", "kernel": "5.9"},
            "udp certified on 2026-11-10, until the kernel changed (was 5.9) and the machine was "
            "booted since",
        ),
        ({"engines_hash": "e0"}, "until the engines changed (e0, now e1)"),
        ({"host": "n2", "boot_id": "b2"}, "no certificate"),
    ],
)
def test_what_ended_a_hosts_certificate_is_said(changes: dict[str, str], text: str) -> None:
    message = certification_text([certificate(10, RATE, LOSS, **changes)], "e1", FACTS)
    assert message.endswith(text)


def test_engines_asked_for_are_named_with_what_they_lack() -> None:
    certificates = [certificate(10, RATE, left_out(LOSS), TIME)]
    message = certification_text(certificates, "e1", FACTS, ["udp", "mpi"])
    assert message == "mpi not checked; udp only in part, 1 of 2 checks"


def test_checks_of_python_code_end_with_another_railgauge_and_those_of_engines_do_not() -> None:
    digits = replace(LOSS, name="report medians", engine="report")
    own = certificate(10, RATE, digits, source_hash=source_hash())
    original = certificate(10, RATE, digits, source_hash="s1")
    assert set(engine_standings([own], "e1", ["b1"])) == {"report", "udp"}
    assert set(engine_standings([original], "e1", ["b1"])) == {"udp"}
    # Certificates of before that was stored.
    assert set(engine_standings([certificate(10, RATE, digits)], "e1", ["b1"])) == {"udp"}
    assert certification_text([own], "e1", FACTS) == "report, udp certified on 2026-11-10"
    assert certification_text([original], "e1", FACTS) == (
        "udp certified on 2026-11-10; report certified on 2026-11-10, until railgauge itself "
        "changed (was 0.1.0)"
    )
    again = certificate(11, digits, source_hash=source_hash())
    assert engine_standings([original, again], "e1", ["b1"])["report"].whole


@pytest.mark.parametrize("head", [{}, {"peer": "n2", "peer_boot_id": "b2"}])
def test_what_ended_checks_of_python_code_is_said_though_others_were_made_since(
    head: dict[str, str],
) -> None:
    digits = replace(LOSS, name="report medians", engine="report")
    certificates = [certificate(10, digits, source_hash="s1")]
    certificates.append(certificate(11, RATE, source_hash=source_hash(), **head))
    message = certification_text(certificates, "e1", FACTS)
    assert message.endswith(
        "report certified on 2026-11-10, until railgauge itself changed (was 0.1.0)"
    )


def test_a_wrong_report_is_forgotten_with_the_railgauge_that_made_it() -> None:
    digits = replace(LOSS, name="report medians", engine="report")
    wrong = certificate(10, replace(digits, error=1.0), source_hash="s1")
    own = replace(wrong, source_hash=source_hash())
    assert engine_standings([own], "e1", ["b1"])["report"].wrong
    repaired = certificate(11, digits, source_hash=source_hash())
    assert engine_standings([wrong, repaired], "e1", ["b1"])["report"].whole


PAIR = {"host": "n1", "peer": "n2", "peer_boot_id": "b2"}
HOSTS = {"n1": FACTS, "n2": {**FACTS, "hostname": "n2", "boot_id": "b2"}}


def test_a_pairs_certificate_is_no_machines() -> None:
    certificates = [certificate(10, RATE, LOSS, **PAIR)]
    assert engine_standings(certificates, "e1", ["b1"]) == {}
    assert certification_text(certificates, "e1", FACTS) == "no certificate"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "rate, loss certified on 2026-11-10"),
        ({"engines_hash": "e0"}, "certificate of 2026-11-10 until the engines changed (e0, now"),
        ({"boot_id": "b0"}, "certificate of 2026-11-10 until n1 was booted since"),
        ({"peer_boot_id": "b0"}, "certificate of 2026-11-10 until n2 was booted since"),
    ],
)
def test_what_a_pairs_certificate_says_or_what_ended_it(changes: dict[str, str], text: str) -> None:
    certificates = [certificate(10, RATE, LOSS, **(PAIR | changes))]
    (*_, note) = certification_notes(certificates, "e1", HOSTS)
    assert note.startswith(f"from n1 to n2: {text}")
    assert len(pair_standings(certificates, "e1", HOSTS)) == (not changes)
