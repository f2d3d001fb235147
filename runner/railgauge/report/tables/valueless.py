"""Columns and rows without a value, for one reason: a sentence instead of dashes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from railgauge.base.characters import capitalised
from railgauge.report.tables.axes import Key
from railgauge.report.tables.cell_contents import CellContent
from railgauge.report.tables.notes import listed
from railgauge.report.tables.table import Column

_Place = TypeVar("_Place", bound=Hashable)


class Omissions(NamedTuple):
    """The rows, and the indices of columns, that a table does without, and why, in sentences."""

    rows: Collection[Key] = ()
    columns: Collection[int] = ()
    sentences: Sequence[str] = ()


def omissions(
    columns: Sequence[Column],
    rows: Mapping[Key, Sequence[CellContent]],
    row_label: Callable[[Key], str],
    column_label: Callable[[Column], str],
) -> Omissions:
    """Return what of the table has no value."""
    of_rows = _row_reasons(columns, rows)
    of_columns = _column_reasons(columns, [row for key, row in rows.items() if key not in of_rows])
    sentences = [
        f"Not shown: {listed(map(row_label, keys))}: {reason}."
        for reason, keys in _by_reason(of_rows).items()
    ]
    for reason, indices in _by_reason(of_columns).items():
        if len(of_columns) == len(columns):
            sentences.append(f"{capitalised(reason)}.")
        else:
            labels = listed(column_label(columns[i]) for i in indices)
            sentences.append(f"Not shown: {labels}: {reason}.")
    return Omissions(of_rows.keys(), of_columns.keys(), sentences)


def _row_reasons(
    columns: Sequence[Column], rows: Mapping[Key, Sequence[CellContent]]
) -> dict[Key, str]:
    """Return why there is nothing to compare the values of a row with, where all are compared.

    None of these rows where a table would have no others.
    """
    if not all(column.compared for column in columns):
        return {}
    by_row: dict[Key, str] = {}
    for key, contents in rows.items():
        # What wasn't measured itself is to be seen.
        of_cases = [content for content in contents if content.series is not None]
        texts = {_reason(content) for content in of_cases}
        lacks = all(content.summary and content.reference is None for content in of_cases)
        if lacks and len(texts) == 1:
            by_row[key] = texts.pop()
    return by_row if len(by_row) < len(rows) else {}


def _column_reasons(
    columns: Sequence[Column], rows: Sequence[Sequence[CellContent]]
) -> dict[int, str]:
    """Return why there is no value in any of `rows`, by the index of each such column."""
    by_column: dict[int, str] = {}
    # Of a single row a footnote says it as well.
    for i in range(len(columns) if len(rows) > 1 else 0):
        contents = [row[i] for row in rows]
        if any(content.value is not None or _published(content) for content in contents):
            continue
        # Where no case was planned there is nothing to explain.
        texts = {text for content in contents if (text := _reason(content))}
        if len(texts) == 1:
            by_column[i] = texts.pop()
    return by_column


def _by_reason(reasons: Mapping[_Place, str]) -> dict[str, list[_Place]]:
    places: dict[str, list[_Place]] = {}
    for place, reason in reasons.items():
        places.setdefault(reason, []).append(place)
    return places


def _published(content: CellContent) -> bool:
    return content.series is not None and content.series.published is not None


def _reason(content: CellContent) -> str:
    of_case = content.case_remarks if content.summary is None else ()
    return "; ".join(remark.text for remark in (*of_case, *content.remarks))
