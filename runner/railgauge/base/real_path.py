"""Where a path leads to."""

from __future__ import annotations

import os
from pathlib import Path


def real_path(path: Path) -> Path:
    """Return the path from the root on, without links as far as they lead anywhere.

    `Path.resolve` raises RuntimeError for a link that leads to itself; who opens what is returned
    gets the system's own error with its name.
    """
    return Path(os.path.realpath(path))
