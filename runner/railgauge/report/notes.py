"""The words around the numbers: headings, footnotes, how many replications, how far they spread."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from railgauge.analysis import Summary
from railgauge.report.axes import Placed
from railgauge.report.characters import visible
from railgauge.report.model import CellSpec, TableSpec
from railgauge.report.number import at_most
from railgauge.report.table import Cell, Column, Footnote, Heading, Row

STATISTIC_WORDS = {
    "stdev": "standard deviation",
    "mean_absolute_deviation": "mean absolute deviation",
    "cv": "coefficient of variation",
    "n": "number of replications",
}
_CPU = re.compile(r"\bcpu\b")
_SHORT = {"stdev": "sd", "mean_absolute_deviation": "mean deviation", "n": "number"}


class Marks:
    """Hands out the marks a, b, … z, aa, … to cells; equal reasons share one."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def of(self, n: int, asked: int, failed: int, suspect: int) -> str:
        """Return the mark for a case with `n` values of `asked` replications, "" if all is well."""
        if n >= asked and not failed and not suspect:
            return ""
        reasons = [f"{n} of {asked} replications"]
        if failed:
            reasons.append(f"{failed} failed")
        if n + failed < asked:
            reasons.append(f"{asked - n - failed} not measured")
        if suspect:
            reasons.append(f"{suspect} suspect (included)")
        text = "; ".join(reasons)
        return self._marks.setdefault(text, _letters(len(self._marks)))

    def footnotes(self) -> tuple[Footnote, ...]:
        """Return what the marks handed out so far mean, in the order they were handed out."""
        return tuple(Footnote(mark, text) for text, mark in self._marks.items())


def heading(cell: CellSpec, unit: str) -> Heading:
    """Return the heading of a column of `cell`s, shown in `unit`."""
    return Heading(visible(cell.label) or _what(cell), unit if unit != "1" else "")


def sentences(
    spec: TableSpec,
    columns: Sequence[Column],
    rows: Sequence[Row],
    chosen: Sequence[Placed],
    imported: Collection[int],
) -> tuple[str, ...]:
    """Return the sentences below the table: its numbers, replications, spread, runs, its notes."""
    measured = [cell for row in rows for cell in row.cells if cell.summary is not None]
    from_elsewhere = {cell.run in imported for cell in measured}
    lines = [_behind(spec, columns, measured, from_elsewhere == {True})]
    spread = _spread(spec, columns, rows)
    if spread:
        lines[0] += f"; {spread}"
    lines[0] += "."
    lines.append(sources(chosen, imported))
    lines += [visible(line) for line in spec.notes.splitlines() if line.strip()]
    return tuple(lines)


def _what(cell: CellSpec) -> str:
    metric = words(cell.metric)
    if cell.statistic != "mean":
        metric = f"{_SHORT.get(cell.statistic, cell.statistic)} of {metric}"
    return metric[:1].upper() + metric[1:]


def _behind(
    spec: TableSpec, columns: Sequence[Column], measured: Sequence[Cell], imported: bool
) -> str:
    kind = "imported value" if imported else "replication"
    counts = {cell.summary.n for cell in measured if cell.summary is not None}
    if not counts:
        behind = "nothing was measured"
    else:
        low, high = min(counts), max(counts)
        number = str(low) if low == high else f"{low} to {high}"
        behind = f"{number} {kind}{'' if high == 1 else 's'} per cell"
    statistics = {column.statistic for column in columns}
    if len(statistics) == 1 and counts not in (set(), {1}):
        (statistic,) = statistics
        behind = f"{STATISTIC_WORDS.get(statistic, statistic)} of {behind}"
    if spec.columns and len(spec.cells) == 1:
        unit = columns[0].unit
        shown_unit = f" in {unit}" if unit not in ("", "1") else ""
        behind = f"{words(spec.cells[0].metric)}{shown_unit}: {behind}"
    return behind[:1].upper() + behind[1:]


def _spread(spec: TableSpec, columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """Say the largest spread of each metric: relative where it has a dimension, else absolute."""
    found: dict[str, list[Summary]] = {column.metric: [] for column in columns}
    for row in rows:
        for column, cell in zip(columns, row.cells, strict=True):
            if cell.summary is not None and cell.summary.n > 1:
                found[column.metric].append(cell.summary)
    # A metric in several cells goes by the first one's label.
    labels = {cell.metric: visible(cell.label) for cell in reversed(spec.cells) if cell.label}
    kinds: dict[str, list[str]] = {}
    for column in {column.metric: column for column in columns}.values():
        said = _largest(found[column.metric], column)
        if said is not None:
            label = labels.get(column.metric) or words(column.metric)
            name = f" ({label})" if len(found) > 1 else ""
            kinds.setdefault(said[0], []).append(said[1] + name)
    return "; ".join(f"{kind} at most {', '.join(each)}" for kind, each in kinds.items())


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
    return f"{word}{'s' if len(names) > 1 else ''} {_listed(visible(str(name)) for name in names)}"


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    if len(listed) > 8:
        return f"{', '.join(listed[:7])}, … {listed[-1]} ({len(listed)} in all)"
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def words(metric: str) -> str:
    """Return a metric's name as words to read."""
    text = metric.replace("_", " ").replace("rtt", "RTT").replace("p999", "p99.9")
    return visible(_CPU.sub("CPU", text))


def _letters(place: int) -> str:
    """Return a, b, … z, aa, ab, … for 0, 1, …."""
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters
