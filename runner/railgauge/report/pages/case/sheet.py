"""Tables of a case's page as plain data, and how they write numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from railgauge.base.number import positional

# The kinds of a bar's pieces; the style sheet has a colour for each.
Kind = Literal["user", "system", "softirq", "irq", "steal"]


class Piece(NamedTuple):
    """A piece of a bar: what it is of, and its width in % of the whole."""

    kind: Kind
    percent: float


class SheetRow(NamedTuple):
    """A row: its heading, a text for each further column, and a bar in the last (empty: none).

    `begins` a group of rows that belong together.
    """

    heading: str
    cells: tuple[str, ...]
    bar: tuple[Piece, ...] = ()
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of texts. The first of `columns` heads the rows; the next `texts` are words.

    The others are numbers. `barred` says whether the rows have bars. `notes` stand below.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    notes: tuple[str, ...] = ()
    texts: int = 0
    barred: bool = False


def count(number: int | float) -> str:
    """Return a count with its thousands apart: `1,204`."""
    return f"{number:,.0f}"


def share(part: float, whole: float, digits: int = 1) -> str:
    """Return `part` of `whole` in %, without its sign; `–` where there is no whole."""
    return f"{100 * part / whole:.{digits}f}" if whole > 0 else "–"


def value(number: float) -> str:
    """Return any number with four significant digits, without an exponent unless tiny or huge."""
    if not math.isfinite(number):
        return "n/a"
    if number == 0:
        return "0"
    if abs(number) >= 1000:
        return f"{number:,.0f}" if abs(number) < 1e15 else f"{number:.3e}"
    return positional(f"{number:#.4g}".rstrip("."))
