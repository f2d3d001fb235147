"""The texts around the numbers: headings, counts of replications, spread, sources."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from railgauge.base.characters import capitalised, visible
from railgauge.report.definition.statistic import (
    DEFAULT,
    interval_words,
    own_unit,
    short,
    words_of,
)
from railgauge.report.tables.axes import Placed, granted_name, selected_values
from railgauge.report.tables.spread_sentence import TOO_FEW, Measured, intervals, spread
from railgauge.report.tables.table import Column, Heading, Method, Row
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import CellSpec, NoteLevel, TableSpec

_ABBREVIATED = re.compile(r"\b(?:cpu|iops)\b")
# Beyond so many a range says how many replications there are.
_MOST_COUNTS = 6
_COMPARED = {
    "ratio": "ratio to what stands at",
    "difference": "difference from what stands at",
    "change": "change from what stands at",
}
_INTERVALS: Mapping[Method, str] = {
    "pairs": "those of the median over all pairs of values, one of each (Hodges and Lehmann)",
    "constant": (
        "those of the measured numbers, the published ones being taken for exact, as no spread of"
        " them is published"
    ),
    "means": "Welch's, of both means' replications and standard deviations",
}
_ABSENT = {
    "lost": "printed in the paper, but lost in the copy at hand",
    "impossible": "what can't be measured",
    "not measured": "what the paper has no number for",
}
_MEANS = {"arithmetic_mean": "arithmetic", "harmonic_mean": "harmonic"}


def heading(cell: CellSpec, unit: str) -> Heading:
    """Return the heading of a column of `cell`s, shown in `unit`."""
    if unit == "1" and (cell.relative_to or (cell.against and cell.compared == "ratio")):
        unit = "×"
    return Heading(visible(cell.label) or _title(cell), _unit_text(cell, unit))


def _unit_text(cell: CellSpec, unit: str) -> str:
    """Return the unit as a reader sees it, "" for none."""
    if unit == "%" and cell.against and cell.compared == "difference":
        return "percentage points"
    # A site's own benchmark may have any.
    return visible(unit) if unit != "1" else ""


def of_one_metric(spec: TableSpec, columns: Sequence[Column]) -> bool:
    """Return whether all cells are statistics of one metric in one unit without other names."""
    cells = spec.cells
    plain = not spec.columns and not any(
        cell.label or cell.select or cell.peak or cell.relative_to or cell.against for cell in cells
    )
    units = {column.unit for column in columns if own_unit(column.statistic) is None}
    return plain and len(cells) > 1 and len({cell.metric for cell in cells}) == 1 == len(units)


def statistic_heading(column: Column) -> Heading:
    """Return the heading of a column below the one that names the metric and its unit."""
    text = short(column.statistic)
    unit = column.unit if own_unit(column.statistic) == "1" else ""
    return Heading(capitalised(text) if len(text) > 2 else text, unit)


def sentences(
    spec: TableSpec,
    columns: Sequence[Column],
    rows: Sequence[Row],
    series: Sequence[Series],
    imported: Collection[int],
    extra: Sequence[str] = (),
    level: NoteLevel = "all",
) -> tuple[str, ...]:
    """Return the sentences below the table: its numbers, replications, spread, runs, its notes.

    The `extra` ones stand before the runs. Short ones are three lines: what the numbers are, what
    is to be said of most cells, and where all is from; without how the values spread.
    """
    authors_notes = [visible(line) for line in spec.notes.splitlines() if line.strip()]
    if level == "none":
        return tuple(authors_notes)
    kinds = _kinds(spec, columns, rows)
    all_imported = {cell.run in imported for kind in kinds for cell in kind.cells} == {True}
    # What is compared with another value spreads otherwise than its own values do.
    # What was set doesn't spread, and how many values there are is none of them.
    plain = [
        kind
        for kind in kinds
        if not kind.column.compared
        and kind.column.statistic != "n"
        and granted_name(spec.cells[kind.column.place].metric) is None
    ]
    named = len(kinds) > 1
    short_notes = level == "short"
    reach = "" if all_imported else intervals(plain, named=named)
    parts = [
        _numbers(spec, columns, kinds, all_imported),
        "" if short_notes else spread(plain, named=named),
        "" if short_notes and named and not reach.startswith(TOO_FEW) else reach,
    ]
    lines = ["; ".join(part for part in parts if part) + "."]
    lines += filter(None, _readings(spec, columns, rows, series, kinds))
    if short_notes:
        about_cells, *origin = extra
        lines = [" ".join(lines), about_cells, " ".join([*origin, sources(series, imported)])]
        return (*filter(None, lines), *authors_notes)
    lines += extra
    lines.append(sources(series, imported))
    return (*lines, *authors_notes)


def _readings(
    spec: TableSpec,
    columns: Sequence[Column],
    rows: Sequence[Row],
    series: Sequence[Series],
    kinds: Sequence[Measured],
) -> Iterator[str]:
    """Yield how cells are to be read: which mean is whose, what is compared, what stands beside."""
    # A single value is its own mean.
    if any(summary.n > 1 for kind in kinds for summary in kind.summaries):
        yield _means(spec, columns)
    methods = _methods(columns, rows)
    yield _comparisons(columns, methods)
    with_beside = (
        column for i, column in enumerate(columns) if any(row.cells[i].with_beside for row in rows)
    )
    yield _beside(with_beside, methods)
    yield _absences(series)


def _kinds(spec: TableSpec, columns: Sequence[Column], rows: Sequence[Row]) -> list[Measured]:
    """Return the table's measured cells by metric and selection; each goes by its first label."""
    kinds: dict[tuple[str, str], Measured] = {}
    # Those that aren't in their metric's unit have none to say a spread in.
    by_unit = sorted(range(len(columns)), key=lambda i: _unlike_its_metric(columns[i]))
    for i in by_unit:
        column = columns[i]
        if column.theoretical:
            continue
        cell = spec.cells[column.place]
        own = sorted((name, str(value)) for name, value in cell.select.items())
        kind = (cell.metric, str(own))
        if kind in kinds and kinds[kind].column.place != column.place:
            # The same cases once more, with another statistic.
            continue
        measured = kinds.setdefault(kind, Measured(_label(cell), column, []))
        measured.cells.extend(row.cells[i] for row in rows if row.cells[i].summary is not None)
    return list(kinds.values())


def _unlike_its_metric(column: Column) -> bool:
    as_ratio = bool(column.relative_to) or column.compared in ("ratio", "change")
    return as_ratio or own_unit(column.statistic) is not None


def _label(cell: CellSpec) -> str:
    return visible(cell.label) or words(cell.metric) + _selected(cell)


def _selected(cell: CellSpec) -> str:
    """Return what the cell selects by itself, as it is written, to stand behind its metric."""
    values = [value for selection in cell.select.values() for value in selected_values(selection)]
    return f" ({', '.join(visible(str(value)) for value in values)})" if values else ""


def _title(cell: CellSpec) -> str:
    if cell.peak:
        return "Theoretical"
    metric = words(cell.metric) + _selected(cell)
    if cell.against and cell.statistic.startswith("interval"):
        metric = f"{short(cell.statistic)} of {cell.compared} of {metric}"
    elif cell.against:
        of = "" if cell.statistic == DEFAULT else f"{short(cell.statistic)} of "
        metric = f"{cell.compared} of {of}{metric}"
    elif cell.statistic != DEFAULT:
        metric = f"{'number' if cell.statistic == 'n' else short(cell.statistic)} of {metric}"
    if cell.relative_to:
        metric = f"{metric} / theoretical"
    return capitalised(metric)


def _numbers(
    spec: TableSpec, columns: Sequence[Column], kinds: Sequence[Measured], imported: bool
) -> str:
    """Return what the numbers are, and of how many replications."""
    noun = "imported value" if imported else "replication"
    counts, most = _counts(kinds, apart=any(cell.select for cell in spec.cells))
    if imported and most > 1 and any(isnan(s.median) for kind in kinds for s in kind.summaries):
        noun = "published replication"
    text = "nothing was measured"
    if counts:
        text = f"{counts} {noun}{'' if most == 1 else 's'} per cell"
    statistics = {column.statistic for column in columns if not column.theoretical}
    # How many there are is said anyway.
    statistics -= {"n"} if len(statistics) > 1 else set()
    if len(statistics) == 1 and most > 1:
        (statistic,) = statistics
        text = f"{words_of(statistic)} of {text}"
    if spec.columns and len(spec.cells) == 1:
        (cell,) = spec.cells
        unit = _unit_text(cell, columns[0].unit)
        # Where a log's counter stands in its file says little to a reader.
        name = _label(cell) if "/" in cell.metric else words(cell.metric)
        if cell.against:
            name += f", {cell.compared}"
        elif cell.relative_to:
            name += " / theoretical"
        text = f"{name}{f' in {unit}' if unit else ''}: {text}"
    return capitalised(text)


def _means(spec: TableSpec, columns: Sequence[Column]) -> str:
    """Return which mean is whose, where a table shows several statistics and some are means."""
    statistics = {column.statistic for column in columns if not column.theoretical}
    if len(statistics) < 2 or of_one_metric(spec, columns):
        return ""
    labels: dict[str, dict[str, None]] = {}
    for column in columns:
        if column.statistic in _MEANS:
            label = _label(spec.cells[column.place])
            labels.setdefault(_MEANS[column.statistic], {})[label] = None
    parts = (f"{kind} of {listed(of_kind)}" for kind, of_kind in labels.items())
    return f"Means are {'; '.join(parts)}." if labels else ""


def _methods(columns: Sequence[Column], rows: Sequence[Row]) -> list[Method]:
    """Return what the intervals of comparisons are, each once; none where none has one."""
    methods = {
        reference.method
        for i, column in enumerate(columns)
        if column.compared
        for row in rows
        if (reference := row.cells[i].reference) is not None and reference.low is not None
    }
    return [method for method in _INTERVALS if method in methods]


def interval_meaning(column: Column, method: Method, level: float = 0.95) -> str:
    """Return what the interval of a comparison is, to stand in front of its ends.

    `level` is that of the measured values' own interval.
    """
    if method == "pairs":
        return f"95 % interval of the median {column.compared} of all pairs"
    if method == "constant":
        return f"{100 * level:.0f} % interval of the {column.compared} from the published number"
    return f"95 % interval of the means' {column.compared}"


def _absences(series: Iterable[Series]) -> str:
    """Return what the words in cells without a number mean."""
    absences = {entry.published.absence for entry in series if entry.published is not None}
    parts = [f"{word}: {meaning}" for word, meaning in _ABSENT.items() if word in absences]
    return f"{capitalised('; '.join(parts))}." if parts else ""


def _comparisons(columns: Sequence[Column], methods: Sequence[Method]) -> str:
    """Return what columns are compared with, and what an interval of that is."""
    comparisons: dict[tuple[str, str], dict[str, None]] = {}
    for column in columns:
        if column.compared:
            labels = comparisons.setdefault((column.compared, column.against), {})
            labels[column.label] = None
    if not comparisons:
        return ""
    parts = [
        f"{listed(labels)}: {_COMPARED[compared]} {against}"
        for (compared, against), labels in comparisons.items()
    ]
    if methods and any(
        column.compared and "interval" in f"{column.statistic} {column.beside}"
        for column in columns
    ):
        parts.append(f"the 95 % intervals are {' or '.join(map(_INTERVALS.__getitem__, methods))}")
    return f"{'; '.join(parts)}."


def _beside(columns: Iterable[Column], methods: Sequence[Method]) -> str:
    """Return which statistic stands beside the numbers of which columns."""
    beside: dict[str, dict[str, None]] = {}
    for column in columns:
        meaning = " or the ".join(interval_meaning(column, method) for method in methods)
        statistic = meaning if column.compared else words_of(column.beside)
        if column.beside == "interval" and not column.compared:
            statistic = interval_words(column.statistic)
        beside.setdefault(statistic, {})[column.label] = None
    parts = [f"beside {listed(labels)} the {statistic}" for statistic, labels in beside.items()]
    return f"{capitalised('; '.join(parts))}." if parts else ""


def _counts(kinds: Sequence[Measured], *, apart: bool) -> tuple[str, int]:
    """Return how many replications a cell has, and the most; by kind if they are kept `apart`."""
    counts: dict[str, set[int]] = {}
    for kind in kinds:
        if kind.cells:
            # Kinds may share a label.
            counts.setdefault(kind.label, set()).update(summary.n for summary in kind.summaries)
    all_counts = set().union(*counts.values())
    if not all_counts:
        return "", 0
    texts = {label: _range(of_kind) for label, of_kind in counts.items()}
    labels: dict[str, list[str]] = {}
    for label, text in texts.items():
        labels.setdefault(text, []).append(label)
    if len(labels) == 1:
        return next(iter(labels)), max(all_counts)
    if not apart or len(counts) > _MOST_COUNTS:
        return _range(all_counts), max(all_counts)
    parts = (f"{number} ({', '.join(of_number)})" for number, of_number in labels.items())
    return listed(parts), max(all_counts)


def _range(counts: Collection[int]) -> str:
    return f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(min(counts))


def sources(measurements: Iterable[Placed], imported: Collection[int]) -> str:
    """Return which runs of which plans, on which hosts, the measurements come from."""
    runs: dict[tuple[str, bool], dict[int, None]] = {}
    hosts: dict[str, None] = {}
    for measurement in measurements:
        elsewhere = measurement.run in imported
        runs.setdefault((measurement.plan, elsewhere), {})[measurement.run] = None
        if not elsewhere:
            case = measurement.case
            hosts.update({name: None for name in (case.client, case.server, *case.members) if name})
    parts = [
        f"{'imported ' if elsewhere else ''}{_named('run', numbers)} of plan {visible(plan)}"
        for (plan, elsewhere), numbers in runs.items()
    ]
    sentence = "; ".join(parts) + (f", on {_named('host', hosts)}" if hosts else "")
    return f"{capitalised(sentence)}."


def _named(word: str, names: Collection[int] | Collection[str]) -> str:
    return f"{word}{'s' if len(names) > 1 else ''} {listed(visible(str(name)) for name in names)}"


def listed(names: Iterable[str]) -> str:
    """Return the names as a sentence lists them, and of many how many there are."""
    *first, last = names
    if len(first) > 7:
        return f"{', '.join(first[:7])}, … {last} ({len(first) + 1} in all)"
    return f"{', '.join(first)} and {last}" if first else last


def words(metric: str) -> str:
    """Return a metric's name as words to read."""
    if granted_name(metric) is not None:
        metric = metric.replace("/", " ")
    text = metric.replace("_", " ").replace("rtt", "RTT").replace("p999", "p99.9")
    return visible(_ABBREVIATED.sub(lambda match: match[0].upper(), text))
