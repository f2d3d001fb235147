"""Tables to text, LaTeX and HTML through the templates; equal tables give equal bytes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from railgauge.base.characters import in_columns, visible
from railgauge.base.number import plural
from railgauge.report.figures import svg
from railgauge.report.figures.figure import text_bars
from railgauge.report.formats import tex
from railgauge.report.formats.plaintext import TextLayout
from railgauge.report.formats.templates import ANGLED, environment, policy
from railgauge.report.formats.textable import lay_out
from railgauge.report.formats.tooltip import tooltip
from railgauge.report.pages.machines import in_short
from railgauge.report.pages.page import sentences
from railgauge.report.tables.display_form import display_form
from railgauge.report.tables.table import marks

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from railgauge.report.figures.figure import Figure
    from railgauge.report.figures.plotfile import DrawnFigure
    from railgauge.report.pages.appendix.appendix_parts import Appendix
    from railgauge.report.pages.case.case_view import CasePage
    from railgauge.report.pages.case.timeplot import CasePlot
    from railgauge.report.pages.contents import Details, Passage, ReportPart
    from railgauge.report.pages.page import Page
    from railgauge.report.tables.table import Table

# Columns of a terminal that a text takes.
_PROSE = 80
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def render_text(table: Table) -> str:
    """Return `table` as plain text for a terminal, ending with a newline."""
    table = display_form(table)
    return _plain().get_template("table.txt.j2").render(table=table, layout=TextLayout(table))


def render_latex(table: Table) -> str:
    r"""Return `table` as a fragment for \input: booktabs, multirow and siunitx."""
    return _latex().get_template("table.tex.j2").render(part=lay_out(display_form(table)))


def render_figure_text(figure: Figure) -> str:
    """Return what stands for `figure` in plain text: a sentence for each of its series."""
    return (
        _plain().get_template("figure.txt.j2").render(figure=figure, bars=text_bars(figure.content))
    )


def render_listed_text(details: Details) -> str:
    """Return what a page lists, as sentences for a terminal."""
    return "\n".join([details.title, *map(_hanging, sentences(details, 40))]) + "\n"


def render_figure_latex(figure: Figure, packages: Sequence[str]) -> str:
    r"""Return a figure with its caption as a fragment for \input, which inputs its picture.

    `packages` are those that the picture needs.
    """
    return _latex().get_template("figure.tex.j2").render(figure=figure, packages=packages)


def render_passage_text(passage: Passage) -> str:
    """Return a text as paragraphs for a terminal."""
    lines = in_columns(passage.grid, passage.numbers)
    return _plain().get_template("passage.txt.j2").render(passage=passage, lines=lines)


def render_appendix_text(appendix: Appendix) -> str:
    """Return the appendix for a terminal."""
    return _plain().get_template("appendix.txt.j2").render(appendix=appendix)


def render_appendix_latex(appendix: Appendix) -> str:
    r"""Return the appendix as a fragment for \input."""
    return _latex().get_template("appendix.tex.j2").render(appendix=appendix)


def render_latex_document(
    page: Page, parts: Sequence[ReportPart], appendix: Appendix | None = None
) -> str:
    r"""Return a document that compiles by itself beside the fragments, which it \input's."""
    packages = {name: None for part in parts if part.drawn for name in part.drawn.packages}
    template = _latex().get_template("document.tex.j2")
    return template.render(page=page, parts=parts, appendix=appendix, packages=list(packages))


def render_html(page: Page, parts: Sequence[ReportPart], appendix: Appendix | None = None) -> str:
    """Return one self-contained page with all that the report shows, the runs and the machines."""
    hrefs = {(link.run, link.test, link.case.key): link.href for link in page.links}
    template = _html().get_template("index.html.j2")
    return template.render(page=page, parts=parts, hrefs=hrefs, appendix=appendix)


def render_case(page: CasePage, report: str, plot: CasePlot | None, undrawn: str = "") -> str:
    """Return the self-contained page of a case of the report titled `report`.

    `plot` has its timelines' pictures; without it `undrawn` says why there are none.
    """
    pictures = []
    if plot is not None:
        svgs = iter(plot.svgs)
        for place, host in enumerate(page.timelines, 1):
            figures = [
                (
                    figure,
                    picture(next(svgs), f"t{place}-{figure.name}", figure.title, figure.alt_text),
                )
                for figure in host.figures
            ]
            pictures.append((host, figures))
    template = _html().get_template("case.html.j2")
    return template.render(
        page=page, report=report, pictures=pictures, undrawn=undrawn, drawing=_drawing(page)
    )


def page_from(template: str, **variables: object) -> str:
    """Return the page that one of the HTML templates makes of its variables."""
    return _html().get_template(template).render(variables)


def picture(svg_text: str, name: str, title: str, description: str) -> Markup:
    """Return gnuplot's SVG as `svg.inline` does, for a page to hold."""
    from markupsafe import Markup

    # Built by an XML writer, so nothing in it is left to escape.
    return Markup(svg.inline(svg_text, name, title, description))  # noqa: S704


@cache
def _plain() -> Environment:
    # Nothing to escape: a table's texts hold no control characters.
    plain = environment("text")
    plain.filters["wrapped"] = lambda text: "\n".join(textwrap.wrap(text, _PROSE))
    plain.filters["hanging"] = _hanging
    return plain


def _hanging(text: str) -> str:
    return textwrap.fill(text, _PROSE, initial_indent="  ", subsequent_indent="    ")


@cache
def _latex() -> Environment:
    # `finalize` escapes every value.
    latex = environment(
        "latex", **ANGLED, comment_start_string="<#", comment_end_string="#>", finalize=tex.escape
    )
    latex.filters["tex"] = lambda text: tex.Tex(str(text).strip("\n"))
    latex.filters["breakable"] = tex.breakable
    latex.filters["cells"] = lambda cells: tex.Tex(" & ".join(cells))
    latex.globals["sentences"] = sentences
    latex.globals["in_short"] = in_short
    return latex


@cache
def _html() -> Environment:
    html = environment("html", autoescape=True)
    html.globals.update(
        tooltip=tooltip, marks=marks, display_form=display_form, picture=_picture, policy=policy
    )
    html.filters["visible"] = visible
    html.filters["plural"] = plural
    html.filters["dated"] = _dated
    return html


def _dated(text: str) -> Markup:
    """Return the text as HTML, whose dates no line break parts."""
    from markupsafe import Markup, escape

    return Markup(_DATE.sub(r'<span class="date">\g<0></span>', str(escape(text))))  # noqa: S704


def _picture(drawn: DrawnFigure) -> Markup:
    from markupsafe import Markup

    figure = drawn.figure
    if not drawn.svg:
        return Markup()
    return picture(drawn.svg, figure.name, figure.title, " ".join(figure.content.summary))


def _drawing(page: CasePage) -> Markup:
    from markupsafe import Markup

    # Its texts are escaped where it is drawn.
    return Markup(page.scheme.svg if page.scheme is not None else "")  # noqa: S704
