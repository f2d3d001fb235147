"""The words around the numbers: headings, how many replications, how far they spread."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from railgauge.analysis import Summary
from railgauge.cases import Value
from railgauge.report.axes import Placed
from railgauge.report.characters import visible
from railgauge.report.model import CellSpec, Selection, TableSpec
from railgauge.report.number import at_most
from railgauge.report.table import Cell, Column, Heading, Row

STATISTIC_WORDS = {
    "stdev": "standard deviation",
    "mean_absolute_deviation": "mean absolute deviation",
    "cv": "coefficient of variation",
    "n": "number of replications",
}
_ABBREVIATED = re.compile(r"\b(?:cpu|iops)\b")
# Beyond so many a range says how many replications there are.
_MOST_COUNTS = 6
_SHORT = {"stdev": "sd", "mean_absolute_deviation": "mean deviation", "n": "number"}


def heading(cell: CellSpec, unit: str) -> Heading:
    """Return the heading of a column of `cell`s, shown in `unit`."""
    if cell.relative_to and unit == "1":
        unit = "×"
    return Heading(visible(cell.label) or _what(cell), unit if unit != "1" else "")


def sentences(
    spec: TableSpec,
    columns: Sequence[Column],
    rows: Sequence[Row],
    chosen: Sequence[Placed],
    imported: Collection[int],
    beside: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the sentences below the table: its numbers, replications, spread, runs, its notes.

    `beside` is what else is to be known of what stands beside one another.
    """
    kinds = _kinds(spec, columns, rows)
    measured = [cell for kind in kinds for cell in kind.cells]
    from_elsewhere = {cell.run in imported for cell in measured}
    lines = [_behind(spec, columns, kinds, from_elsewhere == {True})]
    spread = _spread(kinds)
    if spread:
        lines[0] += f"; {spread}"
    lines[0] += "."
    lines += beside
    lines.append(sources(chosen, imported))
    lines += [visible(line) for line in spec.notes.splitlines() if line.strip()]
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class _Kind:
    """The cells with values of one metric and one selection of their own, by one of the columns."""

    label: str
    column: Column
    cells: list[Cell]

    @property
    def summaries(self) -> list[Summary]:
        return [cell.summary for cell in self.cells if cell.summary is not None]


def _kinds(spec: TableSpec, columns: Sequence[Column], rows: Sequence[Row]) -> list[_Kind]:
    """Return the table's measured cells by metric and selection; each goes by its first label."""
    kinds: dict[tuple[str, str], _Kind] = {}
    for i, column in enumerate(columns):
        if column.theoretical:
            continue
        cell = spec.cells[column.place]
        own = sorted((name, str(value)) for name, value in cell.select.items())
        label = visible(cell.label) or words(cell.metric) + _selected(cell)
        kind = kinds.setdefault((cell.metric, str(own)), _Kind(label, column, []))
        kind.cells.extend(row.cells[i] for row in rows if row.cells[i].summary is not None)
    return list(kinds.values())


def _selected(cell: CellSpec) -> str:
    """Return what the cell selects by itself, as it is written, to stand behind its metric."""
    values = [each for one in cell.select.values() for each in _every(one)]
    return f" ({', '.join(visible(str(value)) for value in values)})" if values else ""


def _every(wanted: Selection) -> list[Value]:
    return wanted if isinstance(wanted, list) else [wanted]


def _what(cell: CellSpec) -> str:
    if cell.peak:
        return "Theoretical"
    metric = words(cell.metric) + _selected(cell)
    if cell.statistic != "mean":
        metric = f"{_SHORT.get(cell.statistic, cell.statistic)} of {metric}"
    if cell.relative_to:
        metric = f"{metric} / theoretical"
    return metric[:1].upper() + metric[1:]


def _behind(
    spec: TableSpec, columns: Sequence[Column], kinds: Sequence[_Kind], imported: bool
) -> str:
    noun = "imported value" if imported else "replication"
    numbers, high = _numbers(kinds, apart=any(cell.select for cell in spec.cells))
    behind = "nothing was measured"
    if numbers:
        behind = f"{numbers} {noun}{'' if high == 1 else 's'} per cell"
    statistics = {column.statistic for column in columns if not column.theoretical}
    if len(statistics) == 1 and high > 1:
        (statistic,) = statistics
        behind = f"{STATISTIC_WORDS.get(statistic, statistic)} of {behind}"
    if spec.columns and len(spec.cells) == 1:
        unit = columns[0].unit
        shown_unit = f" in {unit}" if unit not in ("", "1") else ""
        of = " / theoretical" if spec.cells[0].relative_to else ""
        behind = f"{words(spec.cells[0].metric)}{of}{shown_unit}: {behind}"
    return behind[:1].upper() + behind[1:]


def _numbers(kinds: Sequence[_Kind], *, apart: bool) -> tuple[str, int]:
    """Return how many replications a cell has, and the most; by kind if they are told `apart`."""
    counts = {kind.label: {one.n for one in kind.summaries} for kind in kinds if kind.cells}
    every = {n for those in counts.values() for n in those}
    if not every:
        return "", 0
    texts = {
        label: str(min(those)) if len(those) == 1 else f"{min(those)} to {max(those)}"
        for label, those in counts.items()
    }
    labels: dict[str, list[str]] = {}
    for label, text in texts.items():
        labels.setdefault(text, []).append(label)
    if len(labels) == 1:
        return next(iter(labels)), max(every)
    if not apart or len(counts) > _MOST_COUNTS:
        return f"{min(every)} to {max(every)}", max(every)
    told = (f"{number} ({', '.join(those)})" for number, those in labels.items())
    return listed(told), max(every)


def _spread(kinds: Sequence[_Kind]) -> str:
    """Say the largest spread of each kind: relative where it has a dimension, else absolute."""
    said: dict[str, list[str]] = {}
    for kind in kinds:
        found = _largest([one for one in kind.summaries if one.n > 1], kind.column)
        if found is not None:
            name = f" ({kind.label})" if len(kinds) > 1 else ""
            said.setdefault(found[0], []).append(found[1] + name)
    return "; ".join(f"{which} at most {', '.join(each)}" for which, each in said.items())


def _largest(found: Sequence[Summary], column: Column) -> tuple[str, str] | None:
    """Return the kind of spread and its bound, rounded up: "at most" must hold."""
    if column.metric_unit in ("", "1"):
        deviations = [one.stdev for one in found if one.stdev is not None]
        if not deviations:
            return None
        if column.unit == "%":
            return "standard deviation", f"{at_most(max(deviations), 0.01, 2)} %"
        return "standard deviation", at_most(max(deviations), 1, 2)
    ratios = [one.cv for one in found if one.cv is not None]
    return ("coefficient of variation", f"{at_most(max(ratios), 0.01, 1)} %") if ratios else None


def sources(chosen: Iterable[Placed], imported: Collection[int]) -> str:
    """Return which runs of which plans, on which hosts, the `chosen` come from."""
    runs: dict[tuple[str, bool], dict[int, None]] = {}
    hosts: dict[str, None] = {}
    for one in chosen:
        elsewhere = one.run in imported
        runs.setdefault((one.plan, elsewhere), {})[one.run] = None
        if not elsewhere:
            case = one.case
            hosts.update({name: None for name in (case.client, case.server, *case.members) if name})
    parts = [
        f"{'imported ' if elsewhere else ''}{_plural('run', numbers)} of plan {visible(plan)}"
        for (plan, elsewhere), numbers in runs.items()
    ]
    sentence = "; ".join(parts) + (f", on {_plural('host', hosts)}" if hosts else "")
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _plural(word: str, names: Collection[int] | Collection[str]) -> str:
    return f"{word}{'s' if len(names) > 1 else ''} {listed(visible(str(name)) for name in names)}"


def listed(names: Iterable[str]) -> str:
    """Return the names as a sentence lists them, and of many how many there are."""
    every = list(names)
    if len(every) > 8:
        return f"{', '.join(every[:7])}, … {every[-1]} ({len(every)} in all)"
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"


def words(metric: str) -> str:
    """Return a metric's name as words to read."""
    text = metric.replace("_", " ").replace("rtt", "RTT").replace("p999", "p99.9")
    return visible(_ABBREVIATED.sub(lambda match: match[0].upper(), text))
