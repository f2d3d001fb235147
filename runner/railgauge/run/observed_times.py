"""What the replications of a plan took when it was last measured, all included."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from railgauge.plan.load import LoadedPlan

if TYPE_CHECKING:
    from railgauge.store import Store

# So many of a plan's last runs are looked at for one that measured anything.
_MOST_RUNS = 5


class Observed(NamedTuple):
    """The seconds of a replication by test and key of its case; of which run, None of none."""

    run: int | None
    seconds: Mapping[tuple[str, str], float]


NOTHING = Observed(None, {})


def observed_in(where: str, loaded: LoadedPlan) -> Observed:
    """Return what the last run of the plan took in the database `where`, which needn't be there."""
    if "://" not in where and not Path(where).exists():
        return NOTHING
    from railgauge.store import Store

    with Store.open(where, create=False) as store:
        return observed(store, loaded)


def observed(store: Store, loaded: LoadedPlan) -> Observed:
    """Return what the plan's last run took whose launches followed one another.

    Side by side they don't show how long each was, and a test that spans some time waits, too.
    """
    plan = loaded.plan
    if plan.concurrency > 1:
        return NOTHING
    waiting = {test.name for test in plan.tests if test.rule and test.rule.span}
    for head in store.run_heads(plan.name)[: -_MOST_RUNS - 1 : -1]:
        seconds = {
            key: median(times)
            for key, times in store.launch_seconds(head.id).items()
            if key[0] not in waiting
        }
        if seconds:
            return Observed(head.id, seconds)
    return NOTHING
