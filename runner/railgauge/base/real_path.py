"""Where a path leads to."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def real_path(path: Path) -> Path:
    """Return the path from the root on, without links as far as they lead anywhere.

    `Path.resolve` raises RuntimeError for a link that leads to itself; who opens what is returned
    gets the system's own error with its name.
    """
    return Path(os.path.realpath(path))


def is_own_link(path: Path) -> bool:
    """Return whether it is a link of this user's or root's: another's may lead anywhere."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) and status.st_uid in (os.geteuid(), 0)
