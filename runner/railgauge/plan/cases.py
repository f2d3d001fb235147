"""Cases: what a plan's tests expand to, and the key that finds the same case again in every run."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from railgauge.base.errors import FileProblems, Problem
from railgauge.base.units import format_time
from railgauge.plan.catalogue import Catalogue, absent_values, former_defaults
from railgauge.plan.catalogue import Value as Value
from railgauge.plan.space import PLACES, Group, Place, Space

if TYPE_CHECKING:
    from railgauge.plan.load import LoadedPlan
    from railgauge.plan.model import Test

# Beyond this, a plan more likely has a slip in it than a purpose.
LARGE = 100_000
# Beyond these, a run would neither end nor fit into memory.
MAX_CASES = 1_000_000
MAX_REPLICATIONS = 10_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """One engine, one link (or host, or group) and one full set of parameters, in base units.

    `members` are a group's hosts in the order of their ranks. With a server it is a pair of them,
    measured together with all the other pairs; without, the client is the first.
    """

    key: str
    engine: str
    link: str
    client: str
    server: str | None
    parameters: Mapping[str, Value]
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpandedTest:
    """A test and its cases: by link or host, then by axis as written, the last varying fastest."""

    test: Test
    cases: tuple[Case, ...]


def case_key(
    engine: str,
    link: str,
    client: str,
    server: str | None,
    parameters: Mapping[str, Value],
    members: Sequence[str] = (),
) -> str:
    """Return 16 hexadecimal digits that stand for exactly these, in whatever order they came."""
    place = Place(link, client, server, Group.of(members) if members else None)
    settings = {name: _fragment(name, value) for name, value in parameters.items()}
    return _hash(_head(engine, place), _tail(settings, sorted(settings)))


def varying(cases: Iterable[Case]) -> tuple[str, ...]:
    """Return the parameters in which `cases` differ, or that only some of an engine's have."""
    # Cases share their parameters.
    distinct = {(case.engine, id(case.parameters)): case for case in cases}.values()
    values_by_name: dict[str, set[Value | None]] = {}
    engines = Counter(case.engine for case in distinct)
    owners = Counter((name, case.engine) for case in distinct for name in case.parameters)
    for case in distinct:
        for name, value in case.parameters.items():
            values_by_name.setdefault(name, set()).add(value)
    for (name, engine), count in owners.items():
        if count < engines[engine]:
            values_by_name[name] |= {
                parameter_value(case, name) for case in distinct if case.engine == engine
            }
    return tuple(name for name, values in values_by_name.items() if len(values) > 1)


def parameter_value(case: Case, name: str) -> Value | None:
    """Return the case's value of a parameter; None where its engine has no such parameter."""
    value = case.parameters.get(name)
    if value is not None:
        return value
    return absent_values(case.engine, case.parameters.get("mode")).get(name)


def shown_parameters(case: Case) -> Mapping[str, Value]:
    """Return the case's parameters, and what it was measured with that isn't the default now."""
    return {
        **former_defaults(case.engine, case.parameters.get("mode")),
        **case.parameters,
    }


def non_default(case: Case, catalogue: Catalogue, also: Collection[str] = ()) -> list[str]:
    """Return the parameters that don't have the engine's default values, and those in `also`."""
    engine = catalogue.engines.get(case.engine)
    infos = engine.parameters if engine else {}
    return [
        name
        for name, value in shown_parameters(case).items()
        if name in also or name not in infos or infos[name].default != value
    ]


def expand(loaded: LoadedPlan, *, allow_large: bool = False) -> tuple[ExpandedTest, ...]:
    """Return each test with its cases; FileProblems where there are too many, or none are left.

    Or where a replication can't end within its test's `limit`.
    """
    problems = list(_size_problems(loaded, allow_large=allow_large))
    if problems:
        raise FileProblems(problems)
    tests = tuple(ExpandedTest(space.test, tuple(_cases(space))) for space in loaded.spaces)
    for space, expanded in zip(loaded.spaces, tests, strict=True):
        if not expanded.cases:
            message = "the exclusions leave no case of this test: drop one of them"
            problems.append(_problem(loaded, space, message, "exclude"))
        elif message := _short_limit(space, expanded):
            problems.append(_problem(loaded, space, message, "limit"))
    if problems:
        raise FileProblems(problems)
    return tests


def _short_limit(space: Space, expanded: ExpandedTest) -> str:
    """Return what is wrong with a limit within which no replication of a case can end, or ""."""
    limit = space.test.limit
    if limit is None:
        return ""
    # Cases of one combination share its parameters.
    combinations = {id(case.parameters): case.parameters for case in expanded.cases}
    longest = max(map(space.engine.timed_seconds, combinations.values()))
    if limit > longest:
        return ""
    return (
        f"the limit of {format_time(limit)} is over before a replication of {format_time(longest)}"
        " (duration, omit and warmup) can end: write a longer one, or leave it out"
    )


def restricted(
    tests: Iterable[ExpandedTest], only: Collection[tuple[str, str]]
) -> tuple[ExpandedTest, ...]:
    """Return the tests with those cases alone that `only` has, by test and key."""
    return tuple(
        ExpandedTest(test, cases)
        for test, all_cases in ((expanded.test, expanded.cases) for expanded in tests)
        if (cases := tuple(case for case in all_cases if (test.name, case.key) in only))
    )


def _size_problems(loaded: LoadedPlan, *, allow_large: bool) -> Iterator[Problem]:
    cases = replications = 0
    limit = MAX_CASES if allow_large else LARGE
    advice = "split the plan" if allow_large else "take values away, or say --allow-large"
    for space in loaded.spaces:
        counts_before = cases, replications
        cases += space.size
        replications += space.size * space.test.most
        if counts_before[0] <= limit < cases:
            message = f"up to here the plan has {cases:,} cases, more than {limit:,}: {advice}"
            yield _problem(loaded, space, message, "grid")
        elif counts_before[1] <= MAX_REPLICATIONS < replications:
            message = (
                f"up to here the plan has {replications:,} replications, more than "
                f"{MAX_REPLICATIONS:,}: ask for fewer, or split the plan"
            )
            yield _problem(loaded, space, message, "replications")


def _problem(loaded: LoadedPlan, space: Space, message: str, key: str) -> Problem:
    return loaded.document.problem(("tests", space.index, key), message, key=True)


class _Combination(NamedTuple):
    """The rows of the axes, the end of the text that a key is the hash of, and the parameters."""

    rows: tuple[int, ...]
    tail: str
    parameters: Mapping[str, Value]


def _cases(space: Space) -> Iterator[Case]:
    """Yield a test's cases; the text that each key is the hash of is put together from parts."""
    combinations: Iterable[_Combination] = _combinations(space)
    if len(space.places) > 1:
        # Put together once and shared by all places: of a large cluster there are a million.
        combinations = list(combinations)
    excluded = _Excluded(space)
    engine = space.engine.name
    for number, place in enumerate(space.places):
        head = _head(engine, place)
        members = place.group.members if place.group else ()
        for rows, tail, shared in combinations:
            if not excluded.has(number, rows):
                key = _hash(head, tail)
                yield Case(key, engine, place.name, place.client, place.server, shared, members)


def _combinations(space: Space) -> Iterator[_Combination]:
    names = sorted([*space.fixed, *(name for axis in space.axes for name in axis[0])])
    absent = {mode: space.engine.absent_values(mode) for mode in space.modes}
    values = [set(by_name.items()) for by_name in absent.values()]
    in_any_mode = dict(set.intersection(*values))
    by_mode = sorted(dict(set.union(*values)).keys() - in_any_mode.keys())
    set_once = _without_absent(in_any_mode, space.fixed)
    axes = [[_without_absent(in_any_mode, row) for row in axis] for axis in space.axes]
    fixed = {name: _fragment(name, value) for name, value in set_once.items()}
    written = [
        [{name: _fragment(name, value) for name, value in row.items()} for row in axis]
        for axis in axes
    ]
    for rows in product(*(range(len(axis)) for axis in space.axes)):
        settings = dict(fixed)
        parameters: dict[str, Value] = dict(set_once)
        for axis, row in enumerate(rows):
            settings.update(written[axis][row])
            parameters.update(axes[axis][row])
        for name in by_mode:
            if parameters[name] == absent[parameters.get("mode")][name]:
                del settings[name], parameters[name]
        yield _Combination(rows, _tail(settings, names), parameters)


def _without_absent(absent: Mapping[str, Value], row: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return what of `row` a case has: all but what it stands for without saying so."""
    return {
        name: value for name, value in row.items() if name not in absent or absent[name] != value
    }


_to_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def _fragment(name: str, value: Value) -> str:
    return _to_json([name, value])


def _head(engine: str, place: Place) -> str:
    """Return the beginning of the JSON list that a key is the hash of."""
    parts = [engine, place.name, place.client, place.server]
    return _to_json([*parts, place.group.digest] if place.group else parts)[:-1]


def _tail(settings: Mapping[str, str], names: Sequence[str]) -> str:
    return f",[{','.join([settings[name] for name in names if name in settings])}]]"


def _hash(head: str, tail: str) -> str:
    """Hash engine, link, client, server, group if any, and the sorted pairs of parameters."""
    return hashlib.sha256(f"{head}{tail}".encode()).hexdigest()[:16]


class _Excluded:
    """Finds which cases a test leaves out, looking only at the exclusions that may be about one."""

    def __init__(self, space: Space) -> None:
        # Each exclusion under the rows of its narrowest axis.
        self._filed: dict[tuple[int, int], list[Mapping[int, frozenset[int]]]] = {}
        for exclusion in space.excludes:
            narrowest = min(exclusion, key=lambda axis: len(exclusion[axis]))
            for row in exclusion[narrowest]:
                self._filed.setdefault((narrowest, row), []).append(exclusion)

    def has(self, place: int, rows: Sequence[int]) -> bool:
        """Return whether the case at `place`, on these rows of the axes, is left out."""
        if not self._filed:
            return False
        position = {PLACES: place, **dict(enumerate(rows))}
        return any(
            all(position[axis] in excluded for axis, excluded in exclusion.items())
            for slot in position.items()
            for exclusion in self._filed.get(slot, ())
        )
