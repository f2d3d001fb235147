"""Which hosts' engines are certified: what a plan may require, and what a gate reports.

A certificate of a machine may be made anywhere and copied; here its database alone counts.
"""

from __future__ import annotations

from railgauge.base.certification import certification_notes, certification_text, engine_standings
from railgauge.base.errors import EnvironmentFailedError
from railgauge.run.job import InspectedRun
from railgauge.store import Store


def require_certificates(job: InspectedRun) -> InspectedRun:
    """Return the run where its plan requires no certificate, or its hosts have what it takes.

    EnvironmentFailedError says what which host lacks.
    """
    if job.loaded.plan.require is None or not job.schedule:
        return job
    needed: dict[str, set[str]] = {}
    for dispatch in job.schedule.dispatches:
        for host in dispatch.hosts:
            needed.setdefault(host, set()).add(dispatch.case.engine)
    certificates = job.request.store.certificates() if job.request.has_database else []
    lines = []
    for host, engines in sorted(needed.items()):
        facts, digest = job.facts[host], job.sources.digest
        standings = engine_standings(certificates, digest, [facts.get("boot_id", "")])
        lacking = [name for name in engines if name not in standings or not standings[name].whole]
        if lacking:
            lines.append(f"{host}: {certification_text(certificates, digest, facts, lacking)}")
    if lines:
        raise EnvironmentFailedError("\n".join([_refusal(job), *lines]))
    return job


def _refusal(job: InspectedRun) -> str:
    return (
        f"plan {job.loaded.plan.name} requires a certificate of its engines, and "
        f"{job.request.where} has none that holds for these hosts: run `railgauge calibrate` on "
        "each machine, and bring it into this database (railgauge db copy), or take 'require' out "
        "of the plan"
    )


def run_notes(store: Store, run_id: int) -> list[str]:
    """Return which of a run's engines are certified on its hosts, or what ended that."""
    run = store.run(run_id)
    engines = {planned.case.engine for planned in run.cases}
    return certification_notes(store.certificates(), run.new.engines_hash, run.facts, engines)
