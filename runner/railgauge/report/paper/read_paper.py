"""Papers' definitions: which ship, and reading one strictly with all that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from railgauge.base.assets import folder
from railgauge.base.errors import FileProblems, Problem
from railgauge.base.suggestion import suggest
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import Document, load, why_unreadable
from railgauge.report.checks.spec import load_spec
from railgauge.report.definition.definition_model import Spec
from railgauge.report.paper.paper_model import Paper

_SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class LoadedPaper:
    """A valid definition, the folder it stands in, and the reports of its items, in their order."""

    paper: Paper
    folder: Path
    reports: Sequence[Spec]

    def file(self, name: str) -> Path:
        """Return the file of that name beside the definition."""
        return self.folder / name

    def plan_files(self) -> list[Path]:
        """Return the files of the plans that measure it."""
        return [_asset(name, "plans", self.folder) for name in self.paper.plans]

    def plans(self) -> list[LoadedPlan]:
        """Return the plans that measure it."""
        return [load_plan(file) for file in self.plan_files()]


def load_paper(path: Path, catalogue: Catalogue) -> LoadedPaper:
    """Return the definition in `path`; FileProblems with every mistake in it and its reports."""
    document = load(path)
    paper = validate(document, Paper)
    problems = list(_unreadable(document, paper, path.parent))
    reports: list[Spec] = []
    for i, item in enumerate(paper.items):
        file = _asset(item.report, "reports", path.parent)
        if reason := why_unreadable(file):
            message = f"the report {item.report!r} {reason}"
            problems.append(document.problem(("items", i, "report"), message))
            continue
        try:
            spec = load_spec(file, catalogue)
        except FileProblems as error:
            problems += error.problems
            continue
        reports.append(spec)
        names = [table.name for table in spec.tables] + [figure.name for figure in spec.figures]
        for j, part in enumerate(item.parts):
            if part not in names:
                hint = suggest(part, names) or f": it has {', '.join(names)}"
                message = f"the report {item.report!r} has no table and no figure {part!r}{hint}"
                problems.append(document.problem(("items", i, "parts", j), message))
    if problems:
        raise FileProblems(problems)
    return LoadedPaper(paper, path.parent, reports)


def _unreadable(document: Document, paper: Paper, where: Path) -> Iterator[Problem]:
    """Yield which of the files that it names can't be read."""
    for i, name in enumerate(paper.plans):
        if reason := why_unreadable(_asset(name, "plans", where)):
            yield document.problem(("plans", i), f"the plan {name!r} {reason}")
    for i, printed in enumerate(paper.printed):
        if reason := why_unreadable(where / printed.file):
            yield document.problem(("printed", i, "file"), f"the file {printed.file!r} {reason}")
    for i, source in enumerate(paper.published):
        files = {"file": source.file, "hosts": source.hosts}
        for key, name in files.items():
            if name and (reason := why_unreadable(where / name)):
                yield document.problem(("published", i, key), f"the file {name!r} {reason}")
        for j, name in enumerate(source.hpcbench):
            if reason := why_unreadable(where / name):
                yield document.problem(
                    ("published", i, "hpcbench", j), f"the file {name!r} {reason}"
                )


def _asset(name: str, kind: str, where: Path) -> Path:
    """Return a shipped plan or report by its name or, with an ending, a file in `where`."""
    return where / name if Path(name).suffix else folder(kind) / f"{name}{_SUFFIX}"
