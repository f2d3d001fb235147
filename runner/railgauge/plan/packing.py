"""Packs launches in rounds: what runs at the same time never shares a machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # schedule imports this module.
    from railgauge.plan.schedule import Dispatch

# Rounds are looked up this many at a time, one bit each.
_CHUNK = 1024
_FULL = (1 << _CHUNK) - 1


class Packer:
    """Puts the launches of a block in rounds of at most `concurrency`; `machines` are by host."""

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
        uses = [0] * count
        for low, high in pairs:
            uses[low] += 1
            uses[high] += low != high
        if max(uses) == len(pairs):
            return [[index] for index in range(len(pairs))]
        packed = _first_fit(range(len(pairs)), pairs, self._concurrency)
        if len(packed) > max(max(uses), -(-len(pairs) // self._concurrency)):
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
        low, high = pair
        times = met[pair] = met.get(pair, -1) + 1
        turns.append((times, (2 * low if high == seats else low + high) % seats, index))
    return [index for _, _, index in sorted(turns)]


def _first_fit(
    order: Iterable[int], pairs: Sequence[tuple[int, int]], concurrency: int
) -> list[list[int]]:
    """Return rounds of indices into `pairs`: each in the first round where both machines are free.

    Which rounds a machine is busy in, and which are full, are bits of large numbers, a chunk at a
    time; a pair is looked for from the chunk on where it was placed last.
    """
    rounds: list[list[int]] = []
    idle = [0] * (1 + max(high for _, high in pairs))
    busy = [idle.copy()]  # By chunk, then by machine: bits.
    full = [0]  # By chunk: bits.
    placed: dict[tuple[int, int], int] = {}
    for index in order:
        pair = low, high = pairs[index]
        chunk = placed.get(pair, 0)
        while (occupied := busy[chunk][low] | busy[chunk][high] | full[chunk]) == _FULL:
            chunk += 1
            if chunk == len(busy):
                busy.append(idle.copy())
                full.append(0)
        placed[pair] = chunk
        bit = ~occupied & (occupied + 1)
        number = chunk * _CHUNK + bit.bit_length() - 1
        if number == len(rounds):
            rounds.append([])
        rounds[number].append(index)
        busy[chunk][low] |= bit
        if high != low:
            busy[chunk][high] |= bit
        if len(rounds[number]) == concurrency:
            full[chunk] |= bit
    return rounds
