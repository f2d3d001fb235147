"""What an engine's `settings` event says was granted: its units, and what was asked instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from railgauge.base.units import format_size, format_time
from railgauge.plan.cases import Value

# Of those that are numbers; docs/database.md lists them.
UNITS: Mapping[str, str] = {
    "busy_poll": "s",
    "clock_offset": "s",
    "clock_offset_error": "s",
    "control_rtt": "s",
    "data_size": "B",
    "file_bytes": "B",
    "free_bytes": "B",
    "last_level_cache": "B",
    "memory_bytes": "B",
    "message_size": "B",
    "mss": "B",
    "packet_size": "B",
    "rcvbuf": "B",
    "register_bits": "bit",
    "sndbuf": "B",
    "total": "B",
}
# Counts, shares and codes; then what isn't a number.
_PLAIN = (
    "chains",
    "files",
    "gso",
    "huge_share",
    "iterations",
    "pairs",
    "port",
    "ranks",
    "ranks_here",
    "target_port",
    "tos",
    "trips_timed_together",
)
TEXTS = (
    "address",
    "blocking",
    "congestion",
    "cork",
    "cpu",
    "device",
    "environment",
    "file_system",
    "gro",
    "host",
    "io",
    "io_reason",
    "io_scheduler",
    "level",
    "library",
    "mount_options",
    "nodelay",
    "numa_nodes",
    "operation",
    "page_size",
    "ports",
    "registered_buffers",
    "rotational",
    "source",
    "target",
    "tcp_address",
    "tcp_interface",
    "thread_level",
    "transport_used",
    "vector",
    "write_cache",
)
NAMES = (*UNITS, *_PLAIN, *TEXTS)
# Settings in bytes that are written as plans write sizes.
SIZES = frozenset(name for name, unit in UNITS.items() if unit == "B") - {"mss"}
# Linux grants twice what was asked, for its own bookkeeping, and says so: socket(7).
_DOUBLED = ("sndbuf", "rcvbuf")
# Those that a parameter asks for.
ASKED_FOR = (*_DOUBLED, "mss", "tos", "busy_poll", "congestion")
# Each segment's time stamps are taken off what TCP_MAXSEG was set to.
_TIME_STAMPS = 12


@dataclass(frozen=True, slots=True)
class UnlikeAsked:
    """A setting that one side's kernel didn't grant as it was asked; both values as texts."""

    side: str
    setting: str
    request: str
    granted: str


def unlike_asked(
    parameters: Mapping[str, Value],
    side: str,
    granted: Mapping[str, Value],
    *,
    imported: bool = False,
) -> Iterator[UnlikeAsked]:
    """Yield the settings of `side` that are not what a case's `parameters` ask for.

    A buffer is compared by half of what the kernel says, as it says twice what holds data. Whether
    others' results are doubled nobody knows, so that for `imported` ones either will do.
    """
    for name in _DOUBLED:
        requested = _number(parameters, f"{side}_sockbuf") or _number(parameters, "sockbuf")
        value = _number(granted, name)
        fits = value // 2 == requested or (imported and value == requested)
        if requested and value and not fits:
            yield UnlikeAsked(side, name, _size(requested), _size(value // 2))
    requested, value = _number(parameters, "mss"), _number(granted, "mss")
    if requested and value and value not in (requested, requested - _TIME_STAMPS):
        yield UnlikeAsked(side, "mss", f"{requested:g}", f"{value:g}")
    requested, value = _number(parameters, "tos"), _number(granted, "tos")
    if requested and "tos" in granted and value != requested:
        yield UnlikeAsked(side, "tos", f"{requested:g}", f"{value:g}")
    requested, value = _number(parameters, "busy_poll"), _number(granted, "busy_poll")
    if requested and "busy_poll" in granted and abs(value - requested) > 1e-6:
        yield UnlikeAsked(side, "busy_poll", format_time(requested), format_time(value))
    congestion, used = parameters.get("congestion"), granted.get("congestion")
    if used and congestion and congestion not in ("system", used):
        yield UnlikeAsked(side, "congestion", str(congestion), str(used))


def unlike_words(settings: Iterable[UnlikeAsked]) -> str:
    """Return them in a few words: `sndbuf and rcvbuf at both ends: asked 500KiB, got 208KiB`."""
    ends: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    for unlike in settings:
        names = ends.setdefault((unlike.request, unlike.granted), {})
        names.setdefault(unlike.setting, {})[unlike.side] = None
    parts = []
    for (request, granted), names in ends.items():
        places: dict[str, list[str]] = {}
        for name, sides in names.items():
            where = "at both ends" if len(sides) > 1 else f"at the {next(iter(sides))}"
            places.setdefault(where, []).append(name)
        words = " and ".join(f"{' and '.join(names)} {where}" for where, names in places.items())
        parts.append(f"{words}: asked {request}, got {granted}")
    return "; ".join(parts)


def asks(parameters: Mapping[str, Value]) -> bool:
    """Return whether any of `parameters` asks the kernel for what it may refuse."""
    names = ("sockbuf", "server_sockbuf", "mss", "tos", "busy_poll")
    return any(_number(parameters, name) for name in names) or "congestion" in parameters


def _number(values: Mapping[str, Value], name: str) -> int | float:
    value = values.get(name, 0)
    return 0 if isinstance(value, bool | str) else value


def _size(number: int | float) -> str:
    text = format_size(int(number))
    return f"{text} B" if text.isdecimal() else text
