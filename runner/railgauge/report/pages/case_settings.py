"""With which parameters a test's cases were measured, and what was in effect of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from math import prod
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.plan.cases import Case, Value, non_default, parameter_value, shown_parameters
from railgauge.report.pages.contents import Details
from railgauge.report.tables.axes import Axis, setting_text
from railgauge.report.tables.notes import listed
from railgauge.report.tables.run_context import unlike_in_launches
from railgauge.report.tables.selection import make_axes
from railgauge.store.counts import LaunchSettings
from railgauge.store.records import PlannedCase, StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

# What begins the headings of settings that were granted.
IN_EFFECT = "In effect"
_REPLACED = "Without effect, as count ends replications"
NOT_AS_ASKED = "Not as asked"
# Values that are listed; of more the first, the last and how many there are.
_MOST_VALUES = 16
# A value goes with so many parameters at most, and with so many of their values.
_MOST_AXES = 3
_MOST_PLACES = 6
_LINK = "link"
# Settings of a single connection, which say nothing of how it was measured.
_OF_A_CONNECTION = frozenset(
    {
        "address",
        "clock_offset",
        "clock_offset_error",
        "control_rtt",
        "port",
        "ports",
        "target",
        "target_port",
        "tcp_address",
    }
)
# A setting's name -> its values -> the keys of the cases that had them.
_Side = Mapping[str, Mapping[Value, Collection[str]]]
# A case's key -> where it is on each axis on which the test's cases differ.
_Places = Mapping[str, Mapping[str, str]]


def settings_tables(
    runs: Sequence[tuple[StoredRun, Mapping[str, LaunchSettings]]], catalogue: Catalogue | None
) -> tuple[Details, ...]:
    """Return a table for each test of `runs`, which come with their launches' settings by test.

    It has the parameters that vary, those that all cases share, and what was in effect at each end.
    Runs in which all that is the same share a table.
    """
    ids_by_table: dict[tuple[str, tuple[tuple[str, str], ...]], list[int]] = {}
    for run, launches in runs:
        by_test: dict[str, list[PlannedCase]] = {}
        for planned in run.cases:
            by_test.setdefault(planned.test, []).append(planned)
        for test, cases in by_test.items():
            engines = ", ".join(dict.fromkeys(visible(planned.case.engine) for planned in cases))
            title = f"Parameters of test {visible(test)} (engine {engines})"
            settings = launches.get(test, LaunchSettings())
            if rows := (
                *_requested(cases, catalogue),
                *_in_effect(run, cases, settings, catalogue),
            ):
                ids_by_table.setdefault((title, rows), []).append(run.id)
    return tuple(
        Details(
            f"{title}, run{'s' if len(ids) > 1 else ''} {listed(map(str, ids))}",
            ("Value",),
            tuple((heading, (text,)) for heading, text in rows),
        )
        for (title, rows), ids in ids_by_table.items()
    )


def case_settings(
    launches: LaunchSettings | None, case: Case, run: StoredRun
) -> list[tuple[str, str]]:
    """Return what was in effect for the case, as (heading, text), and what of it wasn't asked."""
    if launches is None:
        return []
    key = case.key
    client, server = (
        {name: text for name in side if (text := _of_case(name, side, key))}
        for side in (_comparable_settings(launches.client), _comparable_settings(launches.server))
    )
    unlike = unlike_in_launches(launches, case, run)
    return [
        *((f"{IN_EFFECT}, {end}", text) for end, text in _by_end(client, server)),
        *([(NOT_AS_ASKED, _unlike_text(unlike))] if unlike else []),
    ]


def _unlike_text(words: str) -> str:
    doubled = (
        "; in effect is twice that, as Linux counts its own share, too" if "buf " in words else ""
    )
    return f"{visible(words)}{doubled}"


def distinct_parameters(cases: Iterable[PlannedCase]) -> Collection[Case]:
    """Return a case for each set of parameters: a matrix's 100,000s of pairs share one object."""
    return {id(planned.case.parameters): planned.case for planned in cases}.values()


def _requested(
    cases: Sequence[PlannedCase], catalogue: Catalogue | None
) -> Iterator[tuple[str, str]]:
    """Yield the parameters that vary, each with its values, then those that all cases share."""
    distinct_cases = distinct_parameters(cases)
    axes = _axes(distinct_cases, catalogue)
    values = {
        name: dict.fromkeys(parameter_value(case, name) for case in distinct_cases) for name in axes
    }
    links = list(dict.fromkeys(visible(planned.case.link) for planned in cases))
    varied = {_LINK: links} if len(links) > 1 else {}
    for name, axis in axes.items():
        if len(values[name]) > 1:
            varied[name] = [axis.text(value) for value in axis.sorted(values[name])]
    for name, texts in varied.items():
        yield f"Varied: {visible(name)}", _abbreviated(texts)
    possible = prod(map(len, varied.values()))
    if len(cases) < possible:
        yield "Combinations", f"{len(cases)} of {possible}"
    fixed = sorted(name for name in axes if name not in varied)
    for heading, names in _fixed_kinds(fixed, distinct_cases, catalogue).items():
        texts = [f"{visible(name)} {axes[name].text(*values[name])}" for name in names]
        yield heading, ", ".join(texts)


def _axes(cases: Collection[Case], catalogue: Catalogue | None) -> dict[str, Axis]:
    names = dict.fromkeys(name for case in cases for name in shown_parameters(case))
    return make_axes(names, {}, list(dict.fromkeys(case.engine for case in cases)), catalogue)


def _fixed_kinds(
    names: Sequence[str], cases: Collection[Case], catalogue: Catalogue | None
) -> dict[str, list[str]]:
    """Return the parameters that all of `cases` share by kind, without kinds that have none."""
    case = next(iter(cases))
    engine = catalogue.engines.get(case.engine) if catalogue else None
    modes = {case.parameters["mode"]: None for case in cases if "mode" in case.parameters}
    of_plan = names if catalogue is None else non_default(case, catalogue, ["mode"])
    without_effect = f"Without effect in mode {' or '.join(visible(str(mode)) for mode in modes)}"
    kinds: dict[str, list[str]] = {
        heading: [] for heading in ("Fixed", "Fixed at the default", without_effect, _REPLACED)
    }
    counted = engine is not None and all(engine.is_counted(case.parameters) for case in cases)
    for name in names:
        info = engine.parameters.get(name) if engine else None
        if info is not None and not info.applies(modes):
            kinds[without_effect].append(name)
        elif counted and name == "duration":
            kinds[_REPLACED].append(name)
        else:
            kinds["Fixed" if name in of_plan else "Fixed at the default"].append(name)
    return {kind: members for kind, members in kinds.items() if members}


def _in_effect(
    run: StoredRun,
    cases: Sequence[PlannedCase],
    launches: LaunchSettings,
    catalogue: Catalogue | None,
) -> Iterator[tuple[str, str]]:
    """Yield what both ends had: what was the same in all cases together, then the rest by case."""
    sides = (_comparable_settings(launches.client), _comparable_settings(launches.server))
    shared = [
        {
            name: setting_text(name, value)
            for name, values in side.items()
            for value, keys in values.items()
            if set(keys) == _case_keys(side) and len(values) == 1
        }
        for side in sides
    ]
    if ends := _by_end(*shared):
        yield f"{IN_EFFECT} in all cases", "; ".join(f"{end} {text}" for end, text in ends)
    unlike: dict[str, list[Case]] = {}
    for planned in cases:
        if words := unlike_in_launches(launches, planned.case, run):
            unlike.setdefault(words, []).append(planned.case)
    for words, unlike_cases in unlike.items():
        count = len(unlike_cases)
        where = "all cases" if count == len(cases) else f"{count} of {len(cases)} cases"
        yield NOT_AS_ASKED, f"{_unlike_text(words)} ({where})"
    launched = _case_keys(sides[0]) | _case_keys(sides[1])
    places = _places([planned for planned in cases if planned.case.key in launched], catalogue)
    for name in sorted({*sides[0], *sides[1]}):
        client, server = (
            _by_place(name, side, places) if name in side and name not in same else ""
            for side, same in zip(sides, shared, strict=True)
        )
        texts = {"both ends": client} if client == server else {"client": client, "server": server}
        if parts := [f"{end} {text}" for end, text in texts.items() if text]:
            yield f"{IN_EFFECT}: {visible(name)}", "; ".join(parts)


def _by_place(name: str, side: _Side, places: _Places) -> str:
    """Return each value of the setting `name`, with the parameters that it goes with if any do.

    These are as few as show which case had which: `bbr with congestion system or bbr, reno with
    congestion reno`.
    """
    by_case = {key: _of_case(name, side, key) for key in _case_keys(side) if key in places}
    for axes in _candidates(name, places):
        by_position: dict[tuple[str, ...], set[str]] = {}
        for key, text in by_case.items():
            position = tuple(places[key][axis] for axis in axes)
            by_position.setdefault(position, set()).add(text)
        if all(len(texts) == 1 for texts in by_position.values()):
            break
    else:
        return f"{_abbreviated(_texts(name, side[name]), ' or ')} (not tied to a parameter)"
    positions: dict[str, list[tuple[str, ...]]] = {}
    # In the order of the test's cases.
    for key in places:
        if text := by_case.get(key, ""):
            position = tuple(places[key][axis] for axis in axes)
            positions.setdefault(text, [])
            if position not in positions[text]:
                positions[text].append(position)
    return ", ".join(f"{text} with {_position_words(axes, at)}" for text, at in positions.items())


def _candidates(name: str, places: _Places) -> Iterator[tuple[str, ...]]:
    """Yield sets of axes that may distinguish a setting's values: small ones, own name first."""
    axes = list(dict.fromkeys(axis for place in places.values() for axis in place))
    axes.sort(key=lambda axis: axis != name)
    sizes = range(1, min(_MOST_AXES, len(axes)) + 1)
    return chain.from_iterable(combinations(axes, size) for size in sizes)


def _position_words(axes: Sequence[str], positions: Sequence[tuple[str, ...]]) -> str:
    """Return `congestion system or bbr`; of several axes `mode stream, message 1KiB`."""
    if len(axes) == 1:
        return f"{axes[0]} {_abbreviated([text for (text,) in positions], ' or ')}"
    words = [
        ", ".join(f"{axis} {text}" for axis, text in zip(axes, position, strict=True))
        for position in positions[:_MOST_PLACES]
    ]
    if len(positions) > _MOST_PLACES:
        words.append(f"{len(positions) - _MOST_PLACES} more")
    return " or with ".join(words)


def _places(cases: Sequence[PlannedCase], catalogue: Catalogue | None) -> _Places:
    distinct_cases = distinct_parameters(cases)
    axes = _axes(distinct_cases, catalogue)
    varied = [
        axis
        for name, axis in axes.items()
        if len({parameter_value(case, name) for case in distinct_cases}) > 1
    ]
    texts = {
        id(case.parameters): {
            visible(axis.name): axis.text(parameter_value(case, axis.name)) for axis in varied
        }
        for case in distinct_cases
    }
    several_links = len({planned.case.link for planned in cases}) > 1
    return {
        planned.case.key: texts[id(planned.case.parameters)]
        | ({_LINK: visible(planned.case.link)} if several_links else {})
        for planned in cases
    }


def _comparable_settings(side: _Side) -> _Side:
    """Return the settings that were made: an empty one, such as no CPU to run on, was not."""
    return {
        name: values
        for name, values in side.items()
        if name not in _OF_A_CONNECTION and set(values) != {""}
    }


def _case_keys(side: _Side) -> set[str]:
    """Return the keys of the cases that reported any of these settings."""
    return {key for values in side.values() for keys in values.values() for key in keys}


def _of_case(name: str, side: _Side, key: str) -> str:
    return " or ".join(
        _texts(name, {value: keys for value, keys in side[name].items() if key in keys})
    )


def _texts(name: str, values: Iterable[Value]) -> list[str]:
    return list(dict.fromkeys(setting_text(name, value) for value in values))


def _by_end(client: Mapping[str, str], server: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return which settings both ends had alike, then each end's own, as (end, text)."""
    common = {name: text for name, text in client.items() if server.get(name) == text}
    sides = {
        "both ends": common,
        "client": {name: text for name, text in client.items() if name not in common},
        "server": {name: text for name, text in server.items() if name not in common},
    }
    return [
        (end, ", ".join(f"{visible(name)} {text}" for name, text in sorted(texts.items())))
        for end, texts in sides.items()
        if texts
    ]


def _abbreviated(texts: Sequence[str], separator: str = ", ") -> str:
    if len(texts) <= _MOST_VALUES:
        return separator.join(texts)
    return f"{', '.join(texts[: _MOST_VALUES - 1])} … {texts[-1]} ({len(texts)} in all)"
