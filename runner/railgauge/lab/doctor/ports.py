"""Whether the ports that a plan fixes are free (proc_net_tcp, proc_net_udp of proc(5))."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railgauge.lab.doctor.check import Check, Facts
from railgauge.lab.doctor.needs import Needs

# TCP sockets that listen (state 0A), and all UDP sockets.
_SCRIPT = """
grep -sH ' 0A ' /proc/net/tcp /proc/net/tcp6
grep -sHv local_address /proc/net/udp /proc/net/udp6
"""


def read(lines: Sequence[str]) -> dict[str, str]:
    """Return `tcp_ports` and `udp_ports`: the numbers in use, with commas between them."""
    used: dict[str, set[int]] = {"tcp": set(), "udp": set()}
    for line in lines:
        path, _, entry = line.partition(":")
        # The entry's own number with a colon, then the local address and port, hexadecimal.
        words = entry.split()
        used[path.rpartition("/")[2][:3]].add(int(words[1].rpartition(":")[2], 16))
    return {
        f"{kind}_ports": ",".join(str(port) for port in sorted(ports))
        for kind, ports in used.items()
        if ports
    }


def judge(facts: Facts, needs: Needs) -> Iterator[str]:
    """Yield a sentence about fixed ports that are in use."""
    used = {kind: facts.get(f"{kind}_ports", "").split(",") for kind in ("tcp", "udp")}
    control = {"control_port": (needs.control_port,)} if needs.control_port else {}
    for key, ports in {**control, "data_port": needs.data_ports}.items():
        for port in ports:
            kinds = [
                kind.upper()
                for kind in ("tcp", "udp")
                if str(port) in used[kind] and (kind == "tcp" or key == "data_port")
            ]
            if kinds:
                yield (
                    f"{' and '.join(kinds)} port {port} is in use there: end what has it "
                    f"(ss -lntup), or give the plan another {key}"
                )


CHECK = Check(_SCRIPT, read, judge)
