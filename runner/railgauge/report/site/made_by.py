"""What makes the pages, as a digest: with another railgauge or gnuplot all are made again."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import railgauge
from railgauge.base.assets import folder
from railgauge.base.errors import EnvironmentFailedError
from railgauge.report.figures.gnuplot import find_gnuplot

_SECONDS = 10


def made_by() -> str:
    """Return the digest of our code, the templates, the engines' tables and gnuplot's version."""
    digest = hashlib.sha256(gnuplot_version().encode())
    for file in _files():
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def gnuplot_version() -> str:
    """Return what gnuplot calls itself; empty when there is none, and the pages have no figures."""
    try:
        run = subprocess.run(
            [find_gnuplot(), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (EnvironmentFailedError, OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.decode(errors="replace").strip()


def _files() -> Iterator[Path]:
    """Yield the files that pages depend on; a version alone doesn't show a checkout's changes."""
    yield from sorted(Path(railgauge.__file__).parent.rglob("*.py"))
    for part in ("html", "gnuplot"):
        yield from sorted(file for file in (folder("templates") / part).iterdir() if file.is_file())
    yield folder("schema") / "engines.json"
    yield from sorted((folder("engines") / "external").glob("*.yaml"))
