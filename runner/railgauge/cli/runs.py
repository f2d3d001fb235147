"""`railgauge show`: what the database has of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import click

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.base.number import plural
from railgauge.cli.argument_types import RunNumber
from railgauge.cli.jsontext import json_text
from railgauge.cli.listing import commit_text, label_text
from railgauge.cli.options import as_json, database, refuse_given
from railgauge.cli.tables import default_text
from railgauge.plan.case_names import CaseNames
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.report.definition.statistic import FIELDS, record, summary_of
from railgauge.report.pages.case_settings import IN_EFFECT, settings_tables
from railgauge.report.pages.page import time_of
from railgauge.report.tables.default import default_series
from railgauge.report.tables.marks import in_groups
from railgauge.report.tables.narrowness import never_narrow, never_narrow_note
from railgauge.report.tables.run_context import unlike_in_launches
from railgauge.stats.oddities import oddities
from railgauge.stats.summaries import summaries
from railgauge.store import Store
from railgauge.store.counts import LaunchSettings, granted_by_case
from railgauge.store.records import Failure, PlannedCase, Series, StoredRun, StoredSuspicion

# Of the cases that never got narrow enough, so many are named.
_MOST_WIDE = 5


@click.command()
@click.argument("run", type=RunNumber())
@database
@as_json
@click.option(
    "--stats/--no-stats",
    default=True,
    show_default=True,
    help="A table of each headline metric, with all that sums up its replications.",
)
@click.option("--plan", is_flag=True, help="Print the text of its plan alone, as it was stored.")
def show(run: int, where: str, as_json: bool, stats: bool, plan: bool) -> None:
    """Show RUN: where it comes from, its hosts, failures, suspect replications and tables."""
    if plan or as_json:
        refuse_given("stats", reason="is for the tables, which --plan and --json leave out")
    with Store.open(where, create=False) as store:
        stored = store.run(run)
        if plan:
            _print_plan(stored, as_json=as_json)
            return
        launches = store.launch_settings(run)
        failures = store.failures(run)
        suspicions = store.suspicions(run)
        if as_json:
            answer = _as_json(stored, launches, failures, suspicions)
            answer["statistics"] = list(statistics_of(default_series(store, [run])))
            click.echo(json_text(answer))
            return
        _head(stored)
        catalogue = load_catalogue()
        names = CaseNames(stored.cases, catalogue)
        _print_failures(failures, names)
        _print_suspicions(suspicions, names)
        _print_settings(stored, launches, catalogue, names)
        _print_wide(stored, names)
        text = default_text(store, [run], catalogue, statistics=stats)
        click.echo(f"\n{text}" if text else "nothing is measured yet")


def _print_plan(stored: StoredRun, *, as_json: bool) -> None:
    """Print the stored text, byte for byte, or it and the files that it needs as JSON."""
    new = stored.new
    if as_json:
        files = dict(new.files)
        click.echo(json_text({"plan": new.plan, "text": new.plan_text, "files": files}))
    elif not new.plan_text:
        raise InputError(f"run {stored.id} was imported: it has no plan's text")
    else:
        click.echo(new.plan_text.encode(), nl=False)


def _print_settings(
    stored: StoredRun,
    launches: Mapping[str, LaunchSettings],
    catalogue: Catalogue,
    names: CaseNames,
) -> None:
    """Print what was in effect in all cases of a test, and which cases didn't get what they ask."""
    for table in settings_tables([(stored, launches)], catalogue):
        for heading, (text,) in table.rows:
            if heading.startswith(IN_EFFECT):
                test = table.title.removeprefix("Parameters of test ").partition(" (")[0]
                _print(f"{heading[:1].lower()}{heading[1:]}: {test}: {text}")
    unlike: dict[tuple[str, str], list[PlannedCase]] = {}
    for planned in stored.cases:
        words = unlike_in_launches(launches.get(planned.test), planned.case, stored)
        if words:
            unlike.setdefault((planned.test, words), []).append(planned)
    for (_, words), cases in unlike.items():
        more = f" and {len(cases) - 1:,} more" if len(cases) > 1 else ""
        _print(f"not as asked: {names.with_test(cases[0])}{more}: {words}")


def _print_failures(failures: list[Failure], names: CaseNames) -> None:
    together: dict[tuple[str, int, str, str, str], list[Failure]] = {}
    for failure in failures:
        # What measures all pairs of a group fails for all of them at once.
        launch = failure.started_at if failure.case.members else failure.case.key
        key = (failure.test, failure.replication, launch, failure.error_code, failure.error_message)
        together.setdefault(key, []).append(failure)
    for (_, replication, _, code, message), group in together.items():
        more = f" and {plural(len(group) - 1, 'more pair')}" if len(group) > 1 else ""
        name, words = names.with_test(group[0]), message.strip()
        _print(f"failed: {name}{more}, replication {replication}: {words} [{code}]")


def _print_suspicions(suspicions: Sequence[StoredSuspicion], names: CaseNames) -> None:
    """Print of each kind how many there are, and the first: a report has them all."""
    kinds: dict[tuple[str, str, str | None], list[StoredSuspicion]] = {}
    for suspicion in suspicions:
        kind = suspicion.test, suspicion.suspicion.code, suspicion.suspicion.host
        kinds.setdefault(kind, []).append(suspicion)
    for (test, code, host), group in kinds.items():
        replications = {(suspicion.case.key, suspicion.replication) for suspicion in group}
        where = f" on {host}" if host else ""
        first = group[0]
        _print(
            f"suspect: {test}: {plural(len(replications), 'replication')}, {code}{where}; "
            f"the first: {names.case(first)}, replication {first.replication}: "
            f"{first.suspicion.message}"
        )


def _print_wide(stored: StoredRun, names: CaseNames) -> None:
    """Print which cases never got as narrow an interval as the plan asked for."""
    wide: dict[tuple[str, str], list[PlannedCase]] = {}
    for planned in stored.cases:
        if never_narrow(planned):
            wide.setdefault((planned.test, never_narrow_note(planned)), []).append(planned)
    for (test, reason), group in wide.items():
        listed = "; ".join(map(names.case, group[:_MOST_WIDE]))
        more = f" and {len(group) - _MOST_WIDE:,} more" if len(group) > _MOST_WIDE else ""
        _print(f"not narrow enough: {test}: {listed}{more}: {reason}")


def _print(line: str) -> None:
    """Print a line in which names and sentences from elsewhere show, and nothing acts."""
    click.echo(visible(line))


def _as_json(
    stored: StoredRun,
    launches: Mapping[str, LaunchSettings],
    failures: Sequence[Failure],
    suspicions: Sequence[StoredSuspicion],
) -> dict[str, object]:
    granted = {test: granted_by_case(settings) for test, settings in launches.items()}
    return {
        "id": stored.id,
        "state": stored.state,
        "started_at": stored.started_at,
        "ended_at": stored.ended_at,
        **{name: value for name, value in asdict(stored.new).items() if name != "plan_text"},
        "cases": [
            {
                "test": planned.test,
                "engine": planned.case.engine,
                "link": planned.case.link,
                "case_key": planned.case.key,
                "parameters": dict(planned.case.parameters),
                "replications": planned.replications,
                "skipped": planned.skipped,
                "least": planned.least,
                "rule": planned.rule,
                "ended": planned.ended,
                **granted.get(planned.test, {}).get(planned.case.key, {"client": {}, "server": {}}),
                "unlike_asked": unlike_in_launches(
                    launches.get(planned.test), planned.case, stored
                ),
            }
            for planned in stored.cases
        ],
        "facts": {host: dict(facts) for host, facts in stored.facts.items()},
        "peaks": [asdict(peak) for peak in stored.peaks],
        "failures": _failures_json(failures),
        "suspicions": _suspicions_json(suspicions),
    }


def _head(stored: StoredRun) -> None:
    new = stored.new
    _print(f"run {stored.id} of plan {new.plan}: {stored.state}")
    if new.labels:
        _print(f"labels {label_text(new.labels)}")
    if new.origin == "imported":
        _print(f"imported as of {time_of(stored.started_at)}")
    else:
        _print(f"started {time_of(stored.started_at)}, ended {time_of(stored.ended_at)}")
    _print(f"commit {commit_text(new.git_commit, new.git_dirty)}, seed {new.seed}")
    _print(f"by railgauge {new.railgauge_version} on {new.controller}")
    for host, facts in stored.facts.items():
        values = [facts[name] for name in ("cpu", "cpus", "memory", "kernel") if name in facts]
        _print(f"{host}: {', '.join(values)}")


def _failures_json(failures: Sequence[Failure]) -> list[dict[str, object]]:
    return [
        {
            "test": failure.test,
            "link": failure.case.link,
            "case_key": failure.case.key,
            "replication": failure.replication,
            "started_at": failure.started_at,
            "code": failure.error_code,
            "message": failure.error_message,
        }
        for failure in failures
    ]


def _suspicions_json(suspicions: Sequence[StoredSuspicion]) -> list[dict[str, object]]:
    return [
        {
            "test": suspicion.test,
            "link": suspicion.case.link,
            "case_key": suspicion.case.key,
            "replication": suspicion.replication,
            "code": suspicion.suspicion.code,
            "host": suspicion.suspicion.host,
            "message": suspicion.suspicion.message,
        }
        for suspicion in suspicions
    ]


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
