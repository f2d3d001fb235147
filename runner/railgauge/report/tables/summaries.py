"""What is known of each case's values, as plain data for `railgauge show --json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.report.tables.marks import in_groups
from railgauge.report.tables.statistic import FIELDS, record
from railgauge.stats import oddities, summaries
from railgauge.store.records import Series


def statistics_of(series: Sequence[Series]) -> Iterator[dict[str, object]]:
    """Yield what sums up each of `series` that has values, in base units; what isn't is None."""
    there = [one for one in series if len(one.values)]
    values = [one.values for one in there]
    odd, summed = oddities(values), summaries(values)
    for one, (related, groups), summary in zip(there, odd, summed, strict=True):
        found = record(summary, one.metric, one.unit)
        yield {
            "test": one.test,
            "link": one.case.link,
            "case_key": one.case.key,
            "metric": one.metric,
            "unit": one.unit,
            "better": one.better,
            **dict(zip(FIELDS, found, strict=True)),
            "autocorrelation": related,
            "two_groups": groups._asdict() if groups and in_groups(one) else None,
            "suspect": int(one.suspect.sum()),
            "failed": one.failed,
            "asked": one.planned,
            "rule": one.rule,
            "ended": one.ended,
        }
