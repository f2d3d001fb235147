"""Reads what `udptest` wrote to a file or printed on the screen, strictly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from railgauge.exchange.hpcbench import file_layout
from railgauge.exchange.hpcbench.file_layout import (
    LAYOUTS,
    MISSING,
    PROCESS_COLUMNS,
    OutputColumn,
    OutputLayout,
)
from railgauge.exchange.hpcbench.hpcbench_records import HpcbenchOutput, Setting
from railgauge.exchange.hpcbench.line_reader import Lines
from railgauge.exchange.hpcbench.rounding import settle_average
from railgauge.exchange.hpcbench.screen_read import read_screen
from railgauge.exchange.hpcbench.values import (
    base_value,
    count_losses,
    read_moment,
    read_round_trips,
)

_TOS_BYTES = {name: byte for byte, name in file_layout.TOS_NAMES.items()}
_Cells = Sequence[Decimal | None]


def read_output(path: Path) -> HpcbenchOutput:
    """Return what the file says; FileProblems where it isn't what Hpcbench writes.

    Numbers that were printed rounded are taken as printed unless an average, or a minimum or
    maximum with more digits, says more: then as values that all of these can come from.
    """
    lines = Lines(path)
    if lines.sees(file_layout.LATENCY_HEAD[0]):
        output = _read_latency(lines)
    elif lines.sees(file_layout.LAYOUTS[0].head[0]):
        output = _read_tables(lines)
    else:
        output = read_screen(lines)
    lines.end()
    return output


def _read_tables(lines: Lines) -> HpcbenchOutput:
    moment = read_moment(lines, file_layout.LAYOUTS[0].head[0])
    how = _layout(lines)
    head_values, settings = _read_head(lines, how.head[2:])
    lines.literal(*how.table_head)
    table = _read_table(lines, how, settings.pop("repeat", None))
    rows = [metrics for _, metrics in table]
    for title, name in how.averages.items():
        column = next(column for column in how.columns if column.name == name)
        printed = [cells[how.columns.index(column)] for cells, _ in table]
        for row, value in zip(rows, _settled(lines, title, column, printed), strict=True):
            row.update(value)
    lines.literal(*file_layout.PROCESS_HEAD)
    for number, row in enumerate(rows, 1):
        cells = lines.row(f"#{number}", [column.name for column in PROCESS_COLUMNS])
        row.update(_metrics(lines, cells, PROCESS_COLUMNS))
    return HpcbenchOutput(
        how.mode, head_values["client"], head_values["server"], moment, settings, tuple(rows)
    )


def _read_head(lines: Lines, templates: Iterable[str]) -> tuple[dict[str, str], dict[str, Setting]]:
    """Go past lines made from the templates; return what stands in their holes, and settings."""
    head_values: dict[str, str] = {}
    settings: dict[str, Setting] = {}
    for template in filter(None, templates):
        holes = lines.match(template)
        head_values.update(holes)
        settings.update(_settings(lines, holes))
    return head_values, settings


def _layout(lines: Lines) -> OutputLayout:
    for how in LAYOUTS:
        if lines.try_match(how.subtitle) is not None:
            return how
    subtitles = ", ".join(repr(how.subtitle) for how in LAYOUTS)
    raise lines.unexpected(f"one of {subtitles}")


def _read_table(
    lines: Lines, how: OutputLayout, repeat: Setting | None
) -> list[tuple[_Cells, dict[str, float]]]:
    """Return each row's cells, and the metrics that they come to."""
    names = [column.name for column in how.columns]
    table: list[tuple[_Cells, dict[str, float]]] = []
    lines.skip_blank()
    while repeat is not None or (lines.peek() or "#")[0] != "#":
        if len(table) == repeat:
            break
        cells = lines.row(str(len(table) + 1), names)
        if how.mode == "exponential" and cells[0] is None:
            raise lines.problem("each row needs its size")
        table.append((cells, _metrics(lines, cells, how.columns)))
        lines.skip_blank()
    if not table:
        raise lines.unexpected("at least one row")
    return table


def _metrics(lines: Lines, cells: _Cells, columns: Sequence[OutputColumn]) -> dict[str, float]:
    metrics = {
        column.name: base_value(value, column.scale)
        for column, value in zip(columns, cells, strict=True)
        if value is not None
    }
    if not any(column.name == "lost_packets" for column in columns):
        # Of tests both ways Hpcbench prints the rate only.
        lost = metrics.get("sent_packets", 0) - metrics.get("received_packets", math.inf)
        if lost >= 0:
            metrics["lost_packets"] = lost
    count_losses(lines, metrics)
    return metrics


def _settled(
    lines: Lines, title: str, column: OutputColumn, cells: _Cells
) -> list[dict[str, float]]:
    """Return the values of a column, an empty dict where there is none, by the line of averages."""
    template = file_layout.AVERAGES.replace("{which}", title)
    texts = lines.match(template)
    names = ("average", "minimum", "maximum")
    printed = [cell for cell in cells if cell is not None]
    summary = [lines.number(texts[name], f"{title} {name}") for name in names]
    numbers = [number for number in summary if number is not None]
    if len(numbers) != (3 if printed else 0):
        raise lines.problem(f"expected {'numbers' if printed else MISSING} here")
    if not printed:
        return [{} for _ in cells]
    average, minimum, maximum = numbers
    try:
        values = iter(settle_average(printed, average, minimum, maximum))
    except ValueError as error:
        message = f"these are not the average, minimum and maximum of {column.name}: {error}"
        raise lines.problem(message) from error
    return [
        {} if cell is None else {column.name: base_value(next(values), column.scale)}
        for cell in cells
    ]


def _read_latency(lines: Lines) -> HpcbenchOutput:
    title, *head = file_layout.LATENCY_HEAD
    moment = read_moment(lines, title)
    head_values, settings = _read_head(lines, head)
    message, rows = read_round_trips(lines)
    if message != settings.get("message"):
        raise lines.problem(f"the head says that messages have {head_values['message']} bytes")
    return HpcbenchOutput(
        "latency", head_values["client"], head_values["server"], moment, settings, rows
    )


def _settings(lines: Lines, holes: Mapping[str, str]) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    for name, text in holes.items():
        if name in ("client", "server") or text == MISSING:
            continue
        if name in ("client_tos", "server_tos"):
            settings[name] = _tos(lines, text)
            continue
        number = lines.number(text, name)
        assert number is not None
        if name != "duration" and number != int(number):
            raise lines.problem(f"{name}: {text!r} is not a whole number")
        settings[name] = float(number) if name == "duration" else int(number)
    return settings


def _tos(lines: Lines, text: str) -> int:
    if text in _TOS_BYTES:
        return _TOS_BYTES[text]
    try:
        byte = int(text, 16)
    except ValueError:
        byte = -1
    if not text.startswith("0x") or not 0 <= byte <= 255:
        names = ", ".join(_TOS_BYTES)
        message = f"unknown type of service {text[:40]!r}: known are {names} and bytes such as 0x28"
        raise lines.problem(message)
    return byte
