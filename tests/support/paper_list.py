"""Writes the list of the papers' tables and figures into docs/originals.md: `make papers`.

Of each paper's definition (reports/papers/*.yaml): what makes each of its tables and figures here,
which test shows it, what is shown as printed, and what is left out and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from railgauge.base.assets import shipped
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.definition.cell_names import name_of
from railgauge.report.paper.paper_model import PaperItem
from railgauge.report.paper.read_paper import LoadedPaper, load_paper

PAGE = Path(__file__).parents[2] / "docs" / "originals.md"
_BEGIN, _END = "<!-- papers: make papers -->\n", "<!-- end of papers -->\n"


def paper_list() -> str:
    """Return the list as Markdown."""
    catalogue = load_catalogue()
    return "\n".join(
        line
        for path in shipped("reports/papers").values()
        for line in _paper(load_paper(path, catalogue), path.name)
    )


def with_list(page: str) -> str:
    """Return the page with the list as it is today."""
    begin, end = page.index(_BEGIN) + len(_BEGIN), page.index(_END)
    return f"{page[:begin]}\n{paper_list()}\n{page[end:]}"


def _paper(loaded: LoadedPaper, file: str) -> Iterator[str]:
    paper = loaded.paper
    plans = ", ".join(f"`{name}`" for name in paper.plans)
    yield f"### {_cell(paper.title)}"
    yield ""
    yield f"`railgauge paper {paper.name}` (`reports/papers/{file}`), measured by {plans}."
    yield ""
    yield "| there | here | files | shown by |"
    yield "|---|---|---|---|"
    for item, report in zip(paper.items, loaded.reports, strict=True):
        names = [part.name for part in report.tables] + [part.name for part in report.figures]
        parts = [name for name in names if not item.parts or name in item.parts]
        columns = {part.name: [name_of(cell) for cell in part.cells] for part in report.tables}
        definition = _definition(item, {name: columns.get(name, []) for name in parts})
        cells = (_cell(item.number), definition, _files(item, parts), _tests(item))
        yield f"| {' | '.join(cells)} |"
    for printed in paper.printed:
        reason = f"as printed: {_cell(printed.reason)}"
        yield f"| {_cell(printed.number)} | {reason} | `{paper.name}.txt` | |"
    for left_out in paper.left_out:
        yield f"| {_cell(left_out.number)} | left out: {_cell(left_out.reason)} | | |"
    yield ""


def _definition(item: PaperItem, columns: Mapping[str, list[str]]) -> str:
    """Name the parts, of a table with its columns; those of the table before aren't repeated."""
    report = item.report if item.report.endswith(".yaml") else f"{item.report}.yaml"
    parts, before = [], None
    for name, cells in columns.items():
        listed = f" ({'; '.join(_cell(cell) for cell in cells)})" if cells != before else ""
        parts.append(f"{name}{listed}" if cells else name)
        before = cells
    return f"`{report}`: {', '.join(parts)}"


def _files(item: PaperItem, parts: list[str]) -> str:
    return f"`{item.name}.*`" if len(parts) == 1 else f"`{item.name}-*`"


def _tests(item: PaperItem) -> str:
    return ", ".join(f"`{Path(test).name}`" for test in item.tests)


def _cell(text: str) -> str:
    return re.sub(r"([|*_<])", r"\\\1", text)


if __name__ == "__main__":
    PAGE.write_text(with_list(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
