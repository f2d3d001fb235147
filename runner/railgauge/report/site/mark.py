"""The last line of each file of a site: that it is the site's own, whole, and of what it was made.

So no list of files is kept: a build that was killed left whole files and goes on where it ended.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

# A line is longer than any of ours only in somebody else's file.
_LONGEST = 1024
_MARK = re.compile(
    rb"(?:\n|\A)(?:<!--|#|//) railgauge site ([0-9a-f]{64}) (\{[a-z0-9_\", :]*\})(?: -->)?\n\Z"
)


@dataclass(frozen=True, slots=True)
class FileMark:
    """What a file was made of, and `counts`, numbers about it that other pages show."""

    fingerprint: str
    counts: Mapping[str, int] = field(default_factory=dict)


def fingerprint(*made_of: object) -> str:
    """Return the digest of what a page is made of: of its `repr`, which has to contain all."""
    return hashlib.sha256(repr(made_of).encode("utf-8", "surrogatepass")).hexdigest()


def marked(name: str, text: str, mark: FileMark) -> str:
    """Return the text of the file `name` with its mark, a comment in its language."""
    line = f"railgauge site {mark.fingerprint} {json.dumps(dict(mark.counts), sort_keys=True)}"
    end = "" if text.endswith("\n") or not text else "\n"
    if name.endswith(".html"):
        return f"{text}{end}<!-- {line} -->\n"
    return f"{text}{end}{'//' if name.endswith('.js') else '#'} {line}\n"


def read_mark(path: Path) -> FileMark | None:
    """Return the mark of a file; None for one that isn't a site's, or isn't there. OSError."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _LONGEST))
            match = _MARK.search(file.read())
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    if match is None:
        return None
    try:
        return FileMark(match[1].decode(), json.loads(match[2]))
    except ValueError:
        return None
