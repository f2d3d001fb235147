"""The memory nodes: their CPUs, memory and distances (ABI/stable/sysfs-devices-node)."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, matching

_NODE = "/sys/devices/system/node/node"
_PATHS = tuple(f"{_NODE}[0-9]*/{name}" for name in ("cpulist", "distance", "meminfo"))


def parse(files: Files) -> dict[str, str]:
    """Return `numa.nodes` (how many) and of each node `numa.0.cpus`, `.memory`, `.distances`."""
    cpus, distances = matching(files, _NODE, "/cpulist"), matching(files, _NODE, "/distance")
    if not distances:
        return {}
    facts = {"numa.nodes": str(len(distances))}
    for node, distance in distances.items():
        # A node of memory alone has an empty list.
        facts[f"numa.{node}.cpus"] = cpus.get(node, "none")
        for line in files.get(f"{_NODE}{node}/meminfo", ()):
            words = line.split()
            if "MemTotal:" in words:
                facts[f"numa.{node}.memory"] = " ".join(words[words.index("MemTotal:") + 1 :])
        facts[f"numa.{node}.distances"] = distance
    return facts


SOURCE = FactSource(_PATHS, parse)
