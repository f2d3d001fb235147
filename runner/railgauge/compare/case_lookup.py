"""The case that a user names, and the history of what it measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest_or_list
from railgauge.compare.case_history import History, case_history, with_names
from railgauge.compare.renames import CaseName, Renames, find_renames
from railgauge.plan.case_names import BETWEEN, CaseNames
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import Catalogue, Value, absent_values
from railgauge.plan.catalogue.argument_text import bare, plain
from railgauge.plan.catalogue.engine_files import own_catalogue
from railgauge.plan.catalogue.headlines import headlines
from railgauge.store import Store
from railgauge.store.heads import RunHead
from railgauge.store.records import FoundCase

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class PlanCase:
    """A case of a plan under the newest name of its test; `renames` has the others."""

    plan: str
    test: str
    case: Case
    renames: Renames


def look_up_case(
    store: Store, text: str, catalogue: Catalogue, *, plan: str | None, test: str | None
) -> PlanCase:
    """Return the one case that `text` names: see `Store.find_cases`; its name will do, too.

    Only cases of the `plan` count, and those whose `test` has or had that name. InputError where it
    is no case, or several.
    """
    words = _words(text, catalogue)
    # What a case stands for without saying so, no database has.
    implied = {
        _setting(info.name, value)
        for engine in own_catalogue().engines.values()
        for info in engine.parameters.values()
        if info.implied is not None
        for value in (info.implied, info.default)
        if value is not None
    }
    candidates = store.find_cases(" ".join(word for word in words if word not in implied))
    matches = [
        match for match in candidates if plan in (None, match.plan) and test in (None, match.test)
    ]
    # n1 is not n10, if there is one.
    matches = [match for match in matches if _is_called(match, words)] or matches
    matches = _each_case_once(store, matches)
    if len(matches) == 1:
        (match,) = matches
        renames = Renames(store.case_tests([match.plan], [match.case.key]))
        return PlanCase(match.plan, renames.last(_name(match))[0], match.case, renames)
    if matches:
        raise InputError("\n".join(_ambiguous_lines(store, text, matches, catalogue)))
    _check_narrowing(text, candidates, plan, test)
    raise InputError(
        f"no case is called {text!r}: name the start of a key, or words out of its link, test or"
        " parameters; `railgauge show RUN --json` has the keys"
    )


def plan_case_names(
    store: Store, catalogue: Catalogue, plans: Iterable[str] | None = None
) -> Mapping[str, CaseNames]:
    """Return what the cases of each plan's runs are called (of all plans, if none are named)."""
    cases = store.plan_cases(plans)
    return {plan: CaseNames(of_plan, catalogue) for plan, of_plan in cases.items()}


def metric_history(
    store: Store, case: PlanCase, metric: str | None, heads: Sequence[RunHead]
) -> History:
    """Return the history of the metric or, without, of the first headline metric the case has.

    `heads` are the plan's runs that count, oldest first. InputError where they have no value of it.
    """
    tests = case.renames.same((case.test, case.case.key))
    for metric_name in [metric] if metric else [*headlines(), *_metrics(store, case, heads)]:
        series = store.history(case.case.key, metric_name, tests=tests, plan=case.plan)
        smallest = None
        if series:
            smallest = store.smallest_changes(series[-1].run).get((case.case.engine, metric_name))
        if history := case_history(series, heads, smallest):
            return with_names(history, case.renames, {head.id for head in heads})
    noun = f"value of {metric}" if metric else "measurement"
    names = ", ".join(_metrics(store, case, heads))
    raise InputError(
        f"case {case.case.key} of plan {visible(case.plan)!r}, test {visible(case.test)!r},"
        f" has no {visible(noun)}" + (f": its metrics are {names}" if metric and names else "")
    )


def _metrics(store: Store, case: PlanCase, heads: Sequence[RunHead]) -> list[str]:
    """Return the metrics of the case, as the last run that measured it has them."""
    for head in reversed(heads):
        test, key = case.renames.in_run(head.id, (case.test, case.case.key))
        replications = store.replications(head.id, test, key)
        names = dict.fromkeys(name for replication in replications for name in replication.metrics)
        if names:
            return list(names)
    return []


def _each_case_once(store: Store, matches: Sequence[FoundCase]) -> list[FoundCase]:
    """Return the cases without those that are others of them, earlier, whose test was renamed."""
    by_plan: dict[str, list[CaseName]] = {}
    for match in matches:
        by_plan.setdefault(match.plan, []).append(_name(match))
    renames = {plan: find_renames(store, [plan], names) for plan, names in by_plan.items()}
    # Those measured last come first.
    cases: dict[tuple[str, CaseName], FoundCase] = {}
    for match in matches:
        cases.setdefault((match.plan, renames[match.plan].last(_name(match))), match)
    return list(cases.values())


def _check_narrowing(
    text: str, candidates: Sequence[FoundCase], plan: str | None, test: str | None
) -> None:
    """InputError where cases are called so, but none in that plan or test."""
    in_plan = [case for case in candidates if plan in (None, case.plan)]
    plans, tests = {case.plan for case in candidates}, {case.test for case in in_plan}
    for kind, name, names in (("plan", plan, plans), ("test", test, tests)):
        if name is not None and names and name not in names:
            hint = suggest_or_list(name, sorted(names), _MOST_NAMED)
            raise InputError(f"{text!r} is no case of {kind} {name!r}{hint}")


def _name(match: FoundCase) -> CaseName:
    return match.test, match.case.key


def _ambiguous_lines(
    store: Store, text: str, matches: Sequence[FoundCase], catalogue: Catalogue
) -> Iterator[str]:
    """Yield the lines that say which cases `text` may mean, and how to name one of them."""
    same_case = len({match.case.key for match in matches}) == 1
    narrow = "say which by --plan or --test" if same_case else "name one's key, or more words"
    yield f"{text!r} is {len(matches):,} cases: {narrow}"
    names = plan_case_names(store, catalogue, {match.plan for match in matches})
    for match in matches[:_MOST_NAMED]:
        name = names[match.plan].with_test(match)
        yield f"  {match.case.key}  {visible(match.plan)}, {name}"
    if (more := len(matches) - _MOST_NAMED) > 0:
        yield f"  … and {more:,} more"


def _words(text: str, catalogue: Catalogue) -> list[str]:
    """Return the words of `text`, with parameters in base units, `sockbuf=1048576`.

    In a case's name they stand as `sockbuf 1MiB`, and its test before a colon.
    """
    test, colon, rest = text.partition(": ")
    words = [*test.split(), *rest.split()] if colon else text.split()
    if BETWEEN in text:
        first, *settings = (rest if colon else text).split(BETWEEN)
        words = [*(test.split() if colon else ()), *first.split()]
        words += ["=".join(setting.split(maxsplit=1)) for setting in settings]
    return [_in_base_units(word, catalogue) for word in words]


def _in_base_units(word: str, catalogue: Catalogue) -> str:
    name, equals, text = word.partition("=")
    for engine in catalogue.engines.values() if equals else ():
        if name in engine.parameters:
            try:
                return _setting(name, engine.parameters[name].parse(bare(text)))
            except ValueError:
                continue
    return word


def _setting(name: str, value: Value) -> str:
    return f"{name}={plain(value)}"


def _is_called(match: FoundCase, words: Iterable[str]) -> bool:
    """Return whether each of `words` is a whole name of the case."""
    case = match.case
    names = {case.key, case.engine, case.link, case.client, case.server, match.test, match.plan}
    mode = case.parameters.get("mode")
    parameters = {**absent_values(case.engine, mode), **case.parameters}
    names.update(_setting(name, value) for name, value in parameters.items())
    return all(word in names for word in words)
