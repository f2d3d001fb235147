"""Metrics that are settings of the launches: `client/settings/sndbuf`, as the kernel granted it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from railgauge.base.quantities import unit_of
from railgauge.report.tables.axes import REPLICATION
from railgauge.store.records import PlannedCase, Series, StoredRun
from railgauge.store.stored_replications import StoredReplication

_SETTINGS = "settings/"


def is_setting(metric: str) -> bool:
    """Return whether the metric, SIDE/settings/NAME, is a setting of that side's end."""
    return metric.partition("/")[2].startswith(_SETTINGS)


def setting_series(
    run: StoredRun,
    planned: PlannedCase,
    replications: Iterable[StoredReplication],
    metric: str,
    *,
    by_replication: bool,
) -> Iterator[Series]:
    """Yield a case's series of a setting that is a number: one, or one `by_replication`.

    A replication has the setting of its launch; there is nothing of failed ones.
    """
    values = _values(metric, replications)
    whole = Series(
        run=run.id,
        plan=run.new.plan,
        test=planned.test,
        case=planned.case,
        metric=metric,
        unit=unit_of(metric.partition("/")[2]),
        better="neither",
        kind="count",
        values=np.array([value for value, _ in values.values()], dtype=np.float64),
        suspect=np.array([suspect for _, suspect in values.values()], dtype=np.bool_),
        failed=0,
        planned=len(values),
    )
    if not by_replication:
        yield whole
        return
    for place, number in enumerate(values):
        parameters = {**planned.case.parameters, REPLICATION: number}
        yield replace(
            whole,
            case=replace(planned.case, parameters=parameters),
            values=whole.values[place : place + 1],
            suspect=whole.suspect[place : place + 1],
            planned=1,
        )


def _values(
    metric: str, replications: Iterable[StoredReplication]
) -> dict[int, tuple[float, bool]]:
    """Return the setting by replication, and whether that one is suspect."""
    side, _, quantity = metric.partition("/")
    values: dict[int, tuple[float, bool]] = {}
    for replication in replications:
        settings = replication.client if side == "client" else replication.server
        value = settings.get(quantity.removeprefix(_SETTINGS))
        if replication.status != "failed" and isinstance(value, int | float):
            values[replication.number] = (float(value), replication.status == "suspect")
    return values
