"""The machine's architecture, its kernel's release and this boot of it."""

from __future__ import annotations

from collections.abc import Iterator

from railgauge.lab.doctor.check import Check, Facts, fields
from railgauge.lab.doctor.needs import Needs

_SCRIPT = """
echo "hostname $(uname -n)"
echo "system $(uname -s)"
echo "kernel $(uname -r)"
echo "architecture $(uname -m)"
echo "boot_id $(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
"""


def judge(facts: Facts, _: Needs) -> Iterator[str]:
    """Yield a sentence about a system that the engines don't run on."""
    system = facts.get("system", "Linux")
    if system != "Linux":
        yield f"it runs {system}, and the engines need Linux: leave it out"


CHECK = Check(_SCRIPT, fields, judge)
