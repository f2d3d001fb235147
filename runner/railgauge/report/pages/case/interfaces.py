"""Interface by interface: what was received and sent, and what went wrong with it."""

from __future__ import annotations

from railgauge.report.pages.case.counters import Counters
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count

_DIRECTIONS = (("received", "rx_"), ("sent", "tx_"))
_COLUMNS = ("packets", "bytes", "errors", "dropped")
_OTHERS = "Also counted"
_MOST = 64


def interface_sheet(counters: Counters) -> Sheet | None:
    """Return the table of all interfaces that counted anything, lo last; None without any.

    Counters without a column of their own are named where they moved.
    """
    found = {
        name: counts
        for name, counts in counters.members("interface").items()
        if any(counts.values())
    }
    if not found:
        return None
    names = sorted(found, key=lambda name: (name == "lo", -_traffic(found[name]), name))
    rows = []
    for name in names[:_MOST]:
        for direction, prefix in _DIRECTIONS:
            moved = {
                counter.removeprefix(prefix): number
                for counter, number in found[name].items()
                if counter.startswith(prefix)
            }
            cells = [count(moved.pop(column, 0)) for column in _COLUMNS]
            also = ", ".join(f"{one} {count(moved[one])}" for one in sorted(moved) if moved[one])
            begins = direction == "received"
            rows.append(SheetRow(f"{name} {direction}", (also, *cells), begins=begins))
    more = len(names) - _MOST
    notes = (f"{more} interfaces with less traffic are not listed.",) if more > 0 else ()
    others = [_OTHERS] if any(row.cells[0] for row in rows) else []
    if not others:
        rows = [row._replace(cells=row.cells[1:]) for row in rows]
    columns = ("Interface", *others, *_COLUMNS)
    return Sheet("Interface by interface", columns, tuple(rows), notes, texts=len(others))


def _traffic(counts: dict[str, int]) -> int:
    return counts.get("rx_bytes", 0) + counts.get("tx_bytes", 0)
