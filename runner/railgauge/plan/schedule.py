"""Lays a plan's replications out in rounds: what runs at the same time never shares a machine."""

from __future__ import annotations

import copy
import random
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from railgauge.base.collector import collector_off
from railgauge.plan.case_names import CaseNames
from railgauge.plan.cases import Case, ExpandedTest
from railgauge.plan.model import Test
from railgauge.plan.packing import Packer


class Dispatch(NamedTuple):
    """One launch of an engine: replications of one case, by number from 1.

    `pairs` are all the cases that it measures where these are the pairs of one group; `case` is
    the first of them. A tuple, as a large plan has millions and these are made in a third of the
    time.
    """

    test: str
    case: Case
    replications: tuple[int, ...]
    pairs: tuple[Case, ...] = ()

    @property
    def cases(self) -> tuple[Case, ...]:
        """All the cases that it measures."""
        return self.pairs or (self.case,)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that it needs; of a group, in the order of their ranks."""
        case = self.case
        if case.members:
            return case.members
        return (case.client,) if case.server is None else (case.client, case.server)


Round = tuple[Dispatch, ...]
_NONE: frozenset[int] = frozenset()


def dispatch_name(dispatch: Dispatch, names: CaseNames) -> str:
    """Return the name of its case with the test; of several pairs, how many."""
    if len(dispatch.pairs) > 1:
        all_pairs = replace(dispatch.case, link=f"{len(dispatch.pairs):,} pairs")
        dispatch = dispatch._replace(case=all_pairs)
    return names.with_test(dispatch)


def most_replications(
    dispatches: Iterable[Dispatch],
    open_cases: Callable[[Dispatch], int] = lambda dispatch: len(dispatch.cases),
) -> int:
    """Return how many replications these measure at most, each of its `open_cases` (default all).

    A launch that measures all the pairs of a group measures a replication of each.
    """
    return sum(len(dispatch.replications) * open_cases(dispatch) for dispatch in dispatches)


class Schedule:
    """The rounds in which to measure `tests`, of at most `concurrency` launches each, made lazily.

    Tests come one after another or, `interleaved`, in turns: the first block of each, then the
    second of each …. Within one, the order is `sequential` (all replications of a case
    together), `interleaved` (the first of each case, then the second of each …) or `random` (the
    same, each time shuffled anew by `seed`). `machines` maps hosts to the machines they are on;
    two launches of a round never share one. With a concurrency above 1 a launch may come earlier
    than its order says, but never among those of an earlier replication or test. `finished` are the
    replications to leave out, by test and case key.
    """

    def __init__(
        self,
        tests: Sequence[ExpandedTest],
        *,
        machines: Mapping[str, str],
        concurrency: int,
        seed: int,
        finished: Mapping[tuple[str, str], Collection[int]] | None = None,
        interleaved: bool = False,
    ) -> None:
        self._machines = machines
        self._concurrency = concurrency
        self._seed = seed
        self._interleaved = interleaved
        left_out = {key: frozenset(numbers) for key, numbers in (finished or {}).items()}
        with collector_off():
            self._parts = [_part(expanded, left_out) for expanded in tests]

    @property
    def dispatches(self) -> list[Dispatch]:
        """Each launch that has something to measure, with all the replications it may still take.

        In the plan's order.
        """
        return [launch for part in self._parts for launch in part.wholes if launch.replications]

    def __bool__(self) -> bool:
        """Return whether there is anything to measure."""
        return any(launch.replications for part in self._parts for launch in part.wholes)

    def keep(self, predicate: Callable[[Dispatch], bool]) -> Schedule:
        """Return the same rounds with those launches alone for which `predicate` holds."""
        subset = copy.copy(self)
        subset._parts = [
            part._replace(
                wholes=[
                    launch
                    if not launch.replications or predicate(launch)
                    else launch._replace(replications=())
                    for launch in part.wholes
                ]
            )
            for part in self._parts
        ]
        return subset

    def on(self, machines: Mapping[str, str]) -> Schedule:
        """Return the same launches in rounds for hosts that are on these `machines`."""
        moved = copy.copy(self)
        moved._machines = machines
        return moved

    def rounds(self, is_open: Callable[[Dispatch], bool] | None = None) -> Iterator[Round]:
        """Yield round after round, whoever takes one having measured those before.

        Before each block of a test with a rule for its replications, each of its launches is
        asked whether it `is_open`; without that all are, up to the most replications.
        """
        packer = Packer(self._machines, self._concurrency)
        parts = (self._blocks(part, is_open if part.test.rule else None) for part in self._parts)
        for block in _in_turns(parts) if self._interleaved else chain.from_iterable(parts):
            if self._concurrency == 1:
                yield from ((dispatch,) for dispatch in block)
            elif block:
                with collector_off():
                    rounds = packer.pack(block)
                    packed = [tuple([block[index] for index in indices]) for indices in rounds]
                yield from packed

    def _blocks(
        self, part: _Part, is_open: Callable[[Dispatch], bool] | None
    ) -> Iterator[list[Dispatch]]:
        """Yield a test's dispatches in parts that are measured one after another."""
        test, wholes = part.test, part.wholes
        if test.order == "sequential":
            yield [whole for whole in wholes if whole.replications]
            return
        order = list(range(len(wholes)))
        for number in range(1, test.most + 1):
            if is_open is not None and not any(w.replications and is_open(w) for w in wholes):
                return
            if test.order == "random":
                # Each block from its own seed: it is the same whatever came before it.
                order = list(range(len(wholes)))
                random.Random(f"{self._seed}/{test.name}/{number}").shuffle(order)  # noqa: S311
            # Without a name, which would keep it while the next one is made.
            yield self._block(part, order, number, is_open)

    def _block(
        self,
        part: _Part,
        order: Iterable[int],
        number: int,
        is_open: Callable[[Dispatch], bool] | None,
    ) -> list[Dispatch]:
        """Return one replication of each launch that is open and has it to be measured."""
        name, all_numbers, wholes = part.test.name, part.all_numbers, part.wholes
        numbers = (number,)
        with collector_off():
            block = [
                Dispatch(name, whole.case, numbers, whole.pairs)
                for whole in map(wholes.__getitem__, order)
                if whole.replications is all_numbers or _is_among(number, whole.replications)
            ]
            return block if is_open is None else list(filter(is_open, block))


def _in_turns(parts: Iterable[Iterator[list[Dispatch]]]) -> Iterator[list[Dispatch]]:
    """Yield the first block of each part, then the second of each that has one, and so on."""
    turns = deque(parts)
    while turns:
        part = turns.popleft()
        if (block := next(part, None)) is not None:
            turns.append(part)
            yield block


class _Part(NamedTuple):
    """A test's launches, with their replications that aren't finished: `all_numbers` if none is.

    Those of which nothing is left are there, too, as the order of the others hangs on them.
    """

    test: Test
    all_numbers: tuple[int, ...]
    wholes: list[Dispatch]


def _is_among(number: int, numbers: Sequence[int]) -> bool:
    """Return whether the number is one of those, which rise."""
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number


def _part(expanded: ExpandedTest, finished: Mapping[tuple[str, str], frozenset[int]]) -> _Part:
    test = expanded.test
    all_numbers = tuple(range(1, test.most + 1))
    wholes: list[Dispatch] = []
    for launch in _launches(expanded.cases):
        case = launch[0]
        left_out = finished.get((test.name, case.key), _NONE)
        # Exclusions may have left a single pair: it is one of a group's all the same.
        pairs = launch if _is_pair(case) else ()
        if any(finished.get((test.name, pair.key), _NONE) != left_out for pair in pairs[1:]):
            wholes += _apart(test.name, pairs, all_numbers, finished)
            continue
        numbers = all_numbers
        if left_out:
            numbers = tuple([number for number in all_numbers if number not in left_out])
        wholes.append(Dispatch(test.name, case, numbers, pairs))
    return _Part(test, all_numbers, wholes)


def _apart(
    test: str,
    pairs: tuple[Case, ...],
    all_numbers: Iterable[int],
    finished: Mapping[tuple[str, str], frozenset[int]],
) -> Iterator[Dispatch]:
    """Yield the launch of the replications that all the pairs lack, then those that some lack.

    They are stored together, but a copy leaves out single ones that are damaged.
    """
    left_out = [finished.get((test, pair.key), _NONE) for pair in pairs]
    lacking: dict[tuple[int, ...], list[int]] = {tuple(range(len(pairs))): []}
    for number in all_numbers:
        places = tuple(place for place, numbers in enumerate(left_out) if number not in numbers)
        lacking.setdefault(places, []).append(number)
    lacking.pop((), None)
    for places, numbers in lacking.items():
        lacked = tuple(pairs[place] for place in places)
        yield Dispatch(test, lacked[0], tuple(numbers), lacked)


def _launches(cases: Sequence[Case]) -> Iterable[tuple[Case, ...]]:
    """Return the cases that are measured together: the pairs of a group, else each by itself."""
    if not any(map(_is_pair, cases[:1])):
        return ((case,) for case in cases)
    together: dict[tuple[int, int], list[Case]] = {}
    for case in cases:
        # The cases of one launch share these two, they aren't just equal.
        together.setdefault((id(case.members), id(case.parameters)), []).append(case)
    return [tuple(pairs) for pairs in together.values()]


def _is_pair(case: Case) -> bool:
    """Return whether the case is one pair among all of a group."""
    return bool(case.members) and case.server is not None
