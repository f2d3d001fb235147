"""Finds other people's programs on the hosts; what needs one that is absent is skipped, and why.

A skipped case is no failure: a report marks it, and `railgauge resume` asks again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from railgauge.base.errors import HostUnreachableError
from railgauge.base.number import plural
from railgauge.base.side_by_side import everywhere
from railgauge.engine.launch_terms import launch_terms
from railgauge.engine.presence import absent, programs_of, unmet, version_of, why_skipped
from railgauge.plan.catalogue import EngineInfo
from railgauge.plan.schedule import Dispatch
from railgauge.run.job import CheckedRun, HeldRun, extended


def find_programs(job: HeldRun) -> CheckedRun:
    """Leave out what needs a program that a host lacks, and look up the others' versions."""
    foreign = list(_foreign(job))
    needed: dict[str, set[str]] = {}
    for dispatch, _ in foreign:
        for name in dispatch.hosts:
            needed.setdefault(job.machines[name], set()).update(_programs(job, dispatch))
    missing = everywhere(lambda machine: _ask(job, machine, needed[machine]), needed)
    lacking = {name: missing.get(machine, frozenset()) for name, machine in job.machines.items()}
    unmet_by_engine = _unmet(job, foreign, lacking)
    skipped: dict[tuple[str, str], str] = {}
    for dispatch, engine in foreign:
        problems = unmet_by_engine.get(engine.name, {})
        if reason := why_skipped(_programs(job, dispatch), dispatch.hosts, lacking, problems):
            skipped[dispatch.test, dispatch.case.key] = reason
    for reason, count in Counter(skipped.values()).items():
        job.observer.say(f"skipped: {plural(count, 'case')}: {reason}")
    left = job.schedule
    if skipped:
        left = left.keep(lambda dispatch: (dispatch.test, dispatch.case.key) not in skipped)
    versions = _versions(job, skipped)
    return extended(CheckedRun, job, schedule=left, skipped=skipped, versions=versions)


def store_skipped(job: CheckedRun, run: int) -> None:
    """Store what a run that goes on skips now, and what it needn't skip any more."""
    cases = {(dispatch.test, dispatch.case.key) for dispatch, _ in _foreign(job)} | {*job.skipped}
    if not cases:
        return
    store = job.request.store
    before = {
        (planned.test, planned.case.key): planned.skipped
        for planned in store.run(run).cases
        if planned.skipped
    }
    changed = {
        key: job.skipped.get(key)
        for key in sorted(cases)
        if job.skipped.get(key) != before.get(key)
    }
    store.skip_cases(run, changed)


def _foreign(job: HeldRun) -> Iterator[tuple[Dispatch, EngineInfo]]:
    """Yield the launches of cases that somebody else's program measures."""
    engines = job.loaded.catalogue.engines
    tests = {test.test.name for test in job.tests if engines[test.test.engine].program is not None}
    for dispatch in job.schedule.dispatches if tests else ():
        if dispatch.test in tests:
            yield dispatch, engines[dispatch.case.engine]


def _programs(job: HeldRun, dispatch: Dispatch) -> tuple[str, ...]:
    engine = job.loaded.catalogue.engines[dispatch.case.engine]
    return programs_of(engine, dispatch.case, launch_terms(job.loaded.plan, dispatch).launcher)


def _ask(job: HeldRun, machine: str, programs: set[str]) -> frozenset[str]:
    transport = job.transports[machine]
    try:
        return absent(transport, programs)
    except TimeoutError as error:
        raise HostUnreachableError(f"{transport.host}: {error}: is it overloaded?") from error


def _unmet(
    job: HeldRun,
    foreign: Iterable[tuple[Dispatch, EngineInfo]],
    lacking: Mapping[str, Collection[str]],
) -> dict[str, dict[str, str]]:
    """Return engine -> host -> why what the engine requires isn't there, where its programs are."""
    requirements: dict[str, dict[str, tuple[str, ...]]] = {}
    for dispatch, engine in foreign:
        needs = {*_programs(job, dispatch)}
        for name in dispatch.hosts:
            if engine.program and engine.program.requires and needs.isdisjoint(lacking[name]):
                requires = requirements.setdefault(job.machines[name], {})
                requires[engine.name] = engine.program.requires
    outputs = everywhere(
        lambda machine: {
            engine_name: unmet(job.transports[machine], command)
            for engine_name, command in requirements[machine].items()
        },
        requirements,
    )
    problems: dict[str, dict[str, str]] = {}
    for name, machine in job.machines.items():
        for engine_name, output in outputs.get(machine, {}).items():
            if output:
                problem = f"what {engine_name} requires fails ({output})"
                problems.setdefault(engine_name, {})[name] = problem
    return problems


def _versions(job: HeldRun, skipped: Mapping[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    """Return machine -> fact -> version of the run's programs there, also where that is done."""
    used: dict[str, dict[str, tuple[str, ...]]] = {}
    for expanded in job.tests:
        engine = job.loaded.catalogue.engines[expanded.test.engine]
        if engine.program is None or not engine.program.version:
            continue
        for case in expanded.cases:
            if (expanded.test.name, case.key) in skipped:
                continue
            for name in Dispatch(expanded.test.name, case, ()).hosts:
                if job.machines[name] in job.transports:
                    commands = used.setdefault(job.machines[name], {})
                    commands[f"engine_{engine.name}"] = engine.program.version

    def versions(machine: str) -> dict[str, str]:
        by_fact = {
            fact: version_of(job.transports[machine], command)
            for fact, command in used[machine].items()
        }
        return {fact: version for fact, version in by_fact.items() if version is not None}

    return everywhere(versions, used)
