"""Reads a system log of Hpcbench's, strictly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from railgauge.hpcbench import layout
from railgauge.hpcbench.lines import Lines
from railgauge.hpcbench.records import CpuShares, InterfaceCounts, LogFile, LogRow
from railgauge.hpcbench.rounding import Range, settle
from railgauge.hpcbench.values import read_moment

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
# Far more than any machine or test has.
_MOST_CPUS = 65536
_MOST_ROWS = 1_000_000

_Cells = Sequence[Decimal | None]


def read_log(path: Path) -> LogFile:
    """Return what the log says; FileProblems where it isn't what Hpcbench writes.

    Shares that were rounded are taken as values within their rounding that add up to 100 %.
    """
    lines = Lines(path)
    title, *head = layout.LOG_HEAD[:-1]
    start = lines.at
    moment = read_moment(lines, title)
    if moment is None:
        raise lines.problem("expected when the log began")
    lines.at = start
    found = dict(lines.match(title))
    for template in head:
        found.update(lines.match(template))
    times = _count(lines, "Watch times", found["times"], 3, _MOST_ROWS)
    cpus = _count(lines, "CPU number", found["cpus"], 1, _MOST_CPUS)
    names = _interfaces(lines, found)
    sections = {name: _read_section(lines, name, times, cpus) for name in names}
    tables = _read_cpus(lines, times, cpus)
    lines.end()
    rows = tuple(
        _row(lines, number, {name: table[number] for name, table in sections.items()}, cells)
        for number, cells in enumerate(zip(*tables, strict=True))
    )
    return LogFile(found["host"], moment, names, cpus, rows)


def _count(lines: Lines, what: str, text: str, least: int, most: int) -> int:
    if not text.isascii() or not text.isdigit() or not least <= int(text[:9]) <= most:
        raise lines.problem(f"{what}: {text[:40]!r} is not a number from {least} to {most}")
    return int(text)


def _interfaces(lines: Lines, found: Mapping[str, str]) -> tuple[str, ...]:
    names = tuple(layout.interface_name(text) for text in found["names"].split())
    if found["count"] != str(len(names)) or len(set(names)) != len(names):
        raise lines.problem(
            f"{found['count']} network devices were said, and these are named: {', '.join(names)}"
        )
    return names


def _read_section(lines: Lines, name: str, times: int, cpus: int) -> list[_Cells]:
    lines.literal(*layout.section_head(layout.interface_text(name), cpus))
    columns = [*_HOST_COLUMNS, *_INTERFACE_COLUMNS, *(f"Int-CPU{cpu}" for cpu in range(cpus))]
    rows: list[_Cells] = []
    for number in range(times):
        cells = lines.row(str(number), columns)
        known = [cell is not None for cell in cells]
        # Memory may be unknown, and whose interrupts are whose.
        needed = known[:3] + known[4:12]
        interrupts = known[12:]
        if any(known) and not (all(needed) and len(set(interrupts)) == 1):
            raise lines.problem(f"row {number} has some of its numbers, but not all")
        if any(cell is not None and cell != int(cell) for cell in cells):
            raise lines.problem(f"row {number}: whole numbers are expected here")
        rows.append(cells)
    return rows


def _read_cpus(lines: Lines, times: int, cpus: int) -> list[list[_Cells]]:
    """Return the cells of each CPU's table, and check that all say the same of all CPUs."""
    lines.literal(*layout.CPU_HEAD)
    tables: list[list[_Cells]] = []
    for cpu in range(cpus):
        lines.literal(*layout.cpu_section_head(cpu))
        table: list[_Cells] = []
        for number in range(times):
            cells = lines.row(str(number), _SHARES)
            if any(len({cell is None for cell in half}) > 1 for half in (cells[:4], cells[4:])):
                raise lines.problem(f"row {number} has some of its shares, but not all")
            if tables and cells[4:] != tables[0][number][4:]:
                raise lines.problem(f"the overall workload of row {number} differs from CPU0's")
            table.append(cells)
        tables.append(table)
    return tables


def _row(
    lines: Lines, number: int, interfaces: Mapping[str, _Cells], cpus: Sequence[_Cells]
) -> LogRow | None:
    tables = list(interfaces.values())
    host = tables[0][:8]
    if any(cells[:8] != host for cells in tables):
        raise lines.problem(f"row {number} says different things of the host in different tables")
    if (host[0] is None) != (cpus[0][4] is None):
        raise lines.problem(f"row {number} has numbers in some tables only")
    if host[0] is None:
        return None
    cut = [Range.cut_off(cell) for cell in host[:3] if cell is not None]
    try:
        shares = tuple(None if cells[0] is None else _settled(cells[:4]) for cells in cpus)
        overall = _settled(cpus[0][4:], cut)
    except ValueError as error:
        raise lines.problem(f"the CPU shares of row {number} don't go together: {error}") from error
    memory, interrupts, pages, swaps, switches = (_whole(cell) for cell in host[3:])
    return LogRow(
        cpus=shares,
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


def _settled(cells: _Cells, cut: Sequence[Range] = ()) -> CpuShares:
    """Return shares of 100 %, given load, user, system and idle, and the first three cut off."""
    load, user, system, idle = (Range.rounded(cell) for cell in cells if cell is not None)
    if cut:
        load, user, system = (
            shown.within(each) for each, shown in zip(cut, (load, user, system), strict=True)
        )
    idle = idle.within(Range(idle.value, 100 - load.high, 100 - load.low))
    return CpuShares(*settle([user, system, idle], _WHOLE))
