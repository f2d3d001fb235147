"""Main memory: its size and huge-page setting (proc_meminfo of proc(5))."""

from __future__ import annotations

from railgauge.facts.source import Files, Source

_THP = "/sys/kernel/mm/transparent_hugepage/enabled"
_PATHS = ("/proc/meminfo", _THP)


def parse(files: Files) -> dict[str, str]:
    """Return `memory` (in kB, as the kernel says it) and `transparent_hugepages`."""
    facts = {}
    for line in files.get("/proc/meminfo", ()):
        name, _, value = line.partition(":")
        if name == "MemTotal":
            facts["memory"] = value.strip()
    if _THP in files:
        choice = files[_THP][0]
        facts["transparent_hugepages"] = choice[choice.find("[") + 1 : choice.find("]")]
    return facts


SOURCE = Source(_PATHS, parse)
