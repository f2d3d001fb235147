"""What a page allows the browser to load and run: its own style and script, and nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache


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
