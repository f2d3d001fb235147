"""The Jinja environments of the folders below templates/."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from railgauge.base.assets import folder

if TYPE_CHECKING:
    from jinja2 import Environment

# The delimiters where braces and percent signs are the language's own, as in LaTeX and gnuplot.
ANGLED: dict[str, Any] = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
}


def environment(name: str, **options: Any) -> Environment:
    """Return the environment of templates/`name`: its templates may use no undefined name."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(  # noqa: S701 - each caller escapes as its language needs
        loader=FileSystemLoader(folder("templates") / name),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )
