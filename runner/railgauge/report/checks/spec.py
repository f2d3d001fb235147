"""Report definitions (reports/*.yaml): read strictly, every mistake with its line and column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from railgauge.base.errors import FileProblems, Problem
from railgauge.base.suggestion import suggest
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import Document, load
from railgauge.report.checks.figure_checks import FigureChecker
from railgauge.report.checks.table_checks import SlowNodesChecker, TableChecker
from railgauge.report.definition.definition_model import Spec

# What a definition lists under which key, in a sentence about a second one of the same name.
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
    owners = {spec.name: "the report itself", "index": "the HTML page"}
    for name, (key, i) in _parts(spec):
        # A figure's picture for LaTeX is a file of its own.
        pictures = [f"{name}-picture"] if key == "figures" else []
        stem_in_use = next((stem for stem in (name, *pictures) if stem in owners), None)
        if stem_in_use is not None:
            message = (
                f"{stem_in_use!r} is the name of {owners[stem_in_use]}: each file needs its own"
            )
            yield document.problem((key, i, "name"), message)
        owners.setdefault(name, _ANOTHER[key])
        owners |= dict.fromkeys(pictures, f"the picture of figure {name!r}")


def _contents(document: Document, spec: Spec) -> Iterator[Problem]:
    """Yield what keeps `contents` from having every part exactly once."""
    if not spec.contents:
        return
    places = dict(_parts(spec))
    used: set[str] = set()
    for i, name in enumerate(spec.contents):
        if name not in places:
            hint = suggest(name, places) or f": known here are {', '.join(places)}"
            yield document.problem(("contents", i), f"nothing is called {name!r}{hint}")
        elif name in used:
            yield document.problem(
                ("contents", i), f"{name!r} is in the contents already: leave it out here"
            )
        used.add(name)
    for name, place in places.items():
        if name not in used:
            yield document.problem(
                (*place, "name"), f"{name!r} isn't in 'contents': add it there, or drop 'contents'"
            )


def _parts(spec: Spec) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield the name of each text, table, list and figure, and its place in the file."""
    for key in _ANOTHER:
        for i, part in enumerate(getattr(spec, key)):
            yield part.name, (key, i)
