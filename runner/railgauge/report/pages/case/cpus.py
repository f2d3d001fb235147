"""CPU by CPU: where the time went, by the kernel's ticks and by what a soaker lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, get_args

from railgauge.base.systemlog import SoakLoad, SystemLog
from railgauge.report.pages.case.counters import Counters, by_number
from railgauge.report.pages.case.sheet import Kind, Piece, Sheet, SheetRow, count, share

_IDLE = ("idle", "iowait")
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
    """A CPU's time by kind, in ticks; not `whole` where some of it is missing."""

    kinds: Mapping[str, int]
    total: int
    whole: bool

    @property
    def busy(self) -> int:
        return self.total - sum(self.kinds.get(name, 0) for name in _IDLE)


def soak_load(log: SystemLog) -> float | None:
    """Return the mean load of the host's CPUs by their soakers; None without any."""
    return sum(one.load for one in log.soak) / len(log.soak) if log.soak else None


def cpu_sheet(counters: Counters) -> Sheet | None:
    """Return the table of all CPUs; None where no CPU time was counted."""
    ticks = _ticks(counters)
    soak = {str(one.cpu): one for one in counters.log.soak}
    names = sorted(ticks.keys() | soak.keys() - {"all"}, key=by_number)
    names.sort(key=lambda name: name != "all")
    if not names:
        return None
    shown, left_out = _worth_listing(names, ticks, soak)
    every = ticks.get("all")
    kinds = [*_ALWAYS, *(one for one in _IF_ANY if every and every.kinds.get(one))]
    clocks = counters.gauges("frequency")
    members = {family: counters.members(family) for family, _, _ in _EXTRA}
    extra = [
        (family, counter, heading)
        for family, counter, heading in _EXTRA
        if any(counts.get(counter) for counts in members[family].values())
    ]
    rows = []
    for name in shown:
        one = ticks.get(name)
        cells = _shares(one, kinds)
        if soak:
            cells += _soaked(_mean(counters.log.soak) if name == "all" else soak.get(name))
        if clocks:
            cells.append(f"{clocks[name] / 1e9:.2f}" if name in clocks else "")
        for family, counter, _ in extra:
            moved = members[family]
            cells.append("" if name == "all" else count(moved.get(name, {}).get(counter, 0)))
        rows.append(SheetRow(name, tuple(cells), _bar(one)))
    headings = ["CPU", "busy", *kinds]
    headings += ["by soak", "lost", "slowdown"] if soak else []
    headings += ["GHz"] if clocks else []
    headings += [heading for _, _, heading in extra]
    notes = _notes(counters, ticks, left_out)
    return Sheet(
        "CPU by CPU, % of its time", tuple(headings), tuple(rows), notes, barred=bool(ticks)
    )


def _ticks(counters: Counters) -> dict[str, _Ticks]:
    expected = counters.log.elapsed * counters.log.ticks_per_second
    found = counters.members("cpu")
    cpus = max(len(found) - ("all" in found), 1)
    ticks = {}
    for name, kinds in found.items():
        total = sum(kinds.get(kind, 0) for kind in _KINDS)
        due = expected * (cpus if name == "all" else 1)
        off = abs(total - due) > _WHOLE * due
        ticks[name] = _Ticks(kinds, total, total > 0 and not (off and due >= _JUDGED_TICKS))
    return ticks


def _worth_listing(
    names: list[str], ticks: Mapping[str, _Ticks], soak: Mapping[str, SoakLoad]
) -> tuple[list[str], int]:
    if len(names) <= _ALL_LISTED + 1:
        return names, 0
    shown = [
        name
        for name in names
        if name == "all"
        or (name in ticks and not (ticks[name].whole and ticks[name].busy == 0))
        or (name in soak and soak[name].load > _NOTHING)
    ]
    return shown, len(names) - len(shown)


def _shares(one: _Ticks | None, kinds: list[str]) -> list[str]:
    if one is None or not one.whole:
        return ["–"] * (len(kinds) + 1)
    return [
        share(one.busy, one.total),
        *(share(one.kinds.get(kind, 0), one.total) for kind in kinds),
    ]


def _soaked(one: SoakLoad | None) -> list[str]:
    if one is None:
        return ["–"] * 3
    return [share(each, 1) for each in (one.load, one.lost, one.slowdown)]


def _mean(soak: tuple[SoakLoad, ...]) -> SoakLoad:
    n = len(soak)
    return SoakLoad(
        -1,
        sum(one.load for one in soak) / n,
        sum(one.lost for one in soak) / n,
        sum(one.slowdown for one in soak) / n,
    )


def _bar(one: _Ticks | None) -> tuple[Piece, ...]:
    if one is None or not one.whole:
        return ()
    parts = {**one.kinds, "user": one.kinds.get("user", 0) + one.kinds.get("nice", 0)}
    return tuple(
        Piece(kind, round(100 * parts[kind] / one.total, 1)) for kind in _PIECES if parts.get(kind)
    )


def _notes(counters: Counters, ticks: Mapping[str, _Ticks], left_out: int) -> tuple[str, ...]:
    notes = []
    log = counters.log
    if log.ticks_per_second > 0 and log.elapsed * log.ticks_per_second < 200:
        step = 100 / max(log.elapsed * log.ticks_per_second, 1)
        notes.append(
            f"The kernel counts CPU time in ticks of {1000 / log.ticks_per_second:g} ms: over"
            f" {log.elapsed:.2f} s a single CPU's shares come in steps of {step:.1f} %."
        )
    if any(not one.whole for one in ticks.values()):
        notes.append("–: the kinds of time don't add up to the time that passed.")
    if log.soak:
        notes.append(
            "by soak: what a soaker on that CPU could not do, for the time it lost and for running"
            " slower in its own; the other shares are the kernel's ticks."
        )
    if left_out:
        notes.append(f"{left_out} CPUs that did nothing are not listed.")
    return tuple(notes)
