"""Peaks go into their table and come out of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlalchemy import Connection, func, select

from railgauge.base.errors import StoreError
from railgauge.hosts.peaks.peak import LINK_RATE
from railgauge.store.models import PeakRow
from railgauge.store.records import Peak
from railgauge.store.run_checksums import forget_run_checksum
from railgauge.store.write import chunks, insert_rows, now_after, plain_text

_COLUMNS = (PeakRow.host, PeakRow.resource, PeakRow.value, PeakRow.unit, PeakRow.source)


def stored_peaks(
    connection: Connection, run_id: int, *, hosts_only: bool = False
) -> tuple[Peak, ...]:
    """Return the run's peaks by host, then resource; of those that changed the last ones.

    With `hosts_only` not those of links, of which there may be many.
    """
    query = (
        select(*_COLUMNS)
        .where(PeakRow.run_id == run_id)
        .order_by(PeakRow.host, PeakRow.resource, PeakRow.recorded_at)
    )
    if hosts_only:
        query = query.where(PeakRow.resource != LINK_RATE)
    rows = connection.execute(query)
    return tuple({(row.host, row.resource): Peak(*row) for row in rows}.values())


def insert_peaks(connection: Connection, run_id: int, peaks: Iterable[Peak]) -> None:
    """Store those peaks that differ from what the run has; StoreError for one that is no value."""
    stored = set(stored_peaks(connection, run_id))
    last = select(func.max(PeakRow.recorded_at)).where(PeakRow.run_id == run_id)
    moment = now_after(connection.execute(last).scalar())
    for chunk in chunks(_storable(peaks)):
        rows = [
            {**_columns(peak), "run_id": run_id, "recorded_at": moment}
            for peak in chunk
            if peak not in stored
        ]
        insert_rows(connection, PeakRow, rows)
        forget_run_checksum(connection, run_id)


def _storable(peaks: Iterable[Peak]) -> Iterator[Peak]:
    for peak in peaks:
        if not math.isfinite(peak.value) or peak.value <= 0:
            raise StoreError(f"{peak.value} can't be the peak {peak.resource} of {peak.host}")
        yield replace(peak, host=plain_text(peak.host), source=plain_text(peak.source))


def _columns(peak: Peak) -> dict[str, object]:
    # Ten times as quick as dataclasses.asdict: links may be a million.
    return {
        "host": peak.host,
        "resource": peak.resource,
        "value": peak.value,
        "unit": peak.unit,
        "source": peak.source,
    }
