"""Which engines were certified on the hosts of a run, and when: one sentence below a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.report.tables.axes import Placed
from railgauge.report.tables.notes import capitalised, listed

if TYPE_CHECKING:
    from railgauge.base.certificate import Certificate
    from railgauge.store.records import StoredRun


def certified_engines(run: StoredRun, certificates: Sequence[Certificate]) -> dict[str, str]:
    """Return the engines that are certified on all hosts of a run, each with the day, UTC.

    A certificate holds for the engines' sources and for one boot of a machine, and so one kernel.
    The last one of each counts, and the oldest day of these.
    """
    last = {
        certificate.boot_id: certificate
        for certificate in sorted(certificates, key=lambda certificate: certificate.made_at)
        if certificate.engines_hash == run.new.engines_hash and certificate.boot_id
    }
    boots = [facts.get("boot_id", "") for facts in run.facts.values()]
    of_hosts = [last[boot] for boot in boots if boot in last]
    if not of_hosts or len(of_hosts) < len(run.facts):
        return {}
    day = min(certificate.made_at for certificate in of_hosts)[:10]
    engines = set.intersection(*(set(certificate.certified()) for certificate in of_hosts))
    return dict.fromkeys(sorted(engines), day)


def certified_sentence(
    measurements: Iterable[Placed], certified: Mapping[int, Mapping[str, str]]
) -> str:
    """Return which engines of the measurements are certified for all their runs, "" for none."""
    placed = list(measurements)
    runs = {measurement.run for measurement in placed}
    days: dict[str, list[str]] = {}
    for engine in dict.fromkeys(measurement.case.engine for measurement in placed):
        of_runs = [certified.get(run, {}).get(engine, "") for run in runs]
        if all(of_runs):
            days.setdefault(min(of_runs), []).append(engine)
    parts = [
        f"{'engines' if len(engines) > 1 else 'engine'} {listed(engines)} certified on {day}"
        for day, engines in sorted(days.items())
    ]
    return f"{capitalised('; '.join(parts))} (railgauge calibrate)." if parts else ""
