"""How a run was measured, as sentences made of what is stored with it and of nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.base.number import plural
from railgauge.plan.allocated import Allocated
from railgauge.plan.hostlists import write_out
from railgauge.plan.model import Plan
from railgauge.plan.partial import only_cases
from railgauge.plan.texts import allocated_nodes
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.pages.case_settings import distinct_parameters
from railgauge.report.pages.contents import Passage
from railgauge.report.pages.page import RunRecords, time_of
from railgauge.report.tables.selection import abbreviated, make_axes
from railgauge.store.counts import Counts
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
_TEST_ORDERS = {
    "sequential": "one after another",
    "interleaved": "in turns, a block of each at a time (interleaved)",
}
# Different reasons that are listed; the others are one number.
_MOST_REASONS = 12
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
    changed: Sequence[tuple[str, str]] = (),
) -> Passage:
    """Return how the run of `records` was measured; `counts` are its replications by test.

    `changed` are the (host, fact)s that had changed when it was resumed.
    """
    run = records.run
    paragraphs = [" ".join([*_run_sentences(run), *_resumption(changed)])]
    if run.new.origin == "measured":
        plan = _stored_plan(run)
        paragraphs.append(" ".join(_order_sentences(run, plan)))
    else:
        plan = None
    by_test: dict[str, list[PlannedCase]] = {}
    for case in run.cases:
        by_test.setdefault(case.test, []).append(case)
    for test, cases in by_test.items():
        test_sentences = _test_sentences(
            test, cases, counts.get(test, Counts()), run.new.origin == "imported"
        )
        warmup_sentences = _warmup_sentences(cases, counts.get(test), catalogue)
        paragraphs.append(" ".join([*test_sentences, *warmup_sentences]))
    if reasons := " ".join(_reason_sentences(records)):
        paragraphs.append(reasons)
    return Passage(f"appendix.run-{run.id}", f"Run {run.id}", tuple(paragraphs))


def _run_sentences(run: StoredRun) -> Iterator[str]:
    plan = visible(run.new.plan)
    if run.new.origin == "imported":
        unknown = "in an order" if run.facts else "in an order and on machines"
        yield (
            f"Run {run.id} is plan {plan}, imported as of {time_of(run.started_at)}: its values"
            f" were measured elsewhere, {unknown} not known here."
        )
        return
    period = f"from {time_of(run.started_at)}"
    if run.ended_at:
        period += f" to {time_of(run.ended_at)}"
    yield f"Run {run.id} measured plan {plan}, {_commit_words(run)}, {period}."
    if run.state in _STATES:
        yield _STATES[run.state]
    if only_cases(run.new.files) is not None:
        yield "It measured only some of its plan's cases, to look at them once more."
    engines = ", ".join(dict.fromkeys(visible(planned.case.engine) for planned in run.cases))
    version = visible(run.new.railgauge_version) or "of unknown version"
    yield f"Measured with railgauge {version}, by its engines and those that it drives: {engines}."
    if run.new.engines_hash:
        yield f"The engines' source has the hash {visible(run.new.engines_hash)}."


def _resumption(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    if facts:
        changed_facts = abbreviated([f"{visible(name)} of {visible(host)}" for host, name in facts])
        yield (
            "It was resumed when facts of its machines had changed, of which the table of machines"
            f" has the last: {changed_facts}."
        )


def _commit_words(run: StoredRun) -> str:
    if not run.new.git_commit:
        return "its files in no git repository"
    changed = " with uncommitted changes" if run.new.git_dirty else ""
    return f"its files at git commit {visible(run.new.git_commit)}{changed}"


def _stored_plan(run: StoredRun) -> Plan | None:
    """Return the plan that is stored with the run; None if it is another version's."""
    try:
        document = loads(run.new.plan_text, "plan")
        if nodes := allocated_nodes(run.new.files):
            document = Allocated(nodes).fill(document)
        return validate(write_out(document), Plan)
    except InputError:
        return None


def _order_sentences(run: StoredRun, plan: Plan | None) -> Iterator[str]:
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
    tests = [test for test in plan.tests if any(planned.test == test.name for planned in run.cases)]
    if len(tests) > 1:
        yield f"The tests were measured {_TEST_ORDERS[plan.test_order]}."
    by_order: dict[str, list[str]] = {}
    for test in tests:
        order = _ORDERS[test.order].format(seed=run.new.seed) + (_OPEN if test.rule else "")
        by_order.setdefault(order, []).append(visible(test.name))
    for order, names in by_order.items():
        of_tests = f" of {', '.join(names)}" if len(by_order) > 1 else ""
        yield f"The order{of_tests} was: {order}."


def _test_sentences(
    name: str, cases: Sequence[PlannedCase], counts: Counts, imported: bool
) -> Iterator[str]:
    engines = ", ".join(dict.fromkeys(visible(planned.case.engine) for planned in cases))
    yield f"Test {visible(name)} (engine {engines}) has {plural(len(cases), 'case')}."
    measured_cases = [planned for planned in cases if not planned.skipped]
    if imported:
        parts = [f"Imported: {plural(counts.ok + counts.suspect, 'replication')} of them"]
        parts += [f"suspect: {counts.suspect}"] if counts.suspect else []
        parts += [f"also failed: {counts.failed}"] if counts.failed else []
        yield f"{'; '.join(parts)}."
        return
    yield from _replication_rules(measured_cases)
    if measured_cases:
        yield _outcome_sentence(measured_cases, counts)
    skipped = Counter(visible(planned.skipped) for planned in cases if planned.skipped)
    if skipped:
        yield f"Skipped: {_counted(skipped, 'case')}."


def _replication_rules(cases: Sequence[PlannedCase]) -> Iterator[str]:
    fixed = sorted({planned.replications for planned in cases if planned.least is None})
    if fixed:
        numbers = f"{fixed[0]}" if len(fixed) == 1 else f"{fixed[0]} to {fixed[-1]}"
        yield f"Replications of each case: {numbers}."
    ruled: dict[tuple[int, int, str], Counter[str]] = {}
    for planned in cases:
        if planned.least is not None:
            rule_terms = (planned.least, planned.replications, planned.rule)
            ruled.setdefault(rule_terms, Counter())[planned.ended] += 1
    for (least, most, rule), ended in ruled.items():
        end_counts = [f"{_ENDED.get(end, end)}: {ended[end]}" for end in sorted(ended) if end]
        parts = [f"cases ended {', '.join(end_counts)}"] if end_counts else []
        parts += [f"cases not ended yet: {ended['']}"] if ended[""] else []
        sentence_start = f"Replications of each case: {least} to {most}, until {visible(rule)}"
        yield f"{'; '.join([sentence_start, *parts])}."


def _outcome_sentence(cases: Sequence[PlannedCase], counts: Counts) -> str:
    """Return how many replications were measured, of how many where the plan has a number."""
    measured = counts.ok + counts.suspect
    requested = sum(planned.replications for planned in cases)
    missing = requested - measured - counts.failed
    fixed = missing >= 0 and all(planned.least is None for planned in cases)
    parts = [f"{measured} of {requested} measured" if fixed else f"{measured} measured"]
    parts.append(f"{counts.suspect or 'none'} of them suspect")
    parts.append(f"{counts.failed or 'none'} failed")
    if fixed and missing:
        parts.append(f"{missing} missing")
    return f"In all: {', '.join(parts)}."


def _warmup_sentences(
    cases: Sequence[PlannedCase], counts: Counts | None, catalogue: Catalogue | None
) -> Iterator[str]:
    """Yield how long engines warmed up; nothing for engines without a warm-up."""
    distinct = distinct_parameters(planned for planned in cases if not planned.skipped)
    values = {
        case.parameters[_WARMUP]: case.engine for case in distinct if _WARMUP in case.parameters
    }
    if not values:
        return
    axis = make_axes([_WARMUP], {}, sorted(set(values.values())), catalogue)[_WARMUP]
    texts = [axis.text(value) for value in axis.sorted(values) if value]
    if texts:
        launches = "each launch" if all(values) else "the launches of some cases, not of all,"
        yield f"Before its replications {launches} warmed up for {' or '.join(texts)}."
    else:
        yield "There was no warm-up."
    if counts is not None and counts.warmups:
        stand = "stands" if counts.warmups == 1 else "stand"
        yield f"{plural(counts.warmups, 'warm-up replication')} {stand} apart, in no number."


def _reason_sentences(records: RunRecords) -> Iterator[str]:
    """Yield why replications failed or are suspect, by the codes of the reasons."""
    failed = Counter(visible(failure.error_code) for failure in records.failures)
    if failed:
        yield f"Why replications failed: {_counted(failed, 'replication')}."
    suspect = {
        (visible(stored.suspicion.code), stored.test, stored.case.key, stored.replication)
        for stored in records.suspicions
    }
    if suspect:
        codes = Counter(code for code, *_ in suspect)
        yield f"Why replications are suspect: {_counted(codes, 'replication')}."


def _counted(reasons: Counter[str], noun: str) -> str:
    """Return `no compiler (3 cases); no route (1 case)`, the most frequent first."""
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{text} ({plural(number, noun)})" for text, number in ordered[:_MOST_REASONS]]
    if len(ordered) > _MOST_REASONS:
        parts.append(f"{plural(len(ordered) - _MOST_REASONS, 'more reason')}")
    return "; ".join(parts)
