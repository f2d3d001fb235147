"""Which commit of its git repository a file is at."""

from __future__ import annotations

import subprocess
from pathlib import Path


def git_state(path: Path) -> tuple[str, bool]:
    """Return the commit that `path`'s repository is at, and whether `path` differs from it.

    ("", False) outside a repository, in one without commits, or without git.
    """
    commit = _git(path, "rev-parse", "--verify", "--quiet", "HEAD")
    if not commit:
        return "", False
    return commit, bool(_git(path, "status", "--porcelain", "--", path.name))


def _git(path: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(path.resolve().parent), *arguments],  # noqa: S607 - the user's git
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
