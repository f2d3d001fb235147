"""A comparison's verdict: what counts as slower, what couldn't be compared, what changed beside."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from railgauge.base.errors import InputError
from railgauge.base.number import plural
from railgauge.compare.changed_counters import CounterChange, changed_counters
from railgauge.compare.compare import Comparison, Result, another_metric, compare
from railgauge.compare.earlier_runs import by_earlier_runs
from railgauge.compare.facts import Facts, HostChanges, host_changes, setting_changes
from railgauge.compare.reading import ReadRuns, read
from railgauge.compare.renames import CaseName, Renames
from railgauge.compare.select import Selection, check_plan, select
from railgauge.plan.cases import Case
from railgauge.plan.partial import ONLY
from railgauge.stats.baseline_runs import LEAST_RUNS
from railgauge.store import Store

# Looking up the logs of a case takes some 10 ms, and nobody reads more.
_MOST_WITH_COUNTERS = 20
# Settings that make no measurement another one.
_HARMLESS = {"git_commit", "git_dirty", "controller", "origin", "state", f"file {ONLY}"}


@dataclass(frozen=True, slots=True)
class Reasons:
    """What changed beside a slower case: rates of its hosts' counters, and its hosts' facts."""

    counters: tuple[CounterChange, ...] = ()
    hosts: tuple[HostChanges, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What a comparison comes to.

    `unconfirmed` looked slower and weren't when they were measured again. `problems` are sentences
    about what couldn't be measured, `notes` what else a reader should know. `reasons` are those of
    the slower cases, by test and key.
    """

    comparison: Comparison
    plan: str = ""
    unconfirmed: tuple[Result, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reasons: Mapping[CaseName, Reasons] = field(default_factory=dict)

    @property
    def slower(self) -> list[Result]:
        """What got slower, the worst first."""
        return self.comparison.of("slower")

    @property
    def lost(self) -> list[Result]:
        """What the second side should have measured as the first did, and didn't."""
        return [result for result in self.comparison.results if result.lost]

    @property
    def flipping(self) -> list[Result]:
        """What flips between two levels by itself, as its stored runs show it, and isn't slower."""
        return [
            result
            for result in self.comparison.results
            if result.levels is not None and result.judged.change != "slower"
        ]

    @property
    def passed(self) -> bool:
        """Whether nothing got slower, and everything could be measured."""
        return not (self.slower or self.lost or self.problems)


def verdict_on(store: Store, reading: ReadRuns, first: Selection, second: Selection) -> Verdict:
    """Return what the second side comes to against the first; `reading` has the runs of both."""
    compared = by_earlier_runs(store, compare(reading, first, second))
    notes = [f"run {run} is on both sides" for run in first.runs if run in second.runs]
    notes += notes_on(store, compared)
    reasons = find_reasons(store, compared, compared.of("slower"))
    problems = tuple(undecided(store, compared))
    return Verdict(compared, problems=problems, notes=tuple(notes), reasons=reasons)


def verdict_between(
    store: Store, before: str, after: str, *, plan: str, metrics: Sequence[str] = ()
) -> Verdict:
    """Return what `after` names comes to against what `before` names: see `select`.

    Without a `plan` that of the first side counts for the second one. With `metrics` they alone are
    judged. InputError where a side has no run of the `plan`.
    """
    if plan:
        check_plan(store, plan)
    first = select(store, before, plan=plan)
    second = select(store, after, plan=plan or "".join(store.run_plans(first.runs[-1:])))
    for side in (first, second) if plan else ():
        if plan not in (plans := store.run_plans(side.runs)):
            named = ", ".join(map(repr, sorted(plans)))
            raise InputError(f"{side.title} is of plan {named}, not {plan!r}: leave --plan out")
    reading = read(store, [*first.runs, *second.runs], metrics)
    return verdict_on(store, reading, first, second)


def undecided(store: Store, comparison: Comparison) -> Iterator[str]:
    """Yield why nothing could be judged, by a metric that somebody named or at all.

    Such a comparison is no pass though nothing is slower: it would never find anything.
    """
    measured = [result for result in comparison.results if all(side.n for side in result.sides)]
    titles = " and ".join(side.title for side in comparison.selected)
    lacking = set(comparison.metrics) - {result.metric for result in measured}
    if lacking and (comparison.results or comparison.undirected):
        names = _shared_metrics(store, comparison)
        hint = f": name a metric that both have: {', '.join(names)}" if names else ""
        for metric in sorted(lacking):
            yield (
                f"nothing could be compared by {metric}: no case has a value of it in both"
                f" {titles}{hint}"
            )
    elif not measured:
        yield f"nothing could be compared: no case has a value to judge in both {titles}"
    elif all(math.isnan(result.judged.q) for result in measured):
        yield f"no case could be judged: {measured[0].judged.reason}"


def _shared_metrics(store: Store, comparison: Comparison) -> list[str]:
    """Return the other metrics of which more or less is better and both sides have values."""
    sides = [
        {
            series.metric
            for series in store.series(side.runs, store.directed_metrics(side.runs))
            if len(series.values)
        }
        for side in comparison.selected
    ]
    return sorted(set.intersection(*sides) - {*comparison.metrics})


def find_reasons(
    store: Store, comparison: Comparison, results: Iterable[Result]
) -> dict[CaseName, Reasons]:
    """Return what changed beside the cases of these results; counters of the first ones alone."""
    cases = {(result.test, result.case.key): result.case for result in results}
    hosts = {name: _hosts(case) for name, case in cases.items()}
    all_hosts = {host for case_hosts in hosts.values() for host in case_hosts}
    first, second = (side.runs for side in comparison.selected)
    before, after = (_last_facts(store, side, all_hosts) for side in (first, second))
    changed = {changes.host: changes for changes in host_changes(before, after)}
    counted = all(store.logged_runs(side) for side in (first, second)) if cases else False
    return {
        name: Reasons(
            changed_counters(
                store,
                name[1],
                *(_tests(comparison.renames, name, runs) for runs in (first, second)),
            )
            if counted and place < _MOST_WITH_COUNTERS
            else (),
            tuple(changed[host] for host in hosts[name] if host in changed),
        )
        for place, name in enumerate(cases)
    }


def notes_on(store: Store, comparison: Comparison) -> Iterator[str]:
    """Yield sentences about what makes the sides less alike than their cases."""
    if comparison.metrics:
        yield f"judged by {', '.join(comparison.metrics)} alone"
    yield from rename_notes(comparison)
    yield from other_metric_notes(comparison)
    if note := undirected_note(comparison):
        yield note
    if note := few_runs_note(comparison):
        yield note
    if note := few_values_note(comparison):
        yield note
    yield from unmeasured_before_notes(store, comparison)
    if number := sum(any(side.means for side in result.sides) for result in comparison.results):
        total = plural(len(comparison.results), "result")
        yield (
            f"{number:,} of {total}: what was published"
            " as a mean of several replications counts as one value, and as its run's median"
        )
    sides = [side.runs for side in comparison.selected]
    if not comparison.of("slower") or not all(sides):
        return
    first, second = (store.run(runs[-1]) for runs in sides)
    changed = [fact.name for fact in setting_changes(first, second) if fact.name not in _HARMLESS]
    if changed:
        hint = f"railgauge diff {first.id} {second.id} says how"
        yield f"not as in run {first.id}: {', '.join(changed)}; {hint}"


def rename_notes(comparison: Comparison) -> Iterator[str]:
    """Yield which tests had another name in some of the runs."""
    for rename in comparison.renamed:
        cases = plural(rename.cases, "case goes", "cases go")
        yield (
            f"test {rename.test} was called {rename.before} until run {rename.until}:"
            f" {cases} on under the new name"
        )


def other_metric_notes(comparison: Comparison) -> Iterator[str]:
    """Yield which runs are left out of results, as their metric was another one."""
    runs: dict[tuple[str, str], set[int]] = {}
    numbers: Counter[tuple[str, str]] = Counter()
    for result in comparison.results:
        # Of a side without any other run the result says it.
        unlike = [series for side in result.sides if side.n for series in side.unlike]
        for series in unlike:
            runs.setdefault((result.metric, another_metric(series)), set()).add(series.run)
        numbers.update({(result.metric, another_metric(series)) for series in unlike})
    total = plural(len(comparison.results), "result")
    for (metric, words), number in numbers.items():
        named = ", ".join(f"run {run}" for run in sorted(runs[metric, words]))
        yield f"{number:,} of {total}: without {named}, where {metric} is {words}"


def undirected_note(comparison: Comparison) -> str:
    """Return how many cases were not compared for want of a metric; empty if none."""
    if not (number := comparison.undirected):
        return ""
    has = plural(number, "case was not compared: it has", "cases were not compared: they have")
    lacking = "no metric of which more or less is better"
    if comparison.metrics:
        lacking = "none of the metrics that are judged"
    return f"{has} {lacking}"


def few_runs_note(comparison: Comparison) -> str:
    """Return for how many results it takes more runs on the first side, and how they are named."""
    pairs = [result.judged for result in comparison.results]
    reasons = Counter(pair.reason for pair in pairs if pair.few_runs)
    if not reasons:
        return ""
    first = comparison.selected[0]
    number, total = reasons.total(), plural(len(pairs), "result")
    runs = [*map(str, first.runs), "RUN", "RUN"][:LEAST_RUNS]
    name = shlex.quote(first.baseline or "NAME")
    replace = " --replace" if first.baseline else ""
    command = f"railgauge baseline set {name} {' '.join(runs)}{replace}"
    return f"{number:,} of {total}: {reasons.most_common(1)[0][0]}; name three good runs: {command}"


def few_values_note(comparison: Comparison) -> str:
    """Return of how many of the results that have values these are too few to show any change.

    Empty where that is so of none, or of all, which is a problem.
    """
    measured = [result for result in comparison.results if all(side.n for side in result.sides)]
    few = [result for result in measured if math.isnan(result.judged.q)]
    if not few or len(few) == len(measured):
        return ""
    total = plural(len(comparison.results), "result")
    return f"{len(few):,} of {total}: {few[0].judged.reason}"


def unmeasured_before_notes(store: Store, comparison: Comparison) -> Iterator[str]:
    """Yield how many results only the second side has values of: of cases, and of which metrics.

    As where a run of the baseline was stopped, or an engine reports more than it did then: until
    others are named, nothing would ever show that it got worse.
    """
    measured = {
        (result.test, result.case.key) for result in comparison.results if result.sides[0].n
    }
    results = [
        result
        for result in comparison.results
        if result.sides[1].n and not result.sides[0].n and not result.sides[0].unlike
    ]
    first, total = comparison.selected[0], plural(len(comparison.results), "result")
    of_others = [result for result in results if (result.test, result.case.key) not in measured]
    if of_others:
        stopped = [run.id for run in store.runs(first.runs) if run.state != "complete"]
        reason = f", as run {stopped[0]} was not measured to its end" if stopped else ""
        yield (
            f"{len(of_others):,} of {total}: no value of their cases in {first.title}{reason}, so"
            " that nothing shows a change: name runs that measured them"
        )
    new = [result for result in results if (result.test, result.case.key) in measured]
    if new:
        metrics = ", ".join(dict.fromkeys(result.metric for result in new))
        yield (
            f"{len(new):,} of {total}: no value of {metrics} in {first.title}, so that nothing"
            " shows a change: name newer runs"
        )


def _tests(renames: Renames, name: CaseName, runs: Sequence[int]) -> list[tuple[int, str]]:
    """Return the runs, each with the test in which it had the case."""
    return [(run, renames.in_run(run, name)[0]) for run in runs]


def _hosts(case: Case) -> list[str]:
    names = case.members or (case.client, case.server)
    return [host for host in dict.fromkeys(names) if host is not None]


def _last_facts(store: Store, runs: Sequence[int], hosts: Iterable[str]) -> Facts:
    """Return what each host was in the last of the runs that it took part in."""
    by_host: dict[str, Mapping[str, str]] = {}
    missing = set(hosts)
    for run in reversed(runs):
        if not missing:
            break
        facts = store.run(run).facts
        by_host |= {host: facts[host] for host in missing & facts.keys()}
        missing -= facts.keys()
    return by_host
