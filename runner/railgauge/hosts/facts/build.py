"""What the engines were built with: make wrote it down beside them (engines/Makefile)."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first_lines

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
    engines = {f"engines.{name}": f"engines/{name}" for name in _NAMES}
    return first_lines(files, {"compiler": "compiler", **engines})


SOURCE = FactSource((), parse, _SCRIPT)
