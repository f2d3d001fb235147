"""The words around the numbers: headings, footnotes, how many replications, how far they spread."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from railgauge.analysis import Summary
from railgauge.report.characters import visible
from railgauge.report.model import CellSpec, TableSpec
from railgauge.report.number import at_most
from railgauge.report.table import Cell, Column, Footnote, Heading, Row
from railgauge.store.records import Series

_STATISTIC_WORDS = {
    "stdev": "standard deviation",
    "mean_absolute_deviation": "mean absolute deviation",
    "cv": "coefficient of variation",
    "n": "number of replications",
}
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
    chosen: Sequence[Series],
    imported: Collection[int],
) -> tuple[str, ...]:
    """Return the sentences below the table: its numbers, replications, spread, runs, its notes."""
    measured = [cell for row in rows for cell in row.cells if cell.summary is not None]
    from_elsewhere = {cell.run in imported for cell in measured}
    lines = [_behind(spec, columns, measured, from_elsewhere == {True})]
    spread = _spread(columns, rows, {one.metric: one.unit for one in chosen})
    if spread:
        lines[0] += f"; {spread}"
    lines[0] += "."
    lines += _sources(chosen, imported)
    lines += [visible(line) for line in spec.notes.splitlines() if line.strip()]
    return tuple(lines)


def _what(cell: CellSpec) -> str:
    metric = _words(cell.metric)
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
        behind = f"{_STATISTIC_WORDS.get(statistic, statistic)} of {behind}"
    if spec.columns and len(spec.cells) == 1:
        unit = columns[0].unit
        shown_unit = f" in {unit}" if unit not in ("", "1") else ""
        behind = f"{_words(spec.cells[0].metric)}{shown_unit}: {behind}"
    return behind[:1].upper() + behind[1:]


def _spread(columns: Sequence[Column], rows: Sequence[Row], units: Mapping[str, str]) -> str:
    """Say the largest spread of each metric: relative where it has a dimension, else absolute."""
    found: dict[str, list[Summary]] = {column.metric: [] for column in columns}
    for row in rows:
        for column, cell in zip(columns, row.cells, strict=True):
            if cell.summary is not None and cell.summary.n > 1:
                found[column.metric].append(cell.summary)
    worst = {metric: _largest(some, units[metric]) for metric, some in found.items() if some}
    if len(found) == 1:
        return "".join(worst.values())
    return ", ".join(f"{_words(metric)} {text}" for metric, text in worst.items() if text)


def _largest(found: Sequence[Summary], unit: str) -> str:
    # Rounded up throughout: "at most" must hold.
    if unit in ("", "1"):
        deviation = max(one.stdev or 0.0 for one in found)
        return f"standard deviation at most {at_most(deviation, 1, 6)}"
    ratios = [one.cv for one in found if one.cv is not None]
    return f"coefficient of variation at most {at_most(max(ratios), 0.01, 1)} %" if ratios else ""


def _sources(chosen: Sequence[Series], imported: Collection[int]) -> list[str]:
    runs: dict[tuple[str, bool], dict[int, None]] = {}
    for one in chosen:
        runs.setdefault((one.plan, one.run in imported), {})[one.run] = None
    lines = []
    for (plan, elsewhere), numbers in runs.items():
        kind = "Imported run" if elsewhere else "Run"
        lines.append(
            f"{kind}{'s'[: len(numbers) > 1]} {_listed(map(str, numbers))} of plan {visible(plan)}."
        )
    hosts = {
        name: None
        for one in chosen
        if one.run not in imported
        for name in (one.case.client, one.case.server)
        if name
    }
    if hosts:
        lines.append(f"Host{'s'[: len(hosts) > 1]} {_listed(map(visible, hosts))}.")
    return lines


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    if len(listed) > 8:
        return f"{', '.join(listed[:7])}, … {listed[-1]} ({len(listed)} in all)"
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def _words(metric: str) -> str:
    return visible(metric.replace("_", " "))


def _letters(place: int) -> str:
    """Return a, b, … z, aa, ab, … for 0, 1, …."""
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters
