"""Lays a table out for LaTeX; templates/latex puts the parts together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple

from railgauge.base.characters import width
from railgauge.report.formats.plaintext import TextLayout
from railgauge.report.formats.tex import Tex, breakable, escape, unit
from railgauge.report.tables.table import Cell, Heading, Row, RowLabel, Table

_PAGE_ROWS = 45
# Longer texts go on in the next line.
_LINE = 40
_HEADING_LINE = 28
_NARROW_LINE = 11
# Headings of longer words, or of more lines, stand in a box that may break them.
_HEADING_WORD, _HEADING_LINES = 14, 4
# An interval is no number that a column could align, but its ends are.
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_INTERVAL = re.compile(rf"\[{_NUMBER.pattern}, {_NUMBER.pattern}\]")
# A number, and a second statistic beside it.
_ALIGNED = re.compile(
    rf"({_NUMBER.pattern})"
    rf"( (?:{_INTERVAL.pattern}|± {_NUMBER.pattern}|\({_NUMBER.pattern}(?: %)?\)))?"
)
# How wide characters of numbers and of marks are in print, in digits, where it isn't 1.
_NARROW = {0.56: ".,[]ijl", 0.61: "f", 0.67: " ", 0.78: "()rst", 0.89: "cez"}
_WIDE = {1.06: "kqvxy", 1.11: "bdhnpu", 1.44: "w", 1.56: "-±", 1.67: "%m"}
_WIDTHS = {char: width for width, chars in (_NARROW | _WIDE).items() for char in chars}


class _Aligned(NamedTuple):
    """A number, a second statistic beside it, and a mark: each "" if there is none."""

    number: str
    beside: str
    mark: str

    @property
    def suffix(self) -> str:
        """What stands behind the number, as LaTeX."""
        beside = f"{{~{_with_numbers(self.beside)}}}" if self.beside else ""
        return beside + _mark(self.mark)


class _Size(NamedTuple):
    """What has room for `most` characters side by side on an A4 page."""

    most: float
    letters: str
    space: int
    lying: bool


_SIZES = (
    _Size(95, "small", 4, lying=False),
    _Size(125, "scriptsize", 4, lying=False),
    _Size(165, "scriptsize", 4, lying=True),
    _Size(math.inf, "tiny", 2, lying=True),
)


@dataclass(frozen=True, slots=True)
class HeaderLine:
    """A line of headings and the rules below it."""

    cells: tuple[Tex, ...]
    rules: tuple[Tex, ...]


@dataclass(frozen=True, slots=True)
class TexTable:
    """A table's parts as LaTeX.

    `long` ones may break across pages, and have a `size`; `lying` ones are on pages turned by a
    quarter. Others are shrunk to the width of the text if they must.
    """

    table: Table
    columns: Tex
    lines: tuple[HeaderLine, ...]
    groups: tuple[tuple[tuple[Tex, ...], ...], ...]
    spaced: bool
    long: bool
    size: _Size
    lying: bool


def lay_out(table: Table) -> TexTable:
    """Return the parts of `table` as LaTeX."""
    layout = TextLayout(table)
    long = len(table.rows) > _PAGE_ROWS
    size = next(size for size in _SIZES if len(layout.rule) <= size.most)
    stubs = [_Stub(_longest(table, i) > _LINE, long) for i in range(len(table.stub))]
    aligned = [[_aligned(cell) for cell in row.cells] for row in table.rows]
    columns = " ".join(_columns(table, aligned))
    lines = iter(aligned)
    return TexTable(
        table=table,
        columns=Tex("".join(stub.column for stub in stubs) + " " + columns),
        lines=tuple(_header(table, _HEADING_LINE if size is _SIZES[0] else _NARROW_LINE)),
        groups=tuple(
            tuple(_row(row, stubs, next(lines)) for row in group) for group in table.groups
        ),
        spaced=layout.spaced,
        long=long,
        size=size,
        lying=long and size.lying,
    )


class _Stub(NamedTuple):
    """How a column of row labels is set; `long` tables may end a page inside a group."""

    folded: bool
    long: bool

    @property
    def column(self) -> str:
        return r">{\raggedright\arraybackslash}p{0.3\linewidth}" if self.folded else "l"

    def label(self, label: RowLabel) -> Tex:
        if not label.span and not self.long:
            return Tex("")
        written = breakable(label.text) if self.folded else escape(label.text)
        text = Tex(written + _mark(label.mark))
        # A page may end inside a group: each row of a long table has its labels.
        if label.span == 1 or self.long:
            return text
        return Tex(rf"\multirow{{{label.span}}}{{{'=' if self.folded else '*'}}}{{{text}}}")


def _longest(table: Table, place: int) -> int:
    return max(map(width, (table.stub[place], *(row.labels[place].text for row in table.rows))))


def _columns(table: Table, aligned: Sequence[Sequence[_Aligned | None]]) -> Iterator[str]:
    """Yield how many digits siunitx keeps free before and after each column's decimal marker."""
    for i, column in enumerate(table.columns):
        present = [cell for line in aligned if (cell := line[i])]
        numbers = [cell.number for cell in present]
        digits = max((len(text.lstrip("-").split(".")[0]) for text in numbers), default=1)
        sign = "-" if any(text.startswith("-") for text in numbers) else ""
        decimals = max((len(text.partition(".")[2]) for text in numbers), default=column.digits)
        fraction = f".{decimals}" if decimals else ""
        options = f"table-format={sign}{digits}{fraction}"
        # The widest in print, which needn't be in one cell.
        beside = max((cell.beside for cell in present), key=_printed_width, default="")
        mark = max((cell.mark for cell in present), key=_printed_width, default="")
        if beside or mark:
            options += f",table-space-text-post={_Aligned('', beside, mark).suffix}"
        yield f"S[{options}]"


def _printed_width(text: str) -> float:
    return sum(_WIDTHS.get(char, 1.0) for char in text)


def _header(table: Table, line_length: int) -> Iterator[HeaderLine]:
    titles = [_braced(escape(title)) for title in table.stub]
    blanks = [Tex("")] * len(titles)
    for line in table.header:
        last = line is table.header[-1]
        spans = [heading.span for heading in line]
        cells = [
            _heading(heading, Tex(_folded(heading, line_length) + _mark(heading.mark)))
            for heading in line
        ]
        rules = [] if last or set(spans) == {1} else list(_rules(spans, len(titles)))
        yield HeaderLine((*(titles if last else blanks), *cells), tuple(rules))
        if any(heading.unit for heading in line):
            units = [_heading(heading, _unit(heading)) for heading in line]
            yield HeaderLine((*blanks, *units), ())


def _rules(spans: Sequence[int], first: int) -> Iterator[Tex]:
    start = first + 1
    for span in spans:
        yield Tex(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span


def _unit(heading: Heading) -> Tex:
    return Tex(f"({unit(heading.unit)})") if heading.unit else Tex("")


def _folded(heading: Heading, most: int) -> Tex:
    """Return a heading's text, in several lines if it has more than `most` characters a column.

    These are as wide as the longest of them: a box would keep columns of short numbers apart.
    """
    most *= heading.span
    if width(heading.text) <= most:
        return escape(heading.text)
    unbroken = heading.text.replace(" %", "\u00a0%")
    lines = wrap(unbroken, most, break_long_words=False, break_on_hyphens=False)
    most = max(most, _HEADING_WORD)
    if len(lines) <= _HEADING_LINES and max(map(width, lines), default=0) <= most:
        stacked = r"\\".join(map(escape, lines))
        return Tex(rf"\begin{{tabular}}[b]{{@{{}}c@{{}}}}{stacked}\end{{tabular}}")
    return _box("b", most // 2, r"\centering", heading.text)


def _box(position: str, ems: int, alignment: str, text: str) -> Tex:
    return Tex(rf"\parbox[{position}]{{{ems}em}}{{{alignment} {breakable(text)}}}")


def _heading(heading: Heading, text: Tex) -> Tex:
    if heading.span > 1:
        return Tex(rf"\multicolumn{{{heading.span}}}{{c}}{{{text}}}")
    return _braced(text)


def _braced(text: Tex) -> Tex:
    return Tex(f"{{{text}}}")


def _row(row: Row, stubs: Sequence[_Stub], aligned: Sequence[_Aligned | None]) -> tuple[Tex, ...]:
    labels = (stub.label(label) for stub, label in zip(stubs, row.labels, strict=True))
    return (*labels, *map(_cell, row.cells, aligned))


def _mark(mark: str) -> str:
    return rf"\textsuperscript{{{mark}}}" if mark else ""


def _with_numbers(text: str) -> str:
    """Return a text as LaTeX in which siunitx writes the numbers."""
    parts = re.split(f"({_NUMBER.pattern})", text)
    return "".join(rf"\num{{{part}}}" if i % 2 else escape(part) for i, part in enumerate(parts))


def _aligned(cell: Cell) -> _Aligned | None:
    """Return a cell's number for siunitx to align, and what stands behind it.

    None for all that is no number; a text for a missing one may well end with a digit.
    """
    match = _ALIGNED.fullmatch(cell.text)
    if match is None:
        return None
    return _Aligned(match[1], (match[2] or "").strip(), cell.mark)


def _cell(cell: Cell, aligned: _Aligned | None) -> Tex:
    if aligned is not None:
        return Tex(f"{aligned.number} {aligned.suffix}".rstrip())
    mark = _mark(cell.mark)
    if _INTERVAL.fullmatch(cell.text):
        return Tex(f"{{{_with_numbers(cell.text)}{mark}}}")
    if width(cell.text) > _LINE:
        text = _box("t", 12, r"\raggedright", cell.text)
        return Tex(f"{{{text}{mark}}}")
    return Tex(f"{{{escape(cell.text)}{mark}}}")
