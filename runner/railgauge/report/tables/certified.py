"""Which engines were certified on the hosts of a run, and when: one sentence below a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.certification import EngineStanding, engine_standings
from railgauge.report.tables.notes import capitalised, listed

if TYPE_CHECKING:
    from railgauge.base.certificate import Certificate
    from railgauge.store.records import StoredRun


def run_standings(run: StoredRun, certificates: Sequence[Certificate]) -> dict[str, EngineStanding]:
    """Return what certificates say of the engines on all hosts of a run, by engine."""
    boots = [facts.get("boot_id", "") for facts in run.facts.values()]
    return engine_standings(certificates, run.new.engines_hash, boots)


def certified_sentence(
    measured: Iterable[tuple[int, str]], standings: Mapping[int, Mapping[str, EngineStanding]]
) -> str:
    """Return which engines are certified for all runs, "" for none; `measured`: run, engine.

    An engine of which a check is wrong is named in any case, one of which only some checks are
    certified with their number.
    """
    pairs = list(measured)
    runs = {run for run, _ in pairs}
    days: dict[str, list[str]] = {}
    in_part, wrong = [], []
    for engine in dict.fromkeys(engine for _, engine in pairs):
        of_runs = [standings.get(run, {}).get(engine) for run in runs]
        usable = [standing for standing in of_runs if standing and standing.certified]
        names = sorted({name for standing in of_runs if standing for name in standing.wrong})
        if names:
            wrong.append(f"engine {engine} is wrong by its truths: {listed(names)}")
        elif len(usable) < len(of_runs):
            continue
        elif all(standing.whole for standing in usable):
            days.setdefault(min(standing.since for standing in usable)[:10], []).append(engine)
        else:
            least = min(usable, key=lambda standing: len(standing.certified) / standing.checks)
            in_part.append(
                f"of engine {engine} {len(least.certified)} of {least.checks} checks certified on "
                f"{least.since[:10]}: {listed(least.certified)}"
            )
    parts = [
        f"{'engines' if len(engines) > 1 else 'engine'} {listed(engines)} certified on {day}"
        for day, engines in sorted(days.items())
    ]
    parts = [*wrong, *parts, *in_part]
    return f"{capitalised('; '.join(parts))} (railgauge calibrate)." if parts else ""
