"""A gate: run a plan, compare it with its baseline, measure once more what looks slower."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence

from railgauge.base.derived import derived_metrics
from railgauge.base.errors import EnvironmentFailedError, InputError, InterruptedRunError
from railgauge.base.number import plural
from railgauge.compare.compare import Comparison, Result, compare
from railgauge.compare.confirm import cases_of, compare_suspects, confirmed, suspects
from railgauge.compare.earlier_runs import by_earlier_runs
from railgauge.compare.reading import check_metrics
from railgauge.compare.reading import read as read_runs
from railgauge.compare.select import Selection, select
from railgauge.compare.verdict import Verdict, find_reasons, notes_on, undecided
from railgauge.plan.catalogue import Catalogue
from railgauge.run.certified_hosts import run_notes
from railgauge.run.job import Finished, ReadRun, Request
from railgauge.run.pipeline import execute, read, restricted_run
from railgauge.run.progress import observer_for
from railgauge.run.stopping import unsettled_lines
from railgauge.stats.series_changes import BETTER
from railgauge.store import Store
from railgauge.store.baselines import check_name


def judge_plan(
    request: Request,
    *,
    baseline: str | None,
    set_missing: bool,
    confirm: bool,
    metrics: Sequence[str] = (),
) -> tuple[Verdict, Catalogue]:
    """Return the verdict on the plan, read once and measured now, and the engines it names.

    Without a name the `baseline` is the plan's; where there is none, the run becomes it if it is to
    be `set_missing`. With `confirm` only what is slower twice counts, with `metrics` they alone.
    The hosts are let go of after each run.
    """
    with contextlib.ExitStack() as cleanup:
        job = read(request, observer_for(), cleanup)
        plan = job.loaded.plan.name
        name = baseline or plan
        selected = _select(request, name, plan, set_missing=set_missing, required=bool(baseline))
        _check_metrics(job, metrics)
        finished = execute(job)
    if selected is None:
        verdict = _first(request.store, name, finished, plan)
    else:
        verdict = _judge(job, finished, selected, name, confirm=confirm, metrics=metrics)
    return verdict, finished.catalogue


def _check_metrics(job: ReadRun, metrics: Sequence[str]) -> None:
    """Refuse, before anything is measured, a metric by which nothing of the plan can be judged."""
    if not metrics:
        return
    tests = job.loaded.plan.tests
    better = {
        metric.name: metric.better
        for space in job.loaded.spaces
        for mode in space.modes
        for metric in space.engine.metrics_in(mode)
    }
    if any(test.system_log is not None for test in tests):
        derived = derived_metrics(two_sided=True, soak=any(test.soak for test in tests))
        better |= {name: metric.better for name, metric in derived.items()}
    directed = [name for name, direction in better.items() if direction in BETTER]
    check_metrics(metrics, directed, better)


def _select(
    request: Request, name: str, plan: str, *, set_missing: bool, required: bool
) -> Selection | None:
    """Return what to compare with; None where the run is to become it."""
    if request.has_database:
        is_baseline = any(stored.name == name for stored in request.store.baselines())
        if is_baseline or (required and not set_missing):
            return select(request.store, name, plan=plan)
    if set_missing:
        check_name(name)
        return None
    place = f", as there is no database {request.where}"
    if request.has_database:
        runs = plural(len(request.store.run_ids()), "run")
        place = f" in {request.store.name}, which holds {runs}"
    raise InputError(
        f"there is no baseline {name!r}{place}: check --db; if there was none before, say "
        "--set-missing, and this run becomes it, or choose a run that was good: railgauge baseline "
        f"set {name!r} RUN"
    )


def _first(store: Store, name: str, finished: Finished, plan: str) -> Verdict:
    """Make the run the baseline unless something is missing of it, or all was skipped."""
    problems = _problems(store, finished, "")
    notes = [*unsettled_lines(finished.unsettled), *run_notes(store, finished.run)]
    if not finished.measured and not problems:
        problems.append(f"all cases were skipped: {'; '.join(dict.fromkeys(finished.skipped))}")
    if problems:
        problems.insert(0, f"run {finished.run} did not become baseline {name}")
    else:
        store.set_baseline(name, [finished.run], "set by the first gate")
        notes.insert(0, _first_note(store, name, finished.run))
    sides = Selection("no baseline", ()), Selection(f"run {finished.run}", (finished.run,))
    compared = Comparison(sides, (), ((), ()))
    return Verdict(compared, plan, problems=tuple(problems), notes=tuple(notes))


def _first_note(store: Store, name: str, run: int) -> str:
    """Return that the run is the baseline, and why: a lost database looks like a new one."""
    other_runs = len(store.run_ids()) - 1
    before = plural(other_runs, "other run")
    if not other_runs:
        before = "no other run: if there was a baseline before, --db names another database"
    return (
        f"run {run} is baseline {name} now and was compared with nothing, as {store.name} had no "
        f"baseline of that name, and {before}"
    )


def _problems(store: Store, finished: Finished, kind: str) -> list[str]:
    """Return what could not be measured, a sentence each; `kind` of replications or none."""
    problems = []
    if finished.failed:
        problems.append(
            f"{plural(finished.failed, f'{kind}replication')} failed: "
            f"{store.command(f'show {finished.run}')}"
        )
    if finished.missing:
        cause = "its time was over" if finished.out_of_time else "hosts were lost"
        lost_hosts = (f"{host} ({reason})" for host, reason in sorted(finished.lost.items()))
        hosts = f": {', '.join(lost_hosts)}" if finished.lost else ""
        problems.append(
            f"{plural(finished.missing, f'{kind}replication')} "
            f"{'is' if finished.missing == 1 else 'are'} missing, as {cause}{hosts}; go on with: "
            f"{store.command(f'resume {finished.run}')}"
        )
    return problems


def _judge(
    job: ReadRun,
    finished: Finished,
    baseline: Selection,
    name: str,
    *,
    confirm: bool,
    metrics: Sequence[str],
) -> Verdict:
    store = job.request.store
    reading = read_runs(store, [*baseline.runs, finished.run], metrics)
    compared = compare(reading, baseline, Selection(f"run {finished.run}", (finished.run,)))
    problems = _problems(store, finished, "")
    unconfirmed: tuple[Result, ...] = ()
    if confirm and not finished.out_of_time and (again := suspects(compared)):
        if finished.stopped:
            raise InterruptedRunError(
                "stopped before what looks slower was measured once more; what is measured so far: "
                f"{store.command(f'compare {shlex.quote(name)} {finished.run}')}"
            )
        second = _measured_again(job, again, problems)
        if second is not None:
            # What is judged of a case depends on all the runs together.
            reading = read_runs(store, [*baseline.runs, finished.run, second], metrics)
            compared = compare(reading, baseline, compared.selected[1])
            both_runs = Selection(f"runs {finished.run} and {second}", (finished.run, second))
            compared, unconfirmed = confirmed(
                compared,
                compare_suspects(reading, baseline, finished.run, second),
                compare(reading, baseline, both_runs),
            )
    compared = by_earlier_runs(store, compared)
    problems += undecided(store, compared)
    reasons = find_reasons(store, compared, compared.of("slower"))
    notes = (
        *unsettled_lines(finished.unsettled),
        *run_notes(store, finished.run),
        *notes_on(store, compared),
    )
    plan = job.loaded.plan.name
    return Verdict(compared, plan, unconfirmed, tuple(problems), notes, reasons)


def _measured_again(job: ReadRun, results: Sequence[Result], problems: list[str]) -> int | None:
    """Measure the results' cases once more; return the run, or None where that was not possible."""
    cases, observer = cases_of(results), observer_for()
    observer.say(f"measuring once more what looks slower: {len(cases):,} of the cases")
    try:
        with contextlib.ExitStack() as cleanup:
            finished = execute(restricted_run(job, cases, observer, cleanup))
    except (EnvironmentFailedError, InputError) as error:
        problems.append(f"what looked slower could not be measured once more: {error}")
        return None
    problems += _problems(job.request.store, finished, "confirming ")
    return finished.run
