"""Writes a system log as Hpcbench's option -c does, column for column."""

from __future__ import annotations

from collections.abc import Iterator

from railgauge.exchange.hpcbench import file_layout
from railgauge.exchange.hpcbench.file_layout import MISSING
from railgauge.exchange.hpcbench.hpcbench_records import CpuShares, LogFile, LogRow


def log_text(log: LogFile) -> str:
    """Return the text of `output.c_log` or `output.s_log`; an interval not logged shows as `-`."""
    return "".join(f"{line}\n" for line in _lines(log))


def _lines(log: LogFile) -> Iterator[str]:
    holes = {
        "host": log.host,
        "moment": file_layout.moment_text(log.moment),
        "times": len(log.rows),
        "count": len(log.interfaces),
        "names": " ".join(file_layout.interface_text(name) for name in log.interfaces),
        "cpus": log.cpus,
    }
    for line in file_layout.LOG_HEAD:
        yield line.format_map(holes)
    for name in log.interfaces:
        yield from file_layout.section_head(file_layout.interface_text(name), log.cpus)
        widths = file_layout.section_widths(log.cpus)
        for number, row in enumerate(log.rows):
            yield file_layout.row(str(number), _interface_cells(log, row, name), widths)
        yield ""
    yield from file_layout.CPU_HEAD
    for cpu in range(log.cpus):
        yield from file_layout.cpu_section_head(cpu)
        for number, row in enumerate(log.rows):
            yield file_layout.row(str(number), _cpu_cells(row, cpu), file_layout.CPU_WIDTHS)
        if cpu < log.cpus - 1:
            yield ""


def _interface_cells(log: LogFile, row: LogRow | None, name: str) -> list[str]:
    if row is None:
        return [MISSING] * len(file_layout.section_widths(log.cpus))
    load, user, system, _ = _shares(row.all_cpus)
    counts = row.interfaces[name]
    interrupts = counts.interrupts
    return [
        *(str(int(share)) for share in (load, user, system)),
        MISSING if row.memory is None else str(row.memory),
        *(str(count) for count in (row.interrupts, row.pages, row.swaps, row.context_switches)),
        *(str(count) for count in (counts.rx_packets, counts.rx_bytes)),
        *(str(count) for count in (counts.tx_packets, counts.tx_bytes)),
        *([MISSING] * log.cpus if interrupts is None else map(str, interrupts)),
    ]


def _cpu_cells(row: LogRow | None, cpu: int) -> list[str]:
    if row is None:
        return [MISSING] * len(file_layout.CPU_WIDTHS)
    own = row.cpus[cpu]
    shares = (None,) * 4 if own is None else _shares(own)
    return [file_layout.cell(share, 1) for share in (*shares, *_shares(row.all_cpus))]


def _shares(cpu: CpuShares) -> tuple[float, float, float, float]:
    return 100 - cpu.idle, cpu.user, cpu.system, cpu.idle
