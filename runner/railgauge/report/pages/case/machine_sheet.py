"""Memory, pressure and limits: what the machine as a whole had and lacked."""

from __future__ import annotations

from collections.abc import Iterator

from railgauge.report.pages.case.counter_families import Counters
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count, share, value

_MEMORY = (
    ("MemTotal", "memory"),
    ("MemAvailable", "memory available at the end"),
    ("MemFree", "memory free at the end"),
    ("SwapFree", "swap free at the end"),
)
_PAGES = (
    ("pgmajfault", "page faults that waited for a disk"),
    ("pswpin", "pages swapped in"),
    ("pswpout", "pages swapped out"),
    ("oom_kill", "processes killed for want of memory"),
    ("pgpgin", "KiB read from disks"),
    ("pgpgout", "KiB written to disks"),
)
_ACTIVITY = (
    ("interrupts", "interrupts"),
    ("context_switches", "context switches"),
    ("forks", "processes begun"),
)


def machine_sheet(counters: Counters) -> Sheet | None:
    """Return what belongs to the whole host; None where nothing of it is known."""
    rows = tuple(
        SheetRow(heading, (text,))
        for part in (_activity, _memory, _pressure, _cgroup)
        for heading, text in part(counters)
    )
    return Sheet("The whole machine", ("What", "value"), rows) if rows else None


def _activity(counters: Counters) -> Iterator[tuple[str, str]]:
    counts = counters.counts("stat")
    for name, words in _ACTIVITY:
        if counts.get(name):
            rate = ""
            if counters.log.elapsed > 0:
                rate = f" ({value(counts[name] / counters.log.elapsed)}/s)"
            yield words, count(counts[name]) + rate


def _memory(counters: Counters) -> Iterator[tuple[str, str]]:
    gauges = counters.gauges("memory")
    for name, words in _MEMORY:
        if gauges.get(name):
            yield words, f"{value(gauges[name] / 2**30)} GiB"
    counts = counters.counts("vm")
    for name, words in _PAGES:
        if counts.get(name):
            yield words, count(counts[name])


def _pressure(counters: Counters) -> Iterator[tuple[str, str]]:
    for name, micros in sorted(counters.counts("pressure").items()):
        resource, _, tasks = name.partition("/")
        if micros:
            waiting = "something" if tasks == "some" else "everything"
            part = share(micros * 1e-6, counters.log.elapsed, 2)
            yield f"{waiting} waited for {resource}", f"{part} % of the time"


def _cgroup(counters: Counters) -> Iterator[tuple[str, str]]:
    counts, gauges = counters.counts("cgroup"), counters.gauges("cgroup")
    if counts.get("nr_throttled"):
        yield "times that the control group's CPU limit struck", count(counts["nr_throttled"])
    if counts.get("throttled_usec"):
        yield "held up by the CPU limit", f"{value(counts['throttled_usec'] * 1e-6)} s"
    if gauges.get("cpu_max_quota", 0) > 0 and gauges.get("cpu_max_period"):
        cpus = gauges["cpu_max_quota"] / gauges["cpu_max_period"]
        yield "CPU limit of the control group", f"{value(cpus)} {'CPU' if cpus == 1 else 'CPUs'}"
    # Without a limit the kernel reports a number that no machine has.
    if 0 < gauges.get("memory_max", 0) < 2**60:
        yield "memory limit of the control group", f"{value(gauges['memory_max'] / 2**30)} GiB"
