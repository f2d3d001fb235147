"""A time axis: round moments in UTC, written as dates or times of day."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from railgauge.report.figures.figure import Scale

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
