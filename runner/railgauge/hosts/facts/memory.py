"""Main memory: its size, huge pages and swap (proc_meminfo, proc_swaps of proc(5))."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first, first_lines, pairs

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
    amounts = pairs(files.get("/proc/meminfo", ()))
    facts = {fact: amounts[name] for name, fact in _AMOUNTS.items() if name in amounts}
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
    return facts | first_lines(files, {f"vm.{name}": _VM + name for name in _SETTINGS})


SOURCE = FactSource(_PATHS, parse)
