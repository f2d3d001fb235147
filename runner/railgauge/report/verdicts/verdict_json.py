"""A verdict as plain data for JSON: docs/compare.md has its shape."""

from __future__ import annotations

import math
from typing import Any

from railgauge.compare.case_history import History
from railgauge.compare.compare import Comparison, Result, SideSample
from railgauge.compare.facts import HostChanges
from railgauge.compare.verdict import Reasons, Verdict
from railgauge.stats.two_levels import TwoLevels
from railgauge.store.records import PlannedCase


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict with every result; numbers that aren't there are None."""
    compared = verdict.comparison
    unconfirmed = {result.name for result in verdict.unconfirmed}
    return {
        "plan": verdict.plan or None,
        "passed": verdict.passed,
        "sides": [{"title": side.title, "runs": list(side.runs)} for side in compared.selected],
        "counts": dict(compared.counts()),
        "problems": list(verdict.problems),
        "notes": list(verdict.notes),
        "renamed": renamed_data(compared),
        "results": [
            {
                **result_data(result),
                "unconfirmed": result.name in unconfirmed,
                **_reasons(verdict.reasons.get(result.name[:2]), result),
            }
            for result in compared.results
        ],
        "cases_only": [[case_data(planned) for planned in cases] for cases in compared.cases_only],
    }


def result_data(result: Result) -> dict[str, Any]:
    """Return a result without what changed beside it."""
    judged = result.judged
    return {
        **case_data(result),
        "metric": result.metric,
        "unit": result.unit,
        "better": result.better,
        "smallest_change": result.smallest,
        "verdict": judged.change,
        "why": judged.reason,
        "ratio": _number(judged.ratio),
        "low": _number(judged.low),
        "high": _number(judged.high),
        "p": _number(judged.p),
        "q": _number(judged.q),
        "effect": _number(judged.effect),
        "sides": [_sample(side) for side in result.sides],
        "levels": _levels(result.levels),
    }


def renamed_data(compared: Comparison) -> list[dict[str, Any]]:
    """Return which tests had another name in some of the runs."""
    return [
        {
            "before": rename.before,
            "test": rename.test,
            "until_run": rename.until,
            "cases": rename.cases,
        }
        for rename in compared.renamed
    ]


def case_data(source: PlannedCase | Result | History) -> dict[str, Any]:
    """Return which case it is, or is of."""
    case = source.case
    return {
        "test": source.test,
        "engine": case.engine,
        "link": case.link,
        "case_key": case.key,
        "parameters": dict(case.parameters),
    }


def _sample(side: SideSample) -> dict[str, Any]:
    return {
        "n": side.n,
        "median": side.median,
        "minimum": side.minimum,
        "maximum": side.maximum,
        "suspect": side.suspect,
        "failed": side.failed,
    }


def _levels(levels: TwoLevels | None) -> dict[str, Any] | None:
    if levels is None:
        return None
    sides = {
        name: {"median": level.median, "runs": level.runs}
        for name, level in (("low", levels.low), ("high", levels.high))
    }
    return {**sides, "switches": levels.switches}


def _reasons(reasons: Reasons | None, result: Result) -> dict[str, Any]:
    if reasons is None or result.judged.change != "slower":
        return {}
    return {
        "counters": [
            {
                "host": change.host,
                "name": change.name,
                "unit": change.unit,
                "before": change.before,
                "after": change.after,
                "p": change.p,
            }
            for change in reasons.counters
        ],
        "facts": [fact for host in reasons.hosts for fact in _facts(host)],
    }


def _facts(host: HostChanges) -> list[dict[str, Any]]:
    return [
        {"host": host.host, "name": change.name, "values": list(change.values)}
        for change in host.changes
    ]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
