"""What the network benchmark prints: medians, ratios and targets, as text or as JSON."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from benchmarks.network_job import Contender, Measured
from benchmarks.network_works import View, Work

STEADY = 1.25  # what the probe may vary by before the table says so
_SCALE = {"bit/s": (1e9, "Gbit/s"), "packet/s": (1e3, "k packet/s"), "s": (1e-6, "us")}


@dataclass
class Row:
    """A contender's measurements of one work."""

    contender: Contender
    missing: str = ""
    errors: list[str] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)

    @property
    def median(self) -> float | None:
        if not self.measured:
            return None
        return statistics.median(measurement.reading.value for measurement in self.measured)

    @property
    def loss(self) -> float | None:
        losses = [measurement.reading.lost for measurement in self.measured]
        lost = [loss for loss in losses if loss is not None]
        return statistics.median(lost) if lost else None

    def cpu(self, side: Literal["client", "server"], divisor: float) -> float | None:
        """Median CPU seconds a `divisor` of bytes or round trips."""
        if not self.measured:
            return None
        return statistics.median(
            (measurement.client_cpu if side == "client" else measurement.server_cpu)
            / measurement.reading.amount
            * divisor
            for measurement in self.measured
        )


@dataclass(frozen=True)
class Judged:
    """Ours beside the others."""

    rail: float | None
    best_name: str | None
    best_ratio: float | None  # ours / the best tool's
    met: bool | None


def judge(work: Work, rows: list[Row]) -> Judged:
    by_name = {row.contender.name: row.median for row in rows[1:] if row.median is not None}
    rail = rows[0].median
    if rail is None:
        return Judged(None, None, None, None)
    tools = {
        row.contender.name: ratio
        for row in rows
        if row.contender.kind == "tool" and (ratio := _ratio(rows, row)) is not None
    }
    name = (min if work.higher else max)(tools, key=lambda name: tools[name], default=None)
    best_ratio = tools[name] if name else None
    losses = {row.contender.name: row.loss for row in rows[1:]}
    met = None
    if work.target:
        met = work.target.met(View(rail, rows[0].loss, best_ratio, by_name, losses))
    return Judged(rail, name, best_ratio, met)


def _ratio(rows: list[Row], row: Row) -> float | None:
    """Ours to its: of what gives the best of some trials, ours of as many."""
    rail = rows[0].median
    for other in rows[1:]:
        if other.contender.kind == "ours" and other.contender.trials == row.contender.trials > 1:
            rail = other.median
    return rail / row.median if rail and row.median else None


def unsteadiness(rows: list[Row]) -> float:
    """Most over least of the probe, which does the same each time; 1 where there is no probe."""
    for row in rows:
        if row.contender.kind == "probe" and row.measured:
            numbers = [measurement.reading.value for measurement in row.measured]
            return max(numbers) / min(numbers)
    return 1.0


def work_text(work: Work, rows: list[Row]) -> str:
    scale, unit = _SCALE[work.unit]
    per = "M trips" if work.unit == "s" else "GB"
    better = "more" if work.higher else "less"
    lines = [f"{work.title} ({unit}, {better} is better)"]
    lines.append(
        f"  {'':<14} {'median':>9} {'least':>9} {'most':>9} {'ours/it':>8} {'lost %':>8} "
        f"{'client s/' + per:>16} {'server s/' + per:>16}  n"
    )
    divisor = 1e6 if work.unit == "s" else 1e9
    for row in rows:
        lines.extend(_row_lines(row, _ratio(rows, row), scale, divisor))
    lines.append(_verdict(work, judge(work, rows)))
    unsteady = unsteadiness(rows)
    if unsteady > STEADY:
        lines.append(
            f"  the probe itself varied by a factor of {unsteady:.2f}: the machine wasn't quiet, "
            "and this shows little"
        )
    return "\n".join(lines) + "\n"


def _row_lines(row: Row, ratio: float | None, scale: float, divisor: float) -> list[str]:
    name = f"  {row.contender.name:<14}"
    if row.missing:
        return [f"{name} missing: {row.missing}"]
    errors = [f"{name} failed: {error}" for error in row.errors]
    if row.median is None:
        return errors
    numbers = [measurement.reading.value / scale for measurement in row.measured]
    beside = "" if ratio is None or row.contender.kind == "ours" else f"{ratio:.3f}"
    loss = "" if row.loss is None else f"{row.loss * 100:.3f}"
    client, server = row.cpu("client", divisor), row.cpu("server", divisor)
    return [
        f"{name} {row.median / scale:>9.2f} {min(numbers):>9.2f} {max(numbers):>9.2f} {beside:>8} "
        f"{loss:>8} {client:>16.3f} {server:>16.3f}  {len(numbers)}",
        *errors,
    ]


def _verdict(work: Work, judged: Judged) -> str:
    parts = []
    if judged.best_ratio is not None:
        parts.append(f"ours / the best tool ({judged.best_name}): {judged.best_ratio:.3f}")
    if work.target:
        met = {True: "met", False: "NOT MET", None: "cannot be told in this run"}[judged.met]
        parts.append(f"target: {work.target.text}: {met}")
    return "  " + ("; ".join(parts) or "no target")


def work_json(work: Work, rows: list[Row]) -> dict[str, Any]:
    """All measurements in base units (bit/s, packet/s, s; loss 0 to 1; CPU in s)."""
    divisor = 1e6 if work.unit == "s" else 1e9
    judged = judge(work, rows)
    return {
        "work": work.key,
        "title": work.title,
        "unit": work.unit,
        "better": "higher" if work.higher else "lower",
        "target": work.target.text if work.target else None,
        "target_met": judged.met,
        "best_tool": judged.best_name,
        "ours_to_best_tool": judged.best_ratio,
        "probe_most_to_least": unsteadiness(rows),
        "cpu_unit": "s/million round trips" if work.unit == "s" else "s/GB",
        "rows": [
            {
                "name": row.contender.name,
                "kind": row.contender.kind,
                "missing": row.missing or None,
                "errors": row.errors,
                "median": row.median,
                "ours_to_it": _ratio(rows, row),
                "lost": row.loss,
                "client_cpu": row.cpu("client", divisor),
                "server_cpu": row.cpu("server", divisor),
                "measured": [asdict(measurement) for measurement in row.measured],
            }
            for row in rows
        ],
    }
