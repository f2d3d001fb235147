"""A cell of a site's tables: what it shows, and the number that it sorts by."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from markupsafe import Markup

from railgauge.base.characters import visible
from railgauge.base.number import in_best_unit
from railgauge.stats.digits import ratio_text

NOTHING = "–"
_MARKUP = re.compile("[&<>\"']")


class LinkedCell(NamedTuple):
    """A text, the number it stands for (None: it sorts by its text), and where it leads to.

    `kind` is a class of the style sheet: slower, faster, missing. `small` is a second line, in
    smaller letters, and `picture` an SVG element above it.
    """

    text: str
    value: float | None = None
    href: str = ""
    kind: str = ""
    small: str = ""
    picture: str = ""


def text(words: str, href: str = "", kind: str = "") -> LinkedCell:
    """Return a cell of words, whatever is in them."""
    return LinkedCell(visible(words), None, href, kind)


def number(value: float | None, written: str, href: str = "", kind: str = "") -> LinkedCell:
    """Return a cell of a number; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return LinkedCell(NOTHING, kind="missing")
    return LinkedCell(written, value, href, kind)


def count(value: int, href: str = "", kind: str = "") -> LinkedCell:
    """Return a cell of a count."""
    return LinkedCell(f"{value:,}", value, href, kind if value else "")


def quantity(value: float | None, unit: str) -> LinkedCell:
    """Return a cell of a value in base units, in a unit that suits it."""
    return number(value, "" if value is None else visible(in_best_unit(value, unit)))


def ratio_cell(
    ratio: float | None, before: LinkedCell, now: LinkedCell, kind: str = ""
) -> LinkedCell:
    """Return a cell of a ratio; where there is none, as of a loss that was 0, both ends of it."""
    if ratio is not None and math.isfinite(ratio):
        return LinkedCell(ratio_text(ratio), ratio, "", kind)
    if None in (before.value, now.value) or before.value == now.value:
        return LinkedCell(NOTHING, kind="missing")
    return LinkedCell(now.text, None, "", kind, small=f"from {before.text}")


def interval_text(low: float, high: float, unit: str, percent: int = 95) -> str:
    """Return an interval in base units as text: `7.77 to 7.81 Gbit/s`; of another level with it."""
    first, last = (visible(in_best_unit(end, unit)) for end in (low, high))
    size, space, unit_name = first.partition(" ")
    if space and last.endswith(f" {unit_name}"):
        first = size
    level = "" if percent == 95 else f" ({percent} %)"
    return f"{first} to {last}{level}"


def outcomes(measured: int, suspect: int, failed: int) -> LinkedCell:
    """Return these counts; of the measured replications some are suspect."""
    parts = [str(measured)]
    parts += [f"{suspect} suspect"] if suspect else []
    parts += [f"{failed} failed"] if failed else []
    return LinkedCell(", ".join(parts), measured, "", "suspect" if suspect or failed else "")


def rows(cells: Sequence[Sequence[LinkedCell]], words: int, tail: int, heading: int) -> Markup:
    """Return the rows of a table: a template takes five times as long for its thousands of cells.

    The first `words` columns and the last `tail` ones are words; the one at `heading` heads a row.
    """
    width = len(cells[0]) if cells else 0
    tags = [
        ("th" if at == heading else "td", "text" if at < words or at >= width - tail else "")
        for at in range(width)
    ]
    lines = ("".join(map(_cell, row, tags)) for row in cells)
    # Put together of escaped texts and numbers.
    return Markup("\n".join(f"<tr>{row}</tr>" for row in lines))  # noqa: S704


def _cell(cell: LinkedCell, where: tuple[str, str]) -> str:
    (text, value, href, kind, small, picture), (tag, side) = cell, where
    content = _escaped(text)
    if href:
        content = f'<a href="{_escaped(href)}">{content}</a>'
    content += picture
    if small:
        content += f" <small>{_escaped(small)}</small>"
    number = "" if value is None else f' data-value="{value!r}"'
    return f"{_start_tag(tag, side, kind)}{number}>{content}</{tag}>"


@lru_cache
def _start_tag(tag: str, side: str, kind: str) -> str:
    kinds = html.escape(f"{side} {kind}".strip())
    scope = ' scope="row"' if tag == "th" else ""
    return f'<{tag}{scope} class="{kinds}"' if kinds else f"<{tag}{scope}"


def _escaped(text: str) -> str:
    # Next to none has anything to escape, and five searches take five times as long as one.
    return html.escape(text) if _MARKUP.search(text) else text
