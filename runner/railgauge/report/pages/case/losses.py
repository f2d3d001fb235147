"""Where a replication's packets vanished: what was counted along the path, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.systemlog import PortLog, SystemLog
from railgauge.plan.cases import Case
from railgauge.report.pages.case.sheet import Sheet, SheetRow, count
from railgauge.report.pages.path_losses import PathLoss, path_losses
from railgauge.report.pages.path_stations import Station


@dataclass(frozen=True, slots=True)
class LossPart:
    """One direction of a stream: what it lost and where, and the counts that say so."""

    title: str
    sentences: tuple[str, ...]
    stations: Sheet


def loss_parts(
    case: Case, logs: Sequence[SystemLog], ports: Sequence[PortLog], metrics: Mapping[str, float]
) -> tuple[LossPart, ...]:
    """Return what a replication of a UDP stream lost, each way; nothing of other cases."""
    return tuple(map(_part, path_losses(case, logs, ports, metrics)))


def port_sheet(ports: Sequence[PortLog]) -> Sheet | None:
    """Return what switches and routers counted, in the order of the path; None without any."""
    names = sorted({name for port in ports for name in port.counts})
    if not names:
        return None
    rows = tuple(
        SheetRow(
            f"{port.device}:{port.interface}",
            tuple(count(port.counts[name]) if name in port.counts else "–" for name in names),
        )
        for port in sorted(ports, key=lambda port: port.position)
    )
    return Sheet("Ports on the path", ("Port", *names), rows)


def _part(loss: PathLoss) -> LossPart:
    rows = tuple(map(_row, loss.stations))
    notes = [f"Counts of packets may be of up to {count(loss.tolerance)} others."]
    if loss.per_datagram is not None and loss.per_datagram > 1:
        notes.append(f"Each datagram is {loss.per_datagram} IP packets.")
    return LossPart(
        f"On the way from {loss.sender} to {loss.receiver}",
        loss.sentences,
        Sheet(
            "Counted on the way", ("Where", "Counter", "Remarks", "count"), rows, tuple(notes), 2
        ),
    )


def _row(station: Station) -> SheetRow:
    remarks = [f"{count(number)} {name}" for name, number in station.trouble]
    if station.note:
        remarks.append(station.note)
    packets = "–" if station.packets is None else count(station.packets)
    return SheetRow(station.place, (station.counter, "; ".join(remarks), packets))
