"""Writes an output as `udptest -o` does; a number that is not known shows as `-`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from railgauge.base.characters import visible
from railgauge.base.errors import InputError
from railgauge.exchange.hpcbench import file_layout
from railgauge.exchange.hpcbench.file_layout import OutputColumn, OutputLayout, cell
from railgauge.exchange.hpcbench.hpcbench_records import HpcbenchOutput, Setting


def output_text(output: HpcbenchOutput) -> str:
    """Return the text of the file; InputError for a mode that Hpcbench writes to no file."""
    if output.mode == "latency":
        return _text(_latency(output))
    for candidate in file_layout.LAYOUTS:
        if candidate.mode == output.mode:
            return _text(_tables(output, candidate))
    raise InputError(f"Hpcbench has no file for mode {output.mode!r}")


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _tables(output: HpcbenchOutput, how: OutputLayout) -> Iterator[str]:
    holes = _holes(output)
    for line in how.head:
        yield line.format_map(holes)
    yield from how.table_head
    for number, metrics in enumerate(output.rows, 1):
        yield _row(str(number), metrics, how.columns)
    yield ""
    scales = {column.name: column.scale for column in how.columns}
    for title, name in how.averages.items():
        values = [metrics[name] / scales[name] for metrics in output.rows if name in metrics]
        yield file_layout.AVERAGES.format(
            which=title, **_summary(values, file_layout.AVERAGE_DECIMALS)
        )
    if how.averages:
        yield ""
    yield from file_layout.PROCESS_HEAD
    for number, metrics in enumerate(output.rows, 1):
        yield _row(f"#{number}", metrics, file_layout.PROCESS_COLUMNS)
    yield ""


def _latency(output: HpcbenchOutput) -> Iterator[str]:
    holes = _holes(output)
    for line in file_layout.LATENCY_HEAD:
        yield line.format_map(holes)
    for number, metrics in enumerate(output.rows, 1):
        rtt = cell(metrics.get("rtt_mean"), file_layout.LATENCY_DECIMALS, file_layout.LATENCY_SCALE)
        yield file_layout.LATENCY_ROW.format(number=number, rtt=rtt)
    yield file_layout.LATENCY_TRIALS.format(trials=len(output.rows), message=holes["message"])
    values = [
        metrics["rtt_mean"] / file_layout.LATENCY_SCALE
        for metrics in output.rows
        if "rtt_mean" in metrics
    ]
    yield file_layout.LATENCY_SUMMARY.format_map(_summary(values, file_layout.LATENCY_DECIMALS))


def _row(number: str, metrics: Mapping[str, float], columns: tuple[OutputColumn, ...]) -> str:
    cells = [cell(metrics.get(column.name), column.decimals, column.scale) for column in columns]
    return file_layout.row(number, cells, [column.width for column in columns])


def _summary(values: list[float], decimals: int) -> dict[str, str]:
    average = math.fsum(values) / len(values) if values else None
    return {
        "average": cell(average, decimals),
        "minimum": cell(min(values, default=None), decimals),
        "maximum": cell(max(values, default=None), decimals),
    }


class _Holes(dict[str, str]):
    """What stands in the head's holes; nothing is known of the others."""

    def __missing__(self, name: str) -> str:
        return file_layout.MISSING


def _holes(output: HpcbenchOutput) -> _Holes:
    settings = {name: _setting_text(name, value) for name, value in output.settings.items()}
    moment = (
        file_layout.MISSING if output.moment is None else file_layout.moment_text(output.moment)
    )
    return _Holes(
        settings,
        moment=moment,
        client=visible(output.client),
        server=visible(output.server),
        repeat=str(len(output.rows)),
    )


def _setting_text(name: str, value: Setting) -> str:
    if name in ("client_tos", "server_tos"):
        return file_layout.TOS_NAMES.get(int(value), f"0x{int(value):02x}")
    return f"{value:.6f}" if name == "duration" else str(int(value))
