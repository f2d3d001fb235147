"""Interrupt by interrupt: whose they were, and which CPUs served them."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.report.pages.case.counters import Counters, by_number
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count

# More columns than this nobody reads; the CPUs that served most are shown.
_MOST_CPUS = 8
_MOST_ROWS = 40


def interrupt_sheets(counters: Counters) -> list[Sheet]:
    """Return the table of interrupts that came and the one of softirqs, the most frequent first."""
    labels = {name.removeprefix("interrupt/"): label for name, label in counters.log.labels.items()}
    hard = _sheet("Interrupt by interrupt", "Interrupt", counters.members("interrupt"), labels)
    soft = _sheet("Soft interrupts", "Softirq", counters.members("softirq"), None)
    return [one for one in (hard, soft) if one is not None]


def _sheet(
    title: str,
    heading: str,
    found: Mapping[str, Mapping[str, int]],
    labels: Mapping[str, str] | None,
) -> Sheet | None:
    totals = {name: sum(per_cpu.values()) for name, per_cpu in found.items()}
    names = sorted((name for name in totals if totals[name]), key=lambda n: (-totals[n], n))
    if not names:
        return None
    cpus: dict[str, int] = {}
    for name in names:
        for cpu, number in found[name].items():
            cpus[cpu] = cpus.get(cpu, 0) + number
    busiest = sorted(cpus, key=lambda cpu: (-cpus[cpu], by_number(cpu)))[:_MOST_CPUS]
    shown = sorted(busiest, key=by_number)
    others = len(cpus) > len(shown)
    rows = []
    for name in names[:_MOST_ROWS]:
        per_cpu = [found[name].get(cpu, 0) for cpu in shown]
        numbers = [totals[name], *per_cpu, *([totals[name] - sum(per_cpu)] if others else [])]
        texts = () if labels is None else (labels.get(name, ""),)
        rows.append(SheetRow(name, (*texts, *map(count, numbers))))
    columns = [heading, *([] if labels is None else ["Device"]), "all CPUs"]
    columns += [f"CPU {cpu}" for cpu in shown] + (["others"] if others else [])
    more = len(names) - len(rows)
    notes = (f"{more} that came less often are not listed.",) if more else ()
    return Sheet(title, tuple(columns), tuple(rows), notes, texts=0 if labels is None else 1)
