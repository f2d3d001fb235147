"""A site's small pictures, as SVG elements: nights as a band, a ratio's interval, pairs of hosts.

Colours are the style sheet's, by classes: the page's policy refuses style attributes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from statistics import median
from typing import NamedTuple

from railgauge.base.characters import natural
from railgauge.stats.digits import percent_text

_WIDE, _HIGH, _MARGIN, _LABELS = 320, 96, 6, 52
# A band that is narrower than this share either way would look like a change.
_LEAST_SHARE = 0.02
# Labels that are nearer than this would cover one another.
_LINE = 11
_BAR_WIDE, _BAR_HIGH = 160, 18
# More than this many times as much is drawn at the edge.
_FARTHEST = 8.0
# Squares of a map of pairs: of few hosts they are larger, until these fill its side.
_LEAST_SQUARE, _MOST_SQUARE, _GAP, _SIDE = 16, 28, 2, 192
_MOST_HOSTS = 64
# Of the median of all pairs; what is below has the last class.
_LEVELS = (0.98, 0.95, 0.9, 0.75)


class BandNight(NamedTuple):
    """A night of a band: of its cases' ratios the middle, and the ends without the outer tenths.

    `slowest` is the ratio of the slowest case that was judged slower; None where none was.
    """

    title: str
    low: float
    middle: float
    high: float
    slowest: float | None


class PairValue(NamedTuple):
    """A pair of hosts, its values as a text, and its share of the median: of more is better."""

    client: str
    server: str
    text: str
    share: float


def _svg(label: str, width: float, height: float, parts: Iterable[str], kind: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">'
        f"<title>{escape(label)}</title>{''.join(parts)}</svg>"
    )


def band(label: str, nights: Sequence[BandNight | None]) -> str:
    """Return the nights, oldest first, as a line within a band; None is a night without values."""
    return _svg(label, _WIDE, _HIGH, _Band(nights).parts(), "band")


class _Band:
    """Draws nights from left to right, ratios on a linear axis with its labels at the right."""

    def __init__(self, nights: Sequence[BandNight | None]) -> None:
        self._nights = list(enumerate(nights))
        measured = [night for night in nights if night is not None]
        ends = [end for night in measured for end in (night.low, night.high)]
        ends += [night.slowest for night in measured if night.slowest is not None]
        self._bottom, self._top = min([*ends, 1 - _LEAST_SHARE]), max([*ends, 1 + _LEAST_SHARE])
        self._right = _WIDE - _LABELS
        self._step = (self._right - 2 * _MARGIN) / max(1, len(nights) - 1)

    def parts(self) -> Iterator[str]:
        yield f'<path class="even" d="M0 {self._y(1):.1f}H{self._right}"/>'
        yield self._label(1, "±0 %")
        for end in (self._bottom, self._top):
            if abs(self._y(end) - self._y(1)) >= _LINE:
                yield self._label(end, percent_text(end - 1))
        for measured_stretch, group in groupby(self._nights, lambda item: item[1] is not None):
            if measured_stretch:
                yield from self._stretch([(self._x(at), night) for at, night in group if night])
        for at, night in self._nights:
            if night is not None:
                yield from self._marks(at, night)

    def _stretch(self, nights: Sequence[tuple[float, BandNight]]) -> Iterator[str]:
        upper = [f"{x:.1f} {self._y(night.high):.1f}" for x, night in nights]
        lower = [f"{x:.1f} {self._y(night.low):.1f}" for x, night in reversed(nights)]
        yield f'<path class="spread" d="M{"L".join([*upper, *lower])}Z"/>'
        line = "L".join(f"{x:.1f} {self._y(night.middle):.1f}" for x, night in nights)
        yield f'<path class="middle" d="M{line}"/>'

    def _marks(self, at: int, night: BandNight) -> Iterator[str]:
        x = self._x(at)
        if night.slowest is not None:
            yield f'<circle class="slower" cx="{x:.1f}" cy="{self._y(night.slowest):.1f}" r="3"/>'
        if at == len(self._nights) - 1:
            yield f'<circle class="last" cx="{x:.1f}" cy="{self._y(night.middle):.1f}" r="3"/>'
        # What is pointed at is as wide as a night.
        half = max(2.0, self._step / 2)
        yield (
            f'<rect class="hover" x="{x - half:.1f}" y="0" width="{2 * half:.1f}"'
            f' height="{_HIGH}"><title>{escape(night.title)}</title></rect>'
        )

    def _label(self, ratio: float, text: str) -> str:
        return f'<text x="{self._right + 4}" y="{self._y(ratio) + 3:.1f}">{text}</text>'

    def _x(self, place: int) -> float:
        return _MARGIN + place * self._step

    def _y(self, ratio: float) -> float:
        return _MARGIN + (_HIGH - 2 * _MARGIN) * (self._top - ratio) / (self._top - self._bottom)


def farthest(ends: Iterable[float | None]) -> float:
    """Return how far, as a logarithm, an axis has to reach either way to show these ratios."""
    sizes = [abs(math.log(end)) for end in ends if end is not None and end > 0]
    return min(math.log(_FARTHEST), max([*sizes, math.log(1.05)]))


def ratio_bar(
    ratio: float, low: float, high: float, smallest: float, reach: float, kind: str
) -> str:
    """Return a ratio with its interval, beside 1 and what would not matter around it.

    The axis is logarithmic and reaches `reach` (see `farthest`) either way. The numbers stand
    beside it: it is hidden from those who can't see it.
    """
    middle, half = _BAR_HIGH / 2, _BAR_WIDE / 2

    def x(value: float) -> float:
        share = math.log(value) / reach if value > 0 else -1.0
        return half + (half - 5) * max(-1.0, min(1.0, share))

    narrow, wide = x(1 - min(smallest, 0.9)), x(1 + smallest)
    return (
        f'<svg class="ratio" viewBox="0 0 {_BAR_WIDE} {_BAR_HIGH}" aria-hidden="true">'
        f'<rect class="matters-not" x="{narrow:.1f}" y="2" width="{wide - narrow:.1f}"'
        f' height="{_BAR_HIGH - 4}"/><path class="even" d="M{half:g} 0V{_BAR_HIGH}"/>'
        f'<g class="{kind}"><path d="M{x(low):.1f} {middle:g}H{x(high):.1f}"/>'
        f'<circle cx="{x(ratio):.1f}" cy="{middle:g}" r="3.5"/></g></svg>'
    )


def pairs_map(
    label: str,
    names: Collection[str],
    values: Sequence[PairValue],
    lacking: Collection[tuple[str, str]] = (),
) -> str:
    """Return a square for each pair, from the hosts at the left to those above; empty of too many.

    Its colour says how much of the median it has; pairs that are `lacking` a value have a cross.
    `names` are the hosts, also those without a pair.
    """
    hosts = sorted(names, key=natural)
    if not 2 <= len(hosts) <= _MOST_HOSTS:
        return ""
    at = {host: place for place, host in enumerate(hosts)}
    left = 8 + 6 * max(map(len, hosts))
    step = 1 if len(hosts) <= 16 else 4
    size = min(_MOST_SQUARE, max(_LEAST_SQUARE, _SIDE // len(hosts)))
    cell = size - _GAP

    def parts() -> Iterator[str]:
        for place, host in enumerate(hosts):
            if place % step == 0:
                yield (
                    f'<text x="{left - 4}" y="{18 + place * size + cell / 2:g}" text-anchor="end">'
                    f"{escape(host)}</text>"
                )
                yield (
                    f'<text x="{left + place * size + cell / 2:g}" y="10"'
                    f' text-anchor="middle">{place + 1}</text>'
                )
        for value in values:
            level = sum(value.share < least for least in _LEVELS)
            x, y = left + at[value.server] * size, 14 + at[value.client] * size
            title = escape(f"{value.client} to {value.server}: {value.text}")
            yield (
                f'<rect class="level{level}" x="{x}" y="{y}" width="{cell}" height="{cell}"'
                f' rx="2"><title>{title}</title></rect>'
            )
        for client, server in lacking:
            title = escape(f"{client} to {server}: no value")
            yield _cross(left + at[server] * size, 14 + at[client] * size, cell, title)

    side = len(hosts) * size
    return _svg(label, left + side, 14 + side, parts(), "pairs")


def _cross(x: int, y: int, cell: int, title: str) -> str:
    arm = cell / 2
    return (
        f'<path class="lacking" d="M{x + arm / 2:g} {y + arm / 2:g}l{arm:g} {arm:g}m0 {-arm:g}'
        f'l{-arm:g} {arm:g}"><title>{title}</title></path>'
    )


def shares(values: Mapping[tuple[str, str], float], better: str) -> dict[tuple[str, str], float]:
    """Return each pair's share of their median, or the other way where less is better.

    Of a median of 0, what has errors where most have none is no share at all.
    """
    middle = median(values.values())
    if middle < 0 or (better == "higher" and middle == 0):
        return {}
    return {
        pair: value / middle if better == "higher" else middle / value if value > 0 else 1.0
        for pair, value in values.items()
    }
