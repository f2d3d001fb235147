"""What makes the pages, as a digest: with another railgauge or gnuplot all are made again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from railgauge.base.assets import folder
from railgauge.base.errors import EnvironmentFailedError
from railgauge.base.own_source import digest_of, source_hash
from railgauge.report.figures.gnuplot import find_gnuplot

_SECONDS = 10


def made_by() -> str:
    """Return the digest of our code, the templates, the engines' tables and gnuplot's version."""
    return digest_of(_files(), f"{source_hash()} {gnuplot_version()}")


def gnuplot_version() -> str:
    """Return what gnuplot calls itself; empty when there is none, and the pages have no figures."""
    try:
        return _version(find_gnuplot())
    except (EnvironmentFailedError, OSError, subprocess.TimeoutExpired):
        return ""


@cache
def _version(program: str) -> str:
    run = subprocess.run(
        [program, "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    return run.stdout.decode(errors="replace").strip()


def _files() -> Iterator[Path]:
    """Yield the files that pages depend on beside our code."""
    yield folder("schema") / "engines.json"
    yield from sorted((folder("engines") / "external").glob("*.yaml"))
