"""How the processors hang together: sockets, cores, threads, caches; which are kept apart.

Documentation/admin-guide/cputopology.rst and ABI/testing/sysfs-devices-system-cpu of the kernel.
"""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first, matching, pairs

_FOLDER = "/sys/devices/system/cpu/"
_CPU = _FOLDER + "cpu"
_PACKAGE = "/topology/physical_package_id"
_CORE = "/topology/core_id"
_CACHE = _FOLDER + "cpu0/cache/index"
_SETS = ("online", "isolated", "nohz_full")
_STATUS = "/proc/self/status"
_PATHS = (
    f"{_CPU}[0-9]*{_PACKAGE}",
    f"{_CPU}[0-9]*{_CORE}",
    *(f"{_CACHE}*/{name}" for name in ("level", "type", "size", "shared_cpu_list")),
    *(_FOLDER + name for name in _SETS),
    _STATUS,
)
_KINDS = {"Data": "d", "Instruction": "i", "Unified": ""}


def parse(files: Files) -> dict[str, str]:
    """Return `cpu.sockets`, `.cores`, `.threads_per_core`, `.cache.L…` and sets of CPUs.

    `cpu.cache.L2` is of the first CPU: its size and which CPUs share it. `cpu.allowed` are the CPUs
    that programs started here may use.
    """
    facts = {}
    packages, cores = matching(files, _CPU, _PACKAGE), matching(files, _CPU, _CORE)
    if packages:
        facts["cpu.sockets"] = str(len(set(packages.values())))
    if cores:
        count = len({(packages.get(cpu), core) for cpu, core in cores.items()})
        facts["cpu.cores"] = str(count)
        facts["cpu.threads_per_core"] = f"{len(cores) / count:g}"
    facts |= _caches(files)
    for name in _SETS:
        # The kernel writes "(null)" where it was not given any.
        if (cpus := first(files, _FOLDER + name)) and cpus != "(null)":
            facts[f"cpu.{name}"] = cpus
    status = pairs(files.get(_STATUS, ()))
    if "Cpus_allowed_list" in status:
        facts["cpu.allowed"] = status["Cpus_allowed_list"]
    return facts


def _caches(files: Files) -> dict[str, str]:
    facts = {}
    for index, level in matching(files, _CACHE, "/level").items():
        values = {
            name: first(files, f"{_CACHE}{index}/{name}") or ""
            for name in ("type", "size", "shared_cpu_list")
        }
        shared = f", CPUs {values['shared_cpu_list']}" if values["shared_cpu_list"] else ""
        kind = _KINDS.get(values["type"], values["type"])
        facts[f"cpu.cache.L{level}{kind}"] = values["size"] + shared
    return facts


SOURCE = FactSource(_PATHS, parse)
