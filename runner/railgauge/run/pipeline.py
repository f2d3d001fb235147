"""A run: its stages, each an ordinary function that takes what the one before returned.

    read → expand → arrange → reach → equip → hold → find_programs → inspect
         → require_certificates → record → announce → watch → perform

Nothing starts on a host before the whole plan is valid; nothing is stored before every host is
ready; from then on each replication is stored as it comes.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from railgauge.base.errors import (
    EnvironmentFailedError,
    InputError,
    InterruptedRunError,
    LostDatabaseError,
    RailgaugeError,
)
from railgauge.base.gitstate import git_state
from railgauge.base.number import plural
from railgauge.base.side_by_side import everywhere
from railgauge.base.stop_signals import calling_on_signal
from railgauge.base.systemlog import Phase
from railgauge.engine.build_all import LineTaker, build_all
from railgauge.engine.deploy import Bundle, bundle
from railgauge.engine.deploy_all import deploy_all
from railgauge.engine.deploy_mpi import MpiInstallation as BuiltMpi
from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.engine.launch_terms import launch_terms
from railgauge.engine.measure import EquippedHost
from railgauge.engine.observing.observe import Observing
from railgauge.engine.observing.opening import closing, set_scene
from railgauge.engine.observing.scene import Scene
from railgauge.engine.watch.watcher import idle
from railgauge.hosts import facts
from railgauge.plan.case_names import CaseNames, of_tests
from railgauge.plan.cases import expand as expand_cases
from railgauge.plan.cases import restricted
from railgauge.plan.load import load_plan
from railgauge.plan.model import Plan
from railgauge.plan.partial import only_cases, only_texts
from railgauge.plan.schedule import Dispatch, Schedule, dispatch_name, most_replications
from railgauge.plan.texts import load_stored, named_texts
from railgauge.plan.wall_time import LaunchTimes
from railgauge.run.certified_hosts import require_certificates
from railgauge.run.execution import Execution, Namer, Observer, Setting, Totals
from railgauge.run.holding import announce, hold
from railgauge.run.job import (
    ArrangedRun,
    CheckedRun,
    EquippedRun,
    ExpandedRun,
    Finished,
    InspectedRun,
    ReachedRun,
    ReadRun,
    RecordedRun,
    Request,
    WatchedRun,
    extended,
)
from railgauge.run.observed_times import observed
from railgauge.run.reaching import keeping_going, reach
from railgauge.run.recording import record
from railgauge.run.skipping import find_programs
from railgauge.run.stopping import Judge, Unsettled, spans_of
from railgauge.run.time_left import TimeLeft
from railgauge.schedulers import deadline
from railgauge.store.database_url import connect as connect_database

# How long the machines are watched before the first and after the last launch.
_IDLE_SECONDS = 0.5


def execute(job: ReadRun) -> Finished:
    """Run the stages one after another; InterruptedRunError when the user stops it."""
    expanded = expand(job)
    arranged = arrange(expanded)
    reached = reach(arranged)
    equipped = keeping_going(equip, reached)
    held_run = keeping_going(hold, equipped)
    checked = keeping_going(find_programs, held_run)
    inspected = keeping_going(inspect, checked)
    certified = require_certificates(inspected)
    recorded = record(certified)
    announce(recorded)
    watched = watch(recorded)
    return perform(watched)


def read(request: Request, observer: Observer, cleanup: contextlib.ExitStack) -> ReadRun:
    """Read the plan: from its file, or as the run to go on with has it."""
    sources = bundle()
    if request.run is not None:
        return _read_again(request, request.run, observer, cleanup, sources)
    assert request.plan is not None
    loaded = load_plan(request.plan, hosts=request.hosts)
    # A wrong --db is reported before any host is contacted.
    connect_database(request.where, create=True)[0].dispose()
    plan = loaded.plan
    paths = [loaded.directory / name for name in (plan.hosts_file, *plan.engines) if name]
    return ReadRun(
        request=request,
        observer=observer,
        cleanup=cleanup,
        loaded=loaded,
        git=git_state(Path(loaded.path), paths),
        seed=_seed(plan),
        sources=sources,
        files=named_texts(loaded),
        measured={},
    )


def restricted_run(
    job: ReadRun,
    cases: Collection[tuple[str, str]],
    observer: Observer,
    cleanup: contextlib.ExitStack,
) -> ReadRun:
    """Return another run of the plan that was read, of these cases alone, by test and key."""
    return replace(
        job,
        observer=observer,
        cleanup=cleanup,
        seed=_seed(job.loaded.plan),
        files={**job.files, **only_texts(cases)},
    )


def _seed(plan: Plan) -> int:
    return secrets.randbelow(2**31) if plan.seed is None else plan.seed


def _read_again(
    request: Request, run: int, observer: Observer, cleanup: contextlib.ExitStack, sources: Bundle
) -> ReadRun:
    stored = request.stored_run
    if stored.new.engines_hash != sources.digest:
        raise InputError(
            f"run {run} was begun with other engines ({stored.new.engines_hash[:12]}, now "
            f"{sources.digest[:12]}) and one run may not mix two: start a new run of its plan"
        )
    began = stored.new.files
    loaded = load_stored(run, stored.new.plan_text, stored.new.directory, began)
    now = named_texts(loaded) | only_texts(only_cases(began))
    if changed := sorted(name for name in {*began, *now} if began.get(name) != now.get(name)):
        raise InputError(
            f"run {run} can't go on: {', '.join(changed)} changed since it began, and the "
            "rest might measure something else: start a new run, or put back what it was"
        )
    # Before looking at what is measured, or another process might be measuring more just now.
    cleanup.enter_context(request.store.claim(run))
    return ReadRun(
        request=request,
        observer=observer,
        cleanup=cleanup,
        loaded=loaded,
        git=(stored.new.git_commit, stored.new.git_dirty),
        seed=stored.new.seed,
        sources=sources,
        files=now,
        measured=request.store.replication_numbers(run),
    )


def expand(job: ReadRun) -> ExpandedRun:
    """Expand the tests to cases; a run that goes on must have exactly those it began with."""
    tests = expand_cases(job.loaded, allow_large=job.request.allow_large or bool(job.request.run))
    if (only := only_cases(job.files)) is not None:
        tests = restricted(tests, only)
    if job.request.run is not None:
        began = {(planned.test, planned.case.key) for planned in job.request.stored_run.cases}
        if began != {(test.test.name, case.key) for test in tests for case in test.cases}:
            raise InputError(
                f"run {job.request.run} can't go on: its plan gives other cases now, with this "
                "version of railgauge: start a new run"
            )
    return extended(ExpandedRun, job, tests=tests)


def arrange(job: ExpandedRun) -> ArrangedRun:
    """Lay what is still to be measured out in rounds that never share a machine."""
    plan, request = job.loaded.plan, job.request
    machines = {name: host.machine for name, host in plan.hosts.items()}
    judge = Judge(job.tests, job.loaded.catalogue)
    ended = {} if request.run is None else judge.recall(request.store, request.run)
    schedule = Schedule(
        job.tests,
        machines=machines,
        concurrency=plan.concurrency,
        seed=job.seed,
        finished=job.measured,
        interleaved=plan.test_order == "interleaved",
    )
    if judge:
        schedule = schedule.keep(judge.is_open)
    return extended(
        ArrangedRun, job, schedule=schedule, judge=judge, ended=ended, machines=machines
    )


def equip(job: ReachedRun) -> EquippedRun:
    """Put the engines on every machine and build them there, unless it has them already."""
    parallel = _parallel_machines(job)
    prefix = job.loaded.plan.mpi.prefix if job.loaded.plan.mpi else None
    folders = deploy_all(job.transports, job.sources, job.observer)

    def equip_one(machine: str, on_line: LineTaker) -> EquippedHost:
        transport, engines = job.transports[machine], folders[machine]
        mpi = None
        if machine in parallel:
            mpi = deploy_mpi(transport, engines, prefix, on_line=on_line)
        return EquippedHost(transport, engines, mpi)

    equipped = build_all(equip_one, job.transports, "rail-mpi", job.observer)
    _check_same_path(job, {machine: equipped[machine].mpi for machine in parallel})
    sites = {
        name: equipped[machine] for name, machine in job.machines.items() if machine in equipped
    }
    return extended(EquippedRun, job, sites=sites)


def _parallel_machines(job: ReachedRun) -> set[str]:
    """Return the machines on which MPI jobs are to run."""
    catalogue = job.loaded.catalogue
    return {
        job.machines[name]
        for dispatch in job.schedule.dispatches
        if (engine := catalogue.engine(dispatch.case.engine)).parallel and engine.program is None
        for name in dispatch.hosts
    }


def _check_same_path(job: ReachedRun, installations: Mapping[str, BuiltMpi | None]) -> None:
    """Check that rail-mpi has the same path everywhere, as one command line starts all ranks."""
    places: dict[str, str] = {}
    for machine, mpi in installations.items():
        if mpi is not None:
            places.setdefault(mpi.program, job.transports[machine].host)
    if len(places) > 1:
        listed = ", ".join(f"{program} on {host}" for program, host in places.items())
        raise EnvironmentFailedError(
            f"an MPI job starts one program on all its hosts, but rail-mpi is {listed}: give them "
            "the same home, or set XDG_CACHE_HOME on them to the same folder, and install MPI at "
            "the same place"
        )


def inspect(job: CheckedRun) -> InspectedRun:
    """Gather what each host is, with its way to all others, also where those are done or lost."""
    hosts = job.loaded.plan.hosts
    folders = {job.machines[name]: site.engines for name, site in job.sites.items()}
    used = {
        name
        for expanded in job.tests
        for case in expanded.cases
        for name in Dispatch(expanded.test.name, case, ()).hosts
    }
    addresses = [
        (job.machines[name], address)
        for name in hosts
        if name in used
        for address in (hosts[name].address, *hosts[name].networks.values())
    ]

    def inspect_one(machine: str) -> Mapping[str, str]:
        peers = [address for owner, address in addresses if owner != machine]
        gathered = facts.gather(job.transports[machine], peers, engines=folders[machine])
        return {**gathered, **job.versions.get(machine, {})}

    by_machine = everywhere(inspect_one, job.transports)
    facts_by_host = {name: by_machine[job.machines[name]] for name in job.sites}
    return extended(InspectedRun, job, facts=facts_by_host)


def watch(job: RecordedRun) -> WatchedRun:
    """Start a watcher on each machine, and see what goes on there while nothing of ours does."""
    if not job.schedule:
        return extended(WatchedRun, job, scene=None)
    with _with_resume_hint(job):
        scene = set_scene(
            job.loaded,
            job.schedule.dispatches,
            job.sites,
            job.machines,
            job.facts,
            job.holds,
            job.observer.say,
        )
        job.cleanup.enter_context(closing(scene))
        _log_idle(job, scene, "before")
    return extended(WatchedRun, job, scene=scene)


@contextlib.contextmanager
def _with_resume_hint(job: RecordedRun) -> Iterator[None]:
    try:
        yield
    except LostDatabaseError:
        raise
    except (RailgaugeError, KeyboardInterrupt) as error:
        command = job.request.store.command(f"resume {job.run}")
        error.add_note(f"What was measured is stored; go on with: {command}")
        raise


def _log_idle(job: RecordedRun, scene: Scene, phase: Phase) -> None:
    if scene.watchers:
        logs = idle([*scene.watchers.values()], phase, _IDLE_SECONDS)
        job.request.store.add_logs(job.run, logs)


def perform(job: WatchedRun) -> Finished:
    """Measure round after round, storing each replication as it comes."""
    store, judge, setting = job.request.store, job.judge, _setting(job)
    judge.leave_out(job.skipped)
    execution = Execution(store, job.run, job.observer, setting, judge)
    totals = execution.totals

    def stop() -> None:
        totals.stopped = True

    # Who stops it while nothing is measured any more waits for the end, which is near: no signal
    # comes between what is stored of a stopped run and the error that says it.
    with calling_on_signal(stop):
        if job.schedule:
            most = most_replications(job.schedule.dispatches, judge.open_cases)
            store.keep_few_pages()
            with _with_resume_hint(job):
                execution.run(job.schedule.rounds(judge.is_open), most, _time_left(job, setting))
                totals.planned += job.left_out
                totals.missing += job.left_out
                if job.scene is not None and not (totals.stopped or totals.out_of_time):
                    _log_idle(job, job.scene, "after")
                store.finish_run(job.run, "interrupted" if totals.missing else "complete")
        else:
            _end_unmeasured(job, totals)
        if totals.stopped and totals.missing and not totals.out_of_time:
            raise _interrupted(job, totals)
    return Finished(
        job.run,
        job.loaded.catalogue,
        totals.planned,
        totals.measured,
        len(store.failures(job.run)),
        totals.missing,
        totals.suspect,
        {**job.lost, **execution.lost},
        totals.out_of_time,
        tuple(job.skipped.values()),
        _unsettled(job, judge),
        totals.out_of_time and setting.final,
        totals.stopped and not totals.out_of_time,
    )


def _interrupted(job: WatchedRun, totals: Totals) -> InterruptedRunError:
    stored = plural(totals.measured + totals.failed, "replication")
    return InterruptedRunError(
        f"stopped: {stored} measured and stored, {totals.missing} missing. "
        f"Go on with: {job.request.store.command(f'resume {job.run}')}"
    )


def _end_unmeasured(job: WatchedRun, totals: Totals) -> None:
    """End a run whose rest is skipped or left out, or was measured just before it was killed."""
    store = job.request.store
    totals.planned = totals.missing = job.left_out
    if store.run(job.run).state != "complete":
        store.finish_run(job.run, "interrupted" if totals.missing else "complete")


def _setting(job: WatchedRun) -> Setting:
    plan = job.loaded.plan
    over = deadline(job.request.margin, job.observer.say)
    final = False
    if plan.budget is not None:
        spent = time.monotonic() + plan.budget
        if over is None or spent < over:
            over, final = spent, True
    return Setting(
        job.loaded.catalogue,
        _namer(job),
        job.sites,
        plan.concurrency,
        partial(launch_terms, plan),
        over,
        None if job.scene is None else Observing(job.scene),
        final,
        LaunchTimes(
            job.loaded.catalogue,
            plan,
            observed(job.request.store, job.loaded, job.tests).seconds,
        ),
    )


def _time_left(job: WatchedRun, setting: Setting) -> TimeLeft:
    assert setting.times is not None
    return TimeLeft(
        (launch for launch in job.schedule.dispatches if job.judge.is_open(launch)),
        setting.times,
        together={test.name for test in job.loaded.plan.tests if test.order == "sequential"},
        spans=spans_of(job.tests),
    )


def _unsettled(job: WatchedRun, judge: Judge) -> tuple[Unsettled, ...]:
    """Return the cases that never got as narrow as their rules ask, with their names."""
    names = _names(job)
    return tuple(case._replace(name=names.with_test(case)) for case in judge.unsettled())


def _namer(job: WatchedRun) -> Namer:
    """Return what names a dispatch's case apart from the others of its test."""
    return partial(dispatch_name, names=_names(job))


def _names(job: WatchedRun) -> CaseNames:
    return CaseNames(of_tests(job.tests), job.loaded.catalogue)
