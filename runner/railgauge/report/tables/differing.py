"""In which settings of one name the engines differ that stand beside one another in a table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, combinations
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.plan.cases import Case, Value
from railgauge.report.definition.model import TableSpec
from railgauge.report.tables.axes import parameter_infos
from railgauge.report.tables.notes import listed
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue, ParameterInfo

_MOST_VALUES = 3


def differing(
    spec: TableSpec,
    rows: Iterable[Mapping[int, Series]],
    held: Iterable[tuple[int, Series, Series]],
    catalogue: Catalogue | None,
) -> tuple[str, ...]:
    """Return a sentence about settings that differ between engines within any of `rows`.

    These map a cell's place in the definition to what stands there; `held` are a place, what stands
    there and what that is held against. What the table's axes or the cells' own selections tell is
    left out, and so is what only one of the engines would understand.
    """
    found: dict[str, dict[str, dict[str, None]]] = {}
    pairs = chain.from_iterable(_beside(spec, cells) for cells in rows)
    for told, one, other in chain(pairs, _against(spec, held)):
        for name in _both(one, other, catalogue):
            if name in told:
                continue
            for case in (one, other):
                text = _text(case, name, catalogue)
                found.setdefault(name, {}).setdefault(case.engine, {})[text] = None
    if not found:
        return ()
    parts = [f"{name.replace('_', ' ')} ({_told(by_engine)})" for name, by_engine in found.items()]
    return (f"Engines beside one another differ in {listed(parts)}.",)


def _beside(
    spec: TableSpec, cells: Mapping[int, Series]
) -> Iterator[tuple[Collection[str], Case, Case]]:
    """Yield each two cases of different engines in a row, with the settings that are told."""
    if len({one.case.engine for one in cells.values()}) < 2:
        return
    axes = {*spec.rows, *spec.columns}
    for (place, one), (other_place, other) in combinations(sorted(cells.items()), 2):
        if one.case.engine != other.case.engine:
            own = spec.cells[place].select.keys() | spec.cells[other_place].select.keys()
            yield axes | own, one.case, other.case


def _against(
    spec: TableSpec, held: Iterable[tuple[int, Series, Series]]
) -> Iterator[tuple[Collection[str], Case, Case]]:
    """Yield what is held against another engine's case, and that, as `_beside` does."""
    for place, one, other in held:
        if one.case.engine != other.case.engine:
            cell = spec.cells[place]
            told = {*spec.rows, *spec.columns, *cell.select, *cell.against}
            yield told, one.case, other.case


def _both(one: Case, other: Case, catalogue: Catalogue | None) -> Iterator[str]:
    """Yield the settings that both cases have, with other values that either could have had."""
    for name, value in one.parameters.items():
        another = other.parameters.get(name, value)
        known = _understood(other, name, value, catalogue)
        if value != another and known and _understood(one, name, another, catalogue):
            yield name


def _understood(case: Case, name: str, value: Value, catalogue: Catalogue | None) -> bool:
    """Tell whether the engine of `case` could have been given the value, too."""
    info = _info(case, name, catalogue)
    return info is None or not info.choices or value in info.choices


def _info(case: Case, name: str, catalogue: Catalogue | None) -> ParameterInfo | None:
    return next(iter(parameter_infos(name, [case.engine], catalogue)), None)


def _text(case: Case, name: str, catalogue: Catalogue | None) -> str:
    info, value = _info(case, name, catalogue), case.parameters[name]
    return visible(str(value) if info is None else info.format(value)) or "(empty)"


def _told(by_engine: Mapping[str, Mapping[str, None]]) -> str:
    return ", ".join(
        f"{visible(engine)} {' or '.join(list(values)[:_MOST_VALUES])}"
        + (" …" if len(values) > _MOST_VALUES else "")
        for engine, values in by_engine.items()
    )
