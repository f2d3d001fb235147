"""Reads a system log of Hpcbench's, strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from railgauge.exchange.hpcbench import file_layout
from railgauge.exchange.hpcbench.hpcbench_records import (
    CpuShares,
    InterfaceCounts,
    LogFile,
    LogRow,
)
from railgauge.exchange.hpcbench.line_reader import Lines
from railgauge.exchange.hpcbench.rounding import Range, settle
from railgauge.exchange.hpcbench.values import read_moment

_HOST_COLUMNS = (
    "CPU load",
    "CPU user",
    "CPU system",
    "memory",
    "interrupts",
    "pages in/out",
    "swaps in/out",
    "context switches",
)
_INTERFACE_COLUMNS = ("RecvPkg", "RecvByte", "SentPkg", "SentByte")
_SHARES = (
    "load",
    "user",
    "system",
    "idle",
    *(f"overall {n}" for n in ("load", "user", "system", "idle")),
)
_WHOLE = Range(100.0, 100.0, 100.0)
_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
# Far more than any machine or test has.
_MOST_CPUS = 65536
_MOST_ROWS = 1_000_000

_Cells = Sequence[Decimal | None]


def read_log(path: Path) -> LogFile:
    """Return what the log says; FileProblems where it isn't what Hpcbench writes.

    Shares that were rounded are taken as values within their rounding that add up to 100 %.
    """
    lines = Lines(path)
    title, *head = file_layout.LOG_HEAD[:-1]
    start = lines.at
    moment = read_moment(lines, title)
    if moment is None:
        raise lines.problem("expected when the log began")
    lines.at = start
    head_values = lines.match_all(title, *head)
    times = _count(lines, "Watch times", head_values["times"], 3, _MOST_ROWS)
    cpus = _count(lines, "CPU number", head_values["cpus"], 1, _MOST_CPUS)
    names = _interfaces(lines, head_values)
    sections: dict[str, list[_Cells]] = {}
    for name in names:
        first = next(iter(sections.values()), None)
        sections[name] = _read_section(lines, name, times, cpus, first)
    hosts = [cells[:8] for cells in sections[names[0]]]
    own, overall = _read_cpus(lines, hosts, cpus)
    lines.end()
    rows = tuple(
        None
        if shares is None
        else _row(
            hosts[number],
            shares,
            [table[number] for table in own],
            {name: table[number] for name, table in sections.items()},
        )
        for number, shares in enumerate(overall)
    )
    return LogFile(head_values["host"], moment, names, cpus, rows)


def _count(lines: Lines, name: str, text: str, least: int, most: int) -> int:
    if not _WHOLE_NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise lines.problem(f"{name}: {text[:40]!r} is not a number from {least} to {most}")
    return int(text)


def _interfaces(lines: Lines, head_values: Mapping[str, str]) -> tuple[str, ...]:
    names = tuple(file_layout.interface_name(text) for text in head_values["names"].split())
    if head_values["count"] != str(len(names)) or len(set(names)) != len(names):
        raise lines.problem(
            f"{head_values['count']} network devices were said, "
            f"and these are named: {', '.join(names)}"
        )
    return names


def _read_section(
    lines: Lines, name: str, times: int, cpus: int, first: Sequence[_Cells] | None
) -> list[_Cells]:
    lines.literal(*file_layout.section_head(file_layout.interface_text(name), cpus))
    columns = [*_HOST_COLUMNS, *_INTERFACE_COLUMNS, *(f"Int-CPU{cpu}" for cpu in range(cpus))]
    rows: list[_Cells] = []
    for number in range(times):
        cells = lines.row(str(number), columns)
        present = [cell is not None for cell in cells]
        # Memory may be unknown, and whose interrupts are whose.
        needed = present[:3] + present[4:12]
        if any(present) and not (all(needed) and len(set(present[12:])) == 1):
            raise lines.problem(f"row {number} has some of its numbers, but not all")
        if any(cell is not None and cell != int(cell) for cell in cells):
            raise lines.problem(f"row {number}: whole numbers are expected here")
        if first is not None and cells[:8] != first[number][:8]:
            raise lines.problem(f"row {number} says of the host what the first table doesn't")
        rows.append(cells)
    return rows


def _read_cpus(
    lines: Lines, hosts: Sequence[_Cells], cpus: int
) -> tuple[list[list[CpuShares | None]], list[CpuShares | None]]:
    """Return the shares of each CPU, row by row, and those of all CPUs together."""
    lines.literal(*file_layout.CPU_HEAD)
    own: list[list[CpuShares | None]] = [[] for _ in range(cpus)]
    overall: list[CpuShares | None] = []
    texts: list[_Cells] = []
    for cpu, table in enumerate(own):
        lines.literal(*file_layout.cpu_section_head(cpu))
        for number, host in enumerate(hosts):
            cells = lines.row(str(number), _SHARES)
            table.append(_settled(lines, cells[:4]))
            if cpu == 0:
                overall.append(_settled(lines, cells[4:], host))
                texts.append(cells[4:])
            elif cells[4:] != texts[number]:
                raise lines.problem("the overall workload differs from that beside CPU0's")
    return own, overall


def _row(
    host: _Cells,
    overall: CpuShares,
    cpus: Sequence[CpuShares | None],
    interfaces: Mapping[str, _Cells],
) -> LogRow:
    memory, interrupts, pages, swaps, switches = (_whole(cell) for cell in host[3:])
    return LogRow(
        cpus=tuple(cpus),
        all_cpus=overall,
        memory=memory,
        interrupts=interrupts or 0,
        pages=pages or 0,
        swaps=swaps or 0,
        context_switches=switches or 0,
        interfaces={name: _interface(cells) for name, cells in interfaces.items()},
    )


def _whole(cell: Decimal | None) -> int | None:
    return None if cell is None else int(cell)


def _interface(cells: _Cells) -> InterfaceCounts:
    counts = [int(cell) for cell in cells[8:12] if cell is not None]
    interrupts = tuple(int(cell) for cell in cells[12:] if cell is not None)
    return InterfaceCounts(counts[0], counts[1], counts[2], counts[3], interrupts or None)


def _settled(lines: Lines, cells: _Cells, host: _Cells | None = None) -> CpuShares | None:
    """Return shares of 100 %, given load, user, system and idle, which `host` has cut off.

    None where there are none.
    """
    shares = [cell for cell in cells if cell is not None]
    if len(shares) not in (0, 4) or (host is not None and bool(shares) != (host[0] is not None)):
        raise lines.problem("some of the shares are there, but not all")
    if not shares:
        return None
    load, user, system, idle = (Range.rounded(cell) for cell in shares)
    try:
        if host is not None:
            cut = [Range.cut_off(cell) for cell in host[:3] if cell is not None]
            load, user, system = (
                share.within(cut_share)
                for cut_share, share in zip(cut, (load, user, system), strict=True)
            )
        left = Range(100 - load.value, 100 - load.high, 100 - load.low)
        idle = idle.within(left)
        return CpuShares(*settle([user, system, idle], _WHOLE))
    except ValueError as error:
        raise lines.problem(f"these shares don't go together: {error}") from error
