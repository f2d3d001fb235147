"""What stands around the tables of a report: the runs they come from, the machines, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from railgauge.report.characters import visible
from railgauge.store.records import Failure, StoredRun

_MOST_FAILURES = 100


@dataclass(frozen=True, slots=True)
class Details:
    """A titled table of texts: `rows` are (heading, one text for each of `columns`)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A report's frame. `summary` are sentences.

    `tables` and `figures` are the names of their files; a figure's own table follows it there.
    """

    name: str
    title: str
    tables: tuple[str, ...]
    summary: tuple[str, ...]
    runs: Details
    machines: tuple[Details, ...]
    failures: tuple[Details, ...]
    figures: tuple[str, ...] = ()


def make_page(
    name: str,
    title: str,
    tables: Sequence[str],
    runs: Sequence[StoredRun],
    failures: Sequence[Sequence[Failure]],
    figures: Sequence[str] = (),
) -> Page:
    """Return the frame of a report over `runs`, with the failed replications of each."""
    return Page(
        name=name,
        title=visible(title),
        tables=tuple(tables),
        summary=tuple(_summary(run) for run in runs),
        runs=_runs(runs),
        machines=tuple(_machines(run) for run in runs if run.facts),
        failures=tuple(
            _failures(run, failed) for run, failed in zip(runs, failures, strict=True) if failed
        ),
        figures=tuple(figures),
    )


def _summary(run: StoredRun) -> str:
    origin = "imported" if run.new.origin == "imported" else "measured"
    parts = [f"Run {run.id} of plan {visible(run.new.plan)}", f"{origin} {_time(run.started_at)}"]
    if run.new.git_commit:
        parts.append(f"plan at git commit {_commit(run, 12)}")
    if run.state != "complete":
        parts.append(f"{run.state}: its numbers may still change")
    return ", ".join(parts) + "."


def _time(stored: str) -> str:
    """Return a stored ISO 8601 time to the second, as people write it."""
    return f"{stored[:10]} {stored[11:19]} UTC" if stored else "–"


def _commit(run: StoredRun, digits: int = 40) -> str:
    if not run.new.git_commit:
        return "–"
    changed = " with uncommitted changes" if run.new.git_dirty else ""
    return visible(run.new.git_commit[:digits]) + changed


def _runs(runs: Sequence[StoredRun]) -> Details:
    lines: list[tuple[str, list[str]]] = [
        ("Plan", [run.new.plan for run in runs]),
        ("State", [f"{run.state}, {run.new.origin}" for run in runs]),
        ("Started", [_time(run.started_at) for run in runs]),
        ("Ended", [_time(run.ended_at) for run in runs]),
        ("Git commit of the plan", [_commit(run) for run in runs]),
        ("Cases", [str(len(run.cases)) for run in runs]),
        ("Replications asked", [str(sum(case.replications for case in run.cases)) for run in runs]),
        ("Seed", ["–" if run.new.origin == "imported" else str(run.new.seed) for run in runs]),
        ("Controller", [run.new.controller or "–" for run in runs]),
        ("railgauge", [run.new.railgauge_version or "–" for run in runs]),
        ("Engines' source", [run.new.engines_hash or "–" for run in runs]),
    ]
    return Details(
        "Runs",
        tuple(f"Run {run.id}" for run in runs),
        tuple((heading, tuple(map(visible, texts))) for heading, texts in lines),
    )


def _machines(run: StoredRun) -> Details:
    hosts = sorted(run.facts)
    names = sorted({name for facts in run.facts.values() for name in facts})
    rows = [
        (visible(name), tuple(visible(run.facts[host].get(name, "–")) for host in hosts))
        for name in names
    ]
    return Details(f"Machines of run {run.id}", tuple(map(visible, hosts)), tuple(rows))


def _failures(run: StoredRun, failed: Sequence[Failure]) -> Details:
    rows = [
        (
            f"{visible(one.test)}, {visible(one.case.link)}",
            (str(one.replication), visible(one.error_code), visible(one.error_message)),
        )
        for one in failed[:_MOST_FAILURES]
    ]
    more = len(failed) - len(rows)
    title = f"Failed replications of run {run.id}"
    if more:
        title += f" (the first {_MOST_FAILURES} of {len(failed)})"
    return Details(title, ("Replication", "Code", "Message"), tuple(rows))
