"""What the engines are built with: make and a C compiler."""

from __future__ import annotations

from collections.abc import Iterator

from railgauge.lab.doctor.check import Check, Facts, fields
from railgauge.lab.doctor.needs import Needs

# The first of those that engines/Makefile takes.
_SCRIPT = """
for name in cc gcc clang; do
    command -v $name >/dev/null || continue
    echo "compiler $($name --version 2>/dev/null </dev/null | head -n 1)"
    break
done
command -v make >/dev/null && echo "make $(make --version 2>/dev/null </dev/null | head -n 1)"
"""


def judge(facts: Facts, _: Needs) -> Iterator[str]:
    """Yield a sentence about what is missing to build the engines."""
    advice = "(Debian: build-essential), as the engines are built on each host"
    if "compiler" not in facts:
        yield f"there is no C compiler (cc, gcc or clang): install one {advice}"
    if "make" not in facts:
        yield f"there is no make: install GNU make {advice}"
    elif "GNU" not in facts["make"]:
        yield f"make is not GNU make but {facts['make'][:60]!r}: install that {advice}"


CHECK = Check(_SCRIPT, fields, judge)
