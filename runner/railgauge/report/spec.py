"""Report definitions (reports/*.yaml): read strictly, every mistake with its line and column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from railgauge.catalogue import Catalogue
from railgauge.errors import FileProblems, Problem
from railgauge.report.checks import FigureChecker, SlowNodesChecker, TableChecker
from railgauge.report.model import FigureSpec, SlowNodesSpec, Spec, TableSpec
from railgauge.validation import validate
from railgauge.yamlfile import Document, load

_ANOTHER = {
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
    problems = list(_names(document, spec))
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
    parts: list[tuple[str, Sequence[TableSpec | SlowNodesSpec | FigureSpec]]] = [
        ("tables", spec.tables),
        ("slow_nodes", spec.slow_nodes),
        ("figures", spec.figures),
    ]
    for key, named in parts:
        for i, one in enumerate(named):
            if one.name in taken:
                yield document.problem(
                    (key, i, "name"),
                    f"{one.name!r} is the name of {taken[one.name]}: each file needs its own",
                )
            taken.setdefault(one.name, _ANOTHER[key])
