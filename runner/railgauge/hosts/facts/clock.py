"""The clock source that CLOCK_MONOTONIC_RAW is read from."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first_lines

_FOLDER = "/sys/devices/system/clocksource/clocksource0/"
_PATHS = {
    "clocksource": _FOLDER + "current_clocksource",
    "clocksources": _FOLDER + "available_clocksource",
}

# What a clock source counts in (the kernel's drivers/clocksource and arch; hpet: IA-PC HPET
# specification 1.0a; Hyper-V: its Top-Level Functional Specification).
_STEPS = {
    "tsc": "a cycle of the CPU's time stamp counter, 1 ns or less",
    "kvm-clock": "1 ns, of the time stamp counter as the hypervisor scales it",
    "xen": "1 ns, of the time stamp counter as the hypervisor scales it",
    "hyperv_clocksource_tsc_page": "100 ns",
    "hyperv_clocksource_msr": "100 ns",
    "arch_sys_counter": "a cycle of the CPU's generic timer",
    "timebase": "a cycle of the CPU's time base",
    "hpet": "100 ns or less",
    "acpi_pm": "279 ns",
    "jiffies": "a tick of the kernel",
}


def clock_step(clocksource: str) -> str:
    """Return the least difference of two times by this clock source, "" where that is unknown."""
    return _STEPS.get(clocksource, "")


def parse(files: Files) -> dict[str, str]:
    """Return `clocksource`, and `clocksources`: those that could be chosen."""
    return first_lines(files, _PATHS)


SOURCE = FactSource(tuple(_PATHS.values()), parse)
