"""Begins a run in the store, or opens one that goes on: its cases, metrics, facts and peaks."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from railgauge import __version__
from railgauge.base.derived import RECEIVED_BYTES, derived_metrics
from railgauge.hosts.peaks.host_peaks import host_peaks, link_peak
from railgauge.plan.cases import ExpandedTest
from railgauge.plan.catalogue import EngineInfo
from railgauge.run.job import InspectedRun, RecordedRun, extended
from railgauge.run.skipping import store_skipped
from railgauge.run.stopping import rules_of
from railgauge.store.records import MetricInfo, NewRun, PlannedCase


def record(job: InspectedRun) -> RecordedRun:
    """Begin the run in the store, or open the one that goes on again."""
    run = job.request.run
    if run is None:
        return extended(RecordedRun, job, run=_begin(job))
    store_skipped(job, run)
    job.request.store.end_cases(run, job.ended)
    if job.schedule:
        _reopen(job, run)
    return extended(RecordedRun, job, run=run)


def _begin(job: InspectedRun) -> int:
    loaded, catalogue = job.loaded, job.loaded.catalogue
    commit, dirty = job.git
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
            labels=job.request.labels,
        ),
        [
            PlannedCase(
                expanded.test.name,
                case,
                expanded.test.most,
                job.skipped.get((expanded.test.name, case.key), ""),
                least=expanded.test.least if expanded.test.rule else None,
                rule=rule,
            )
            for expanded in job.tests
            for case, rule in zip(expanded.cases, rules_of(expanded, catalogue), strict=True)
        ],
        {
            name: _metrics(job, catalogue.engine(name))
            for name in {expanded.test.engine for expanded in job.tests}
        },
    )
    job.cleanup.enter_context(job.request.store.claim(run))
    for name, facts in job.facts.items():
        job.request.store.add_facts(run, name, facts)
    _add_peaks(job, run)
    return run


def _add_peaks(job: InspectedRun, run: int) -> None:
    """Store what hosts and links could do at most, as their owner or the hosts' facts say."""
    plan = job.loaded.plan
    file = "hosts file" if plan.hosts_file else "plan"
    declared = {name: plan.hosts[name].peaks for name in job.facts}
    peaks = [host_peaks(name, declared[name], job.facts[name], file=file) for name in declared]
    cases = (case for expanded in job.tests for case in expanded.cases)
    used = {case.link for case in cases if case.server is not None}
    rates = {name: link.rate for name, link in plan.links.items() if name in used and link.rate}
    links = (link_peak(name, rate, file=file) for name, rate in rates.items())
    job.request.store.add_peaks(run, chain(chain.from_iterable(peaks), links))


def _metrics(job: InspectedRun, engine: EngineInfo) -> dict[str, MetricInfo]:
    """Return all metrics that the engine or its logs may give, with the change that matters."""
    own = {name: MetricInfo.of(metric) for name, metric in engine.metrics.items()}
    smallest = job.loaded.plan.smallest
    return {
        name: replace(info, smallest=smallest(name))
        for name, info in (own | _derived(engine, job.tests)).items()
    }


def _derived(engine: EngineInfo, tests: Iterable[ExpandedTest]) -> dict[str, MetricInfo]:
    """Return the metrics that the logs of this engine's tests may give, with its own in front."""
    own = [expanded.test for expanded in tests if expanded.test.engine == engine.name]
    if all(test.system_log is None for test in own):
        return {}
    two_sided = engine.two_sided or engine.parallel
    derived = derived_metrics(
        two_sided=two_sided,
        soak=any(test.soak for test in own),
        receives=any(name in engine.metrics for name in RECEIVED_BYTES),
    )
    return {name: MetricInfo(*info) for name, info in derived.items() if name not in engine.metrics}


def _reopen(job: InspectedRun, run: int) -> None:
    store = job.request.store
    before = job.request.store.run(run).facts
    for name, now in job.facts.items():
        earlier = before.get(name, now)
        if changed := [fact for fact in earlier if now.get(fact) != earlier[fact]]:
            job.observer.say(
                f"{name} is not what it was when run {run} began: {', '.join(changed)}"
            )
        store.add_facts(run, name, now)
    _add_peaks(job, run)
    store.reopen_run(run)
