"""Tables to text through the templates; the same tables give the same bytes every time."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from railgauge.assets import folder
from railgauge.report.plaintext import Layout
from railgauge.report.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment


def render_text(table: Table) -> str:
    """Return `table` as plain text for a terminal, ending with a newline."""
    return _text().get_template("table.txt.j2").render(table=table, layout=Layout(table))


@cache
def _text() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(  # noqa: S701 - plain text has nothing to escape; the table's texts are visible()
        loader=FileSystemLoader(folder("templates") / "text"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
