"""Interface by interface: what was received and sent, and what went wrong with it."""

from __future__ import annotations

from railgauge.report.pages.case.counter_families import Counters
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count

_DIRECTIONS = (("received", "rx_"), ("sent", "tx_"))
_COLUMNS = ("packets", "bytes", "errors", "dropped")
_OTHERS = "Also counted"
_MOST = 64


def interface_sheet(counters: Counters) -> Sheet | None:
    """Return the table of all interfaces that counted anything, lo last; None without any.

    Counters without a column of their own are named where they moved.
    """
    active = {
        name: counts
        for name, counts in counters.members("interface").items()
        if any(counts.values())
    }
    if not active:
        return None
    names = sorted(active, key=lambda name: (name == "lo", -_traffic(active[name]), name))
    rows = []
    for interface in names[:_MOST]:
        for direction, prefix in _DIRECTIONS:
            counts = {
                counter.removeprefix(prefix): number
                for counter, number in active[interface].items()
                if counter.startswith(prefix) and number
            }
            cells = [count(counts.pop(column, 0)) for column in _COLUMNS]
            further = ", ".join(f"{name} {count(counts[name])}" for name in sorted(counts))
            begins = direction == "received"
            rows.append(SheetRow(f"{interface} {direction}", (further, *cells), begins=begins))
    more = len(names) - _MOST
    notes = (f"{more} interfaces with less traffic are not listed.",) if more > 0 else ()
    words = [_OTHERS] if any(row.cells[0] for row in rows) else []
    if not words:
        rows = [row._replace(cells=row.cells[1:]) for row in rows]
    columns = ("Interface", *words, *_COLUMNS)
    return Sheet("Interface by interface", columns, tuple(rows), notes, texts=len(words))


def _traffic(counts: dict[str, int]) -> int:
    return counts.get("rx_bytes", 0) + counts.get("tx_bytes", 0)
