"""Tables to text, LaTeX and HTML through the templates; equal tables give equal bytes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from railgauge.assets import folder
from railgauge.report import tex
from railgauge.report.page import Page
from railgauge.report.plaintext import Layout
from railgauge.report.table import Table
from railgauge.report.textable import lay_out
from railgauge.report.tooltip import tooltip

if TYPE_CHECKING:
    from jinja2 import Environment


def render_text(table: Table) -> str:
    """Return `table` as plain text for a terminal, ending with a newline."""
    return _plain().get_template("table.txt.j2").render(table=table, layout=Layout(table))


def render_latex(table: Table) -> str:
    r"""Return `table` as a fragment for \input: booktabs, multirow and siunitx."""
    return _latex().get_template("table.tex.j2").render(part=lay_out(table))


def render_latex_document(page: Page) -> str:
    r"""Return a document that compiles by itself beside the fragments, which it \input's."""
    return _latex().get_template("document.tex.j2").render(page=page)


def render_html(page: Page, tables: Sequence[Table]) -> str:
    """Return one self-contained page with all the tables, the runs and the machines."""
    return _html().get_template("index.html.j2").render(page=page, tables=tables)


@cache
def _plain() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Nothing to escape: a table's texts hold no control characters.
    return Environment(  # noqa: S701
        loader=FileSystemLoader(folder("templates") / "text"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def _latex() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - `finalize` escapes every value, for LaTeX
        loader=FileSystemLoader(folder("templates") / "latex"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Braces and percent signs are LaTeX's own.
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        finalize=tex.escape,
    )
    environment.filters["tex"] = lambda text: tex.Tex(str(text).strip("\n"))
    environment.filters["cells"] = lambda cells: tex.Tex(" & ".join(cells))
    return environment


@cache
def _html() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder("templates") / "html"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["tooltip"] = tooltip
    return environment
