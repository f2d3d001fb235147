"""Interrupt by interrupt: whose they were, and which CPUs served them."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.report.pages.case.counter_families import Counters, by_number
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count

# More columns than this are unreadable; the CPUs that served most are shown.
_MOST_CPUS = 8
_MOST_ROWS = 40


def interrupt_sheets(counters: Counters) -> list[Sheet]:
    """Return the table of interrupts that came and the one of softirqs, the most frequent first."""
    labels = {name.removeprefix("interrupt/"): label for name, label in counters.log.labels.items()}
    hard = _sheet("Interrupt by interrupt", "Interrupt", counters.members("interrupt"), labels)
    soft = _sheet("Soft interrupts", "Softirq", counters.members("softirq"), None)
    return [sheet for sheet in (hard, soft) if sheet is not None]


def _sheet(
    title: str,
    heading: str,
    counts: Mapping[str, Mapping[str, int]],
    labels: Mapping[str, str] | None,
) -> Sheet | None:
    totals = {name: sum(per_cpu.values()) for name, per_cpu in counts.items()}
    names = [name for name in totals if totals[name]]
    names.sort(key=lambda name: (-totals[name], name))
    if not names:
        return None
    cpus: dict[str, int] = {}
    for name in names:
        for cpu, number in counts[name].items():
            cpus[cpu] = cpus.get(cpu, 0) + number
    busiest = sorted(cpus, key=lambda cpu: (-cpus[cpu], by_number(cpu)))[:_MOST_CPUS]
    listed_cpus = sorted(busiest, key=by_number)
    has_others = len(cpus) > len(listed_cpus)
    rows = []
    for name in names[:_MOST_ROWS]:
        per_cpu = [counts[name].get(cpu, 0) for cpu in listed_cpus]
        numbers = [totals[name], *per_cpu, *([totals[name] - sum(per_cpu)] if has_others else [])]
        texts = () if labels is None else (labels.get(name, ""),)
        rows.append(SheetRow(name, (*texts, *map(count, numbers))))
    columns = [heading, *([] if labels is None else ["Device"]), "all CPUs"]
    columns += [f"CPU {cpu}" for cpu in listed_cpus] + (["others"] if has_others else [])
    more = len(names) - len(rows)
    notes = (f"{more} that came less often are not listed.",) if more else ()
    return Sheet(title, tuple(columns), tuple(rows), notes, texts=0 if labels is None else 1)
