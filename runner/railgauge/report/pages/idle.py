"""What the hosts did while nothing was measured: the idle stretches before and after a run."""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.base.characters import visible
from railgauge.base.derived import cpu_load
from railgauge.base.systemlog import SystemLog
from railgauge.report.pages.contents import Details

_MOST = 100
_COLUMNS = (
    "CPUs busy (%)",
    "Interrupts/s",
    "Context switches/s",
    "Packets received/s",
    "Packets sent/s",
)


def idle_details(run_id: int, logs: Sequence[SystemLog]) -> Details | None:
    """Return a row for each host and stretch; None without any. Packets are of all but `lo`."""
    rows = tuple((f"{visible(log.host)}, {log.phase}", _texts(log)) for log in logs[:_MOST])
    more = f" (the first {_MOST} of {len(logs)})" if len(logs) > _MOST else ""
    title = f"Hosts before and after run {run_id}{more}"
    return Details(title, _COLUMNS, rows) if rows else None


def _texts(log: SystemLog) -> tuple[str, ...]:
    load = cpu_load(log)
    sums = [
        log.counts.get("stat/interrupts", 0),
        log.counts.get("stat/context_switches", 0),
        _packets(log, "rx_packets"),
        _packets(log, "tx_packets"),
    ]
    rates = [f"{number / log.elapsed:,.0f}" if log.elapsed > 0 else "–" for number in sums]
    return ("–" if load is None else f"{100 * load:.1f}", *rates)


def _packets(log: SystemLog, counter: str) -> int:
    return sum(
        number
        for name, number in log.counts.items()
        if name.startswith("interface/")
        and name.endswith(f"/{counter}")
        and not name.startswith("interface/lo/")
    )
