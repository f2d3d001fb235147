"""What certificates come to on given boots of machines: which engines are certified, since when.

A certificate holds for the engines' sources and for one boot of a machine, and so for one kernel;
what it says of railgauge's own code, only for that. One of a pair of hosts says nothing of either.
Of each check the last result counts; a calibration that left it out says nothing of it, nor does
one that couldn't certify it of a check that was wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from railgauge.base.certificate import (
    OF_OWN_CODE,
    Certificate,
    CertificateCheck,
    Conclusion,
)
from railgauge.base.own_source import source_hash


@dataclass(frozen=True, slots=True)
class DatedCheck:
    """The last result of a check, and when the certificate that has it was made."""

    check: CertificateCheck
    made_at: str


@dataclass(frozen=True, slots=True)
class EngineStanding:
    """What became of all the checks of an engine; `since` the oldest of the certified was made.

    `certified`, `wrong` and `open` are names of checks: `open` ones can't be certified here, or
    were left out. On several machines the worst of a check counts.
    """

    certified: tuple[str, ...]
    wrong: tuple[str, ...]
    open: tuple[str, ...]
    since: str

    @property
    def whole(self) -> bool:
        """Whether all checks of the engine are certified."""
        return bool(self.certified) and not self.wrong and not self.open

    @property
    def checks(self) -> int:
        """How many checks there are."""
        return len(self.certified) + len(self.wrong) + len(self.open)


def last_checks(
    certificates: Iterable[Certificate],
    engines_hash: str,
    boot_id: str,
) -> dict[str, DatedCheck]:
    """Return the last result of each check, by name, of these engines on this boot.

    Which checks an engine has, the last certificate of it says. Those of railgauge's own code have
    to be of the one that runs.
    """
    return latest_checks(
        _holding(certificate)
        for certificate in certificates
        if boot_id
        and not certificate.peer
        and (certificate.engines_hash, certificate.boot_id) == (engines_hash, boot_id)
    )


def _holding(certificate: Certificate) -> Certificate:
    """Return the certificate without what another railgauge's own code made of its checks."""
    if not any(check.engine in OF_OWN_CODE for check in certificate.checks):
        return certificate
    if certificate.source_hash == source_hash():
        return certificate
    checks = tuple(check for check in certificate.checks if check.engine not in OF_OWN_CODE)
    return replace(certificate, checks=checks)


def latest_checks(certificates: Iterable[Certificate]) -> dict[str, DatedCheck]:
    """Return the last result of each check, by name, of certificates that all hold."""
    checks: dict[str, DatedCheck] = {}
    for certificate in sorted(certificates, key=lambda certificate: certificate.made_at):
        engines = {check.engine for check in certificate.checks}
        before = checks
        checks = {
            name: dated for name, dated in before.items() if dated.check.engine not in engines
        }
        for check in certificate.checks:
            dated = DatedCheck(check, certificate.made_at)
            last = before.get(check.name, dated)
            checks[check.name] = last if _proves_nothing(check, last.check) else dated
    return checks


def _proves_nothing(check: CertificateCheck, last: CertificateCheck) -> bool:
    """Return whether `last` counts on: a fault that was shown isn't gone on a busy machine."""
    return check.conclusion == "left out" or (
        (last.conclusion, check.conclusion) == ("wrong", "not certifiable here")
    )


def engine_standings(
    certificates: Sequence[Certificate],
    engines_hash: str,
    boot_ids: Iterable[str],
) -> dict[str, EngineStanding]:
    """Return what certificates say, by engine, on these boots: certified is what all of them have.

    What is wrong on one is wrong, whatever the others have.
    """
    of_boots = [last_checks(certificates, engines_hash, boot) for boot in dict.fromkeys(boot_ids)]
    by_engine: dict[str, dict[str, list[DatedCheck]]] = {}
    for checks in of_boots:
        for name, dated in checks.items():
            by_engine.setdefault(dated.check.engine, {}).setdefault(name, []).append(dated)
    return {
        engine: _standing(checks, len(of_boots)) for engine, checks in sorted(by_engine.items())
    }


def _standing(checks: Mapping[str, Sequence[DatedCheck]], boots: int) -> EngineStanding:
    wrong = [name for name in checks if "wrong" in _conclusions(checks[name])]
    certified = [
        name
        for name, dated in checks.items()
        if len(dated) == boots and _conclusions(dated) == {"certified"}
    ]
    return EngineStanding(
        tuple(certified),
        tuple(wrong),
        tuple(name for name in checks if name not in (*certified, *wrong)),
        min((dated.made_at for name in certified for dated in checks[name]), default=""),
    )


def _conclusions(dated: Iterable[DatedCheck]) -> set[Conclusion]:
    return {entry.check.conclusion for entry in dated}


def ended_certification(
    certificates: Iterable[Certificate], engines_hash: str, facts: Mapping[str, str]
) -> str:
    """Return which certificate a host had, and what ended it; "" if it had none or has one now.

    `facts` are the host's: `hostname`, `boot_id` and `kernel`, a text with the kernel's release.
    """
    of_host = [
        certificate
        for certificate in certificates
        if certificate.host == facts.get("hostname")
        and not certificate.peer
        and certificate.certified()
    ]
    if not of_host:
        return ""
    last = max(of_host, key=lambda certificate: certificate.made_at)
    causes = []
    if last.engines_hash != engines_hash:
        causes.append(f"the engines changed ({last.engines_hash[:12]}, now {engines_hash[:12]})")
    if last.kernel not in facts.get("kernel", "").split():
        causes.append(f"the kernel changed (was {last.kernel})")
    if last.boot_id != facts.get("boot_id"):
        causes.append("the machine was booted since")
    if not causes:
        return ""
    engines = ", ".join(last.certified())
    return f"{engines} certified on {last.made_at[:10]}, until {' and '.join(causes)}"


def certification_text(
    certificates: Sequence[Certificate],
    engines_hash: str,
    facts: Mapping[str, str],
    engines: Collection[str] | None = None,
) -> str:
    """Return which of the `engines` are certified on a host with these `facts`; of None, all.

    `tcp, udp certified on 2026-11-23`; others are named with what is wrong, open or was never
    checked. Without any, what ended the certificate that the host had.
    """
    boot_id = facts.get("boot_id", "")
    standings = engine_standings(certificates, engines_hash, [boot_id])
    days: dict[str, list[str]] = {}
    lacking = []
    for engine in sorted(standings if engines is None else engines):
        standing = standings.get(engine)
        if standing is None:
            lacking.append(f"{engine} not checked")
        elif standing.whole:
            days.setdefault(standing.since[:10], []).append(engine)
        elif standing.wrong:
            lacking.append(f"{engine} is wrong: {', '.join(standing.wrong)}")
        else:
            counts = f"{len(standing.certified)} of {standing.checks}"
            lacking.append(f"{engine} only in part, {counts} checks")
    ended = ""
    if engines is None:
        ended = _ended_with_code(certificates, engines_hash, boot_id, standings)
    if not standings and not ended:
        return ended_certification(certificates, engines_hash, facts) or "no certificate"
    certified = [f"{', '.join(names)} certified on {day}" for day, names in sorted(days.items())]
    return "; ".join(filter(None, [*certified, *lacking, ended]))


def _ended_with_code(
    certificates: Iterable[Certificate],
    engines_hash: str,
    boot_id: str,
    standings: Collection[str],
) -> str:
    """Return what was certified of another railgauge's own code and isn't of this, "" if none."""
    of_code = [
        certificate
        for certificate in certificates
        if (certificate.engines_hash, certificate.boot_id) == (engines_hash, boot_id)
        and any(check.engine in OF_OWN_CODE for check in certificate.checks)
    ]
    if not boot_id or not of_code:
        return ""
    last = max(of_code, key=lambda certificate: certificate.made_at)
    ended = [name for name in last.certified() if name in OF_OWN_CODE and name not in standings]
    if not ended:
        return ""
    return (
        f"{', '.join(ended)} certified on {last.made_at[:10]}, until railgauge itself changed "
        f"(was {last.version})"
    )


@dataclass(frozen=True, slots=True)
class PairStanding:
    """What became of the checks of a pair of hosts: the last result of each, by name.

    `ended` says what ended the certificates that it had; then it has no checks.
    """

    host: str
    peer: str
    checks: Mapping[str, DatedCheck]
    ended: str = ""

    @property
    def ends(self) -> tuple[str, str]:
        """Both hosts' names."""
        return self.host, self.peer

    def of(self, engines: Collection[str]) -> PairStanding:
        """Return the same of the checks of these engines alone."""
        checks = {name: d for name, d in self.checks.items() if d.check.engine in engines}
        return replace(self, checks=checks)

    def names(self, conclusion: Conclusion) -> list[str]:
        """Return the names of the checks that came to this."""
        return [n for n, dated in self.checks.items() if dated.check.conclusion == conclusion]

    @property
    def since(self) -> str:
        """When the oldest of the certified ones was made, "" without any."""
        return min((self.checks[name].made_at for name in self.names("certified")), default="")

    @property
    def text(self) -> str:
        """What is certified from one to the other and what is wrong, or what ended it."""
        if self.ended:
            return self.ended
        parts = []
        if wrong := self.names("wrong"):
            parts.append(f"{', '.join(wrong)} wrong by the interfaces' counters")
        if certified := self.names("certified"):
            parts.append(f"{', '.join(certified)} certified on {self.since[:10]}")
        return "; ".join(parts)


def pair_standings(
    certificates: Iterable[Certificate],
    engines_hash: str,
    hosts: Mapping[str, Mapping[str, str]],
    *,
    with_ended: bool = False,
) -> list[PairStanding]:
    """Return what certificates say of pairs of these hosts, by name with their facts.

    One holds for these engines and this boot of both. Of pairs of which none does, nothing, or
    what ended the last one.
    """
    of_pairs: dict[tuple[str, str], list[Certificate]] = {}
    for certificate in certificates:
        if certificate.peer and {certificate.host, certificate.peer} <= hosts.keys():
            of_pairs.setdefault((certificate.host, certificate.peer), []).append(certificate)
    standings = []
    for (host, peer), of_pair in of_pairs.items():
        holding = [c for c in of_pair if not _pair_ended(c, engines_hash, hosts)]
        standing = PairStanding(host, peer, latest_checks(holding))
        if not holding and with_ended:
            last = max(of_pair, key=lambda certificate: certificate.made_at)
            causes = " and ".join(_pair_ended(last, engines_hash, hosts))
            standing = replace(standing, ended=f"certificate of {last.made_at[:10]} until {causes}")
        if standing.text:
            standings.append(standing)
    return standings


def _pair_ended(
    certificate: Certificate, engines_hash: str, hosts: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Return what ended the certificate of a pair; nothing if it holds."""
    causes = []
    if certificate.engines_hash != engines_hash:
        changed = f"{certificate.engines_hash[:12]}, now {engines_hash[:12]}"
        causes.append(f"the engines changed ({changed})")
    for name, boot_id in (
        (certificate.host, certificate.boot_id),
        (certificate.peer, certificate.peer_boot_id),
    ):
        if not boot_id or boot_id != hosts[name].get("boot_id"):
            causes.append(f"{name} was booted since")
    return causes


def certification_notes(
    certificates: Sequence[Certificate],
    engines_hash: str,
    hosts: Mapping[str, Mapping[str, str]],
    engines: Collection[str] | None = None,
) -> list[str]:
    """Return `certification_text` of each host, by name with its facts, those alike in one line.

    Then what there is of pairs of them. Nothing where there is no certificate at all.
    """
    if not certificates:
        return []
    names: dict[str, list[str]] = {}
    for host, facts in hosts.items():
        text = certification_text(certificates, engines_hash, facts, engines)
        names.setdefault(text, []).append(host)
    return [
        *(f"{', '.join(alike)}: {text} (railgauge calibrate)" for text, alike in names.items()),
        *(
            f"from {pair.host} to {pair.peer}: {pair.text} (railgauge calibrate HOSTS)"
            for pair in pair_standings(certificates, engines_hash, hosts, with_ended=True)
        ),
    ]
