"""The limits of socket buffers, against the largest that a test asks for.

Linux doubles what is asked and then bounds what was asked by the limit, unless whoever asks has
CAP_NET_ADMIN (socket(7), SO_RCVBUF and SO_RCVBUFFORCE).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.base import units
from railgauge.lab.doctor.check import Check, Facts, fields
from railgauge.lab.doctor.needs import Needs

_SCRIPT = """
for name in rmem_max wmem_max; do
    echo "$name $(cat /proc/sys/net/core/$name 2>/dev/null)"
done
echo "capabilities $(grep '^CapEff:' /proc/self/status | cut -f 2)"
"""
_CAP_NET_ADMIN = 12


def read(lines: Sequence[str]) -> dict[str, str]:
    """Return `rmem_max`, `wmem_max` (bytes) and `net_admin`, whether they bound us: yes or no."""
    facts = fields(lines)
    capabilities = int(facts.pop("capabilities", "0"), 16)
    facts["net_admin"] = "yes" if capabilities >> _CAP_NET_ADMIN & 1 else "no"
    return facts


def judge(facts: Facts, needs: Needs) -> Iterator[str]:
    """Yield a sentence about a limit below what is requested."""
    if facts.get("net_admin") == "yes":
        return
    for name in ("rmem_max", "wmem_max"):
        if name in facts and int(facts[name]) < needs.sockbuf:
            yield (
                f"net.core.{name} is {facts[name]}, and a test asks for socket buffers of "
                f"{units.format_size(needs.sockbuf)}: sysctl -w net.core.{name}={needs.sockbuf}"
            )


CHECK = Check(_SCRIPT, read, judge)
