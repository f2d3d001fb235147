"""Which engines are certified on the hosts, and what lacks of what a plan requires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from railgauge.base.certificate import Certificate
from railgauge.base.certification import (
    certification_notes,
    certification_text,
    engine_standings,
)
from railgauge.lab.doctor.diagnosis import Diagnosis, HostFindings
from railgauge.lab.doctor.needs import Needs


def with_certificates(
    diagnosis: Diagnosis, needs: Needs, certificates: Sequence[Certificate], engines_hash: str
) -> Diagnosis:
    """Return the diagnosis with what certificates say of each host that was reached.

    That is a note; where an engine lacks a certificate that a plan requires, it is a problem.
    """
    facts = {name: host.facts for name, host in diagnosis.hosts.items() if host.facts}
    hosts = {
        name: _judged(host, needs, certificates, engines_hash)
        for name, host in diagnosis.hosts.items()
    }
    notes = certification_notes(certificates, engines_hash, facts)
    return replace(diagnosis, hosts=hosts, notes=[*diagnosis.notes, *notes])


def _judged(
    findings: HostFindings, needs: Needs, certificates: Sequence[Certificate], engines_hash: str
) -> HostFindings:
    facts = findings.facts
    standings = engine_standings(certificates, engines_hash, [facts.get("boot_id", "")])
    lacking = [
        name for name in needs.certified if name not in standings or not standings[name].whole
    ]
    if not facts or not lacking:
        return findings
    text = certification_text(certificates, engines_hash, facts, lacking)
    sentence = (
        f"the plan requires a certificate of {', '.join(needs.certified)} ({text}): run `railgauge "
        "calibrate` on it, and bring that into this database (railgauge db copy)"
    )
    return replace(findings, problems=[*findings.problems, sentence])
