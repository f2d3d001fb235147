"""The statistics of each case's values, as plain data for `railgauge show --json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.report.definition.statistic import FIELDS, record, summary_of
from railgauge.report.tables.marks import in_groups
from railgauge.stats.oddities import oddities
from railgauge.stats.summaries import summaries
from railgauge.store.records import Series


def statistics_of(series: Sequence[Series]) -> Iterator[dict[str, object]]:
    """Yield the statistics of each of `series` that has values, in base units, None without."""
    measured = [entry for entry in series if len(entry.values)]
    values = [entry.values for entry in measured]
    levels = [entry.level for entry in measured]
    for entry, odd, summary in zip(
        measured, oddities(values), summaries(values, levels), strict=True
    ):
        yield {
            "test": entry.test,
            "link": entry.case.link,
            "case_key": entry.case.key,
            "metric": entry.metric,
            "unit": entry.unit,
            "better": entry.better,
            "kind": entry.kind,
            **dict(zip(FIELDS, record(summary_of(entry, summary), entry.average), strict=True)),
            "autocorrelation": odd.autocorrelation,
            "trend": odd.trend,
            "two_groups": odd.groups._asdict() if odd.groups and in_groups(entry) else None,
            "suspect": int(entry.suspect.sum()),
            "failed": entry.failed,
            "asked": entry.planned,
            "rule": entry.rule,
            "ended": entry.ended,
        }
