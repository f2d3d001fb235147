"""`railgauge show`: what the database has of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from railgauge.base.characters import visible
from railgauge.cli.jsontext import json_text
from railgauge.cli.listing import commit_text
from railgauge.cli.options import as_json, database
from railgauge.cli.tables import default_text
from railgauge.plan.cases import Case, case_name, varying
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.report.tables.default import default_series
from railgauge.report.tables.narrowness import never_narrow, never_narrow_note
from railgauge.report.tables.statistics_json import statistics_of
from railgauge.store import Store
from railgauge.store.records import Failure, StoredRun, StoredSuspicion

# Of the cases that never got narrow enough, so many are named.
_MOST_WIDE = 5


@click.command()
@click.argument("run", type=int)
@database
@as_json
@click.option(
    "--stats/--no-stats",
    default=True,
    show_default=True,
    help="A table of each headline metric, with all that sums up its replications.",
)
def show(run: int, where: str, as_json: bool, stats: bool) -> None:
    """Show RUN: where it comes from, its hosts, failures, suspect replications and tables."""
    with Store.open(where, create=False) as store:
        stored = store.run(run)
        failures = store.failures(run)
        suspicions = store.suspicions(run)
        if as_json:
            answer = _as_json(stored)
            answer["failures"] = [
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
            answer["suspicions"] = [
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
            answer["statistics"] = list(statistics_of(default_series(store, [run])))
            click.echo(json_text(answer))
            return
        _head(stored)
        catalogue = load_catalogue()
        _print_failures(stored, failures, catalogue)
        _print_suspicions(suspicions)
        _print_wide(stored, catalogue)
        text = default_text(store, [run], catalogue, statistics=stats)
        click.echo(f"\n{text}" if text else "nothing is measured yet")


def _print_failures(stored: StoredRun, failures: list[Failure], catalogue: Catalogue) -> None:
    cases: dict[str, list[Case]] = {}
    for planned in stored.cases:
        cases.setdefault(planned.test, []).append(planned.case)
    names = {failure.test: varying(cases[failure.test]) for failure in failures}
    together: dict[tuple[str, int, str, str, str], list[Failure]] = {}
    for failure in failures:
        # What measures all pairs of a group fails for all of them at once.
        launch = failure.started_at if failure.case.members else failure.case.key
        key = (failure.test, failure.replication, launch, failure.error_code, failure.error_message)
        together.setdefault(key, []).append(failure)
    for (test, replication, _, code, message), group in together.items():
        name = case_name(group[0].case, names[test], catalogue)
        more = f" and {len(group) - 1:,} more pairs" if len(group) > 1 else ""
        words = message.strip()
        _print(f"failed: {test} {name}{more} replication {replication}: {words} [{code}]")


def _print_suspicions(suspicions: Sequence[StoredSuspicion]) -> None:
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
            f"suspect: {test}: {len(replications)} replications, {code}{where}; the first: "
            f"{first.case.link} replication {first.replication}: {first.suspicion.message}"
        )


def _print_wide(stored: StoredRun, catalogue: Catalogue) -> None:
    """Print which cases never got as narrow an interval as the plan asked for."""
    wide: dict[tuple[str, str], list[Case]] = {}
    for planned in stored.cases:
        if never_narrow(planned):
            wide.setdefault((planned.test, never_narrow_note(planned)), []).append(planned.case)
    for (test, reason), group in wide.items():
        varied = varying([planned.case for planned in stored.cases if planned.test == test])
        names = [case_name(case, varied, catalogue) for case in group[:_MOST_WIDE]]
        more = f" and {len(group) - _MOST_WIDE:,} more" if len(group) > _MOST_WIDE else ""
        _print(f"not narrow enough: {test} {'; '.join(names)}{more}: {reason}")


def _print(line: str) -> None:
    """Print a line in which names and sentences from elsewhere show, and nothing acts."""
    click.echo(visible(line))


def _as_json(stored: StoredRun) -> dict[str, object]:
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
            }
            for planned in stored.cases
        ],
        "facts": {host: dict(facts) for host, facts in stored.facts.items()},
        "peaks": [asdict(peak) for peak in stored.peaks],
    }


def _head(stored: StoredRun) -> None:
    new = stored.new
    _print(f"run {stored.id} of plan {new.plan}: {stored.state}")
    _print(f"started {stored.started_at}, ended {stored.ended_at or '-'}")
    _print(f"commit {commit_text(new.git_commit, new.git_dirty)}, seed {new.seed}")
    _print(f"by railgauge {new.railgauge_version} on {new.controller}")
    for host, facts in stored.facts.items():
        values = [facts[name] for name in ("cpu", "cpus", "memory", "kernel") if name in facts]
        _print(f"{host}: {', '.join(values)}")
