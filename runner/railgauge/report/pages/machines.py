"""The appendix of facts: what each host of a run was, grouped, and once where hosts are equal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from railgauge.base.characters import shortened, visible
from railgauge.base.number import in_best_unit, plural
from railgauge.store.records import Peak, StoredRun

# With more hosts than this a fact's values are listed, each with its hosts, not a column a host.
_MOST_COLUMNS = 4
_MOST_VALUES = 8
_MOST_NAMES = 6
_VALUE_COLUMNS = ("Value", "Hosts")
_GENERAL = "General"
_PEAKS = "Theoretical peaks"
_PEAK = "peak "
_OPEN = (_PEAKS, _GENERAL, "cpu")
# Facts without a family, and of network cards what distinguishes them.
_IN_SHORT = re.compile(r"(?!mitigation_)[^.]+|nic\..+\.(driver|firmware|model|mtu|speed)")
# Of a value's text where there is no room for all.
_MOST_SHORT = 240
# Names with the same prefix are a group of their own when there are so many of them.
_GROUPED = 4


class FactCell(NamedTuple):
    """A fact's value on `span` hosts side by side."""

    text: str
    span: int = 1


class FactRow(NamedTuple):
    """A fact and its values, as wide together as the table's columns; `differs` between hosts."""

    name: str
    cells: tuple[FactCell, ...]
    differs: bool


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts that belong together. `open` ones are shown unasked."""

    title: str
    rows: tuple[FactRow, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class Machines:
    """The facts of a run's hosts; `columns` head the values."""

    title: str
    columns: tuple[str, ...]
    groups: tuple[FactGroup, ...]
    note: str


def make_machines(run: StoredRun) -> Machines:
    """Return the facts of the hosts of `run`, which has some."""
    hosts = sorted(run.facts)
    names = sorted({name for facts in run.facts.values() for name in facts})
    few = len(hosts) <= _MOST_COLUMNS
    groups = tuple(
        FactGroup(
            visible(title),
            tuple(row for name in members for row in _rows(name, hosts, run.facts, few=few)),
            open=title in _OPEN,
        )
        for title, members in _groups(names).items()
    )
    differing = {row.name for group in groups for row in group.rows if row.differs}
    if peaks := peaks_by_host(run.peaks):
        resources = dict.fromkeys(f"{_PEAK}{peak.resource}" for peak in run.peaks)
        of_hosts = {host: peaks.get(host, {}) for host in hosts}
        rows = (row for name in resources for row in _rows(name, hosts, of_hosts, few=few))
        groups = (FactGroup(_PEAKS, tuple(rows), open=True), *groups)
    return Machines(
        f"Machines of run {run.id}",
        tuple(map(visible, hosts)) if few else _VALUE_COLUMNS,
        groups,
        _note(len(hosts), len(names), len(differing)),
    )


def peaks_by_host(peaks: Iterable[Peak]) -> dict[str, dict[str, str]]:
    """Return host -> `peak memory` -> `68.26 GB/s (declared: hosts file)`, in the form of facts."""
    by_host: dict[str, dict[str, str]] = {}
    for peak in peaks:
        text = f"{in_best_unit(peak.value, peak.unit)} ({peak.source})"
        by_host.setdefault(peak.host, {})[f"{_PEAK}{peak.resource}"] = text
    return by_host


def in_short(machines: Machines, most: int) -> tuple[tuple[str, str], ...]:
    """Return the facts that say most as (name, value), at most `most`; by host where they differ.

    For where there is no room for all.
    """
    rows: dict[str, list[str]] = {}
    for row in (row for group in machines.groups for row in group.rows):
        if _IN_SHORT.fullmatch(row.name) is None:
            continue
        if not row.differs:
            rows[row.name] = [row.cells[0].text]
        elif machines.columns == _VALUE_COLUMNS:
            rows.setdefault(row.name, []).append(f"{row.cells[0].text} ({row.cells[1].text})")
        else:
            rows[row.name] = [
                f"{cell.text} ({host})"
                for host, cell in zip(machines.columns, row.cells, strict=True)
            ]
    return tuple(
        (name, shortened("; ".join(texts), _MOST_SHORT))
        for name, texts in list(rows.items())[:most]
    )


def _note(hosts: int, names: int, differing: int) -> str:
    facts = plural(names, "fact")
    if hosts == 1:
        return f"{facts} of one host."
    agreement = f"{differing} of them not the same on all" if differing else "all of them alike"
    return f"{facts} of {hosts} hosts, {agreement}."


def _groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names by group: `nic.eth0`'s, those with the same prefix, and the general ones."""
    prefix_counts = Counter(map(_prefix, names))
    groups: dict[str, list[str]] = {_GENERAL: []}
    for name in names:
        prefix = _prefix(name)
        alone = prefix_counts[prefix] < _GROUPED and "." not in name
        groups.setdefault(_GENERAL if alone or not prefix else prefix, []).append(name)
    return {title: members for title, members in groups.items() if members}


def _prefix(name: str) -> str:
    """Return `nic.eth0` of `nic.eth0.mtu`, `numa` of `numa.0.cpus`, `sched` of `sched_debug`."""
    if name.startswith("nic."):
        return name.rpartition(".")[0]
    dotted, dot, _ = name.partition(".")
    return dotted if dot else name.partition("_")[0]


def _rows(
    name: str, hosts: Sequence[str], facts: Mapping[str, Mapping[str, str]], *, few: bool
) -> Iterator[FactRow]:
    values = [visible(facts[host].get(name, "–")) for host in hosts]
    by_value: dict[str, list[str]] = {}
    for host, text in zip(hosts, values, strict=True):
        by_value.setdefault(text, []).append(host)
    uniform = len(by_value) == 1
    title = visible(name)
    if few:
        cells = (FactCell(values[0], len(hosts)),) if uniform else tuple(map(FactCell, values))
        yield FactRow(title, cells, not uniform)
        return
    ordered = sorted(by_value.items(), key=lambda item: (-len(item[1]), item[1]))
    for text, same in ordered[:_MOST_VALUES]:
        yield FactRow(title, (FactCell(text), FactCell(_host_words(same, len(hosts)))), not uniform)
    if len(ordered) > _MOST_VALUES:
        more = plural(len(ordered) - _MOST_VALUES, "more value")
        count = sum(len(same) for _, same in ordered[_MOST_VALUES:])
        yield FactRow(title, (FactCell(more), FactCell(plural(count, "host"))), True)


def _host_words(hosts: Sequence[str], host_count: int) -> str:
    if len(hosts) == host_count:
        return "all"
    text = ", ".join(map(visible, hosts[:_MOST_NAMES]))
    return text if len(hosts) <= _MOST_NAMES else f"{text}, … ({len(hosts)} in all)"
