"""Tables as CSV (RFC 4180): a line for each cell with its axes and its whole summary."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from railgauge.report.tables.statistic import FIELDS, record
from railgauge.report.tables.table import Cell, Column, Table

_NOTHING = (None,) * len(FIELDS)
_NAMES = ("metric", "statistic", "shown", "shown_unit")
_UNIT = "unit"
_CELL = ("run", "test", "case_key", "asked", "failed", "suspect")
_BESIDE = ("peak", "peak_source", "note")
_LABEL = "label"
_HELD = (
    "value",
    "compared",
    "against",
    "against_value",
    "against_run",
    "against_case_key",
    "compared_low",
    "compared_high",
)
# Two of ours are axes as well: where a table has them, they stand there once.
_SAME = ("run", "test")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_DASHES = re.compile(r"-*")


def render_csv(table: Table) -> str:
    """Return `table` as tidy CSV with a header line, lines ended by CR LF.

    The columns: the row and column axes (stored values; one that is called as any of the others,
    whether they are there or not, is `parameter_NAME`), `metric`, `statistic`, `shown` (the text
    of the table) and `shown_unit`; then n, mean, … (statistic.FIELDS) in `unit`, the metric's base
    unit, at full precision: `mean` is the one of `mean_kind`; then the cell's run, test and case
    key and how many replications were asked for, failed and are suspect; then the theoretical value
    (`peak`) that the cell shows or is held against, where that comes from, and what its footnotes
    say (`note`); then `label`, which heads the column: without a value, all that tells cells of one
    metric apart. Where any cell is held against another: the number shown at full precision
    (`value`, in its base unit), `compared` (ratio, difference or change), `against` what, that
    one's value, run and case, and the 95 % interval of the ratio, difference or change. What is not
    there is empty.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    axes = [*table.row_axes, *table.column_axes]
    ours = {*_NAMES, *FIELDS, _UNIT, *_CELL, *_BESIDE, _LABEL, *_HELD} - {*_SAME}
    cell = [name for name in _CELL if name not in _SAME or name not in axes]
    held = [*_HELD] if any(column.compared for column in table.columns) else []
    no_case = [""] * len(cell)
    header = axis_columns([("parameter", name) for name in axes], ours)
    writer.writerow([*header, *_NAMES, *FIELDS, _UNIT, *cell, *_BESIDE, _LABEL, *held])
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
        for (column_key, names, (unit, own)), column, one in zip(
            columns, table.columns, row.cells, strict=True
        ):
            writer.writerow(
                [*row_key, *column_key, *names, _text(one.text), unit]
                # The csv module writes floats at full precision and None as nothing.
                + [*_numbers(column, one), own]
                + ([_text(getattr(one, name)) for name in cell] if one.case_key else no_case)
                + [*(_text(getattr(one, name)) for name in _BESIDE), _text(column.label)]
                + (_held(column, one) if held else [])
            )
    return out.getvalue()


def axis_columns(axes: Iterable[tuple[str, str]], own: Collection[str]) -> list[str]:
    """Return what the columns of `axes`, each a prefix and a name, are called in a CSV file.

    By the axis's name or, where that is one of the file's `own` columns, PREFIX_NAME: no two
    columns of a file are called alike.
    """
    taken, called = {*own}, []
    for prefix, name in axes:
        while name in taken:
            name = f"{prefix}_{name}"
        taken.add(name)
        called.append(name)
    return called


def _numbers(column: Column, cell: Cell) -> Sequence[int | float | str | None]:
    """Return the values of `FIELDS`."""
    if cell.summary is None:
        return _NOTHING
    return record(cell.summary, column.metric, column.metric_unit)


def _held(column: Column, cell: Cell) -> list[str]:
    """Return the values of `_HELD`."""
    of: list[object] = [cell.value, column.compared, column.against]
    if cell.reference is None:
        return [*map(_text, of), *[""] * (len(_HELD) - len(of))]
    known = cell.reference
    of += [known.value, known.run, known.case_key, known.low, known.high]
    return [*map(_text, of)]


def render_records(
    header: Sequence[str], records: Iterable[Sequence[int | float | str | bool | None]]
) -> str:
    """Return a figure's numbers as CSV, a line for each of `records`, lines ended by CR LF."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(_text, header))
    writer.writerows([*map(_text, record)] for record in records)
    return out.getvalue()


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
