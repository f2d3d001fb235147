"""Report definitions (reports/*.yaml): read strictly, every mistake with its line and column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from railgauge.base.errors import FileProblems, Problem
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.validation import suggest, validate
from railgauge.plan.yamlfile import Document, load
from railgauge.report.definition.figure_checks import FigureChecker
from railgauge.report.definition.figure_model import FigureSpec
from railgauge.report.definition.model import SlowNodesSpec, Spec, TableSpec, TextSpec
from railgauge.report.definition.slow_nodes_checks import SlowNodesChecker
from railgauge.report.definition.table_checks import TableChecker

_Named: TypeAlias = TextSpec | TableSpec | SlowNodesSpec | FigureSpec
_ANOTHER = {
    "texts": "another text",
    "tables": "another table",
    "slow_nodes": "another list of slow nodes",
    "figures": "another figure",
}


def load_spec(path: Path, catalogue: Catalogue) -> Spec:
    """Return the report definition in `path`; FileProblems with every mistake in it.

    Axes, values, metrics and units are checked against the engines that each selects (all
    that `catalogue` has, where it selects none). A part that selects an engine the catalogue
    doesn't have is checked when it meets its measurements.
    """
    document = load(path)
    spec = validate(document, Spec)
    problems = [*_names(document, spec), *_contents(document, spec)]
    for i, table in enumerate(spec.tables):
        problems += TableChecker(document, ("tables", i), table, catalogue).problems()
    for i, listing in enumerate(spec.slow_nodes):
        problems += SlowNodesChecker(document, ("slow_nodes", i), listing, catalogue).problems()
    for i, figure in enumerate(spec.figures):
        problems += FigureChecker(document, ("figures", i), figure, catalogue).problems()
    if problems:
        raise FileProblems(problems)
    return spec


def _names(document: Document, spec: Spec) -> Iterator[Problem]:
    taken = {spec.name: "the report itself", "index": "the HTML page"}
    for key, named in _parts(spec):
        for i, one in enumerate(named):
            if one.name in taken:
                yield document.problem(
                    (key, i, "name"),
                    f"{one.name!r} is the name of {taken[one.name]}: each file needs its own",
                )
            taken.setdefault(one.name, _ANOTHER[key])


def _contents(document: Document, spec: Spec) -> Iterator[Problem]:
    """Yield what keeps `contents` from having every part exactly once."""
    if not spec.contents:
        return
    places = {one.name: (key, i) for key, named in _parts(spec) for i, one in enumerate(named)}
    seen: dict[str, None] = {}
    for i, name in enumerate(spec.contents):
        if name not in places:
            hint = suggest(name, places) or f": known here are {', '.join(places)}"
            yield document.problem(("contents", i), f"nothing is called {name!r}{hint}")
        elif name in seen:
            yield document.problem(
                ("contents", i), f"{name!r} is in the contents already: leave it out here"
            )
        seen[name] = None
    for name, place in places.items():
        if name not in seen:
            yield document.problem(
                (*place, "name"), f"{name!r} isn't in 'contents': add it there, or drop 'contents'"
            )


def _parts(spec: Spec) -> list[tuple[str, Sequence[_Named]]]:
    return [
        ("texts", spec.texts),
        ("tables", spec.tables),
        ("slow_nodes", spec.slow_nodes),
        ("figures", spec.figures),
    ]
