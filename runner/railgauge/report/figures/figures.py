"""From measurements to figures: selects them, groups them into series, lets the kind draw them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.report.figures.figure import Figure
from railgauge.report.figures.kinds import kind_of
from railgauge.report.figures.kinds.kind import FigureLine, Kind, Lacking
from railgauge.report.tables.axes import FIXED_AXES, Axis, Placed, axis_value, place_label
from railgauge.report.tables.notes import sources
from railgauge.report.tables.selection import (
    P,
    abbreviated,
    engines_shown,
    group_by_axes,
    make_axes,
    matching,
    selected_and_available,
)
from railgauge.report.tables.several_runs import RUN, shared_by_runs

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.report.definition.figure_model import FigureSpec
    from railgauge.report.tables.run_axes import RunAxes
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace

# Between parameters and these a reader looks first for what was varied on purpose.
_LAST = ("engine", "test", "plan", "run", "client_host", "server_host")
# These may differ within a series, too.
_OF_ALL = ("test", "plan")
_IMPLIED = {
    "link": ("client_host", "server_host"),
    "client_host": ("link",),
    "server_host": ("link",),
}


def build_figures(
    spec: FigureSpec,
    store: Store,
    run_ids: Sequence[int],
    *,
    catalogue: Catalogue | None = None,
    imported: Collection[int] = (),
    run_axes: RunAxes | None = None,
    by: str = "",
) -> list[Figure]:
    """Return the figure that `spec` describes; with `each`, one for each place on those axes.

    `run_axes` puts measurements on axes that stand in no case; runs that share a case are
    distinguished on the axis `by`, and all where `series` has the run. Where that makes too many
    series, each run has a figure of its own.

    InputError when nothing is selected, when there are more series than can be distinguished, or
    when what a definition asks for doesn't fit its measurements.
    """
    kind = kind_of(spec)
    assert kind is not None  # as the definition was checked
    members = kind.members(store, run_ids, spec)
    if kind.lacking is not None:
        members += kind.lacking(store, run_ids, spec, members)
    if run_axes is not None:
        members = run_axes.placed(members, [*figure_axes(spec), by])
    parameters = (name for member in members for name in member.case.parameters)
    names = [*FIXED_AXES, *figure_axes(spec), *spec.axes, *parameters, by]
    axes = make_axes(names, spec.axes, engines_shown(spec.select, members), catalogue)
    selected = matching(members, spec.select, axes)
    if not selected:
        raise _none_selected(spec, kind, members, axes)
    measured = _Measured(store, kind, selected, axes, imported)
    if RUN in spec.series:
        return _or_each_its_own(measured, spec, spec, RUN)
    if not by or not shared_by_runs(selected, _apart_by(spec)):
        return measured.figures(spec)
    # Those that no definition names are found by what differs.
    series = [*spec.series, by] if spec.series else []
    return _or_each_its_own(measured, spec, spec.model_copy(update={"series": series}), by)


def _or_each_its_own(
    measured: _Measured, spec: FigureSpec, beside: FigureSpec, by: str
) -> list[Figure]:
    """Return the figures `beside`, or one for each value of `by` where series are too many."""
    axes = [name for name in spec.series if name != by]
    each_its_own = spec.model_copy(update={"each": [*spec.each, by], "series": axes})
    if measured.kind.together:
        return measured.figures(each_its_own)
    try:
        return measured.figures(beside)
    except TooManySeriesError:
        return measured.figures(each_its_own)


class TooManySeriesError(InputError):
    """A figure has more series than can be distinguished."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """What a figure may show, and the axes that all of it is on."""

    store: Store
    kind: Kind[Any]
    members: Sequence[Any]
    axes: Mapping[str, Axis]
    imported: Collection[int]

    def figures(self, spec: FigureSpec) -> list[Figure]:
        """Return the figure or, with `each`, one for each place on those axes."""
        figures = []
        groups = group_by_axes(self.members, spec.each, self.axes.__getitem__)
        for i, (key, group) in enumerate(groups, 1):
            title, name = visible(spec.title), spec.name
            if spec.each:
                title += f": {place_label(zip(spec.each, key, strict=True), self.axes.__getitem__)}"
                name += f"-{i}"
            own_spec = spec.model_copy(update={"name": name, "title": title})
            figures.append(
                _figure(
                    own_spec, self.kind, self.store, group, self.axes.__getitem__, self.imported
                )
            )
        return figures


def figure_axes(spec: FigureSpec) -> list[str]:
    """Return the axes that the figure names anywhere."""
    return [*spec.select, *_apart_by(spec)]


def _apart_by(spec: FigureSpec) -> list[str]:
    return [*spec.each, *spec.series, spec.x.axis, spec.y.axis]


def _none_selected(
    spec: FigureSpec, kind: Kind[Any], members: Sequence[Any], axes: Mapping[str, Axis]
) -> InputError:
    """Return the error that no member is selected."""
    noun = kind.recorded or f"value of {spec.metric}"
    if not members:
        number = spec.replication
        of = f" of replication {number}: name another, or" if number else ":"
        return InputError(f"figure {spec.name!r}: these runs have no {noun}{of} {kind.absent}")
    conditions, present = selected_and_available(spec.select, members, axes)
    return InputError(
        f"figure {spec.name!r}: no {noun} has {', '.join(conditions)}; there is:"
        f" {'; '.join(present)}. Change 'select', or name other runs"
    )


def _figure(
    spec: FigureSpec,
    kind: Kind[Any],
    store: Store,
    members: Sequence[Any],
    axis_of: Callable[[str], Axis],
    imported: Collection[int],
) -> Figure:
    lines = [FigureLine(spec.title, members)]
    if not kind.together:
        lines = tell_apart(members, axis_of, kind.along(spec), spec.series)
    lacking = [line.label for line in lines if isinstance(line.members[0], Lacking)]
    lines = [line for line in lines if not isinstance(line.members[0], Lacking)]
    if len(lines) > kind.most:
        raise TooManySeriesError(
            f"figure {spec.name!r} would show {len(lines)} series, more than the {kind.most} that"
            " can be distinguished: narrow 'select', or name axes in 'each', such as each: [link]"
        )
    content = kind.draw(spec, store, lines, axis_of)
    notes = [*content.notes, sources(members, imported)]
    if content.empty:
        notes.insert(0, "Not drawn, as there is no value to show.")
    if kind.traced:
        notes[:0] = _trace_notes(store, lines, kind.recorded)
    if lacking:
        notes.insert(
            0, f"Without a {kind.recorded}, failed or not measured: {abbreviated(lacking, '; ')}."
        )
    notes += [visible(line) for line in spec.notes.splitlines() if line.strip()]
    return Figure(spec.name, spec.title, content, tuple(notes), visible(spec.caption), spec.width)


def _trace_notes(store: Store, lines: Sequence[FigureLine[StoredTrace]], noun: str) -> list[str]:
    """Return which replications the traces (or `noun`) are of, and which of these are suspect."""
    traces = [line.members[0] for line in lines]
    numbers = sorted({trace.replication for trace in traces})
    notes = [f"{noun.capitalize()} of replication {numbers[0]}."] if len(numbers) == 1 else []
    if len(numbers) > 1:
        notes = [f"Each case's first {noun}."]
    suspect = {
        (run, suspicion.test, suspicion.case.key, suspicion.replication)
        for run in {trace.run for trace in traces}
        for suspicion in store.suspicions(run)
    }
    labels = [
        line.label
        for line, trace in zip(lines, traces, strict=True)
        if (trace.run, trace.test, trace.case.key, trace.replication) in suspect
    ]
    if labels:
        plural = "Series" if noun == "series" else "Traces"
        notes.append(f"{plural} of suspect replications: {abbreviated(labels, '; ')}.")
    return notes


def tell_apart(
    members: Sequence[P],
    axis_of: Callable[[str], Axis],
    along: str = "",
    named: Sequence[str] = (),
) -> list[FigureLine[P]]:
    """Return `members` as series, each with a label that no other has, in the axes' order.

    Members that differ in `along` only are one series. A single series is labelled by its link or,
    if it has several, its engine. The axes `named`, if any, are used in place of those on which
    the series differ.
    """
    names = list(named) or _differing(members, along) or [_shared(members)]
    return [
        FigureLine(place_label(zip(names, key, strict=True), axis_of), group)
        for key, group in group_by_axes(members, names, axis_of)
    ]


def _shared(members: Sequence[Placed]) -> str:
    names = ("link", "engine", "test")
    return next((name for name in names if _count(members, [name]) == 1), "plan")


def _differing(members: Sequence[Placed], along: str) -> list[str]:
    """Return the fewest axes that distinguish `members`, but for `along`."""
    parameters = dict.fromkeys(name for member in members for name in member.case.parameters)
    if along == "engine":
        # What only some have distinguishes nothing but the engines.
        parameters = {
            name: None
            for name in parameters
            if all(name in member.case.parameters for member in members)
        }
    names: list[str] = []
    count = 1
    # Several engines differ in all the parameters that only one of them has.
    engines = ("engine",) if len({member.case.engine for member in members}) > 1 else ()
    for name in ("link", *engines, *parameters, *_LAST):
        if name == along or name in _IMPLIED.get(along, ()) or (along and name in _OF_ALL):
            continue
        more = _count(members, [*names, name])
        if more > count:
            names, count = [*names, name], more
    return names


def _count(members: Iterable[Placed], names: Sequence[str]) -> int:
    """Return how many different places `members` have on the axes `names`."""
    return len({tuple(axis_value(member, name) for name in names) for member in members})
