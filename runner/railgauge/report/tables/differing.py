"""The settings of one name in which engines differ that share a row of a table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, combinations
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.plan.cases import Case, Value
from railgauge.report.tables.axes import parameter_infos
from railgauge.report.tables.notes import listed
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue, ParameterInfo
    from railgauge.report.definition.definition_model import TableSpec

_MOST_VALUES = 3
_DURATION = "duration"


def differing(
    spec: TableSpec,
    rows: Iterable[Mapping[int, Series]],
    references: Iterable[tuple[int, Series, Series]],
    catalogue: Catalogue | None,
) -> tuple[str, ...]:
    """Return a sentence about settings that differ between engines within any of `rows`.

    These map a cell's place in the definition to its series; `references` are a place, the series
    there and the one it is compared with. What the table's axes or the cells' own selections show
    is left out, and so is what only one of the engines would understand.
    """
    texts: dict[str, dict[str, dict[str, None]]] = {}
    pairs = chain.from_iterable(_beside(spec, cells) for cells in rows)
    for axes, first, second in chain(pairs, _compared(spec, references)):
        for name in _differing_settings(first, second, catalogue):
            if name in axes:
                continue
            for case in (first, second):
                text = _text(case, name, catalogue)
                texts.setdefault(name, {}).setdefault(case.engine, {})[text] = None
    if not texts:
        return ()
    parts = [f"{name.replace('_', ' ')} ({_values(engines)})" for name, engines in texts.items()]
    return (f"Engines beside one another differ in {listed(parts)}.",)


def _beside(
    spec: TableSpec, cells: Mapping[int, Series]
) -> Iterator[tuple[Collection[str], Case, Case]]:
    """Yield each two cases of different engines in a row, with the settings that are shown."""
    if len({series.case.engine for series in cells.values()}) < 2:
        return
    axes = {*spec.rows, *spec.columns}
    for (place, series), (other_place, other) in combinations(sorted(cells.items()), 2):
        if series.case.engine != other.case.engine:
            own = spec.cells[place].select.keys() | spec.cells[other_place].select.keys()
            yield axes | own, series.case, other.case


def _compared(
    spec: TableSpec, references: Iterable[tuple[int, Series, Series]]
) -> Iterator[tuple[Collection[str], Case, Case]]:
    """Yield each two cases of different engines that are compared, as `_beside` does."""
    for place, series, other in references:
        if series.case.engine != other.case.engine:
            cell = spec.cells[place]
            axes = {*spec.rows, *spec.columns, *cell.select, *cell.against}
            yield axes, series.case, other.case


def _differing_settings(first: Case, second: Case, catalogue: Catalogue | None) -> Iterator[str]:
    """Yield the settings that both cases have, with other values that either could have had."""
    for name, value in first.parameters.items():
        if name not in second.parameters:
            continue
        other = second.parameters[name]
        counted = [_ends_by_count(case, name, catalogue) for case in (first, second)]
        if (
            (len(set(counted)) > 1 or (value != other and not all(counted)))
            and _understood(second, name, value, catalogue)
            and _understood(first, name, other, catalogue)
        ):
            yield name


def _ends_by_count(case: Case, name: str, catalogue: Catalogue | None) -> bool:
    """Return whether `name` is a duration that a replication of `case` doesn't take."""
    engine = catalogue.engines.get(case.engine) if catalogue else None
    return name == _DURATION and engine is not None and engine.is_counted(case.parameters)


def _understood(case: Case, name: str, value: Value, catalogue: Catalogue | None) -> bool:
    """Return whether the engine of `case` could have been given the value, too."""
    info = _info(case, name, catalogue)
    return info is None or not info.choices or value in info.choices


def _info(case: Case, name: str, catalogue: Catalogue | None) -> ParameterInfo | None:
    return next(iter(parameter_infos(name, [case.engine], catalogue)), None)


def _text(case: Case, name: str, catalogue: Catalogue | None) -> str:
    if _ends_by_count(case, name, catalogue):
        return "by count"
    info, value = _info(case, name, catalogue), case.parameters[name]
    return visible(str(value) if info is None else info.format(value)) or "(empty)"


def _values(by_engine: Mapping[str, Mapping[str, None]]) -> str:
    return ", ".join(
        f"{visible(engine)} {' or '.join(list(values)[:_MOST_VALUES])}"
        + (" …" if len(values) > _MOST_VALUES else "")
        for engine, values in by_engine.items()
    )
