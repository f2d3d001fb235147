"""The gnuplot scripts of figures, timelines and histories, through the templates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from railgauge.report.figures import curves, quoting
from railgauge.report.figures.figure import Figure
from railgauge.report.figures.pictures import Terminal
from railgauge.report.formats import tex
from railgauge.report.formats.templates import ANGLED, environment

if TYPE_CHECKING:
    from jinja2 import Environment

    from railgauge.report.pages.case.timeplot import Panel
    from railgauge.report.verdicts.history.plot import HistoryPlot


def render_plot(figure: Figure, terminal: Terminal) -> str:
    """Return the gnuplot script that draws `figure` from its data file."""
    if figure.content.grid is not None:
        blocks = {name: i for i, name in enumerate(curves.grid_blocks(figure.content.grid))}
        template = _gnuplot().get_template("heatmap.plot.j2")
        return template.render(figure=figure, blocks=blocks, terminal=terminal)
    template = _gnuplot().get_template("figure.plot.j2")
    return template.render(figure=figure, curves=curves.curves(figure.content), terminal=terminal)


def render_timelines(name: str, title: str, panels: Sequence[Panel]) -> str:
    """Return the gnuplot script that draws the timelines of a case from its data file."""
    template = _gnuplot().get_template("timelines.plot.j2")
    return template.render(name=name, title=title, panels=panels)


def render_history(plot: HistoryPlot) -> str:
    """Return the gnuplot script that draws a case's history from its data file."""
    return _gnuplot().get_template("history.plot.j2").render(plot=plot)


@cache
def _gnuplot() -> Environment:
    # The filter `quoted` keeps texts from acting.
    gnuplot = environment("gnuplot", **ANGLED)
    gnuplot.filters["quoted"] = quoting.quoted
    gnuplot.filters["crowded"] = curves.crowded
    gnuplot.filters["ends"] = curves.ends
    gnuplot.filters["tic"] = quoting.tic
    gnuplot.filters["tex_tic"] = lambda text: quoting.tic(text, tex.escape)
    gnuplot.filters["tex"] = tex.escape
    gnuplot.filters["title"] = quoting.title
    return gnuplot
