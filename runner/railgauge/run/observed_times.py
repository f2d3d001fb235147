"""What the replications of a plan took when it was last measured, all included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from railgauge.base.errors import NoDatabaseError
from railgauge.engine.patience import patience_for
from railgauge.plan.cases import ExpandedTest
from railgauge.plan.load import LoadedPlan
from railgauge.plan.schedule import Dispatch
from railgauge.plan.wall_time import LaunchTimes
from railgauge.plan.yamlfile import loads

if TYPE_CHECKING:
    from railgauge.store import Store

# So many of a plan's last runs are looked at for one that measured anything.
_MOST_RUNS = 5


class Observed(NamedTuple):
    """The seconds of a replication by test and key of its case; of which run, None of none."""

    run: int | None
    seconds: Mapping[tuple[str, str], float]


NOTHING = Observed(None, {})


def observed_in(where: str, loaded: LoadedPlan, tests: Sequence[ExpandedTest]) -> Observed:
    """Return what the last run of the plan took in the database `where`, which needn't be there."""
    if "://" not in where and not Path(where).exists():
        return NOTHING
    from railgauge.store import Store

    try:
        with Store.open(where, create=False) as store:
            return observed(store, loaded, tests)
    except NoDatabaseError:
        return NOTHING


def observed(store: Store, loaded: LoadedPlan, tests: Sequence[ExpandedTest]) -> Observed:
    """Return what the plan's last run of all its cases took whose launches followed one another.

    Side by side they don't show how long each was, and a test that spans some time waits, too, when
    another's launch is over: by the plan as it was then. What took longer than its engine may is no
    launch: the run was stopped and went on, or a clock was set.
    """
    heads = [head for head in store.run_heads(loaded.plan.name) if not head.partial]
    for head in heads[: -_MOST_RUNS - 1 : -1]:
        text = store.plan_text(head.id)
        plan = loads(text, f"plan of run {head.id}").data if text else None
        if plan is None or plan.get("concurrency", 1) > 1:
            continue
        waiting = {test["name"] for test in plan["tests"] if _spans(test.get("replications"))}
        launches = store.launch_seconds(head.id, waiting)
        seconds = {
            key: median(times)
            for key, longest in _longest(loaded, tests, launches)
            if key[0] not in waiting
            and (times := [time for time in launches[key] if 0 < time <= longest])
        }
        if seconds:
            return Observed(head.id, seconds)
    return NOTHING


def _longest(
    loaded: LoadedPlan, tests: Sequence[ExpandedTest], launches: Mapping[tuple[str, str], object]
) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the keys of the cases of `launches`, with the seconds that a replication may take."""
    catalogue, times = loaded.catalogue, LaunchTimes(loaded.catalogue, loaded.plan)
    for expanded in tests:
        name, engine = expanded.test.name, catalogue.engine(expanded.test.engine)
        for case in expanded.cases:
            if (name, case.key) in launches:
                silence = patience_for(engine, case, expanded.test.limit)
                yield (name, case.key), silence + times.of(Dispatch(name, case, (1,))).once


def _spans(replications: Any) -> bool:
    return isinstance(replications, dict) and "span" in replications
