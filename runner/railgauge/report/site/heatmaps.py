"""The heat maps of a run that measured most pairs of three hosts or more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.base.errors import EnvironmentFailedError
from railgauge.compare.reading import ReadRuns, has_direction
from railgauge.plan.cases import varying
from railgauge.plan.catalogue.headlines import headlines
from railgauge.report.definition.figure_model import FigureSpec, YSpec
from railgauge.report.figures.figure import Figure
from railgauge.report.figures.figures import build_figures
from railgauge.report.figures.pictures import Pictures
from railgauge.report.figures.plotfile import DrawnFigure, draw
from railgauge.store import Store
from railgauge.store.records import PlannedCase, StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

_LEAST_HOSTS = 3
_MOST = 8
# Drawn beside the SVG, and not needed: what every gnuplot has.
_PICTURES: Pictures = "pict2e"


def heatmaps(
    store: Store, run: StoredRun, reading: ReadRuns, catalogue: Catalogue
) -> tuple[tuple[DrawnFigure, ...], str]:
    """Return a heat map for each test of pairs, and a note where some are not there.

    Of its first headline metric; of cases that differ in more than their hosts, one for each.
    """
    figures: list[Figure] = []
    for test, cases in _tests(run).items():
        metric = _metric(reading, run.id, test)
        if metric and _is_matrix(cases):
            spec = FigureSpec(
                name=f"pairs-{len(figures) + 1}",
                title=f"{visible(test)}: {metric.replace('_', ' ')} between hosts",
                kind="heatmap",
                select={"test": test},
                each=list(varying(planned.case for planned in cases)),
                y=YSpec(metric=metric, statistic="median"),
            )
            figures += build_figures(spec, store, [run.id], catalogue=catalogue)
    note = f"The first {_MOST} of {len(figures)} heat maps." if len(figures) > _MOST else ""
    try:
        return tuple(draw(figure, _PICTURES) for figure in figures[:_MOST]), note
    except EnvironmentFailedError as error:
        return (), f"Without heat maps: {error}."


def _tests(run: StoredRun) -> dict[str, list[PlannedCase]]:
    tests: dict[str, list[PlannedCase]] = {}
    for planned in run.cases:
        tests.setdefault(planned.test, []).append(planned)
    return tests


def _is_matrix(cases: list[PlannedCase]) -> bool:
    links = [planned.case for planned in cases if planned.case.server is not None]
    pairs = {(case.client, case.server) for case in links}
    hosts = {host for pair in pairs for host in pair}
    # A star of links to one host is no matrix.
    return len(hosts) >= _LEAST_HOSTS and 2 * len(pairs) >= len(hosts) * (len(hosts) - 1)


def _metric(reading: ReadRuns, run: int, test: str) -> str:
    measured = {
        metric
        for (series_test, _), metrics in reading.series[run].items()
        for metric, series in metrics.items()
        if series_test == test and len(series.values) and has_direction(series)
    }
    return next((name for name in headlines() if name in measured), min(measured, default=""))
