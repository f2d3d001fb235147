"""From measurements to figures: selects them, groups them into series, lets the kind draw them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.figures.figure import Figure
from railgauge.report.figures.kinds import kind_of
from railgauge.report.figures.kinds.base import FigureLine, Kind, Lacking
from railgauge.report.figures.legend import label, tell_apart
from railgauge.report.tables.axes import FIXED_AXES, Axis
from railgauge.report.tables.notes import sources
from railgauge.report.tables.selection import (
    asked_and_there,
    by_each,
    engines_shown,
    make_axes,
    matching,
    some,
)

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.store import Store
    from railgauge.store.records import StoredTrace


def build_figures(
    spec: FigureSpec,
    store: Store,
    run_ids: Sequence[int],
    *,
    catalogue: Catalogue | None = None,
    imported: Collection[int] = (),
) -> list[Figure]:
    """Return the figure that `spec` describes; with `each`, one for each place on those axes.

    InputError when nothing is selected, when there are more series than can be told apart, or when
    what a definition asks for doesn't fit its measurements.
    """
    kind = kind_of(spec)
    assert kind is not None  # as the definition was checked
    members = kind.members(store, run_ids, spec)
    lacking = kind.lacking(store, run_ids, spec, members)
    maker = _Maker(spec, kind, [*members, *lacking], catalogue, imported)
    groups = by_each(maker.selected(), spec.each, maker.axis)
    return [maker.figure(store, key, group, i) for i, (key, group) in enumerate(groups, 1)]


class _Maker:
    """Makes the figures of one definition."""

    def __init__(
        self,
        spec: FigureSpec,
        kind: Kind[Any],
        members: Sequence[Any],
        catalogue: Catalogue | None,
        imported: Collection[int],
    ) -> None:
        self._spec = spec
        self._kind = kind
        self._members = members
        self._imported = imported
        parameters = (name for member in members for name in member.case.parameters)
        defined = [*spec.select, *spec.each, *spec.series, *spec.axes, spec.x.axis, spec.y.axis]
        names = [*FIXED_AXES, *defined, *parameters]
        engines = engines_shown(spec.select, members)
        self._axes = make_axes(names, spec.axes, engines, catalogue)

    def axis(self, name: str) -> Axis:
        """Return the axis `name`."""
        return self._axes[name]

    def selected(self) -> list[Any]:
        """Return the members that `select` matches; InputError when there are none."""
        selected = matching(self._members, self._spec.select, self._axes)
        if selected:
            return selected
        noun = "trace" if self._kind.traced else f"value of {self._spec.metric}"
        if not self._members:
            number = self._spec.replication
            of = f" of replication {number}: name another, or" if number else ":"
            raise InputError(
                f"figure {self._spec.name!r}: these runs have no {noun}{of} {self._kind.absent}"
            )
        conditions, present = asked_and_there(self._spec.select, self._members, self._axes)
        raise InputError(
            f"figure {self._spec.name!r}: no {noun} has {', '.join(conditions)}; there is:"
            f" {'; '.join(present)}. Change 'select', or name other runs"
        )

    def figure(self, store: Store, key: Sequence[Any], group: Sequence[Any], number: int) -> Figure:
        """Return the figure of the `number`th place `key` on the axes of `each`."""
        spec = self._spec
        title = visible(spec.title)
        if spec.each:
            title += f": {label(zip(spec.each, key, strict=True), self.axis)}"
            spec = spec.model_copy(update={"name": f"{spec.name}-{number}"})
        spec = spec.model_copy(update={"title": title})
        if self._kind.together:
            lines = [FigureLine(title, group)]
        else:
            lines = tell_apart(group, self.axis, self._kind.along(spec), spec.series)
        lacking = [line.label for line in lines if isinstance(line.members[0], Lacking)]
        lines = [line for line in lines if not isinstance(line.members[0], Lacking)]
        if len(lines) > self._kind.most:
            raise InputError(
                f"figure {spec.name!r} would show {len(lines)} series, more than the"
                f" {self._kind.most} that can be told apart: narrow 'select', or name axes in"
                " 'each', such as each: [link]"
            )
        content = self._kind.draw(spec, store, lines, self.axis)
        notes = [*content.notes, sources(group, self._imported)]
        if self._kind.traced:
            notes[:0] = _trace_notes(store, lines)
        if lacking:
            notes.insert(0, f"Without a trace, failed or not measured: {some(lacking, '; ')}.")
        notes += [visible(line) for line in spec.notes.splitlines() if line.strip()]
        return Figure(spec.name, title, content, tuple(notes))


def _trace_notes(store: Store, lines: Sequence[FigureLine[StoredTrace]]) -> list[str]:
    """Return which replications the traces are of, and which of these are suspect."""
    traces = [line.members[0] for line in lines]
    numbers = sorted({trace.replication for trace in traces})
    notes = [f"Trace of replication {numbers[0]}."] if len(numbers) == 1 else []
    if len(numbers) > 1:
        notes = ["Each case's first trace."]
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
        notes.append(f"Traces of suspect replications: {some(labels, '; ')}.")
    return notes
