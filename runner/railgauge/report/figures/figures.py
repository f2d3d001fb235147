"""From measurements to figures: selects them, tells series apart, lets the kind draw them."""

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
    abbreviated,
    engines_shown,
    group_by_axes,
    make_axes,
    matching,
    selected_and_available,
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
    found = kind.members(store, run_ids, spec)
    lacking = kind.lacking(store, run_ids, spec, found)
    maker = _Maker(spec, kind, [*found, *lacking], catalogue, imported)
    groups = group_by_axes(maker.chosen(), spec.each, maker.axis)
    return [maker.figure(store, key, group, i) for i, (key, group) in enumerate(groups, 1)]


class _Maker:
    """Makes the figures of one definition."""

    def __init__(
        self,
        spec: FigureSpec,
        kind: Kind[Any],
        found: Sequence[Any],
        catalogue: Catalogue | None,
        imported: Collection[int],
    ) -> None:
        self._spec = spec
        self._kind = kind
        self._found = found
        self._imported = imported
        parameters = (name for one in found for name in one.case.parameters)
        said = [*spec.select, *spec.each, *spec.series, *spec.axes, spec.x.axis, spec.y.axis]
        names = [*FIXED_AXES, *said, *parameters]
        engines = engines_shown(spec.select, found)
        self._axes = make_axes(names, spec.axes, engines, catalogue)

    def axis(self, name: str) -> Axis:
        """Return the axis `name`."""
        return self._axes[name]

    def chosen(self) -> list[Any]:
        """Return what `select` wants; InputError when that is nothing."""
        chosen = matching(self._found, self._spec.select, self._axes)
        if chosen:
            return chosen
        what = "trace" if self._kind.traced else f"value of {self._spec.metric}"
        if not self._found:
            number = self._spec.replication
            of = f" of replication {number}: name another, or" if number else ":"
            raise InputError(
                f"figure {self._spec.name!r}: these runs have no {what}{of} {self._kind.absent}"
            )
        selected, available = selected_and_available(self._spec.select, self._found, self._axes)
        raise InputError(
            f"figure {self._spec.name!r}: no {what} has {', '.join(selected)}; there is:"
            f" {'; '.join(available)}. Change 'select', or name other runs"
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
            every = [FigureLine(title, group)]
        else:
            every = tell_apart(group, self.axis, self._kind.along(spec), spec.series)
        without = [line for line in every if isinstance(line.members[0], Lacking)]
        lines = [line for line in every if line not in without] if without else every
        if len(lines) > self._kind.most:
            raise InputError(
                f"figure {spec.name!r} would show {len(lines)} series, more than the"
                f" {self._kind.most} that can be told apart: narrow 'select', or name axes in"
                " 'each', such as each: [link]"
            )
        content = self._kind.draw(spec, store, lines, self.axis)
        notes = [*content.notes, sources(group, self._imported)]
        if self._kind.traced:
            notes[:0] = _replications(store, lines)
        if without:
            notes.insert(0, _without([line.label for line in without]))
        notes += [visible(line) for line in spec.notes.splitlines() if line.strip()]
        return Figure(spec.name, title, content, tuple(notes))


def _replications(store: Store, lines: Sequence[FigureLine[StoredTrace]]) -> list[str]:
    traces = [line.members[0] for line in lines]
    numbers = sorted({one.replication for one in traces})
    notes = [f"Trace of replication {numbers[0]}."] if len(numbers) == 1 else []
    if len(numbers) > 1:
        notes = ["Each case's first trace."]
    suspect = {
        (run, one.test, one.case.key, one.replication)
        for run in {one.run for one in traces}
        for one in store.suspicions(run)
    }
    labels = [
        line.label
        for line, one in zip(lines, traces, strict=True)
        if (one.run, one.test, one.case.key, one.replication) in suspect
    ]
    if labels:
        notes.append(f"Traces of suspect replications: {abbreviated(labels, '; ')}.")
    return notes


def _without(labels: Sequence[str]) -> str:
    return f"Without a trace, failed or not measured: {abbreviated(labels, '; ')}."
