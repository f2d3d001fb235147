"""The limits and defaults of sockets (Documentation/admin-guide/sysctl/net.rst, ip-sysctl.rst)."""

from __future__ import annotations

from railgauge.facts.source import Files, Source

_FOLDER = "/proc/sys/net/"
_NAMES = (
    "core/rmem_default",
    "core/rmem_max",
    "core/wmem_default",
    "core/wmem_max",
    "core/netdev_max_backlog",
    "core/default_qdisc",
    "core/busy_poll",
    "core/busy_read",
    "ipv4/tcp_rmem",
    "ipv4/tcp_wmem",
    "ipv4/tcp_congestion_control",
    "ipv4/tcp_available_congestion_control",
    "ipv4/tcp_allowed_congestion_control",
    "ipv4/tcp_timestamps",
    "ipv4/tcp_window_scaling",
    "ipv4/tcp_sack",
    "ipv4/udp_mem",
    "ipv4/ipfrag_high_thresh",
)
_PATHS = tuple(_FOLDER + name for name in _NAMES)


def parse(files: Files) -> dict[str, str]:
    """Return one fact a sysctl, named as sysctl(8) names it: `net.core.rmem_max`."""
    return {
        "net." + name.replace("/", "."): " ".join(files[_FOLDER + name][0].split())
        for name in _NAMES
        if _FOLDER + name in files
    }


SOURCE = Source(_PATHS, parse)
