"""Which commit of its git repository a plan is at, and whether that is the whole truth."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path


def git_state(plan: Path, other_files: Iterable[Path] = ()) -> tuple[str, bool]:
    """Return the commit of `plan`'s repository, and whether `plan` or `other_files` differ from it.

    A file that git ignores, doesn't know or can't report on differs. Links are followed.
    ("", False) outside a repository, in one without commits, or without git.
    """
    real = plan.resolve()
    commit = _git(real.parent, "rev-parse", "--verify", "--quiet", "HEAD")
    if not commit:
        return "", False
    return commit, not all(_is_committed(file.resolve(), commit) for file in (real, *other_files))


def _is_committed(file: Path, commit: str) -> bool:
    folder, name = file.parent, file.name
    return (
        _git(folder, "rev-parse", "HEAD") == commit
        and bool(_git(folder, "ls-files", "--error-unmatch", "--", name))
        and _git(folder, "status", "--porcelain", "--", name) == ""
    )


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints; None when it fails."""
    try:
        completed = subprocess.run(
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's git
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return completed.stdout.strip() if completed.returncode == 0 else None
