"""What is known of runs apart from their values: origin, warnings, theoretical values, facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from railgauge.engine.granted_settings import ASKED_FOR, asks, unlike_asked, unlike_words
from railgauge.hosts.peaks.peak import Peak
from railgauge.report.tables.certified import run_pairs, run_standings

if TYPE_CHECKING:
    from railgauge.base.certification import EngineStanding, PairStanding
    from railgauge.plan.cases import Case
    from railgauge.report.definition.definition_model import TableSpec
    from railgauge.store import Store
    from railgauge.store.counts import LaunchSettings
    from railgauge.store.records import StoredRun


@dataclass(frozen=True, slots=True)
class RunContext:
    """What tables show in addition to the values.

    `imported` are the runs whose values came from elsewhere, where one value may stand for many
    replications. `warnings` are the sentences of a case's launches, by run, test and case key;
    `peaks` what the hosts of a run could do at most, `facts` what they were, by host; `certified`
    what certificates say of the engines on all of them, by engine, and `pairs` of pairs of them;
    `unlike` which settings of a case were not granted as asked, by run, test and case key;
    `suspicions` the codes of what speaks against replications of a case, by the same. `printed` is
    what the last digit of what a run printed of a metric counts, in its base unit.
    """

    imported: Collection[int] = ()
    warnings: Mapping[tuple[int, str, str], Sequence[str]] = field(default_factory=dict)
    peaks: Mapping[int, Iterable[Peak]] = field(default_factory=dict)
    facts: Mapping[int, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    certified: Mapping[int, Mapping[str, EngineStanding]] = field(default_factory=dict)
    pairs: Mapping[int, Sequence[PairStanding]] = field(default_factory=dict)
    unlike: Mapping[tuple[int, str, str], str] = field(default_factory=dict)
    suspicions: Mapping[tuple[int, str, str], Collection[str]] = field(default_factory=dict)
    printed: Mapping[tuple[int, str], float] = field(default_factory=dict)


def read_context(
    store: Store, runs: Iterable[StoredRun], tables: Iterable[TableSpec] | None = None
) -> RunContext:
    """Return what is known of these runs in addition to their values.

    Theoretical values are read only if one of `tables` shows some: a run over all pairs of 1,000
    hosts may have a million. Warnings are read unless there are no tables (None: it isn't known).
    """
    runs = list(runs)
    specs = list(tables or ())
    with_peaks = any(cell.peak or cell.relative_to for table in specs for cell in table.cells)
    warnings: dict[tuple[int, str, str], tuple[str, ...]] = {}
    suspicions: dict[tuple[int, str, str], dict[str, None]] = {}
    for run in runs if specs or tables is None else ():
        for stored in store.suspicions(run.id):
            key = run.id, stored.test, stored.case.key
            suspicions.setdefault(key, {})[stored.suspicion.code] = None
        for warning in store.warnings(run.id):
            # The others are notes on the counters of one replication.
            if warning.case is not None and warning.replication is None:
                key = run.id, warning.test, warning.case.key
                warnings[key] = (*warnings.get(key, ()), warning.message)
    certificates = store.certificates()
    return RunContext(
        imported={run.id for run in runs if run.new.origin == "imported"},
        warnings=warnings,
        peaks={run.id: store.peaks(run.id) for run in runs} if with_peaks else {},
        facts={run.id: run.facts for run in runs},
        certified={run.id: run_standings(run, certificates) for run in runs},
        pairs={run.id: run_pairs(run, certificates) for run in runs},
        unlike={
            (run.id, *name): words
            for run in (runs if specs or tables is None else ())
            for name, words in unlike_by_case(store, run).items()
        },
        suspicions=suspicions,
    )


def unlike_by_case(store: Store, run: StoredRun) -> dict[tuple[str, str], str]:
    """Return by test and case key, in a few words, which settings were not granted as asked."""
    # A matrix's cases share their parameters.
    distinct = {id(planned.case.parameters): planned.case.parameters for planned in run.cases}
    if not any(map(asks, distinct.values())):
        return {}
    launches = store.launch_settings(run.id)
    return {
        (planned.test, planned.case.key): words
        for planned in run.cases
        if (words := unlike_in_launches(launches.get(planned.test), planned.case, run))
    }


def unlike_in_launches(launches: LaunchSettings | None, case: Case, run: StoredRun) -> str:
    """Return which settings a case's launches didn't get as it asked, in a few words."""
    if launches is None or not asks(case.parameters):
        return ""
    imported = run.new.origin == "imported"
    return unlike_words(
        unlike
        for side, settings in (("client", launches.client), ("server", launches.server))
        for name in ASKED_FOR
        for value, keys in settings.get(name, {}).items()
        if case.key in keys
        for unlike in unlike_asked(case.parameters, side, {name: value}, imported=imported)
    )
