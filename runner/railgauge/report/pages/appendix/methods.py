"""How a run was measured, as sentences made of what is stored with it and of nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.plan.allocated import Allocated
from railgauge.plan.model import Plan
from railgauge.plan.texts import NODES, only_cases
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.formats.contents import Passage
from railgauge.report.formats.page import RunRecords, time_of
from railgauge.report.pages.appendix.reasons import counted, plural
from railgauge.report.pages.appendix.settings import settings
from railgauge.report.tables.selection import abbreviated, make_axes
from railgauge.store.counts import Counts, LaunchSettings
from railgauge.store.records import PlannedCase, StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

_WARMUP = "warmup"
_ORDERS = {
    "sequential": "one case after another, all replications of a case together (sequential)",
    "interleaved": "the first replication of every case, then the second, and so on (interleaved)",
    "random": "in blocks of one replication of every case, each block shuffled anew (random, seed"
    " {seed})",
}
_OPEN = ", of the cases that hadn't had enough"
_ENDED = {
    "narrow": "narrow enough",
    "most": "after the most",
    "budget": "with their time used up",
}
_STATES = {
    "unfinished": "It has not ended: its numbers may still change.",
    "interrupted": "It was interrupted before its end: its numbers may still change.",
}


def methods(
    records: RunRecords,
    counts: Mapping[str, Counts],
    catalogue: Catalogue | None,
    *,
    launches: Mapping[str, LaunchSettings],
    changed: Sequence[tuple[str, str]] = (),
) -> Passage:
    """Return how the run of `records` was measured; `counts` are its replications by test.

    `launches` are its settings by test, `changed` the facts, each of a host, that were
    another when it was resumed.
    """
    run = records.run
    paragraphs = [" ".join([*_run(run), *_changed(changed)])]
    if run.new.origin == "measured":
        plan = _plan(run)
        paragraphs.append(" ".join(_orders(run, plan)))
    else:
        plan = None
    by_test: dict[str, list[PlannedCase]] = {}
    for case in run.cases:
        by_test.setdefault(case.test, []).append(case)
    for test, cases in by_test.items():
        told = _test(test, cases, counts.get(test, Counts()), run.new.origin == "imported")
        warmups = _warmups(cases, counts.get(test), catalogue)
        in_effect = settings(cases, launches.get(test), catalogue)
        paragraphs.append(" ".join([*told, *warmups, *in_effect]))
    if reasons := " ".join(_reasons(records)):
        paragraphs.append(reasons)
    return Passage(f"appendix.run-{run.id}", f"Run {run.id}", tuple(paragraphs))


def _run(run: StoredRun) -> Iterator[str]:
    plan = visible(run.new.plan)
    if run.new.origin == "imported":
        unknown = "in an order" if run.facts else "in an order and on machines"
        yield (
            f"Run {run.id} is plan {plan}, imported {time_of(run.started_at)}: its values were"
            f" measured elsewhere, {unknown} not known here."
        )
        return
    when = f"from {time_of(run.started_at)}"
    if run.ended_at:
        when += f" to {time_of(run.ended_at)}"
    yield f"Run {run.id} measured plan {plan}, {_commit(run)}, {when}."
    if run.state in _STATES:
        yield _STATES[run.state]
    if only_cases(run.new.files) is not None:
        yield "It measured only some of its plan's cases, to look at them once more."
    engines = ", ".join(dict.fromkeys(visible(one.case.engine) for one in run.cases))
    version = visible(run.new.railgauge_version) or "of unknown version"
    yield f"Measured with railgauge {version}, by its engines and those that it drives: {engines}."
    if run.new.engines_hash:
        yield f"The engines' source has the hash {visible(run.new.engines_hash)}."


def _changed(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    if facts:
        told = abbreviated([f"{visible(name)} of {visible(host)}" for host, name in facts])
        yield (
            "It was resumed when facts of its machines had changed, of which the table of machines"
            f" has the last: {told}."
        )


def _commit(run: StoredRun) -> str:
    if not run.new.git_commit:
        return "its files in no git repository"
    changed = " with uncommitted changes" if run.new.git_dirty else ""
    return f"its files at git commit {visible(run.new.git_commit)}{changed}"


def _plan(run: StoredRun) -> Plan | None:
    """Return the plan that is stored with the run; None if it is another version's."""
    try:
        document = loads(run.new.plan_text, "plan")
        if NODES in run.new.files:
            document = Allocated(run.new.files[NODES]).fill(document)
        return validate(document, Plan)
    except InputError:
        return None


def _orders(run: StoredRun, plan: Plan | None) -> Iterator[str]:
    if plan is None:
        yield (
            "In which order it measured says its plan's text, which is stored with it but which"
            " this version of railgauge can't read."
        )
        return
    if plan.concurrency == 1:
        yield "One launch of an engine ran at a time."
    else:
        yield (
            f"Up to {plan.concurrency} launches of engines ran at the same time, on machines that"
            " were all different; to that end some may have begun before their turn."
        )
    tests = [test for test in plan.tests if any(one.test == test.name for one in run.cases)]
    if len(tests) > 1:
        yield "The tests were measured one after another."
    by_order: dict[str, list[str]] = {}
    for test in tests:
        order = _ORDERS[test.order].format(seed=run.new.seed) + (_OPEN if test.rule else "")
        by_order.setdefault(order, []).append(visible(test.name))
    for order, names in by_order.items():
        of = f" of {', '.join(names)}" if len(by_order) > 1 else ""
        yield f"The order{of} was: {order}."


def _test(name: str, cases: Sequence[PlannedCase], got: Counts, imported: bool) -> Iterator[str]:
    engines = ", ".join(dict.fromkeys(visible(one.case.engine) for one in cases))
    yield f"Test {visible(name)} (engine {engines}) has {plural(len(cases), 'case')}."
    there = [one for one in cases if not one.skipped]
    if imported:
        parts = [f"Imported: {plural(got.ok + got.suspect, 'replication')} of them"]
        parts += [f"suspect: {got.suspect}"] if got.suspect else []
        parts += [f"failed besides: {got.failed}"] if got.failed else []
        yield f"{'; '.join(parts)}."
        return
    yield from _asked(there)
    yield _outcome(there, got)
    skipped = Counter(visible(one.skipped) for one in cases if one.skipped)
    if skipped:
        yield f"Skipped: {counted(skipped, 'case')}."


def _asked(cases: Sequence[PlannedCase]) -> Iterator[str]:
    fixed = sorted({one.replications for one in cases if one.least is None})
    if fixed:
        yield f"Replications of each case: {_numbers(fixed)}."
    ruled: dict[tuple[int, int, str], Counter[str]] = {}
    for one in cases:
        if one.least is not None:
            asked = (one.least, one.replications, one.rule)
            ruled.setdefault(asked, Counter())[one.ended] += 1
    for (least, most, rule), ended in ruled.items():
        how = [f"{_ENDED.get(end, end)}: {ended[end]}" for end in sorted(ended) if end]
        parts = [f"cases ended {', '.join(how)}"] if how else []
        parts += [f"cases not ended yet: {ended['']}"] if ended[""] else []
        asked_for = f"Replications of each case: {least} to {most}, until {visible(rule)}"
        yield f"{'; '.join([asked_for, *parts])}."


def _numbers(every: Sequence[int]) -> str:
    return str(every[0]) if len(every) == 1 else f"{every[0]} to {every[-1]}"


def _outcome(cases: Sequence[PlannedCase], got: Counts) -> str:
    """Say how many replications there are of how many, where a number was asked for."""
    measured = got.ok + got.suspect
    asked = sum(one.replications for one in cases)
    fixed = all(one.least is None for one in cases) and measured + got.failed <= asked
    parts = [f"{measured} of {asked} measured" if fixed else f"{measured} measured"]
    parts.append(f"{got.suspect or 'none'} of them suspect")
    parts.append(f"{got.failed or 'none'} failed")
    missing = asked - measured - got.failed
    if fixed and missing:
        parts.append(f"{missing} missing")
    return f"In all: {', '.join(parts)}."


def _warmups(
    cases: Sequence[PlannedCase], got: Counts | None, catalogue: Catalogue | None
) -> Iterator[str]:
    """Say how long engines warmed up; nothing of those that know no warm-up."""
    # Of a matrix's hundred thousands of pairs the parameters are one object.
    every = {id(one.case.parameters): one.case for one in cases if not one.skipped}.values()
    values = {one.parameters[_WARMUP]: one.engine for one in every if _WARMUP in one.parameters}
    if not values:
        return
    axis = make_axes([_WARMUP], {}, sorted(set(values.values())), catalogue)[_WARMUP]
    texts = [axis.text(value) for value in axis.sorted(values) if value]
    if texts:
        some = "each launch" if all(values) else "the launches of some cases, not of all,"
        yield f"Before its replications {some} warmed up for {' or '.join(texts)}."
    else:
        yield "There was no warm-up."
    if got is not None and got.warmups:
        stand = "stands" if got.warmups == 1 else "stand"
        yield f"{plural(got.warmups, 'warm-up replication')} {stand} apart, in no number."


def _reasons(records: RunRecords) -> Iterator[str]:
    """Say why replications failed or are suspect, by the codes of the reasons."""
    failed = Counter(visible(one.error_code) for one in records.failures)
    if failed:
        yield f"Why replications failed: {counted(failed, 'replication')}."
    suspect = {
        (visible(one.suspicion.code), one.test, one.case.key, one.replication)
        for one in records.suspicions
    }
    if suspect:
        codes = Counter(code for code, *_ in suspect)
        yield f"Why replications are suspect: {counted(codes, 'replication')}."
