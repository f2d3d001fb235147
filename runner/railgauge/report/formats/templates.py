"""The Jinja environments of the folders below templates/, and what their pages allow."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
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
    from jinja2 import Environment, StrictUndefined

    from railgauge.report.formats.template_loader import TemplateLoader

    return Environment(  # noqa: S701 - each caller escapes as its language needs
        loader=TemplateLoader(folder("templates") / name),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )


@lru_cache  # Hundreds of pages have the same ones.
def policy(style: str, script: str, *, loads: bool = False) -> str:
    """Return the Content-Security-Policy of a page with just this `<style>` and `<script>`.

    Both are what stands between the tags, to the character. Attributes with style or script are
    refused too. With `loads` the script may load others, and no element of the page. Its empty
    icon, `data:,`, keeps browsers from asking a server for one.
    """
    scripts = [_hash(script), *(["'strict-dynamic'"] if loads else [])]
    rules = {
        "default-src": "'none'",
        "style-src": _hash(style),
        "script-src": " ".join(scripts),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
