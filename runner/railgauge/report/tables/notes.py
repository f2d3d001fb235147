"""The words around the numbers: headings, how many replications, how far they spread."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from railgauge.base.characters import visible
from railgauge.plan.cases import Value
from railgauge.report.definition.model import CellSpec, TableSpec
from railgauge.report.definition.model_parts import Selection
from railgauge.report.tables.axes import Placed
from railgauge.report.tables.spread import Measured, intervals, spread
from railgauge.report.tables.statistic import DEFAULT, own_unit, short, words_of
from railgauge.report.tables.table import Column, Heading, Row

_ABBREVIATED = re.compile(r"\b(?:cpu|iops)\b")
# Beyond so many a range says how many replications there are.
_MOST_COUNTS = 6
_HELD = {
    "ratio": "ratio to what stands at",
    "difference": "difference from what stands at",
    "change": "change from what stands at",
}
_MEANS = {"arithmetic_mean": "arithmetic", "harmonic_mean": "harmonic"}


def heading(cell: CellSpec, unit: str) -> Heading:
    """Return the heading of a column of `cell`s, shown in `unit`."""
    if unit == "1" and (cell.relative_to or (cell.against and cell.compared == "ratio")):
        unit = "×"
    return Heading(visible(cell.label) or _what(cell), _shown(cell, unit))


def _shown(cell: CellSpec, unit: str) -> str:
    """Return what a reader sees of a unit, "" for none."""
    if unit == "%" and cell.against and cell.compared == "difference":
        return "percentage points"
    # A site's own benchmark may have any.
    return visible(unit) if unit != "1" else ""


def of_one_metric(spec: TableSpec, columns: Sequence[Column]) -> bool:
    """Tell whether all cells are statistics of one metric in one unit, and have no other names."""
    cells = spec.cells
    plain = not spec.columns and not any(
        one.label or one.select or one.peak or one.relative_to or one.against for one in cells
    )
    units = {one.unit for one in columns if own_unit(one.statistic) is None}
    return plain and len(cells) > 1 and len({one.metric for one in cells}) == 1 == len(units)


def statistic_heading(column: Column) -> Heading:
    """Return the heading of a column below the one that names the metric and its unit."""
    text = short(column.statistic)
    unit = column.unit if own_unit(column.statistic) == "1" else ""
    return Heading(text[:1].upper() + text[1:] if len(text) > 2 else text, unit)


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
    # What is held against another value spreads otherwise than its own values do.
    plain = [kind for kind in kinds if not kind.column.compared]
    named = len(kinds) > 1
    reach = "" if from_elsewhere == {True} else intervals(plain, named=named)
    said = [lines[0], spread(plain, named=named), reach]
    lines[0] = "; ".join(part for part in said if part) + "."
    means = _means(spec, columns)
    # A single value is its own mean.
    if means and any(one.n > 1 for kind in kinds for one in kind.summaries):
        lines.append(means)
    lines += [line for line in (_held(columns), _beside(columns)) if line]
    lines += beside
    lines.append(sources(chosen, imported))
    lines += [visible(line) for line in spec.notes.splitlines() if line.strip()]
    return tuple(lines)


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
        one = kinds.setdefault(kind, Measured(_label(cell), column, []))
        one.cells.extend(row.cells[i] for row in rows if row.cells[i].summary is not None)
    return list(kinds.values())


def _unlike_its_metric(column: Column) -> bool:
    other = column.relative_to or column.compared in ("ratio", "change")
    return bool(other) or own_unit(column.statistic) is not None


def _label(cell: CellSpec) -> str:
    return visible(cell.label) or words(cell.metric) + _selected(cell)


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
    if cell.against and cell.statistic.startswith("interval"):
        metric = f"{short(cell.statistic)} of {cell.compared} of {metric}"
    elif cell.against:
        of = "" if cell.statistic == DEFAULT else f"{short(cell.statistic)} of "
        metric = f"{cell.compared} of {of}{metric}"
    elif cell.statistic != DEFAULT:
        metric = f"{'number' if cell.statistic == 'n' else short(cell.statistic)} of {metric}"
    if cell.relative_to:
        metric = f"{metric} / theoretical"
    return metric[:1].upper() + metric[1:]


def _behind(
    spec: TableSpec, columns: Sequence[Column], kinds: Sequence[Measured], imported: bool
) -> str:
    noun = "imported value" if imported else "replication"
    numbers, high = _numbers(kinds, apart=any(cell.select for cell in spec.cells))
    behind = "nothing was measured"
    if numbers:
        behind = f"{numbers} {noun}{'' if high == 1 else 's'} per cell"
    statistics = {column.statistic for column in columns if not column.theoretical}
    # How many there are is said anyway.
    statistics -= {"n"} if len(statistics) > 1 else set()
    if len(statistics) == 1 and high > 1:
        (statistic,) = statistics
        behind = f"{words_of(statistic)} of {behind}"
    if spec.columns and len(spec.cells) == 1:
        unit = _shown(spec.cells[0], columns[0].unit)
        shown_unit = f" in {unit}" if unit else ""
        of = " / theoretical" if spec.cells[0].relative_to else ""
        if spec.cells[0].against:
            of = f", {spec.cells[0].compared}"
        first = spec.cells[0]
        # Where a log's counter stands in its file says little to a reader.
        name = _label(first) if "/" in first.metric else words(first.metric)
        behind = f"{name}{of}{shown_unit}: {behind}"
    return behind[:1].upper() + behind[1:]


def _means(spec: TableSpec, columns: Sequence[Column]) -> str:
    """Return which mean is whose, where a table shows several statistics and some are means."""
    statistics = {column.statistic for column in columns if not column.theoretical}
    if len(statistics) < 2 or of_one_metric(spec, columns):
        return ""
    which: dict[str, dict[str, None]] = {}
    for column in columns:
        if column.statistic in _MEANS:
            label = _label(spec.cells[column.place])
            which.setdefault(_MEANS[column.statistic], {})[label] = None
    told = (f"{kind} of {listed(those)}" for kind, those in which.items())
    return f"Means are {'; '.join(told)}." if which else ""


def _held(columns: Sequence[Column]) -> str:
    """Return what columns are held against, and what an interval of that is."""
    held: dict[tuple[str, str], dict[str, None]] = {}
    for one in columns:
        if one.compared:
            held.setdefault((one.compared, one.against), {})[one.label] = None
    if not held:
        return ""
    told = [
        f"{listed(labels)}: {_HELD[compared]} {against}"
        for (compared, against), labels in held.items()
    ]
    if any(one.compared and "interval" in f"{one.statistic} {one.beside}" for one in columns):
        told.append(
            "the 95 % intervals are those of the median over all pairs of values, one of each"
            " (Hodges and Lehmann)"
        )
    return f"{'; '.join(told)}."


def _beside(columns: Sequence[Column]) -> str:
    """Return what stands beside a number in its cell."""
    beside: dict[str, dict[str, None]] = {}
    for one in columns:
        if one.beside:
            of_pairs = f"95 % interval of the median {one.compared} of all pairs"
            words = of_pairs if one.compared else words_of(one.beside)
            beside.setdefault(words, {})[one.label] = None
    told = (f"beside {listed(labels)} the {words}" for words, labels in beside.items())
    sentence = "; ".join(told)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _numbers(kinds: Sequence[Measured], *, apart: bool) -> tuple[str, int]:
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
