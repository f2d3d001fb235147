"""Axes of a table: run, plan, test, engine, link, hosts and every parameter; their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from railgauge.base.characters import capitalised, visible
from railgauge.base.errors import InputError
from railgauge.base.units import format_size
from railgauge.engine.granted_settings import SIZES, UNITS
from railgauge.plan.case_names import value_text
from railgauge.plan.cases import Case, Value, parameter_value
from railgauge.plan.catalogue.argument_text import bare

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue, ParameterInfo
    from railgauge.report.definition.model_parts import Selection

# The axes that every measurement has; all others are parameters of its engine.
FIXED_AXES = ("run", "plan", "test", "engine", "link", "client_host", "server_host")
# Their values say by themselves what they are.
_PLAIN = ("link", "engine", "test", "plan", "client_host", "server_host")

# What a run has in addition to its number; run_axes.py has others of theirs.
OF_RUNS = ("git_commit", "started_at")
# client/rcvbuf: what an end was granted. A system log's quantities have a further slash.
_GRANTED = re.compile(r"(?:client|server)/([a-z][a-z0-9_]*)", re.ASCII)
# As /proc/version has it, up to another host's.
_KERNEL = re.compile(r"Linux version (\S+)(?:(?! → | or Linux ).)*")
_TYPES = {"s": "time", "B": "size"}

# A table's own axis: each replication by itself, and the idle stretches around the run.
REPLICATION = "replication"
BEFORE, AFTER = "before", "after"

AxisValue = Value | None  # None: the measurement's engine has no such parameter
Key: TypeAlias = tuple[AxisValue, ...]  # a place on several axes


class Placed(Protocol):
    """What has a place on every axis: the values of a case, or a trace."""

    @property
    def run(self) -> int: ...  # noqa: D102 - as the store's records say
    @property
    def plan(self) -> str: ...  # noqa: D102
    @property
    def test(self) -> str: ...  # noqa: D102
    @property
    def case(self) -> Case: ...  # noqa: D102


def axis_value(measurement: Placed, axis: str) -> AxisValue:
    """Return the measurement's value on `axis`; None where its engine has no such parameter."""
    case = measurement.case
    match axis:
        case "run":
            return measurement.run
        case "plan":
            return measurement.plan
        case "test":
            return measurement.test
        case "engine":
            return case.engine
        case "link":
            return case.link
        case "client_host":
            return case.client
        case "server_host":
            return case.server
    return parameter_value(case, axis)


def granted_name(name: str) -> str | None:
    """Return which setting of an end the axis or metric `name` is, None if it is none."""
    match = _GRANTED.fullmatch(name)
    return match[1] if match else None


def setting_text(name: str, value: Value) -> str:
    """Return what was granted of a setting as tables show it: sizes as plans write them."""
    if isinstance(value, bool):
        return str(value).lower()
    is_size = name in SIZES and isinstance(value, int)
    return format_size(int(value)) if is_size else visible(str(value)) or "(empty)"


def axis_words(name: str) -> str:
    """Return what readers call an axis: `label/kernel` the kernel, `client/fact/cpu` client cpu."""
    words = name.split("/")
    ends = [word for i, word in enumerate(words[:-1]) if word not in ("fact", "label") or i > 1]
    return " ".join([*ends, words[-1]]).replace("_", " ")


def _setting_infos(axis: str, setting: str) -> list[ParameterInfo]:
    """Return how the values of a granted setting are written, if they have a unit."""
    from railgauge.plan.catalogue import ParameterInfo

    unit = UNITS.get(setting, "")
    if unit not in _TYPES:
        return []
    kind = _TYPES[unit] if setting in SIZES or unit == "s" else "int"
    return [ParameterInfo(axis, kind, unit)]


def parameter_infos(
    axis: str, engines: Iterable[str], catalogue: Catalogue | None
) -> list[ParameterInfo]:
    """Return what the catalogue knows of the parameter `axis` of those of `engines` with it."""
    if (setting := granted_name(axis)) is not None:
        return _setting_infos(axis, setting)
    if catalogue is None or axis in FIXED_AXES:
        return []
    infos = (catalogue.engines.get(name) for name in dict.fromkeys(engines))
    return [info.parameters[axis] for info in infos if info is not None and axis in info.parameters]


class Axis:
    """One axis of one table: reads the values a definition wrote, and writes them for readers.

    `infos` are of the engines that have it: a value may be one that only some of them know. The
    first says how values are written.
    """

    def __init__(self, name: str, infos: Sequence[ParameterInfo] = (), title: str = "") -> None:
        info = infos[0] if infos else None
        self.name = name
        self.title = visible(title or capitalised(axis_words(name)))
        self.titled = bool(title)
        self.unit = info.unit if info is not None else ""
        self._info = info
        self._infos = infos
        self._labels: dict[AxisValue, str] = {}
        # 1, 2, 3 …, and texts behind them.
        own = name == REPLICATION
        self._order: dict[AxisValue, int] = {BEFORE: 0} if own else {}
        self.direction = "ascending" if own else ""
        self._texts: dict[AxisValue, str] = {}

    def parse(self, written: Value) -> Value:
        """Return the stored value that `written` stands for (`4KiB`: 4096); InputError if none."""
        if not self._infos:
            return written
        problem = ""
        for info in self._infos:
            try:
                return info.parse(written)
            except ValueError as error:
                problem = problem or str(error)
        raise InputError(f"axis {self.name!r}: {problem}")

    def accepts(self, written: Sequence[Value]) -> frozenset[AxisValue]:
        """Return every stored value that one of `written` may stand for."""
        parsed: set[AxisValue] = {self.parse(value) for value in written}
        if self._info is None:
            parsed |= {as_written(value) for value in written}
        return frozenset(parsed)

    def set_label(self, written: str, text: str) -> None:
        """Show the value that `written` (a YAML key, so always text) stands for as `text`."""
        typed = self._info is not None and self._info.type in ("int", "bool")
        self._labels[self.parse(bare(written) if typed else written)] = visible(text)

    def arrange(self, first: Sequence[Value], direction: str) -> None:
        """Put the values `first` first, in that order; the rest `direction` (empty: as usual)."""
        order = {
            stored: place for place, value in enumerate(first) for stored in self.accepts([value])
        }
        self._order = order or self._order
        self.direction = direction or self.direction

    def text(self, value: AxisValue) -> str:
        """Return `value` as tables show it."""
        text = self._texts.get(value)
        if text is None:
            text = self._texts[value] = self._text(value)
        return text

    def label(self, value: AxisValue) -> str | None:
        """Return what the definition has `value` shown as; None where it doesn't say."""
        label = self._labels.get(value)
        if label is None and value is not None:
            # What the catalogue doesn't know was written as text: `run: 3`, `workers: 4`.
            label = self._labels.get(as_written(value))
        return label

    def _text(self, value: AxisValue) -> str:
        label = self.label(value)
        if label is not None:
            return label
        if value is None:
            return "–"
        if self._info is None and self.name.endswith("fact/kernel"):
            # Whose compiler built it, and when, the page's list of machines says.
            value = _KERNEL.sub(r"\1", str(value))
        return value_text(value, self._info)

    def sorted(self, values: Iterable[AxisValue]) -> list[AxisValue]:
        """Return the distinct `values` as tables list them.

        First those that the definition puts in order, then numbers by size and texts in the order
        of their first appearance, unless the definition says otherwise.
        """
        distinct = list(dict.fromkeys(values))
        direction = self.direction or ("ascending" if _all_numbers(distinct) else "appearance")
        if direction != "appearance":
            distinct.sort(key=_by_size, reverse=direction == "descending")
        last = len(self._order)
        return sorted(distinct, key=lambda value: self._place(value, last))

    def _place(self, value: AxisValue, last: int) -> int:
        place = self._order.get(value)
        return place if place is not None else self._order.get(str(value), last)


def selected_values(selection: Selection) -> list[Value]:
    """Return the values that a selection names, be it one value or a list."""
    return selection if isinstance(selection, list) else [selection]


def place_label(values: Iterable[tuple[str, AxisValue]], axis_of: Callable[[str], Axis]) -> str:
    """Return the label of what has those values on those axes: `gw→hh, wait 12us`."""
    parts = []
    for name, value in values:
        axis = axis_of(name)
        text = axis.text(value)
        title = axis.title if axis.titled else axis_words(name)
        parts.append(text if name in _PLAIN else f"{title} {text}")
    return ", ".join(parts)


def sorted_keys(keys: Iterable[Key], axes: Sequence[Axis]) -> list[Key]:
    """Return the distinct `keys` in the order of their axes."""
    distinct = list(dict.fromkeys(keys))
    places = [
        {value: place for place, value in enumerate(axis.sorted(key[i] for key in distinct))}
        for i, axis in enumerate(axes)
    ]
    return sorted(
        distinct, key=lambda key: [place[value] for place, value in zip(places, key, strict=True)]
    )


def as_written(value: object) -> str:
    """Return a value as YAML has it, which is how texts of settings and labels have it, too."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _all_numbers(values: Iterable[AxisValue]) -> bool:
    return all(value is None or isinstance(value, (bool, int, float)) for value in values)


def _by_size(value: AxisValue) -> tuple[int, float, str]:
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, str):
        return 2, 0.0, value
    return 1, float(value), ""
