"""A history as plain data for JSON: docs/history.md has its shape."""

from __future__ import annotations

from typing import Any

from railgauge.compare.case_history import Changed, History, Night, RunDifference
from railgauge.compare.facts import FactChange
from railgauge.report.verdicts.verdict_json import case_data
from railgauge.store.heads import RunHead


def history_data(history: History, *, nights: bool = True) -> dict[str, Any]:
    """Return the history, with every night or without; numbers that aren't there are None."""
    data: dict[str, Any] = {
        "plan": history.plan,
        **case_data(history),
        "earlier_tests": [{"test": name.test, "until_run": name.until} for name in history.earlier],
        "metric": history.metric,
        "unit": history.unit,
        "better": history.better,
        "smallest_change": history.smallest,
        "nights": len(history.nights),
        "gaps": history.gaps,
        "other_unit": history.other_unit,
        "changes": [_changed(changed) for changed in history.changes],
    }
    if nights:
        data["values"] = [_night(night) for night in history.nights]
    return data


def _night(night: Night) -> dict[str, Any]:
    return {
        **_run(night.run),
        "median": night.median,
        "low": night.interval.low if night.interval else None,
        "high": night.interval.high if night.interval else None,
        "n": night.n,
        "suspect": night.suspect,
        "failed": night.failed,
        "published_mean": night.mean,
    }


def _changed(changed: Changed) -> dict[str, Any]:
    point = changed.point
    return {
        **_run(changed.night.run),
        "index": point.index,
        "direction": changed.direction,
        "before": point.before,
        "after": point.after,
        "ratio": point.ratio if point.ratio > 0 else None,
        "p": point.p,
        "provisional": point.provisional,
        "beside": [_beside(beside) for beside in changed.beside],
    }


def _beside(beside: RunDifference) -> dict[str, Any]:
    return {
        "runs": [beside.before.id, beside.run.id],
        "started_at": beside.run.started_at,
        "settings": [_change(change) for change in beside.settings],
        "facts": [
            {"host": host.host, **_change(change)}
            for host in beside.hosts
            for change in host.changes
        ],
    }


def _run(run: RunHead) -> dict[str, Any]:
    return {
        "run": run.id,
        "started_at": run.started_at,
        "git_commit": run.git_commit,
        "git_dirty": run.git_dirty,
    }


def _change(change: FactChange) -> dict[str, Any]:
    return {"name": change.name, "values": list(change.values)}
