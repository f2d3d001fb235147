"""Lays a plan's replications out in rounds: what runs at the same time never shares a machine."""

from __future__ import annotations

import contextlib
import gc
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from railgauge.cases import Case, ExpandedTest, case_name
from railgauge.catalogue import Catalogue

# What a launch takes beside its replications, for estimates only.
_LAUNCH_SECONDS = 0.05
# Rounds are looked up this many at a time, one bit each.
_CHUNK = 1024
_FULL = (1 << _CHUNK) - 1


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


def dispatch_name(dispatch: Dispatch, names: Sequence[str], catalogue: Catalogue) -> str:
    """Return its test and case with the parameters `names`; of several pairs, how many."""
    case = dispatch.case
    if len(dispatch.pairs) > 1:
        case = replace(case, link=f"{len(dispatch.pairs):,} pairs")
    return f"{dispatch.test} {case_name(case, names, catalogue)}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Wall time in seconds, beside `unknown` launches whose engine's time can't be told before."""

    seconds: float
    unknown: int


def schedule(
    tests: Sequence[ExpandedTest],
    *,
    machines: Mapping[str, str],
    concurrency: int,
    seed: int,
    done: Mapping[tuple[str, str], Collection[int]] | None = None,
) -> list[Round]:
    """Return the rounds, of at most `concurrency` launches each, in which to measure `tests`.

    Tests come one after another. Within one, the order is `sequential` (all replications of a case
    together), `interleaved` (the first of each case, then the second of each …) or `random` (the
    same, each time shuffled anew by `seed`). `machines` maps hosts to the machines they are on;
    two launches of a round never share one. With a concurrency above 1 a launch may come earlier
    than its order says, but never among those of an earlier replication or test. `done` are the
    replications to leave out, by test and case key.
    """
    rounds: list[Round] = []
    packer = _Packer(machines, concurrency)
    with _collector_off():
        for expanded in tests:
            for block in _blocks(expanded, seed, done or {}):
                if concurrency == 1:
                    rounds.extend((dispatch,) for dispatch in block)
                elif block:
                    rounds.extend(
                        tuple(block[index] for index in each) for each in packer.pack(block)
                    )
    return rounds


@contextlib.contextmanager
def _collector_off() -> Iterator[None]:
    """Keep Python from looking for cycles among millions of new tuples that have none.

    It looks again and again as they grow in number, and takes three times as long as making them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def estimate(rounds: Iterable[Round], catalogue: Catalogue) -> Estimate:
    """Return how long `rounds` take: in each as long as its longest launch.

    A launch takes its warm-up, the duration of each replication, and a little. Without a duration,
    with one of 0, with a count instead of it, or in a mode that has no use for one, only the little
    is known.
    """
    seconds, unknown = 0.0, 0
    lengths: dict[str, tuple[float, float] | None] = {}
    for each in rounds:
        longest = 0.0
        for dispatch in each:
            case = dispatch.case
            if case.key not in lengths:
                lengths[case.key] = _length(case, catalogue)
            known = lengths[case.key]
            unknown += known is None
            warmup, duration = known or (0.0, 0.0)
            longest = max(longest, warmup + duration * len(dispatch.replications))
        seconds += longest + _LAUNCH_SECONDS
    return Estimate(seconds, unknown)


def within(dispatch: Dispatch, seconds: float, catalogue: Catalogue) -> Dispatch | None:
    """Return `dispatch` with those of its replications that end within `seconds`, None if none do.

    A launch whose length can't be told before fits as long as there is any time.
    """
    warmup, duration = _length(dispatch.case, catalogue) or (0.0, 0.0)
    numbers = dispatch.replications
    left = seconds - _LAUNCH_SECONDS - warmup
    if duration > 0:
        numbers = numbers[: max(0, int(left // duration))]
    return dispatch._replace(replications=numbers) if numbers and left > 0 else None


def _length(case: Case, catalogue: Catalogue) -> tuple[float, float] | None:
    """Return the seconds of a launch's warm-up and of each replication; None if unknown."""
    if not catalogue.engine(case.engine).is_timed(case.parameters):
        return None
    return float(case.parameters.get("warmup", 0)), float(case.parameters["duration"])


def _blocks(
    expanded: ExpandedTest, seed: int, done: Mapping[tuple[str, str], Collection[int]]
) -> Iterator[list[Dispatch]]:
    """Yield a test's dispatches in parts that are measured one after another."""
    test = expanded.test
    launches = _launches(expanded.cases)
    cases = [launch[0] for launch in launches]
    # Exclusions may have left a single pair: it is one of a group's all the same.
    pairs = [launch if _is_pair(launch[0]) else () for launch in launches]
    # A launch's pairs are stored together: what one of them has, all have.
    have = [frozenset(done.get((test.name, case.key), ())) for case in cases]
    if test.order == "sequential":
        everything = tuple(range(1, test.replications + 1))
        missing = [
            tuple(number for number in everything if number not in had) if had else everything
            for had in have
        ]
        yield [
            Dispatch(test.name, case, numbers, among)
            for case, numbers, among in zip(cases, missing, pairs, strict=True)
            if numbers
        ]
        return
    order = list(range(len(cases)))
    for number in range(1, test.replications + 1):
        if test.order == "random":
            # Each block from its own seed, so that it is the same whatever came before it.
            order = list(range(len(cases)))
            random.Random(f"{seed}/{test.name}/{number}").shuffle(order)  # noqa: S311
        numbers = (number,)
        yield [
            Dispatch(test.name, cases[index], numbers, pairs[index])
            for index in order
            if number not in have[index]
        ]


def _launches(cases: Sequence[Case]) -> list[tuple[Case, ...]]:
    """Return the cases that are measured together: the pairs of a group, else each by itself."""
    if not any(map(_is_pair, cases[:1])):
        return [(case,) for case in cases]
    together: dict[tuple[int, int], list[Case]] = {}
    for case in cases:
        # The cases of one launch share these two, they aren't just equal.
        together.setdefault((id(case.members), id(case.parameters)), []).append(case)
    return [tuple(each) for each in together.values()]


def _is_pair(case: Case) -> bool:
    """Return whether the case is one pair among all of a group."""
    return bool(case.members) and case.server is not None


class _Packer:
    """Puts the dispatches of a block in rounds."""

    def __init__(self, machines: Mapping[str, str], concurrency: int) -> None:
        self._machines = machines
        self._concurrency = concurrency
        # The last block's answer, as the next one is often between the same machines.
        self._pairs: list[tuple[int, int]] = []
        self._packed: list[list[int]] = []

    def pack(self, block: Sequence[Dispatch]) -> list[list[int]]:
        """Return rounds of indices: in the block's own order if that takes the fewest.

        Taking each dispatch into the first round that has room needs up to a third more rounds
        than there must be where everything is measured with everything; pairing the machines off
        as in a tournament needs no more than that.
        """
        if any(dispatch.case.members for dispatch in block):
            return self._groups(block)
        pairs, count = self._numbered(block)
        if pairs != self._pairs:
            self._pairs, self._packed = pairs, self._fewest(pairs, count)
        return self._packed

    def _groups(self, block: Sequence[Dispatch]) -> list[list[int]]:
        """Return rounds of launches that need many machines each: few, so simply the first fit."""
        rounds: list[tuple[set[str], list[int]]] = []
        for index, dispatch in enumerate(block):
            needed = {self._machines[name] for name in dispatch.hosts}
            for busy, members in rounds:
                if len(members) < self._concurrency and not busy & needed:
                    busy |= needed
                    members.append(index)
                    break
            else:
                rounds.append((needed, [index]))
        return [members for _, members in rounds]

    def _numbered(self, block: Sequence[Dispatch]) -> tuple[list[tuple[int, int]], int]:
        """Return each dispatch's machines as numbers, the lower first, and how many there are."""
        number: dict[str, int] = {}
        pairs = []
        for dispatch in block:
            case = dispatch.case
            client = server = number.setdefault(self._machines[case.client], len(number))
            if case.server is not None:
                server = number.setdefault(self._machines[case.server], len(number))
            pairs.append((client, server) if client <= server else (server, client))
        return pairs, len(number)

    def _fewest(self, pairs: Sequence[tuple[int, int]], count: int) -> list[list[int]]:
        busiest = [0] * count
        for one, other in pairs:
            busiest[one] += 1
            busiest[other] += one != other
        if max(busiest) == len(pairs):
            return [[index] for index in range(len(pairs))]
        packed = _first_fit(range(len(pairs)), pairs, self._concurrency)
        if len(packed) > max(max(busiest), -(-len(pairs) // self._concurrency)):
            tournament = _first_fit(_tournament(pairs, count), pairs, self._concurrency)
            packed = min(packed, tournament, key=len)
        return packed


def _tournament(pairs: Sequence[tuple[int, int]], count: int) -> list[int]:
    """Return the order of `pairs` that a round-robin tournament of `count` machines has.

    By the circle method: one machine stays in the middle, the others sit around it, and in each
    turn those sitting opposite one another meet. A pair met k times before comes k tournaments on.
    """
    seats = max(count - 1 + count % 2, 1)
    met: dict[tuple[int, int], int] = {}
    turns = []
    for index, pair in enumerate(pairs):
        one, other = pair
        times = met[pair] = met.get(pair, -1) + 1
        turns.append((times, (2 * one if other == seats else one + other) % seats, index))
    return [index for _, _, index in sorted(turns)]


def _first_fit(
    order: Iterable[int], pairs: Sequence[tuple[int, int]], concurrency: int
) -> list[list[int]]:
    """Return rounds of indices into `pairs`: each in the first round where both machines are free.

    Which rounds a machine is busy in, and which are full, are bits of large numbers, a chunk at a
    time; a pair is looked for from the chunk on where it was placed last.
    """
    rounds: list[list[int]] = []
    idle = [0] * (1 + max(other for _, other in pairs))
    busy = [idle.copy()]  # By chunk, then by machine: bits.
    full = [0]  # By chunk: bits.
    placed: dict[tuple[int, int], int] = {}
    for index in order:
        pair = one, other = pairs[index]
        chunk = placed.get(pair, 0)
        while (taken := busy[chunk][one] | busy[chunk][other] | full[chunk]) == _FULL:
            chunk += 1
            if chunk == len(busy):
                busy.append(idle.copy())
                full.append(0)
        placed[pair] = chunk
        bit = ~taken & (taken + 1)
        where = chunk * _CHUNK + bit.bit_length() - 1
        if where == len(rounds):
            rounds.append([])
        rounds[where].append(index)
        busy[chunk][one] |= bit
        if other != one:
            busy[chunk][other] |= bit
        if len(rounds[where]) == concurrency:
            full[chunk] |= bit
    return rounds
