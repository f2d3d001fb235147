"""Where the folders that aren't Python stand: in a checkout, an editable install or a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """Return the folder `name`: one of engines, schema, templates, reports, plans."""
    installed = _PACKAGE / "_assets" / name
    return installed if installed.is_dir() else _PACKAGE.parent.parent / name
