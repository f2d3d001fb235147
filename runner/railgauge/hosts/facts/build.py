"""What the engines were built with: make wrote it down beside them (engines/Makefile)."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first

_NAMES = ("compiler", "cflags", "ldflags")
_SCRIPT = """
ask compiler cc --version
if [ -n "$engines" ]; then
    while read -r name value; do printf 'engines/%s:%s\\n' "$name" "$value"; done \\
        <"$engines/build.txt"
fi
"""


def parse(files: Files) -> dict[str, str]:
    """Return `compiler` (the one named cc) and `engines.compiler`, `.cflags`, `.ldflags`."""
    facts = {}
    if version := first(files, "compiler"):
        facts["compiler"] = version
    for name in _NAMES:
        if text := first(files, "engines/" + name):
            facts[f"engines.{name}"] = text
    return facts


SOURCE = FactSource((), parse, _SCRIPT)
