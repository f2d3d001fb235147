"""A run: the list of its stages, each an ordinary function that takes what the one before returned.

    read → expand → arrange → reach → equip → find_programs → inspect → record → watch → perform

Nothing starts on a host before the whole plan is valid; nothing is stored before every host is
ready; from then on each replication is stored as it comes.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from railgauge import __version__, facts
from railgauge.cases import ExpandedTest, varying
from railgauge.cases import expand as expand_cases
from railgauge.catalogue import EngineInfo
from railgauge.derived import RECEIVED_BYTES, derived_metrics
from railgauge.engine.deploy import Bundle, bundle, deploy
from railgauge.engine.deploy_mpi import Mpi as BuiltMpi
from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.engine.launch_terms import launch_terms
from railgauge.engine.measure import Site
from railgauge.errors import (
    EnvironmentFailedError,
    HostUnreachableError,
    InputError,
    InterruptedRunError,
    RailgaugeError,
)
from railgauge.execution import Execution, Namer, Setting, Totals
from railgauge.gitstate import git_state
from railgauge.job import Finished, Job, Request
from railgauge.observing import Observing, Scene
from railgauge.observing.opening import closing, set_scene
from railgauge.peaks import host_peaks, link_peak
from railgauge.plan.load import load_plan, load_plan_text
from railgauge.plan.texts import NODES, moved_to, named_texts
from railgauge.schedule import Dispatch, dispatch_name, schedule
from railgauge.side_by_side import everywhere
from railgauge.skipping import find_programs, store_skipped
from railgauge.slurm.allocation import deadline, require_nodes
from railgauge.store.connect import connect as connect_database
from railgauge.store.records import MetricInfo, NewRun, PlannedCase, StoredRun
from railgauge.systemlog import Phase
from railgauge.transport import open_transport
from railgauge.transport.base import Transport
from railgauge.transport.base import run as run_program
from railgauge.transport.closing import close_all
from railgauge.watch.watcher import idle

_REACH_SECONDS = 60.0
# How long the machines are watched before the first and after the last launch.
_IDLE_SECONDS = 0.5


def execute(request: Request) -> Finished:
    """Run the stages one after another; InterruptedRunError when the user stops it."""
    value: Any = request
    for stage in STAGES:
        value = stage(value)
    assert isinstance(value, Finished)
    return value


def read(request: Request) -> Job:
    """Read the plan: from its file, or as the run to go on with has it."""
    sources = bundle()
    if request.run is not None:
        return _read_again(request, request.run, sources)
    assert request.plan is not None
    loaded = load_plan(request.plan, hosts=request.hosts)
    # A wrong --db is told before any host is bothered.
    connect_database(request.where, create=True)[0].dispose()
    seed = secrets.randbelow(2**31) if loaded.plan.seed is None else loaded.plan.seed
    return Job(request, loaded, seed, sources, named_texts(loaded), done={})


def _read_again(request: Request, run: int, sources: Bundle) -> Job:
    stored = request.store.run(run)
    if stored.new.origin != "measured":
        raise InputError(f"run {run} was imported: there is nothing to go on with")
    if stored.new.engines_hash != sources.digest:
        raise InputError(
            f"run {run} was begun with other engines ({stored.new.engines_hash[:12]}, now "
            f"{sources.digest[:12]}) and one run may not mix two: start a new run of its plan"
        )
    directory = Path(stored.new.directory)
    began = stored.new.files
    loaded = load_plan_text(
        stored.new.plan_text, f"plan of run {run}", directory, began.get(NODES), moved_to(began)
    )
    now = named_texts(loaded)
    if changed := sorted(name for name in {*began, *now} if began.get(name) != now.get(name)):
        raise InputError(
            f"run {run} can't go on: {', '.join(changed)} changed since it began, and the "
            "rest might measure something else: start a new run, or put back what it was"
        )
    # Before looking at what is done, or another process might be doing more of it just now.
    request.cleanup.enter_context(request.store.claim(run))
    return Job(request, loaded, stored.new.seed, sources, now, request.store.done(run))


def expand(job: Job) -> Job:
    """Expand the tests to cases; a run that goes on must have exactly those it began with."""
    tests = expand_cases(job.loaded, allow_large=job.request.allow_large or bool(job.request.run))
    if job.request.run is not None:
        began = {(planned.test, planned.case.key) for planned in _stored(job).cases}
        if began != {(each.test.name, case.key) for each in tests for case in each.cases}:
            raise InputError(
                f"run {job.request.run} can't go on: its plan gives other cases now, with this "
                "version of railgauge: start a new run"
            )
    return replace(job, tests=tests)


def arrange(job: Job) -> Job:
    """Lay what is still to be measured out in rounds that never share a machine."""
    plan = job.loaded.plan
    machines = {name: host.machine for name, host in plan.hosts.items()}
    rounds = schedule(
        job.tests,
        machines=machines,
        concurrency=plan.concurrency,
        seed=job.seed,
        done=job.done,
    )
    return replace(job, rounds=rounds, machines=machines)


def reach(job: Job) -> Job:
    """Connect to every machine that the rounds need; all that can't be reached are named."""
    dispatches = [dispatch for each in job.rounds for dispatch in each]
    hosts = sorted({name for dispatch in dispatches for name in dispatch.hosts})
    needed = [job.loaded.plan.hosts[name] for name in hosts]
    require_nodes([each.node or each.address for each in needed if each.transport == "slurm"])
    first = {job.machines[name]: name for name in reversed(hosts)}
    transports: dict[str, Transport] = {}
    # Called with what is in there then: whatever happens, all that were opened get closed.
    job.request.cleanup.callback(lambda: close_all(transports.values()))
    for machine, name in first.items():
        transports[machine] = open_transport(name, job.loaded.plan.hosts[name])

    def connect(machine: str) -> None:
        try:
            run_program(transports[machine], ["true"], timeout=_REACH_SECONDS)
        except TimeoutError as error:
            raise HostUnreachableError(
                f"{first[machine]}: no answer within {_REACH_SECONDS:.0f} s: is it up, and can it "
                "be logged in to without a question?"
            ) from error

    if first:
        job.request.observer.say(f"reaching {', '.join(sorted(first.values()))}")
    everywhere(connect, first)
    return replace(job, transports=transports)


def equip(job: Job) -> Job:
    """Put the engines on every machine and build them there, unless it has them already."""
    if job.transports:
        job.request.observer.say(f"engines {job.sources.digest[:12]}: built where they are missing")

    parallel = _parallel_machines(job)

    def equip_one(machine: str) -> Site:
        transport = job.transports[machine]
        engines = deploy(transport, job.sources)
        prefix = job.loaded.plan.mpi.prefix if job.loaded.plan.mpi else None
        mpi = deploy_mpi(transport, engines, prefix) if machine in parallel else None
        return Site(transport, engines, mpi)

    equipped = everywhere(equip_one, job.transports)
    _check_same_path(job, {machine: equipped[machine].mpi for machine in parallel})
    sites = {
        name: equipped[machine] for name, machine in job.machines.items() if machine in equipped
    }
    return replace(job, sites=sites)


def _parallel_machines(job: Job) -> set[str]:
    """Return the machines on which MPI jobs are to run."""
    catalogue = job.loaded.catalogue
    return {
        job.machines[name]
        for each in job.rounds
        for dispatch in each
        if (engine := catalogue.engine(dispatch.case.engine)).parallel and engine.program is None
        for name in dispatch.hosts
    }


def _check_same_path(job: Job, found: Mapping[str, BuiltMpi | None]) -> None:
    """See that rail-mpi is at the same place everywhere, for one command line starts all ranks."""
    places: dict[str, str] = {}
    for machine, mpi in found.items():
        if mpi is not None:
            places.setdefault(mpi.program, job.transports[machine].host)
    if len(places) > 1:
        listed = ", ".join(f"{program} on {host}" for program, host in places.items())
        raise EnvironmentFailedError(
            f"an MPI job starts one program on all its hosts, but rail-mpi is {listed}: give them "
            "the same home, or set XDG_CACHE_HOME on them to the same folder"
        )


def inspect(job: Job) -> Job:
    """Gather what each host is."""
    hosts = job.loaded.plan.hosts
    folders = {job.machines[name]: site.engines for name, site in job.sites.items()}

    def inspect_one(machine: str) -> Mapping[str, str]:
        peers = [
            address
            for name in job.sites
            if job.machines[name] != machine
            for address in (hosts[name].address, *hosts[name].networks.values())
        ]
        found = facts.gather(job.transports[machine], peers, engines=folders[machine])
        return {**found, **job.versions.get(machine, {})}

    found = everywhere(inspect_one, job.transports)
    return replace(job, facts={name: found[job.machines[name]] for name in job.sites})


def record(job: Job) -> Job:
    """Begin the run in the store, or open the one that goes on again."""
    run = job.request.run
    if run is None:
        return replace(job, run=_begin(job))
    store_skipped(job, run)
    if job.rounds:
        _go_on(job, run)
    return replace(job, run=run)


def _begin(job: Job) -> int:
    loaded, catalogue = job.loaded, job.loaded.catalogue
    others = [
        loaded.directory / name for name in (loaded.plan.hosts_file, *loaded.plan.engines) if name
    ]
    commit, dirty = git_state(Path(loaded.path), others)
    run = job.request.store.begin_run(
        NewRun(
            plan=loaded.plan.name,
            plan_text=loaded.text,
            directory=str(loaded.directory.resolve()),
            git_commit=commit,
            git_dirty=dirty,
            seed=job.seed,
            controller=socket.gethostname(),
            railgauge_version=__version__,
            engines_hash=job.sources.digest,
            files=job.files,
        ),
        [
            PlannedCase(
                each.test.name,
                case,
                each.test.replications,
                job.skipped.get((each.test.name, case.key), ""),
            )
            for each in job.tests
            for case in each.cases
        ],
        {
            name: {
                metric.name: MetricInfo(metric.unit, metric.better)
                for metric in catalogue.engine(name).metrics.values()
            }
            | _derived(catalogue.engine(name), job.tests)
            for name in {each.test.engine for each in job.tests}
        },
    )
    job.request.cleanup.enter_context(job.request.store.claim(run))
    for name, found in job.facts.items():
        job.request.store.add_facts(run, name, found)
    _add_peaks(job, run)
    return run


def _add_peaks(job: Job, run: int) -> None:
    """Store what hosts and links could do at most, as their owner or the hosts' facts say."""
    plan = job.loaded.plan
    file = "hosts file" if plan.hosts_file else "plan"
    declared = {name: plan.hosts[name].peaks for name in job.facts}
    found = [host_peaks(name, declared[name], job.facts[name], file=file) for name in declared]
    used = {case.link for each in job.tests for case in each.cases if case.server is not None}
    rates = {name: link.rate for name, link in plan.links.items() if name in used and link.rate}
    links = (link_peak(name, rate, file=file) for name, rate in rates.items())
    job.request.store.add_peaks(run, chain(chain.from_iterable(found), links))


def _derived(engine: EngineInfo, tests: Iterable[ExpandedTest]) -> dict[str, MetricInfo]:
    """Return the metrics that the logs of this engine's tests may give, with its own in front."""
    own = [each.test for each in tests if each.test.engine == engine.name]
    if all(test.system_log is None for test in own):
        return {}
    two_sided = engine.two_sided or engine.parallel
    found = derived_metrics(
        two_sided=two_sided,
        soak=any(test.soak for test in own),
        receives=any(name in engine.metrics for name in RECEIVED_BYTES),
    )
    return {name: MetricInfo(*info) for name, info in found.items() if name not in engine.metrics}


def _go_on(job: Job, run: int) -> None:
    store = job.request.store
    before = _stored(job).facts
    for name, now in job.facts.items():
        known = before.get(name, now)
        if changed := [fact for fact in known if now.get(fact) != known[fact]]:
            job.request.observer.say(
                f"{name} is not what it was when run {run} began: {', '.join(changed)}"
            )
        store.add_facts(run, name, now)
    _add_peaks(job, run)
    store.reopen_run(run)


def watch(job: Job) -> Job:
    """Start a watcher on each machine, and see what goes on there while nothing of ours does."""
    if not job.rounds:
        return job
    observer = job.request.observer
    scene = set_scene(
        job.loaded,
        [dispatch for each in job.rounds for dispatch in each],
        job.sites,
        job.machines,
        job.facts,
        everywhere=everywhere,
        say=observer.say,
    )
    job.request.cleanup.enter_context(closing(scene))
    with _saying_how_to_go_on(job):
        _log_idle(job, scene, "before")
    return replace(job, scene=scene)


@contextlib.contextmanager
def _saying_how_to_go_on(job: Job) -> Iterator[None]:
    try:
        yield
    except (RailgaugeError, KeyboardInterrupt) as error:
        error.add_note(f"What was measured is stored; go on with: railgauge resume {job.run}")
        raise


def _log_idle(job: Job, scene: Scene, phase: Phase) -> None:
    if scene.watchers:
        logs = idle([*scene.watchers.values()], phase, _IDLE_SECONDS)
        job.request.store.add_logs(job.run, logs)


def perform(job: Job) -> Finished:
    """Measure round after round, storing each replication as it comes."""
    store, plan, catalogue = job.request.store, job.loaded.plan, job.loaded.catalogue
    setting = Setting(
        catalogue,
        _namer(job),
        job.sites,
        plan.concurrency,
        partial(launch_terms, plan),
        deadline(job.request.margin, job.request.observer.say),
        None if job.scene is None else Observing(job.scene),
    )
    execution = Execution(store, job.run, job.request.observer, setting)
    totals = Totals()
    if job.rounds:
        with _saying_how_to_go_on(job):
            totals = execution.run(job.rounds)
            if job.scene is not None and not (totals.stopped or totals.out_of_time):
                _log_idle(job, job.scene, "after")
        store.finish_run(job.run, "interrupted" if totals.missing else "complete")
    elif store.run(job.run).state != "complete":
        # All that is left was skipped, or it was killed after its last replication.
        store.finish_run(job.run, "complete")
    if totals.stopped and totals.missing and not totals.out_of_time:
        raise InterruptedRunError(
            f"stopped: {totals.measured + totals.failed} replications measured and stored, "
            f"{totals.missing} missing. Go on with: railgauge resume {job.run}"
        )
    failed = len(store.failures(job.run))
    return Finished(
        job.run,
        catalogue,
        totals.asked,
        totals.measured,
        failed,
        totals.missing,
        totals.suspect,
        execution.lost,
        totals.out_of_time,
        tuple(job.skipped.values()),
    )


STAGES: tuple[Callable[[Any], Any], ...] = (
    read,
    expand,
    arrange,
    reach,
    equip,
    find_programs,
    inspect,
    record,
    watch,
    perform,
)


def _namer(job: Job) -> Namer:
    """Return what tells a dispatch's case from the others of its test."""
    names = {each.test.name: varying(each.cases) for each in job.tests}

    def name(dispatch: Dispatch) -> str:
        return dispatch_name(dispatch, names[dispatch.test], job.loaded.catalogue)

    return name


def _stored(job: Job) -> StoredRun:
    assert job.request.run is not None
    return job.request.store.run(job.request.run)
