"""Lays a table out for LaTeX; templates/latex puts the parts together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railgauge.report.plaintext import Layout
from railgauge.report.table import Cell, Heading, Row, Table
from railgauge.report.tex import Tex, escape, unit

# Beyond these a table would run off an A4 page.
_PAGE_ROWS = 45
_PAGE_COLUMNS = 95


@dataclass(frozen=True, slots=True)
class HeaderLine:
    """A line of headings and the rules below it."""

    cells: tuple[Tex, ...]
    rules: tuple[Tex, ...]


@dataclass(frozen=True, slots=True)
class TexTable:
    """A table's parts as LaTeX. `long` may break across pages, `wide` is shrunk to the text."""

    table: Table
    columns: Tex
    lines: tuple[HeaderLine, ...]
    groups: tuple[tuple[tuple[Tex, ...], ...], ...]
    spaced: bool
    long: bool
    wide: bool


def lay_out(table: Table) -> TexTable:
    """Return the parts of `table` as LaTeX."""
    layout = Layout(table)
    long = len(table.rows) > _PAGE_ROWS
    groups: list[list[tuple[Tex, ...]]] = []
    for row in table.rows:
        if not groups or (row.labels[0].span and len(table.stub) > 1):
            groups.append([])
        groups[-1].append(_row(row, long))
    return TexTable(
        table=table,
        columns=Tex("l" * len(table.stub) + " " + " ".join(_columns(table))),
        lines=tuple(_header(table)),
        groups=tuple(map(tuple, groups)),
        spaced=layout.spaced,
        long=long,
        wide=len(layout.rule) > _PAGE_COLUMNS,
    )


def _columns(table: Table) -> Iterator[str]:
    """Say how many digits siunitx must keep free before and after each column's decimal marker."""
    for i, column in enumerate(table.columns):
        cells = [row.cells[i] for row in table.rows]
        numbers = [cell.text for cell in cells if cell.number]
        whole = max((len(text.lstrip("-").split(".")[0]) for text in numbers), default=1)
        sign = "-" if any(text.startswith("-") for text in numbers) else ""
        fraction = f".{column.digits}" if column.digits else ""
        options = f"table-format={sign}{whole}{fraction}"
        marks = [cell.mark for cell in cells if cell.mark and cell.number]
        if marks:
            options += rf",table-space-text-post=\textsuperscript{{{max(marks, key=len)}}}"
        yield f"S[{options}]"


def _header(table: Table) -> Iterator[HeaderLine]:
    titles = [_braced(escape(title)) for title in table.stub]
    blanks = [Tex("")] * len(titles)
    for line in table.header:
        last = line is table.header[-1]
        spans = [heading.span for heading in line]
        cells = [_heading(heading, escape(heading.text)) for heading in line]
        rules = [] if last or set(spans) == {1} else list(_rules(spans, len(titles)))
        yield HeaderLine((*(titles if last else blanks), *cells), tuple(rules))
        if any(heading.unit for heading in line):
            units = [_heading(one, _unit(one)) for one in line]
            yield HeaderLine((*blanks, *units), ())


def _rules(spans: Sequence[int], first: int) -> Iterator[Tex]:
    start = first + 1
    for span in spans:
        yield Tex(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span


def _unit(heading: Heading) -> Tex:
    return Tex(f"({unit(heading.unit)})") if heading.unit else Tex("")


def _heading(heading: Heading, text: Tex) -> Tex:
    if heading.span > 1:
        return Tex(rf"\multicolumn{{{heading.span}}}{{c}}{{{text}}}")
    return _braced(text)


def _braced(text: Tex) -> Tex:
    return Tex(f"{{{text}}}")


def _row(row: Row, long: bool) -> tuple[Tex, ...]:
    labels = []
    for label in row.labels:
        text = escape(label.text) if label.span else Tex("")
        # A page may end inside a group, where \multirow would print its label over the edge.
        if label.span > 1 and not long:
            text = Tex(rf"\multirow{{{label.span}}}{{*}}{{{text}}}")
        labels.append(text)
    return (*labels, *map(_cell, row.cells))


def _cell(cell: Cell) -> Tex:
    mark = rf"\textsuperscript{{{cell.mark}}}" if cell.mark else ""
    if cell.number:
        return Tex(f"{cell.text} {mark}".rstrip())
    return Tex(f"{{{escape(cell.text)}{mark}}}")
