"""CPU by CPU: where the time went, by the kernel's ticks and by what a soaker lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, get_args

from railgauge.base.derived import idle_kinds
from railgauge.base.number import plural
from railgauge.base.systemlog import SoakLoad, SystemLog
from railgauge.report.pages.case.counter_sheets import Counters, by_number
from railgauge.report.pages.case.sheet import Kind, Piece, Sheet, SheetRow, count, share

_ALWAYS = ("user", "system", "softirq")
_IF_ANY = ("nice", "irq", "steal", "iowait")
# `guest` and `guest_nice` are within user and nice already (proc_stat(5)).
_KINDS = (*_ALWAYS, *_IF_ANY, "idle")
_PIECES: tuple[Kind, ...] = get_args(Kind)
# Of a host with more CPUs than this those that did nothing aren't listed.
_ALL_LISTED = 32
_NOTHING = 0.0005
# A CPU whose kinds of time don't add up to the time that passed has lost some of them.
_WHOLE = 0.2
_JUDGED_TICKS = 20
# Counters of single CPUs that have a column only if they moved: family, counter, heading.
_EXTRA = (
    ("softnet", "dropped", "backlog drops"),
    ("softnet", "time_squeeze", "squeezed"),
    ("throttle", "core_count", "throttled"),
    ("throttle", "package_count", "package throttled"),
)


class _Ticks(NamedTuple):
    """A CPU's time by kind, in ticks, and what of it was busy.

    Not `whole` where some of it is missing.
    """

    kinds: Mapping[str, int]
    total: int
    busy: int
    whole: bool


def soak_load(log: SystemLog) -> float | None:
    """Return the mean load of the host's CPUs by their soakers; None without any."""
    return sum(soak.load for soak in log.soak) / len(log.soak) if log.soak else None


def cpu_sheet(counters: Counters) -> Sheet | None:
    """Return the table of all CPUs; None where no CPU time was counted."""
    ticks = _ticks(counters)
    soak = {str(load.cpu): load for load in counters.log.soak}
    names = sorted(ticks.keys() | soak.keys() - {"all"}, key=by_number)
    names.sort(key=lambda name: name != "all")
    if not names:
        return None
    listed_names = _listed_names(names, ticks, soak)
    all_ticks = ticks.get("all")
    kinds = [*_ALWAYS, *(kind for kind in _IF_ANY if all_ticks and all_ticks.kinds.get(kind))]
    clocks = counters.gauges("frequency")
    members = {family: counters.members(family) for family, _, _ in _EXTRA}
    extra = [
        (family, counter, heading)
        for family, counter, heading in _EXTRA
        if any(counts.get(counter) for counts in members[family].values())
    ]
    rows = []
    for name in listed_names:
        cpu_ticks = ticks.get(name)
        cells = _shares(cpu_ticks, kinds)
        if soak:
            cells += _soak_shares(_mean(counters.log.soak) if name == "all" else soak.get(name))
        if clocks:
            cells.append(f"{clocks[name] / 1e9:.2f}" if name in clocks else "")
        for family, counter, _ in extra:
            counts = members[family].get(name, {})
            cells.append("" if name == "all" else count(counts.get(counter, 0)))
        rows.append(SheetRow(name, tuple(cells), _bar(cpu_ticks, soaked=bool(soak))))
    headings = ["CPU", "busy", *kinds]
    headings += ["by soak", "lost", "slowdown"] if soak else []
    headings += ["GHz"] if clocks else []
    headings += [heading for _, _, heading in extra]
    notes = _notes(counters, ticks, len(names) - len(listed_names))
    return Sheet(
        "CPU by CPU, % of its time", tuple(headings), tuple(rows), notes, barred=bool(ticks)
    )


def _ticks(counters: Counters) -> dict[str, _Ticks]:
    expected = counters.log.elapsed * counters.log.ticks_per_second
    by_cpu = counters.members("cpu")
    idle = idle_kinds(soaked=bool(counters.log.soak))
    cpus = max(len(by_cpu) - ("all" in by_cpu), 1)
    ticks = {}
    for name, kinds in by_cpu.items():
        total = sum(kinds.get(kind, 0) for kind in _KINDS)
        expected_ticks = expected * (cpus if name == "all" else 1)
        deviates = abs(total - expected_ticks) > _WHOLE * expected_ticks
        whole = total > 0 and not (deviates and expected_ticks >= _JUDGED_TICKS)
        busy = total - sum(kinds.get(kind, 0) for kind in idle)
        ticks[name] = _Ticks(kinds, total, busy, whole)
    return ticks


def _listed_names(
    names: list[str], ticks: Mapping[str, _Ticks], soak: Mapping[str, SoakLoad]
) -> list[str]:
    if len(names) <= _ALL_LISTED + 1:
        return names
    return [
        name
        for name in names
        if name == "all"
        or (name in ticks and not (ticks[name].whole and ticks[name].busy == 0))
        or (name in soak and soak[name].load > _NOTHING)
    ]


def _shares(cpu_ticks: _Ticks | None, kinds: list[str]) -> list[str]:
    if cpu_ticks is None or not cpu_ticks.whole:
        return ["–"] * (len(kinds) + 1)
    return [
        share(cpu_ticks.busy, cpu_ticks.total),
        *(share(cpu_ticks.kinds.get(kind, 0), cpu_ticks.total) for kind in kinds),
    ]


def _soak_shares(soak: SoakLoad | None) -> list[str]:
    if soak is None:
        return ["–"] * 3
    return [share(part, 1) for part in (soak.load, soak.lost, soak.slowdown)]


def _mean(soak: tuple[SoakLoad, ...]) -> SoakLoad:
    n = len(soak)
    return SoakLoad(
        -1,
        sum(cpu_soak.load for cpu_soak in soak) / n,
        sum(cpu_soak.lost for cpu_soak in soak) / n,
        sum(cpu_soak.slowdown for cpu_soak in soak) / n,
    )


def _bar(cpu_ticks: _Ticks | None, *, soaked: bool) -> tuple[Piece, ...]:
    if cpu_ticks is None or not cpu_ticks.whole:
        return ()
    kinds, total = cpu_ticks.kinds, cpu_ticks.total
    nice = 0 if soaked else kinds.get("nice", 0)
    parts = {**kinds, "user": kinds.get("user", 0) + nice}
    return tuple(
        Piece(kind, round(100 * parts[kind] / total, 1)) for kind in _PIECES if parts.get(kind)
    )


def _notes(counters: Counters, ticks: Mapping[str, _Ticks], omitted_count: int) -> tuple[str, ...]:
    notes = []
    log = counters.log
    if log.ticks_per_second > 0 and log.elapsed * log.ticks_per_second < 200:
        step = 100 / max(log.elapsed * log.ticks_per_second, 1)
        notes.append(
            f"The kernel counts CPU time in ticks of {1000 / log.ticks_per_second:g} ms: over"
            f" {log.elapsed:.2f} s a single CPU's shares come in steps of {step:.1f} %."
        )
    if any(not cpu_ticks.whole for cpu_ticks in ticks.values()):
        notes.append("–: the kinds of time don't add up to the time that passed.")
    if log.soak:
        notes.append(
            "by soak: what a soaker on that CPU could not do, for the time it lost and for running"
            " slower in its own; the other shares are the kernel's ticks, busy without nice, as"
            " soakers are."
        )
    if omitted_count:
        idle_cpus = plural(omitted_count, "CPU that did nothing is", "CPUs that did nothing are")
        notes.append(f"{idle_cpus} not listed.")
    return tuple(notes)
