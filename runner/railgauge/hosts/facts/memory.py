"""Main memory: its size, huge pages and swap (proc_meminfo, proc_swaps of proc(5))."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first

_THP = "/sys/kernel/mm/transparent_hugepage/"
_VM = "/proc/sys/vm/"
_SETTINGS = (
    "swappiness",
    "overcommit_memory",
    "min_free_kbytes",
    "zone_reclaim_mode",
    "compaction_proactiveness",
    "dirty_ratio",
    "dirty_background_ratio",
)
_KSM = "/sys/kernel/mm/ksm/run"
_PATHS = (
    "/proc/meminfo",
    "/proc/swaps",
    _THP + "enabled",
    _THP + "defrag",
    _KSM,
    *(_VM + name for name in _SETTINGS),
)
_AMOUNTS = {
    "MemTotal": "memory",
    "SwapTotal": "swap",
    "HugePages_Total": "hugepages",
    "Hugepagesize": "hugepage_size",
}


def parse(files: Files) -> dict[str, str]:
    """Return `memory`, `swap` (in kB, as the kernel says it), `hugepages`, sysctls `vm.…` ….

    How much is in use is a log's to say. `swap_devices` are the kinds: partition or file.
    """
    facts = {}
    for line in files.get("/proc/meminfo", ()):
        name, _, value = line.partition(":")
        if name in _AMOUNTS:
            facts[_AMOUNTS[name]] = value.strip()
    if devices := [line.split() for line in files.get("/proc/swaps", ())[1:]]:
        facts["swap_devices"] = ", ".join(sorted(" ".join(words[:2]) for words in devices))
    for fact, name in (
        ("transparent_hugepages", "enabled"),
        ("hugepage_defragmentation", "defrag"),
    ):
        if choice := first(files, _THP + name):
            facts[fact] = choice[choice.find("[") + 1 : choice.find("]")]
    if ksm := first(files, _KSM):
        facts["same_page_merging"] = "on" if ksm == "1" else "off"
    for name in _SETTINGS:
        if (setting := first(files, _VM + name)) is not None:
            facts[f"vm.{name}"] = setting
    return facts


SOURCE = FactSource(_PATHS, parse)
