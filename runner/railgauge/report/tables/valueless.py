"""Columns and rows without a value, for one reason: a sentence instead of dashes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from railgauge.base.characters import capitalised
from railgauge.report.tables.cell_contents import CellContent
from railgauge.report.tables.notes import listed
from railgauge.report.tables.table import Column

_Key = TypeVar("_Key")


def row_reasons(
    columns: Sequence[Column], rows: Mapping[_Key, Sequence[CellContent]]
) -> dict[_Key, str]:
    """Return why there is nothing to compare the values of a row with, where all are compared.

    None of these rows where a table would have no others.
    """
    if not all(column.compared for column in columns):
        return {}
    by_row: dict[_Key, str] = {}
    for key, contents in rows.items():
        # What wasn't measured itself is to be seen.
        of_cases = [content for content in contents if content.series is not None]
        texts = {_reason(content) for content in of_cases}
        lacks = all(content.summary and content.reference is None for content in of_cases)
        if lacks and len(texts) == 1:
            by_row[key] = texts.pop()
    return by_row if len(by_row) < len(rows) else {}


def row_sentences(reasons: Mapping[_Key, str], label: Callable[[_Key], str]) -> Iterator[str]:
    """Yield which rows are left out for which of the `reasons`."""
    labels: dict[str, list[str]] = {}
    for key, reason in reasons.items():
        labels.setdefault(reason, []).append(label(key))
    for reason, of_reason in labels.items():
        yield f"Not shown: {listed(of_reason)}: {reason}."


def reasons(columns: Sequence[Column], rows: Sequence[Sequence[CellContent]]) -> dict[int, str]:
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


def sentences(
    columns: Sequence[Column], reasons: Mapping[int, str], label: Callable[[Column], str]
) -> Iterator[str]:
    """Yield which columns are left out for which of the `reasons`; of all columns, the reasons."""
    labels: dict[str, list[str]] = {}
    for i, reason in reasons.items():
        labels.setdefault(reason, []).append(label(columns[i]))
    for reason, of_reason in labels.items():
        if len(reasons) == len(columns):
            yield f"{capitalised(reason)}."
        else:
            yield f"Not shown: {listed(of_reason)}: {reason}."


def _published(content: CellContent) -> bool:
    return content.series is not None and content.series.published is not None


def _reason(content: CellContent) -> str:
    of_case = content.case_remarks if content.summary is None else ()
    return "; ".join(remark.text for remark in (*of_case, *content.remarks))
