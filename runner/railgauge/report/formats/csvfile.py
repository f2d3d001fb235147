"""Tables as CSV (RFC 4180): a line for each cell with its axes and its whole summary."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from railgauge.report.definition.statistic import FIELDS, record
from railgauge.report.tables.table import Cell, Column, Table

_NOTHING = (None,) * len(FIELDS)
_NAMES = ("metric", "statistic", "shown", "shown_unit")
_UNIT = "unit"
_CELL = ("run", "test", "case_key", "asked", "failed", "suspect")
_BESIDE = ("peak", "peak_source", "note")
_LABEL = "label"
_COMPARED = (
    "value",
    "compared",
    "against",
    "against_value",
    "against_run",
    "against_case_key",
    "compared_low",
    "compared_high",
)
# Two of a cell's are axes as well: where a table has them, they stand there once.
_SAME = ("run", "test")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
Field = int | float | str | None
_DASHES = re.compile(r"-*")


def render_csv(table: Table) -> str:
    """Return `table` as tidy CSV with a header line, lines ended by CR LF.

    The columns: the row and column axes (stored values; one that is called as any of the others,
    whether present or not, is `parameter_NAME`), `metric`, `statistic`, `shown` (the text of the
    table) and `shown_unit`; then n, mean, … (statistic.FIELDS) in `unit`, the metric's base unit,
    at full precision: `mean` is the one of `mean_kind`; then the cell's run, test and case key and
    how many replications were asked for, failed and are suspect; then the theoretical value
    (`peak`) that the cell shows or is compared with, where that comes from, and what its footnotes
    say (`note`); then `label`, which heads the column: without a value, all that distinguishes
    cells of one metric. Where any cell is compared with another: the number shown at full precision
    (`value`, in its base unit), `compared` (ratio, difference or change), `against` what, that
    one's value, run and case, and the 95 % interval of the ratio, difference or change. What is
    absent is empty.
    """
    axes = [*table.row_axes, *table.column_axes]
    own = {*_NAMES, *FIELDS, _UNIT, *_CELL, *_BESIDE, _LABEL, *_COMPARED} - {*_SAME}
    cell_names = [name for name in _CELL if name not in _SAME or name not in axes]
    compared = _COMPARED if any(column.compared for column in table.columns) else ()
    names = axis_columns([("parameter", name) for name in axes], own)
    header = [*names, *_NAMES, *FIELDS, _UNIT, *cell_names, *_BESIDE, _LABEL, *compared]
    return _csv(chain([header], _lines(table, cell_names, compared=bool(compared))))


def _lines(table: Table, cell_names: Sequence[str], *, compared: bool) -> Iterator[Sequence[Field]]:
    columns = [
        (
            [*map(_text, column.key)],
            [_text(column.metric), column.statistic],
            (_text(column.unit), _text(column.metric_unit)),
        )
        for column in table.columns
    ]
    for row in table.rows:
        row_key = [*map(_text, row.key)]
        for (column_key, names, (unit, base)), column, cell in zip(
            columns, table.columns, row.cells, strict=True
        ):
            case = [_text(getattr(cell, name)) if cell.case_key else "" for name in cell_names]
            beside = [_text(getattr(cell, name)) for name in _BESIDE]
            start = [*row_key, *column_key, *names, _text(cell.text), unit]
            numbers: Sequence[Field] = _NOTHING
            if cell.summary is not None:
                numbers = record(cell.summary, column.average)
            line = [*start, *numbers, base, *case, *beside, _text(column.label)]
            yield [*line, *_comparison(column, cell)] if compared else line


def _csv(lines: Iterable[Sequence[Field]]) -> str:
    """Return lines as CSV, floats at full precision and None as nothing."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(lines)
    return out.getvalue()


def axis_columns(axes: Iterable[tuple[str, str]], own: Collection[str]) -> list[str]:
    """Return what the columns of `axes`, each a prefix and a name, are called in a CSV file.

    By the axis's name or, where that is one of the file's `own` columns, PREFIX_NAME: no two
    columns of a file are called alike.
    """
    names: dict[str, None] = {}
    for prefix, name in axes:
        while name in own or name in names:
            name = f"{prefix}_{name}"
        names[name] = None
    return list(names)


def _comparison(column: Column, cell: Cell) -> list[Field]:
    """Return the values of `_COMPARED`."""
    values: list[object] = [cell.value, column.compared, column.against]
    if cell.reference is None:
        return [*map(_text, values), *[""] * (len(_COMPARED) - len(values))]
    reference = cell.reference
    values += [reference.value, reference.run, reference.case_key, reference.low, reference.high]
    return [*map(_text, values)]


def render_records(header: Sequence[str], records: Iterable[Sequence[Field]]) -> str:
    """Return a figure's numbers as CSV, a line for each of `records`, lines ended by CR LF."""
    return _csv([*map(_text, record)] for record in chain([header], records))


def render_json(data: Mapping[str, object]) -> str:
    """Return `data` as JSON, ending with a newline; what isn't there is null."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _text(value: object) -> str:
    """Return a value as a CSV field that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    if isinstance(value, str) and text[:1] in _FORMULA and not _harmless(text):
        return f"'{text}"
    return text


def _harmless(text: str) -> bool:
    if _DASHES.fullmatch(text):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True
