"""The gnuplot scripts of figures, timelines and histories, through the templates."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from railgauge.report.figures import curves, quoting
from railgauge.report.figures.figure import Figure
from railgauge.report.figures.pictures import Terminal
from railgauge.report.formats import tex
from railgauge.report.formats.templates import ANGLED, environment

if TYPE_CHECKING:
    from jinja2 import Environment


def render_plot(figure: Figure, terminal: Terminal) -> str:
    """Return the gnuplot script that draws `figure` from its data file."""
    width = figure.width or curves.USUAL_WIDTH
    shared = {"figure": figure, "terminal": terminal, "width": width}
    if figure.content.grid is not None:
        blocks = {name: i for i, name in enumerate(curves.grid_blocks(figure.content.grid))}
        return render_script("heatmap", blocks=blocks, **shared)
    return render_script("figure", curves=curves.curves(figure.content, width), **shared)


def render_script(template: str, **values: Any) -> str:
    """Return the gnuplot script that a template makes of `values`; a data file goes with it."""
    return _gnuplot().get_template(f"{template}.plot.j2").render(values)


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
