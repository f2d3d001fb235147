"""Reads a CSV file strictly: every cell knows its line and column, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from railgauge.base.errors import FileProblems, InputError, Problem

# A cell and what ends it: a quoted one ("" stands for a quote), or one up to the next comma.
_CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\n|\r|\Z)')
_NEWLINE = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class CsvCell:
    """A cell without the white space around it, and where it starts; both count from 1."""

    text: str
    line: int
    column: int


class CsvFile:
    """A CSV file: RFC 4180, in UTF-8 (a byte order mark is skipped), with a header of unique names.

    Empty lines are skipped. FileProblems when it isn't that, InputError when it can't be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        rows = list(_rows(str(path), _read(path)))
        if not rows:
            raise FileProblems([Problem(str(path), 1, 1, "the file is empty: it has no header")])
        self.header, self.rows = rows[0], rows[1:]
        self.columns: dict[str, int] = {}
        for index, cell in enumerate(self.header):
            self.columns.setdefault(cell.text, index)
        problems = [*self._header_problems(), *self._ragged_rows()]
        if problems:
            raise FileProblems(problems)

    def problem(self, cell: CsvCell, message: str) -> Problem:
        """Return a problem at that cell."""
        return Problem(str(self.path), cell.line, cell.column, message)

    def _header_problems(self) -> Iterator[Problem]:
        for index, cell in enumerate(self.header):
            if not cell.text:
                yield self.problem(cell, "this column has no name: give it one in the header")
            elif self.columns[cell.text] != index:
                yield self.problem(
                    cell, f"another column is called {cell.text!r} too: rename one of them"
                )

    def _ragged_rows(self) -> Iterator[Problem]:
        width = len(self.header)
        for row in self.rows:
            if len(row) != width:
                yield self.problem(
                    row[min(len(row) - 1, width)],
                    f"this row has {len(row)} cells, the header has {width}: "
                    "add or remove commas (a cell with a comma in it needs quotes)",
                )


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            problem = "is not a file" if path.exists() else "does not exist"
            raise InputError(f"{path} {problem}: name a CSV file")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read: {reason}") from error
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileProblems([Problem(str(path), 1, 1, "this is UTF-16: save the file as UTF-8")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8: save the file as UTF-8"
        raise FileProblems([_at(path, before, message)]) from error
    if "\0" in text:
        message = "a NUL character: this is no text file"
        raise FileProblems([_at(path, text[: text.index("\0")], message)])
    return text


def _at(path: Path, before: str, message: str) -> Problem:
    lines = _NEWLINE.split(before)
    return Problem(str(path), len(lines), len(lines[-1]) + 1, message)


def _rows(name: str, text: str) -> Iterator[Sequence[CsvCell]]:
    position, line, line_start = 0, 1, 0
    row: list[CsvCell] = []
    while position < len(text) or row:
        match = _CELL.match(text, position)
        if match is None:
            message = 'a stray or missing quote: a cell with a quote in it is written "a ""b"""'
            raise FileProblems([Problem(name, line, position - line_start + 1, message)])
        quoted, plain, end = match.groups()
        content = plain if quoted is None else quoted.replace('""', '"')
        row.append(CsvCell(content.strip(), line, position - line_start + 1))
        position = match.end()
        for newline in _NEWLINE.finditer(text, match.start(), position):
            line, line_start = line + 1, newline.end()
        if end != ",":
            if len(row) > 1 or row[0].text or quoted is not None:
                yield row
            row = []
