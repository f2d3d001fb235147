"""What the values of many pairs of series say of the shift between the two, as if independent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats import special
from railgauge.stats.hodges_lehmann import shifts
from railgauge.stats.rank_test import rank_tests

_Values: TypeAlias = "NDArray[np.float64]"
LEVEL = 0.95
# Digits that a figure may have and still be a rounded one.
_MOST_DIGITS = 6


def step_of(values: NDArray[np.float64]) -> float:
    """Return the step in which `values` (n,) come, in their unit; 0 where none shows.

    It shows where at most half of them are different: the least distance of two. Of only two
    different values, as when all replications gave the same on either side, it is the last
    decimal digit that they have (45 and 46: 1), if one of them has more than one digit.
    """
    different = np.unique(values)
    if len(different) < 2 or 2 * len(different) > len(values):
        return 0.0
    if len(different) > 2:
        return float(np.diff(different).min())
    return _last_digit(*different.tolist())


def _last_digit(first: float, second: float) -> float:
    """Return the unit of the last decimal digit of the two; 0 where there are too many or few."""
    greatest = math.floor(math.log10(max(abs(first), abs(second))))
    units = [(value, _unit(value, greatest)) for value in (first, second) if value]
    few = all(abs(value) < 9.5 * 10.0**unit for value, unit in units)
    last = min(unit for _, unit in units)
    return 0.0 if few or last <= greatest - _MOST_DIGITS else 10.0**last


def _unit(value: float, greatest: int) -> int:
    """Return the greatest power of ten, as its exponent, that `value` is a multiple of."""
    for unit in range(greatest, greatest - _MOST_DIGITS, -1):
        steps = value / 10.0**unit
        if round(steps) and abs(steps - round(steps)) <= 1e-9 * abs(steps):
            return unit
    return greatest - _MOST_DIGITS


class Estimates(NamedTuple):
    """What is known of each pair, (m,) each.

    Shifts are of logarithms where `log`, that is where all values are above 0; else they are in
    units of `scale`, the first side's median. Where that is 0 they are in the values' own unit and
    `relative` is False. `low` and `high` bound `shift` with 95 % confidence, infinite where there
    are too few values; `quantile` is Student's for it, `degrees` his degrees of freedom and `error`
    the standard error that the interval amounts to. `step` is in what steps values come, in units
    of the shift.
    """

    log: NDArray[np.bool_]
    relative: NDArray[np.bool_]
    scale: _Values
    shift: _Values
    low: _Values
    high: _Values
    degrees: _Values
    quantile: _Values
    error: _Values
    p: _Values
    greater: _Values
    step: _Values


def estimate(values: Sequence[tuple[_Values, _Values]]) -> Estimates:
    """Return what `values` say; NaN where a side has none, with an infinite interval."""
    m = len(values)
    estimates = Estimates(
        log=np.ones(m, bool),
        relative=np.ones(m, bool),
        scale=np.ones(m),
        shift=np.full(m, np.nan),
        low=np.full(m, -np.inf),
        high=np.full(m, np.inf),
        degrees=np.ones(m),
        quantile=np.ones(m),
        error=np.full(m, np.inf),
        p=np.full(m, np.nan),
        greater=np.full(m, np.nan),
        step=np.zeros(m),
    )
    for places, first, second in _by_shape(values):
        log = np.minimum(first.min(axis=1), second.min(axis=1)) > 0
        middle = np.abs(np.median(first, axis=1))
        relative = log | (middle > 0)
        scale = np.where(log | ~relative, 1.0, middle)
        with np.errstate(divide="ignore", invalid="ignore"):
            before, after = (
                np.where(log[:, None], np.log(side), side / scale[:, None])
                for side in (first, second)
            )
        moved = shifts(before, after, LEVEL)
        tests = rank_tests(first, second)
        degrees = max(first.shape[1] + second.shape[1] - 2, 1)
        bounded = moved.level < 1
        quantile = float(special.stdtrit(degrees, (1 + (moved.level if bounded else LEVEL)) / 2))
        estimates.log[places], estimates.relative[places] = log, relative
        estimates.scale[places] = scale
        estimates.shift[places], estimates.low[places], estimates.high[places] = moved[:3]
        estimates.degrees[places], estimates.quantile[places] = degrees, quantile
        estimates.error[places] = (moved.high - moved.low) / 2 / quantile if bounded else np.inf
        estimates.p[places], estimates.greater[places] = tests.p, tests.greater
        # A step in the values' unit is, as a logarithm, one of the median.
        steps = _steps(first, second, tests.different)
        estimates.step[places] = steps / np.where(log, middle, scale)
    return estimates


def _steps(first: _Values, second: _Values, different: NDArray[np.int64]) -> _Values:
    """Return the step (m,) in which both rows' values come; 0 where over half are `different`."""
    steps = np.zeros(len(first))
    for row in np.flatnonzero(2 * different <= first.shape[1] + second.shape[1]).tolist():
        steps[row] = step_of(np.concatenate([first[row], second[row]]))
    return steps


def _by_shape(
    values: Sequence[tuple[_Values, _Values]],
) -> Iterator[tuple[NDArray[np.intp], _Values, _Values]]:
    """Yield the places of pairs that have as many values, with those values as rows."""
    shapes: dict[tuple[int, int], list[int]] = {}
    for place, (first, second) in enumerate(values):
        if len(first) and len(second):
            shapes.setdefault((len(first), len(second)), []).append(place)
    for places in shapes.values():
        first, second = (np.array([values[place][side] for place in places]) for side in (0, 1))
        yield np.array(places, np.intp), first, second
