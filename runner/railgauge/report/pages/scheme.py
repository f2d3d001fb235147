"""A test's scheme: its two hosts and the equipment between them, drawn as boxes in a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from railgauge.base.characters import visible, width
from railgauge.base.systemlog import PortLog
from railgauge.report.pages.path_stations import ports_by_device

_COLUMN, _ROW = 9, 24
_BOX_HEIGHT, _MARGIN = 40, 12
_LABEL = 5  # Between a line and what stands above it.
_SHORTEST_LINE = 4


@dataclass(frozen=True, slots=True)
class Scheme:
    """The drawing as lines of text, and as an SVG element for a page."""

    text: str
    svg: str


@dataclass(frozen=True, slots=True)
class _Box:
    """A host or device, with the ports that lines meet it at on the left and on the right."""

    name: str
    left: str = ""
    right: str = ""


def scheme(client: str, server: str, ports: Sequence[PortLog]) -> Scheme:
    """Return the drawing of the path from `client` through `ports` to `server`."""
    boxes = [_Box(visible(client)), *_devices(ports), _Box(visible(server))]
    return Scheme(_text(boxes), _svg(boxes))


def _devices(ports: Sequence[PortLog]) -> list[_Box]:
    devices = ports_by_device(ports)
    boxes = []
    for number, device_ports in enumerate(devices):
        name = visible(device_ports[0].device)
        interfaces = [visible(port.interface) for port in device_ports]
        if len(interfaces) > 1:
            boxes.append(_Box(name, interfaces[0], interfaces[-1]))
        elif number > 0 and number == len(devices) - 1:
            boxes.append(_Box(name, right=interfaces[0]))
        else:
            boxes.append(_Box(name, left=interfaces[0]))
    return boxes


def _line(before: _Box, after: _Box) -> tuple[str, str]:
    """Return the labels of the line between two boxes: at its begin and at its end."""
    return before.right, after.left


def _text(boxes: Sequence[_Box]) -> str:
    above, middle = "", ""
    for number, box in enumerate(boxes):
        if number:
            begin, end = _line(boxes[number - 1], box)
            columns = max(_SHORTEST_LINE, width(begin) + width(end) + 3)
            fill = "-" * (columns - width(begin) - width(end) - 2)
            middle += f"-{begin}{fill}{end}-"
            above += " " * columns
        middle += f"| {box.name} |"
        above += f"+{'-' * (width(box.name) + 2)}+"
    return f"{above}\n{middle}\n{above}\n"


def _svg(boxes: Sequence[_Box]) -> str:
    parts: list[str] = []
    x, middle = _MARGIN, _ROW + _BOX_HEIGHT // 2
    for number, box in enumerate(boxes):
        if number:
            begin, end = _line(boxes[number - 1], box)
            long = (max(_SHORTEST_LINE, width(begin) + width(end) + 3)) * _COLUMN
            parts.append(f'<path d="M{x} {middle}h{long}"/>')
            parts += _label(begin, x + _LABEL, middle - _LABEL, "start")
            parts += _label(end, x + long - _LABEL, middle - _LABEL, "end")
            x += long
        wide = (width(box.name) + 2) * _COLUMN
        parts.append(f'<rect x="{x}" y="{_ROW}" width="{wide}" height="{_BOX_HEIGHT}" rx="4"/>')
        parts += _label(box.name, x + wide // 2, middle + _LABEL, "middle")
        x += wide
    total, high = x + _MARGIN, 2 * _ROW + _BOX_HEIGHT
    title = "Path: " + ", ".join(_spoken_names(boxes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {high}" '
        f'width="{total}" height="{high}" role="img" aria-label="{escape(title)}" '
        'fill="none" stroke="currentColor" font-family="monospace" font-size="14">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _label(text: str, x: int, y: int, anchor: str) -> list[str]:
    if not text:
        return []
    return [
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor" stroke="none">'
        f"{escape(text)}</text>"
    ]


def _spoken_names(boxes: Sequence[_Box]) -> list[str]:
    """Return what the drawing shows, from left to right, for those who can't see it."""
    names = [boxes[0].name]
    for before, after in pairwise(boxes):
        begin, end = _line(before, after)
        names += [f"port {port}" for port in (begin, end) if port]
        names.append(after.name)
    return names
