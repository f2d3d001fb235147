"""Metrics that no engine reports and only imported runs have: name -> (unit, what is better)."""

from __future__ import annotations

from collections.abc import Mapping

# What udptest -i printed of both ways together; rail-udp has it for each way.
ONLY_IMPORTED: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "udp": {"total_local_throughput": ("bit/s", "neither")}
}
