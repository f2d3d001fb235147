"""Where an axis begins and ends, and its round numbers: gnuplot takes whole decades, or steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from railgauge.base.number import plain_number
from railgauge.report.figures.figure import Scale

# Left on both sides of the values, as a share of the axis; around a single value, as a factor.
_BESIDE, _AROUND = 0.03, 1.25
# Up to so many decades (powers of ten) even steps read best, then 1, 2, 5, then powers of ten.
_EVEN, _FEW = 0.8, 3.0
_MOST_DECADES = 8
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_STEPS = (
    *(1, 2, 5, 10, 20, 30),
    *(count * _MINUTE for count in (1, 2, 5, 10, 20, 30)),
    *(count * _HOUR for count in (1, 2, 3, 6, 12)),
    *(count * _DAY for count in (1, 2, 7, 14, 28, 56, 91, 182, 364)),
)
# So many times of day have room side by side, or dates.
_TIMES, _DATES = 8, 5
_TITLE = "Measured at (UTC)"
# Around a single moment.
_LEAST_SPAN = 4.0


def log_scale(
    scale: Scale, values: NDArray[np.float64], *, below: float = 0.0, beside: float = 0.0
) -> Scale:
    """Return `scale` with ends, and tics where it has none, for `values` (n,), all above 0 or NaN.

    `below` is what to leave below them, as a share of the axis, beside the usual; `beside` is what
    is drawn on both sides of a value, as a natural logarithm.
    """
    positive = values[values > 0]
    if len(positive):
        factor = math.exp(beside)
        least, most = float(positive.min()) / factor, float(positive.max()) * factor
    else:
        least = scale.low or (scale.high or 10.0) / 10
        most = 10 * least
    ratio = most / least if most > least else _AROUND ** (1 / _BESIDE)
    low = scale.low if scale.low is not None else least / ratio ** (_BESIDE + below)
    high = scale.high if scale.high is not None else most * ratio**_BESIDE
    whole = bool(np.all(positive == np.round(positive)))
    marks = (
        (mark, plain_number(mark, 10)) for mark in _marks(low, high, whole) if low <= mark <= high
    )
    return replace(scale, low=low, high=high, tics=scale.tics or tuple(marks))


def linear_scale(
    scale: Scale, values: NDArray[np.float64], most: int, beside: float = 0.0
) -> Scale:
    """Return `scale` with ends a little beside `values` (n,), and tics where it has none.

    At most so many, at round numbers, whole ones where all values are.
    gnuplot's own axis would go on to the next round number, below 0 for sizes from 64 bytes on.
    `beside` is what is drawn on both sides of a value.
    """
    least, greatest = float(values.min()), float(values.max())
    margin = _BESIDE * (greatest - least) or abs(least) / 2 or 1.0
    low, high = least - margin - beside, greatest + margin + beside
    step = round_step(high - low, most)
    step = max(step, 1.0) if np.all(values == np.round(values)) else step
    places = [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    tics = tuple((place, plain_number(place, 10)) for place in places)
    return replace(scale, low=low, high=high, tics=scale.tics or tics)


def _marks(low: float, high: float, whole: bool) -> Iterator[float]:
    decades = math.log10(high / low)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if decades <= _EVEN:
        step = max(round_step(high - low, 7), 1.0 if whole else 0.0)
        yield from (float(n) * step for n in range(math.ceil(low / step), int(high / step) + 1))
        return
    mantissas = (1, 2, 5) if decades <= _FEW else (1,)
    for power in range(first, last + 1, math.ceil(decades / _MOST_DECADES)):
        yield from (float(f"{mantissa}e{power}") for mantissa in mantissas)


def round_step(span: float, most: int) -> float:
    """Return the smallest round step that goes at most `most` times into `span`."""
    power = 10.0 ** math.floor(math.log10(span / 4))
    return next(factor * power for factor in (1, 2, 5, 10) if span / (factor * power) <= most)


def time_scale(moments: Sequence[float]) -> Scale:
    """Return the axis over all `moments`, seconds since 1970, with a little left on each side.

    Its numbers are seconds since 1970, its tics' texts moments in UTC.
    """
    if not moments:
        return Scale(_TITLE)
    first, last = min(moments), max(moments)
    margin = max(last - first, _LEAST_SPAN) / 40
    low, high = first - margin, last + margin
    one_day = _text(low, "%Y-%m-%d") == _text(high, "%Y-%m-%d")
    most = _TIMES if one_day else _DATES
    step = next((step for step in _STEPS if (high - low) / step <= most), 0)
    step = step or math.ceil((high - low) / most / _DAY) * _DAY
    places = [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    title = _TITLE
    form = "%Y-%m-%d" if step >= _DAY else "%Y-%m-%d %H:%M"
    if one_day:
        form = "%H:%M" if step >= _MINUTE else "%H:%M:%S"
        title = f"Measured at, {_text(low, '%Y-%m-%d')} (UTC)"
    elif step < _MINUTE:
        form = "%Y-%m-%d %H:%M:%S"
    tics = tuple((float(place), _text(place, form)) for place in places)
    return Scale(title, tics=tics, low=low, high=high)


def _text(seconds: float, form: str) -> str:
    return datetime.fromtimestamp(math.floor(seconds), UTC).strftime(form)
