"""Peaks go into their table and come out of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, replace

from sqlalchemy import Connection, insert, select

from railgauge.errors import StoreError
from railgauge.store.models import HostFact, PeakRow
from railgauge.store.records import Peak
from railgauge.store.write import now, plain_text

_COLUMNS = (PeakRow.host, PeakRow.resource, PeakRow.value, PeakRow.unit, PeakRow.source)


def stored_peaks(
    connection: Connection, run_id: int, *, hosts_only: bool = False
) -> tuple[Peak, ...]:
    """Return the run's peaks by host, then resource; of those that changed the last ones.

    With `hosts_only` those of hosts that have facts, so not of links, of which there may be many.
    """
    query = (
        select(*_COLUMNS)
        .where(PeakRow.run_id == run_id)
        .order_by(PeakRow.host, PeakRow.resource, PeakRow.recorded_at)
    )
    if hosts_only:
        known = select(HostFact.host).where(HostFact.run_id == run_id)
        query = query.where(PeakRow.host.in_(known))
    rows = connection.execute(query)
    return tuple({(row.host, row.resource): Peak(*row) for row in rows}.values())


def insert_peaks(connection: Connection, run_id: int, peaks: Iterable[Peak]) -> None:
    """Store those peaks that differ from what the run has; StoreError for one that is no value."""
    known = set(stored_peaks(connection, run_id))
    moment = now()
    rows = []
    for peak in peaks:
        if not math.isfinite(peak.value) or peak.value <= 0:
            raise StoreError(f"{peak.value} can't be the peak {peak.resource} of {peak.host}")
        kept = replace(peak, host=plain_text(peak.host), source=plain_text(peak.source))
        if kept not in known:
            rows.append(asdict(kept) | {"run_id": run_id, "recorded_at": moment})
    if rows:
        connection.execute(insert(PeakRow), rows)
