"""Reads printed numbers for what they are: ranges that the true values lie in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

# A number cut off to an integer is below the next one by more than this.
_BELOW = 1e-4
# Nearer to a range's end than this share of it, a value may come to be rounded the other way.
_MARGIN = 0.01
# What the sums of doubles may be off by.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Range:
    """Where a value lies (`low` to `high`), and what is taken for it (`value`) until more is known.

    All in the unit of the text that it was read from.
    """

    value: float
    low: float
    high: float

    @classmethod
    def rounded(cls, text: Decimal) -> Self:
        """Return the range of a number rounded to the digits of `text`, and not below 0."""
        half = 0.5 * 10.0 ** _exponent(text)
        value = float(text)
        return cls(value, max(0.0, value - half), value + half)

    @classmethod
    def cut_off(cls, text: Decimal) -> Self:
        """Return the range of a number cut off to the integer `text`."""
        value = float(text)
        return cls(value, value, value + 1 - _BELOW)

    def within(self, other: Range) -> Range:
        """Return what both ranges have in common; ValueError when that is nothing."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high + _TOLERANCE:
            raise ValueError(f"{self.value:g} is not {other.value:g}, even rounded")
        value = self.value if low <= self.value <= high else (low + high) / 2
        return Range(value, low, max(low, high))


def settle(ranges: Sequence[Range], total: Range) -> list[float]:
    """Return a value in each of the ranges, such that their sum is `total`'s value or near it.

    Where their own sum isn't, what is missing is shared out in proportion to each range's room.
    ValueError when no values of the ranges have a sum within `total`.
    """
    values = [span.value for span in ranges]
    current = math.fsum(values)
    margin = _MARGIN * (total.high - total.low)
    if total.low + margin < current < total.high - margin:
        return values
    least, most = math.fsum(span.low for span in ranges), math.fsum(span.high for span in ranges)
    low, high = max(total.low, least), min(total.high, most)
    if low > high + _TOLERANCE:
        raise ValueError(f"their sum {current:g} is not {total.value:g}, even rounded")
    # To the middle of what is possible.
    missing = (low + high) / 2 - current
    room = [span.high - span.value if missing > 0 else span.value - span.low for span in ranges]
    whole = math.fsum(room)
    share = missing / whole if whole > 0 else 0.0
    return [value + share * slack for value, slack in zip(values, room, strict=True)]


def settle_average(
    texts: Sequence[Decimal], average: Decimal, minimum: Decimal, maximum: Decimal
) -> list[float]:
    """Return values that are printed as `texts`, with that average, minimum and maximum.

    The average is of all of them or, as some versions of Hpcbench have it for more than three,
    of all but the lowest and the highest. ValueError when it is of neither.
    """
    order = sorted(range(len(texts)), key=texts.__getitem__)
    lowest, highest = Range.rounded(minimum), Range.rounded(maximum)
    between = Range(lowest.value, lowest.low, highest.high)
    ranges = [Range.rounded(text) for text in texts]
    ranges = [Range(r.value, between.low, between.high).within(r) for r in ranges]
    # The extremes are printed more exactly than the rows.
    ranges[order[0]] = lowest.within(ranges[order[0]])
    ranges[order[-1]] = highest.within(ranges[order[-1]])
    try:
        return settle(ranges, _total(average, len(texts)))
    except ValueError:
        inner = order[1:-1]
        if len(texts) <= 3:
            raise
    values = [span.value for span in ranges]
    settled = settle([ranges[index] for index in inner], _total(average, len(inner)))
    for index, value in zip(inner, settled, strict=True):
        values[index] = value
    return values


def _total(average: Decimal, count: int) -> Range:
    mean = Range.rounded(average)
    return Range(count * mean.value, count * mean.low, count * mean.high)


def _exponent(text: Decimal) -> int:
    exponent = text.as_tuple().exponent
    assert isinstance(exponent, int)  # the caller's pattern lets no NaN in
    return exponent
