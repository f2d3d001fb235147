"""Reports of one figure of runs in a store, and what stands in their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.support.figure_data import store_values

from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads
from railgauge.report.definition.definition_model import Spec
from railgauge.report.document.write_report import write_report
from railgauge.report.figures.figure import Content
from railgauge.report.figures.figures import build_figures
from railgauge.report.figures.plotfile import draw as plot
from railgauge.store import Store


def one_figure(figure: str, *, name: str = "fig", title: str = "A figure") -> Spec:
    """Return the definition of a report, `night`, of that figure, which is written as in YAML."""
    head = "railgauge_report: 1, name: night, title: Night"
    text = f"{{{head}, figures: [{{name: {name}, title: T, {figure}}}]}}"
    document = loads(text, "night.yaml")
    document.data["figures"][0]["title"] = title
    return validate(document, Spec)


def write_figure(
    store: Store, runs: Sequence[int], folder: Path, figure: str, **names: str
) -> list[Path]:
    """Write the report of one figure (see `one_figure`) and return its files."""
    spec = one_figure(figure, **names)
    return write_report(store, runs, spec, folder, catalogue=load_catalogue())


class FigureReports:
    """Runs in a store, and reports of one figure of them below a folder."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.folder = folder

    def values(self, *values: Any, **options: Any) -> int:
        """Store a run: see `store_values`."""
        return store_values(self.store, *values, **options)

    def __call__(self, *runs: int, figure: str, name: str = "out", title: str = "A figure") -> Path:
        """Write a report into the folder `name`, and return that."""
        write_figure(self.store, runs, self.folder / name, figure, title=title)
        return self.folder / name

    def content(self, *runs: int, figure: str) -> Content:
        """Draw the figure, and return what is drawn."""
        spec = one_figure(figure).figures[0]
        (picture,) = build_figures(spec, self.store, runs, catalogue=load_catalogue())
        plot(picture)
        return picture.content


def report_text(folder: Path) -> str:
    """Return the report as text."""
    return (folder / "night.txt").read_text(encoding="utf-8")


def report_sentences(folder: Path) -> str:
    """Return the report as text, with one blank in place of each line break and indent."""
    return " ".join(report_text(folder).split())


def svg_texts(picture: Path) -> list[str]:
    """Return what is written in a picture."""
    root = ElementTree.parse(picture).getroot()
    return [
        "".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")
    ]
