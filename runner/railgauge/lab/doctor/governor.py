"""The CPUs' frequency governors: those that follow the load make measurements drift."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from railgauge.base.number import plural
from railgauge.lab.doctor.check import Check, Facts
from railgauge.lab.doctor.needs import Needs

_SCRIPT = "cat /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null"
_STEADY = "performance"


def read(lines: Sequence[str]) -> dict[str, str]:
    """Return `governor`: one name, or several with how many CPUs have each; virtual ones none."""
    counts = Counter(line.strip() for line in lines if line.strip()).most_common()
    if not counts:
        return {}
    listed = ", ".join(f"{name} ({plural(count, 'CPU')})" for name, count in counts)
    return {"governor": listed if len(counts) > 1 else counts[0][0]}


def judge(facts: Facts, _: Needs) -> Iterator[str]:
    """Yield a sentence about any but the steady one."""
    governor = facts.get("governor", _STEADY)
    if governor != _STEADY:
        yield (
            f"its CPU governor is {governor}, so that its speed follows the load: set "
            f"{_STEADY} (cpupower frequency-set -g {_STEADY}) while measuring"
        )


CHECK = Check(_SCRIPT, read, judge)
