"""What the engines of a run were compared with: a table of checks for each machine of its hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from railgauge.base.certification import DatedCheck, last_checks, pair_standings
from railgauge.base.characters import visible
from railgauge.base.number import in_best_unit, plain_number
from railgauge.report.pages.contents import Details

if TYPE_CHECKING:
    from railgauge.base.certificate import Certificate, CertificateCheck
    from railgauge.store.records import StoredRun

_COLUMNS = ("Engine", "Value", "Truth", "Error", "U (95 %)", "Limit", "Conclusion", "Made on")
_NO_VALUE = "–"


def certificate_tables(run: StoredRun, certificates: Sequence[Certificate]) -> tuple[Details, ...]:
    """Return the last result of each check of a run's engines, a table for hosts of one boot.

    Then one for each pair of them that was measured and has a certificate of its own.
    """
    engines = {planned.case.engine for planned in run.cases}
    hosts: dict[str, list[str]] = {}
    for host, facts in run.facts.items():
        hosts.setdefault(facts.get("boot_id", ""), []).append(host)
    tables = []
    for boot, names in hosts.items():
        checks = last_checks(certificates, run.new.engines_hash, boot).values()
        rows = tuple(_row(dated) for dated in checks if dated.check.engine in engines)
        if rows:
            title = f"Engines checked against truths on {visible(', '.join(names))}"
            tables.append(Details(title, _COLUMNS, rows))
    measured = {(planned.case.client, planned.case.server) for planned in run.cases}
    for pair in pair_standings(certificates, run.new.engines_hash, run.facts):
        if pair.ends in measured:
            title = f"Engines checked against the interfaces from {pair.host} to {pair.peer}"
            rows = tuple(_row(dated) for dated in pair.of(engines).checks.values())
            tables.append(Details(visible(title), _COLUMNS, rows))
    return tuple(tables)


def _row(dated: DatedCheck) -> tuple[str, tuple[str, ...]]:
    check = dated.check
    texts = (
        check.engine,
        _quantity(check, check.value),
        _quantity(check, check.truth),
        _share(check, check.error),
        _share(check, check.uncertainty),
        _share(check, check.limit),
        f"{check.conclusion}: {check.explanation}" if check.explanation else check.conclusion,
        dated.made_at[:10],
    )
    return visible(check.name), tuple(map(visible, texts))


def _quantity(check: CertificateCheck, number: float | None) -> str:
    if number is None:
        return _NO_VALUE
    return in_best_unit(number, check.unit) if check.unit else plain_number(number, 6)


def _share(check: CertificateCheck, number: float | None) -> str:
    if number is None:
        return _NO_VALUE
    return f"{100 * number:.3f}\N{NO-BREAK SPACE}%" if check.relative else plain_number(number)
