"""What the doctor says of certificates: a note, and a problem where a plan requires them."""

from __future__ import annotations

from dataclasses import replace

from tests.support.copy_samples import CERTIFICATE

from railgauge.base.certificate import CertificateCheck
from railgauge.lab.doctor.diagnosis import Diagnosis, HostFindings
from railgauge.lab.doctor.host_certificates import with_certificates
from railgauge.lab.doctor.needs import Needs

RATE = CertificateCheck("rate", "udp", "bit/s", 0.003, True, 1e9, 1e9, 0.0, 0.001)
HELD = replace(
    CERTIFICATE, host="n1", boot_id="b1", kernel="6.1.0", engines_hash="e", checks=(RATE,)
)
DIAGNOSIS = Diagnosis(
    {
        name: HostFindings(True, {"hostname": name, "boot_id": boot, "kernel": "6.1.0"})
        for name, boot in (("n1", "b1"), ("n2", "b2"))
    }
    | {"n3": HostFindings(False, problems=["it is down"])}
)


def test_certified_engines_and_hosts_without_are_notes() -> None:
    judged = with_certificates(DIAGNOSIS, Needs(), [HELD], "e")
    day = HELD.made_at[:10]
    assert judged.notes == [
        f"n1: udp certified on {day} (railgauge calibrate)",
        "n2: no certificate (railgauge calibrate)",
    ]
    assert judged.sentences() == ["n3: it is down"]
    assert with_certificates(DIAGNOSIS, Needs(), [], "e").notes == []


def test_what_a_plan_requires_is_a_problem_where_it_lacks() -> None:
    judged = with_certificates(DIAGNOSIS, Needs(certified=("udp",)), [HELD], "e")
    (lacking, down) = judged.sentences()
    assert lacking.startswith("n2: the plan requires a certificate of udp (no certificate): run ")
    assert down == "n3: it is down"
    rebooted = replace(
        DIAGNOSIS.hosts["n1"], facts={**DIAGNOSIS.hosts["n1"].facts, "boot_id": "b9"}
    )
    judged = with_certificates(Diagnosis({"n1": rebooted}), Needs(certified=("udp",)), [HELD], "e")
    assert "until the machine was booted since" in judged.sentences()[0]
