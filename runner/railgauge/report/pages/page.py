"""What stands around the tables of a report: the runs they come from, the machines, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.base.number import plural
from railgauge.plan.case_names import CaseNames
from railgauge.report.pages.contents import Details
from railgauge.report.pages.machines import make_machines

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.report.pages.case.case_pages import CaseLink
    from railgauge.report.pages.machines import Machines
    from railgauge.store.records import Failure, StoredRun, StoredSuspicion

_MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Page:
    """A report's frame. `summary` are sentences.

    `failures` and `suspects` have a table for each run with any, `idle` the hosts before and after
    runs. `links` are the cases that have a page of their own, `links_note` says so where others
    have none. `definitions` say what the shown metrics are, `settings` with which parameters each
    test's cases ran; `make_page` leaves both to its callers.
    """

    name: str
    title: str
    summary: tuple[str, ...]
    runs: Details
    machines: tuple[Machines, ...]
    failures: tuple[Details, ...]
    suspects: tuple[Details, ...] = ()
    idle: tuple[Details, ...] = ()
    links: tuple[CaseLink, ...] = ()
    links_note: str = ""
    definitions: tuple[Details, ...] = ()
    settings: tuple[Details, ...] = ()


def sentences(details: Details, most: int) -> tuple[str, ...]:
    """Return the first `most` rows of `details` as sentences, and how many more there are."""
    lines = [
        f"{heading}, replication {texts[0]}: {texts[-1]}." for heading, texts in details.rows[:most]
    ]
    if len(details.rows) > most:
        lines.append(f"{plural(len(details.rows) - most, 'more is', 'more are')} in index.html.")
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class RunRecords:
    """A reported run, and which of its replications failed or are suspect."""

    run: StoredRun
    failures: Sequence[Failure]
    suspicions: Sequence[StoredSuspicion]


def make_page(
    name: str,
    title: str,
    records: Sequence[RunRecords],
    *,
    idle: Sequence[Details] = (),
    links: Sequence[CaseLink] = (),
    links_note: str = "",
    catalogue: Catalogue | None = None,
) -> Page:
    """Return the frame of a report over the runs of `records`."""
    runs = [record.run for record in records]
    named = [(record, CaseNames(record.run.cases, catalogue)) for record in records]
    return Page(
        name=name,
        title=visible(title),
        summary=tuple(_summary(run) for run in runs),
        runs=_runs(runs),
        machines=tuple(make_machines(run) for run in runs if run.facts),
        failures=tuple(_failures(record, names) for record, names in named if record.failures),
        suspects=tuple(_suspects(record, names) for record, names in named if record.suspicions),
        idle=tuple(idle),
        links=tuple(links),
        links_note=links_note,
    )


def _summary(run: StoredRun) -> str:
    origin = "imported as of" if run.new.origin == "imported" else "measured"
    parts = [f"Run {run.id} of plan {visible(run.new.plan)}", f"{origin} {time_of(run.started_at)}"]
    if run.new.git_commit:
        parts.append(f"plan at git commit {_commit(run, 12)}")
    if run.new.labels:
        texts = (f"{key} {value}" for key, value in run.new.labels.items())
        parts.append(visible(f"labels {', '.join(texts)}"))
    if run.state != "complete":
        parts.append(f"{run.state}: its numbers may still change")
    return ", ".join(parts) + "."


def time_of(stored: str) -> str:
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
        *_label_rows(runs),
        ("State", [f"{run.state}, {run.new.origin}" for run in runs]),
        ("Started", [time_of(run.started_at) for run in runs]),
        ("Ended", [_ended(run) for run in runs]),
        ("Git commit of the plan", [_commit(run) for run in runs]),
        ("Cases", [_cases(run) for run in runs]),
        ("Replications asked", [_planned(run) for run in runs]),
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


def _ended(run: StoredRun) -> str:
    # An import ends when it is stored, which says nothing of when it was measured.
    return "–" if run.new.origin == "imported" else time_of(run.ended_at)


def _label_rows(runs: Sequence[StoredRun]) -> list[tuple[str, list[str]]]:
    keys = dict.fromkeys(key for run in runs for key in run.new.labels)
    return [(f"Label {key}", [run.new.labels.get(key, "–") for run in runs]) for key in keys]


def _planned(run: StoredRun) -> str:
    """Return how many replications all cases should have: a range where a rule ends some."""
    most = sum(case.replications for case in run.cases)
    least = sum(case.replications if case.least is None else case.least for case in run.cases)
    return str(most) if least == most else f"{least} to {most}"


def _cases(run: StoredRun) -> str:
    skipped = sum(1 for case in run.cases if case.skipped)
    return f"{len(run.cases)}, of which {skipped} skipped" if skipped else str(len(run.cases))


def _failures(records: RunRecords, names: CaseNames) -> Details:
    rows = [
        (
            names.with_test(failure),
            (str(failure.replication), visible(failure.error_code), visible(failure.error_message)),
        )
        for failure in records.failures[:_MOST_LISTED]
    ]
    title = _titled("Failed replications", records.run, len(records.failures))
    return Details(title, ("Replication", "Code", "Message"), tuple(rows))


def _suspects(records: RunRecords, names: CaseNames) -> Details:
    """Return a row for each suspect replication, with all that speaks against it."""
    groups: dict[tuple[str, str, int], list[StoredSuspicion]] = {}
    for stored in records.suspicions:
        groups.setdefault((stored.test, stored.case.key, stored.replication), []).append(stored)
    rows = []
    for group in list(groups.values())[:_MOST_LISTED]:
        codes = ", ".join(dict.fromkeys(visible(stored.suspicion.code) for stored in group))
        reasons = "; ".join(dict.fromkeys(visible(stored.suspicion.message) for stored in group))
        first = group[0]
        rows.append((names.with_test(first), (str(first.replication), codes, reasons)))
    title = _titled("Suspect replications", records.run, len(groups))
    return Details(title, ("Replication", "Code", "Why"), tuple(rows))


def _titled(noun: str, run: StoredRun, count: int) -> str:
    more = f" (the first {_MOST_LISTED} of {count})" if count > _MOST_LISTED else ""
    return f"{noun} of run {run.id}{more}"
