"""What is remarkable about most cells of a table, or about all: a sentence says it once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from railgauge.report.tables.cell_contents import CellContent
from railgauge.report.tables.marks import Remark, in_brief

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import NoteLevel

# What holds for each of so many numbers is said once.
_LEAST_NUMBERS = 4


class Common(NamedTuple):
    """The texts of remarks that cells have no mark for, and the `sentence` of them, "" for none."""

    texts: Collection[str] = ()
    sentence: str = ""


def common_remarks(
    rows: Iterable[Sequence[CellContent]], left_out: Collection[int], level: NoteLevel
) -> Common:
    """Return what holds for all numbers of the `rows`, but for those of columns `left_out`.

    With `short` notes what holds for more than half of the cells, in brief, with `none` nothing.
    """
    cells = [
        cell
        for row in rows
        for i, cell in enumerate(row)
        if cell.series is not None and i not in left_out
    ]
    if level == "none":
        return Common()
    return _of_most_cells(cells) if level == "short" else _of_all_numbers(cells)


def _of_most_cells(cells: Sequence[CellContent]) -> Common:
    counts = Counter(
        clause for cell in cells for clause in {in_brief(remark): None for remark in _remarks(cell)}
    )
    most = len(cells) if len(cells) > 1 else math.inf
    clauses = {clause: count for clause, count in counts.most_common() if 2 * count > most}
    parts = [
        f"in {'all' if count == len(cells) else f'{count} of {len(cells)}'} cells {clause}"
        for clause, count in clauses.items()
    ]
    return Common(clauses, f"I{'; '.join(parts)[1:]}." if parts else "")


def _of_all_numbers(cells: Sequence[CellContent]) -> Common:
    numbers = [cell for cell in cells if cell.numbers]
    if len(numbers) < _LEAST_NUMBERS:
        return Common()
    texts = list(dict.fromkeys(remark.text for remark in _remarks(numbers[0])))
    for number in numbers:
        # Most tables have nothing in common, and some have a hundred thousand cells.
        if not texts:
            return Common()
        own = {remark.text for remark in _remarks(number)}
        texts = [text for text in texts if text in own]
    place = "all cells" if len(numbers) == len(cells) else "all cells with a number"
    return Common(texts, f"In {place}: {'; '.join(texts)}." if texts else "")


def _remarks(cell: CellContent) -> list[Remark]:
    return [*cell.case_remarks, *cell.remarks]
