"""What a test measures, read with its engine's description: places, parameters, axes, exclusions.

The values are in base units and checked; nothing is multiplied out yet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

from railgauge.base.errors import Problem
from railgauge.base.suggestion import suggest_or_list
from railgauge.plan.catalogue import SOAK, EngineInfo, ParameterInfo, SeriesMode, Value
from railgauge.plan.ranges import MAX_VALUES, read_range
from railgauge.plan.series_modes import Row, expand_series, joint_size, series_named

if TYPE_CHECKING:
    from railgauge.plan.model import Test
    from railgauge.plan.yamlfile import Document

PLACES = -1
_PLACE_NAME = ParameterInfo("", "text")


@dataclass(frozen=True, slots=True)
class Group:
    """Hosts that measure together, in the order of their ranks; `digest` stands for them."""

    members: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, members: Iterable[str]) -> Group:
        """Make a group of `members`."""
        hosts = tuple(members)
        return cls(hosts, hashlib.sha256("\n".join(hosts).encode()).hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a case is measured: a link and its two hosts, or a host that is both.

    In a `group`, all its hosts (the client is the first), or one pair among all of them.
    """

    name: str
    client: str
    server: str | None
    group: Group | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """A test's cases before they are multiplied out.

    `fixed` are the parameters that don't vary. An exclusion maps an axis's number to the rows it
    is about; the places, which are always in it, have the number PLACES. A case that is on such a
    row of each of them is left out.
    """

    test: Test
    index: int
    engine: EngineInfo
    places: tuple[Place, ...]
    fixed: Mapping[str, Value]
    axes: tuple[tuple[Row, ...], ...]
    excludes: tuple[Mapping[int, frozenset[int]], ...]

    @property
    def size(self) -> int:
        """How many cases there are, those that are excluded among them."""
        return len(self.places) * prod(len(axis) for axis in self.axes)

    @property
    def modes(self) -> tuple[Value | None, ...]:
        """The modes that its cases are in; None: the engine has none."""
        varying = [row["mode"] for axis in self.axes for row in axis if "mode" in row]
        return tuple(dict.fromkeys(varying)) or (self.fixed.get("mode"),)


class SpaceReader:
    """Reads one test; what is wrong goes to `problems`, and then there may be no space."""

    def __init__(self, document: Document, index: int, test: Test, engine: EngineInfo) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._index = index
        self._test = test
        self._engine = engine
        self._fixed: dict[str, Value] = {}
        self._axes: list[tuple[Row, ...]] = []
        # Where each parameter that the test names first stands.
        self._named: dict[str, tuple[str | int, ...]] = {}

    @property
    def modes(self) -> tuple[Value | None, ...]:
        """The modes that the test is in, once its parameters are read; None: there are none."""
        named_modes = tuple(dict.fromkeys(self._values("mode")))
        info = self._engine.parameters.get("mode")
        return named_modes or (info.default if info else None,)

    def read_parameters(self) -> None:
        """Read the parameters that are set and those that vary."""
        for name, written in self._test.set.items():
            info = self._parameter(name, "set", name)
            value = None if info is None else self._parse(info, written, "set", name)
            if value is not None:
                self._fixed[name] = value
        for name, values in self._test.grid.items():
            self._read_axis({name: values}, "grid")
        for number, group in enumerate(self._test.zip):
            self._read_axis(group, "zip", number)

    def read(self, places: Sequence[Place]) -> Space | None:
        """Return what the test measures at `places`; None if it is wrong, or there are none.

        Its parameters are read before.
        """
        if not self.problems and places:
            self._complete()
        self._add_soak()
        if self.problems or not places:
            return None
        excludes = tuple(self._excludes(places))
        if self.problems:
            return None
        return Space(
            self._test,
            self._index,
            self._engine,
            tuple(places),
            self._fixed,
            tuple(self._axes),
            excludes,
        )

    def report(self, message: str, *loc: str | int, key: bool = False) -> None:
        """Note a problem at `loc` within the test."""
        full_loc = ("tests", self._index, *loc)
        self.problems.append(self._document.problem(full_loc, message, key=key))

    def _parameter(self, name: str, *loc: str | int) -> ParameterInfo | None:
        parameters = self._engine.parameters
        if name not in parameters:
            self.report(self._unknown(name, parameters), *loc, key=True)
            return None
        if name in self._named:
            first = self._document.problem(("tests", self._index, *self._named[name]), "", key=True)
            message = f"parameter {name!r} is already set on line {first.line}: keep one of the two"
            self.report(message, *loc, key=True)
        self._named.setdefault(name, loc)
        return parameters[name]

    def _unknown(self, name: str, names: Iterable[str]) -> str:
        hint = suggest_or_list(name, names)
        return f"unknown parameter {name!r} of engine {self._engine.name}{hint}"

    def _parse(self, info: ParameterInfo, written: Any, *loc: str | int) -> Value | None:
        try:
            return info.parse(written)
        except ValueError as error:
            self.report(f"{info.name!r} of engine {self._engine.name}: {error}", *loc)
            return None

    def _read_axis(
        self, group: Mapping[str, Sequence[Any] | Mapping[str, Any]], *loc: str | int
    ) -> None:
        columns: dict[str, list[Value | None]] = {}
        lengths: dict[str, int] = {}
        for name, written in group.items():
            info = self._parameter(name, *loc, name)
            if info is not None:
                columns[name] = self._read_values(info, written, *loc, name)
            if info is not None or not isinstance(written, Mapping):
                lengths[name] = len(columns.get(name, written))
        if not group:
            self.report("the group is empty: name an axis, or leave it out", *loc)
        if not columns or not all(columns.values()):
            return
        if len(set(lengths.values())) > 1:
            lengths_text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            self.report(f"zipped lists must be equally long, but {lengths_text}", *loc)
        else:
            self._add_rows(columns, *loc)

    def _read_values(
        self, info: ParameterInfo, written: Sequence[Any] | Mapping[str, Any], *loc: str | int
    ) -> list[Value | None]:
        """Return the values of a list, None for what is wrong; of a range that is wrong nothing."""
        if isinstance(written, Mapping):
            return [*read_range(info, written, partial(self._report_within, loc))]
        return [self._parse(info, value, *loc, index) for index, value in enumerate(written)]

    def _report_within(
        self, outer_loc: tuple[str | int, ...], message: str, *loc: str | int, key: bool = False
    ) -> None:
        self.report(message, *outer_loc, *loc, key=key)

    def _add_rows(self, columns: Mapping[str, list[Value | None]], *loc: str | int) -> None:
        names = list(columns)
        rows = list(zip(*columns.values(), strict=True))
        first: dict[tuple[Value | None, ...], int] = {}
        for index, row in enumerate(rows):
            if None not in row and first.setdefault(row, index) != index:
                values = ", ".join(map(self._show, names, row))
                message = (
                    f"{values} is already number {first[row] + 1} of this list: leave out number "
                    f"{index + 1}"
                )
                self.report(message, *loc, names[0], index)
        self._axes.append(
            tuple(
                {name: value for name, value in zip(names, row, strict=True) if value is not None}
                for row in rows
            )
        )

    def _show(self, name: str, value: Value | None) -> str:
        return "" if value is None else f"{name} {self._engine.parameters[name].format(value)}"

    def _complete(self) -> None:
        """Add the defaults, once every value that the test names is sound."""
        varying = {name for axis in self._axes for name in axis[0]}
        for name, info in self._engine.parameters.items():
            if name in self._fixed or name in varying:
                continue
            if info.default is None:
                message = f"engine {self._engine.name} needs the parameter {name!r}: set it"
                self.report(f"{message} under 'set' or 'grid'")
            else:
                self._fixed[name] = info.default
        named_modes = list(dict.fromkeys(self._values("mode")))
        series = series_named(self._engine, named_modes)
        modes = [series[mode].becomes if mode in series else mode for mode in named_modes]
        self._check_required(list(dict.fromkeys([*named_modes, *modes])))
        for name, loc in self._named.items():
            if not self._engine.parameters[name].applies(modes):
                mode_names = ", ".join(str(mode) for mode in modes)
                message = f"parameter {name!r} has no effect in mode {mode_names}: leave it out"
                self.report(message, *loc, key=True)
        if series and not self.problems:
            self._expand(series)

    def _add_soak(self) -> None:
        if self._test.soak and SOAK in self._engine.parameters:
            message = f"engine {self._engine.name} has a parameter {SOAK!r} of its own: rename it"
            self.report(f"{message} in its description, or leave this out", SOAK, key=True)
        elif self._test.soak:
            self._fixed[SOAK] = True

    def _check_required(self, modes: Sequence[Value]) -> None:
        """Report what `modes` require and the test doesn't set, or sets to nothing."""
        for name, info in self._engine.parameters.items():
            needing = [mode for mode in modes if mode in info.required_in]
            if needing and name not in self._named:
                message = f"{self._mode(needing[0])} needs {name!r}: set it under 'set' or 'grid'"
                self.report(message, *self._named.get("mode", ()), key=True)
                continue
            # What is sent to a host without a server has no other end than its duration.
            solo = self._engine.solo_modes if name == "duration" else ()
            needing = needing or [mode for mode in modes if mode in solo]
            for value in self._values(name, needing):
                if value in (0, "") and not isinstance(value, bool):
                    message = f"{self._mode(needing[0])} needs {name!r}"
                    none = f"and {info.format(value) or repr(value)} is none: write another"
                    self.report(f"{message}, {none}", *self._named.get(name, ()), key=True)

    def _mode(self, mode: Value) -> str:
        return f"mode {mode} of engine {self._engine.name}"

    def _expand(self, series: Mapping[Value, SeriesMode]) -> None:
        if (size := joint_size(series, self._axes)) > MAX_VALUES:
            message = f"a series each for {size:,} combinations is too much: take values away"
            self.report(message, *self._named.get("mode", ()), key=True)
            return
        self._fixed, self._axes = expand_series(series, self._fixed, self._axes)

    def _values(self, name: str, modes: Sequence[Value] | None = None) -> list[Value]:
        """Return the values that a parameter takes in this test, or in `modes` of it."""
        if modes is not None and not modes:
            return []
        if name in self._fixed:
            return [self._fixed[name]]
        return [
            row[name]
            for axis in self._axes
            for row in axis
            if name in row and (modes is None or row.get("mode", modes[0]) in modes)
        ]

    def _excludes(self, places: Sequence[Place]) -> Iterable[Mapping[int, frozenset[int]]]:
        kind = self._engine.measures(self.modes[0]).removesuffix("s")
        tables: list[Sequence[Row]] = [
            [{kind: place.name} for place in places],
            *self._axes,
        ]
        present = {name: {self._fixed[name]: None} for name in self._fixed}
        for table in tables:
            present |= {name: dict.fromkeys(row[name] for row in table) for name in table[0]}
        for number, entry in enumerate(self._test.exclude):
            problem_count = len(self.problems)
            if not entry:
                self.report("the exclusion is empty, so it matches everything", "exclude", number)
            excluded = {
                name: frozenset(self._excluded(name, values, present, number))
                for name, values in entry.items()
            }
            rows = {
                axis: frozenset(
                    index
                    for index, row in enumerate(table)
                    if all(row[name] in excluded[name] for name in excluded if name in row)
                )
                for axis, table in enumerate(tables, PLACES)
                if axis == PLACES or any(name in excluded for name in table[0])
            }
            if len(self.problems) == problem_count and not all(rows.values()):
                message = "this exclusion matches no case of the test: mend it or leave it out"
                self.report(message, "exclude", number)
            yield rows

    def _excluded(
        self,
        name: str,
        written: Sequence[Any],
        present: Mapping[str, Mapping[Value, None]],
        number: int,
    ) -> Iterable[Value]:
        """Yield the values that an exclusion names for `name`, each of which the test has."""
        if name not in present:
            self.report(self._unknown(name, present), "exclude", number, name, key=True)
            return
        info = self._engine.parameters.get(name, _PLACE_NAME)
        is_list = isinstance(self._written(number, name), list)
        for index, scalar in enumerate(written):
            loc = ("exclude", number, name, index) if is_list else ("exclude", number, name)
            value = self._parse(info, scalar, *loc)
            if value is not None and value in present[name]:
                yield value
            elif value is not None:
                have = ", ".join(info.format(other) for other in islice(present[name], 8))
                message = f"{name} is never {info.format(value)} in this test, but {have}"
                if name == "mode" and value in series_named(self._engine, [value]):
                    message += f" ({value} stands for a row of such cases)"
                self.report(f"{message}: mend it or leave it out", *loc)

    def _written(self, number: int, name: str) -> Any:
        return self._document.data["tests"][self._index]["exclude"][number][name]
