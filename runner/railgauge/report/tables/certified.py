"""Which engines were certified on the hosts of a run, and when: one sentence below a table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.certification import (
    EngineStanding,
    PairStanding,
    engine_standings,
    pair_standings,
)
from railgauge.base.characters import capitalised
from railgauge.report.tables.notes import listed

if TYPE_CHECKING:
    from railgauge.base.certificate import Certificate
    from railgauge.plan.cases import Case
    from railgauge.store.records import StoredRun


def run_standings(run: StoredRun, certificates: Sequence[Certificate]) -> dict[str, EngineStanding]:
    """Return what certificates say of the engines on all hosts of a run, by engine."""
    boots = [facts.get("boot_id", "") for facts in run.facts.values()]
    return engine_standings(certificates, run.new.engines_hash, boots)


def run_pairs(run: StoredRun, certificates: Sequence[Certificate]) -> list[PairStanding]:
    """Return what certificates say of pairs of the hosts of a run."""
    return pair_standings(certificates, run.new.engines_hash, run.facts)


def pairs_sentence(
    measured: Iterable[tuple[int, Case]], standings: Mapping[int, Sequence[PairStanding]]
) -> str:
    """Return what is certified from one host to another for all runs, or wrong, "" for nothing.

    `measured`: run and case; of a pair only checks of the engines that measured it are reported.
    """
    runs: dict[tuple[str, str], set[int]] = {}
    engines: dict[tuple[str, str], set[str]] = {}
    for run, case in measured:
        if case.server is not None:
            runs.setdefault((case.client, case.server), set()).add(run)
            engines.setdefault((case.client, case.server), set()).add(case.engine)
    pairs: dict[str, list[str]] = {}
    for ends, of_pair in runs.items():
        texts = {_pair_text(standings.get(run, ()), ends, engines[ends]) for run in of_pair}
        wrong = sorted(text for text in texts if " wrong " in text)
        text = wrong[0] if wrong else texts.pop() if len(texts) == 1 else ""
        if text:
            pairs.setdefault(text, []).append("from {} to {}".format(*ends))
    parts = [f"{listed(names)} {text}" for text, names in pairs.items()]
    return f"{capitalised('; '.join(parts))} (railgauge calibrate HOSTS)." if parts else ""


def _pair_text(
    standings: Iterable[PairStanding], ends: tuple[str, str], engines: Collection[str]
) -> str:
    return next((pair.of(engines).text for pair in standings if pair.ends == ends), "")


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
