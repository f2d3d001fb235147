"""How the kernel shares out the processors, and what a tuning service chose.

Documentation/admin-guide/sysctl/kernel.rst; tuned keeps its profile in /etc/tuned.
"""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first_lines

_FOLDER = "/proc/sys/kernel/"
_NAMES = (
    "numa_balancing",
    "sched_autogroup_enabled",
    "sched_energy_aware",
    "sched_rt_period_us",
    "sched_rt_runtime_us",
    "sched_cfs_bandwidth_slice_us",
    "sched_min_granularity_ns",
    "sched_wakeup_granularity_ns",
    "sched_migration_cost_ns",
    "sched_schedstats",
    "timer_migration",
    "watchdog",
    "nmi_watchdog",
    "perf_event_paranoid",
)
_IRQBALANCE = "irqbalance"
_PATHS = {
    **{f"kernel.{name}": _FOLDER + name for name in _NAMES},
    "tuned_profile": "/etc/tuned/active_profile",
}
# In a container only its own programs can be seen.
_SCRIPT = f"""
for comm in /proc/[0-9]*/comm; do
    read -r name <"$comm" && [ "$name" = {_IRQBALANCE} ] && echo {_IRQBALANCE}:running
done
"""


def parse(files: Files) -> dict[str, str]:
    """Return one fact a sysctl, as `kernel.numa_balancing`, `tuned_profile` and `irqbalance`."""
    facts = first_lines(files, _PATHS)
    if _IRQBALANCE in files:
        facts[_IRQBALANCE] = "running"
    return facts


SOURCE = FactSource(tuple(_PATHS.values()), parse, _SCRIPT)
