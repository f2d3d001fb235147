"""The layout of Hpcbench's files: lines, columns and their widths, as its own samples have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

# Stands where Hpcbench had no number to print; its own files have none such.
MISSING = "-"

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOMENT = re.compile(
    r"([A-Z][a-z]{2})\s+([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d\d):(\d\d):(\d\d)\s+(\d{4})"
)
_HOLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of a table: `scale` is what one of the printed unit is in base units."""

    name: str
    width: int
    decimals: int = 0
    scale: float = 1.0


_MEGA = 1e6
STREAM_COLUMNS = (
    OutputColumn("throughput", 12, 4, _MEGA),
    OutputColumn("local_throughput", 12, 4, _MEGA),
    OutputColumn("sent_packets", 11),
    OutputColumn("sent_bytes", 12),
    OutputColumn("received_packets", 11),
    OutputColumn("received_bytes", 12),
    OutputColumn("lost_packets", 10),
    OutputColumn("loss_rate", 10, 3),
)
BIDIRECTIONAL_COLUMNS = (
    OutputColumn("total_throughput", 9, 3, _MEGA),
    OutputColumn("total_local_throughput", 11, 3, _MEGA),
    OutputColumn("sent_packets", 9),
    OutputColumn("sent_bytes", 12),
    OutputColumn("received_packets", 9),
    OutputColumn("received_bytes", 12),
    OutputColumn("reverse_received_packets", 9),
    OutputColumn("reverse_received_bytes", 12),
    OutputColumn("reverse_sent_packets", 9),
    OutputColumn("reverse_sent_bytes", 12),
    OutputColumn("loss_rate", 9, 3),
)
EXPONENTIAL_COLUMNS = (
    OutputColumn("datagram", 5),
    OutputColumn("throughput", 10, 3, _MEGA),
    OutputColumn("local_throughput", 10, 3, _MEGA),
    OutputColumn("sent_packets", 10),
    OutputColumn("sent_bytes", 12),
    OutputColumn("received_packets", 10),
    OutputColumn("received_bytes", 12),
    OutputColumn("lost_packets", 10),
    OutputColumn("loss_rate", 10, 3),
)
PROCESS_COLUMNS = (
    OutputColumn("client_elapsed", 12, 2),
    OutputColumn("client_user_time", 13, 2),
    OutputColumn("client_system_time", 12, 2),
    OutputColumn("server_elapsed", 13, 2),
    OutputColumn("server_user_time", 13, 2),
    OutputColumn("server_system_time", 12, 2),
)
PROCESS_HEAD = (
    "# Process information for each test: ",
    "",
    "#         Client     C-process   C-process      Server     S-process   S-process",
    "#      Elapsed-time  User-mode  System-mode  Elapsed-time  User-mode  System-mode",
    "#       (Seconds)    (Seconds)   (Seconds)    (Seconds)    (Seconds)   (Seconds)",
)

_TITLE = "# UDP communication test -- {moment}"
_HOSTS = "# Hosts: {client} (client) <--> {server} (server)"
_SETTINGS = (
    "# Client UDP socket buffer size (Bytes) -- SNDBUF: {client_sndbuf} RCVBUF: {client_rcvbuf}",
    "# Server UDP socket buffer size (Bytes) -- SNDBUF: {server_sndbuf} RCVBUF: {server_rcvbuf}",
    "# Client IP TOS type: {client_tos}",
    "# Server IP TOS type: {server_tos}",
    "# UDP datagram (packet) size (Bytes) -- Client: {client_packet} Server: {server_packet}",
)
_REPEATED = (
    "# Data size of each read/write (Bytes) -- Client: {client_data} Server: {server_data}",
    "# Message size (Bytes): {message}",
    "# Test time (Second): {duration}",
    "# Test repeat: {repeat}",
)


@dataclass(frozen=True, slots=True)
class OutputLayout:
    """How an output with tables looks: `head` and `table_head` line by line.

    `averages` are the two columns that are averaged below the table, if any, as it calls them.
    """

    mode: str
    subtitle: str
    head: tuple[str, ...]
    table_head: tuple[str, ...]
    columns: tuple[OutputColumn, ...]
    averages: Mapping[str, str]


def _layout(
    mode: str,
    subtitle: str,
    settings: Sequence[str],
    table_head: tuple[str, ...],
    columns: tuple[OutputColumn, ...],
    averages: Mapping[str, str],
) -> OutputLayout:
    head = (_TITLE, subtitle, _HOSTS, "", *_SETTINGS, *settings, "")
    return OutputLayout(mode, subtitle, head, table_head, columns, averages)


LAYOUTS = (
    _layout(
        "stream",
        "# Fixed packet size unidirectional stream test",
        _REPEATED,
        (
            "#   Network(Mbps) Local(Mbps) SentPkg(C) SentByte(C) RecvPkg(S) RecvByte(S)"
            "  LostPkg  LossRate",
        ),
        STREAM_COLUMNS,
        {"Local": "local_throughput", "Network": "throughput"},
    ),
    _layout(
        "bidirectional",
        "# Fixed packet size bidirectional stream test",
        _REPEATED,
        (
            "#     Network     Local    Client     Client    Server     Server"
            "    Client     Client    Server     Server   Server",
            "#   throughput throughput   sent       sent      recv       recv"
            "      recv       recv      sent       sent     recv",
            "#     (Mbps)     (Mbps)    packet      byte     packet      byte"
            "     packet      byte     packet      byte   loss-rate",
        ),
        BIDIRECTIONAL_COLUMNS,
        {"Local": "total_local_throughput", "Network": "total_throughput"},
    ),
    _layout(
        "exponential",
        "# Exponential size unidirectional stream test",
        ("# Test time (second): {duration}",),
        (
            "#   Size    Network     Local    Client      Client    Server      Server"
            "    Server  ServerRecv",
            "#  (Byte)    (Mbps)    (Mbps)   SentPkg    SentByte   RecvPkg    RecvByte"
            "   LostPkg    LossRate",
        ),
        EXPONENTIAL_COLUMNS,
        {},
    ),
)
AVERAGES = "# {which} Average: {average}  Minimum: {minimum}  Maximum: {maximum}"
AVERAGE_DECIMALS = 6

LATENCY_HEAD = (
    "# UDP roundtrip time test {moment}",
    "# {client} <--> {server}",
    "# UDP-send-buffer: {client_sndbuf} UDP-recv-buffer: {client_rcvbuf}",
    "# Message-size: {message} Iteration: {iterations}",
)
LATENCY_ROW = "UDP Round Trip Time ({number}) : {rtt} usec"
LATENCY_TRIALS = "{trials} trials with message size {message} Bytes."
LATENCY_SUMMARY = "UDP RTT min/avg/max = {minimum}/{average}/{maximum} usec"
LATENCY_DECIMALS = 3
LATENCY_SCALE = 1e-6

LOG_HEAD = (
    "# {host} syslog -- {moment}",
    "# Watch times: {times}",
    "# Network devices (interface): {count} ( {names} )",
    "# CPU number: {cpus}",
    "",
)
# Hpcbench calls the loopback interface so.
LOOP = "loop"
_SECTION = (
    "##### System info, statistics of network interface <{name}>"
    " and its interrupts to each CPU #####"
)
_SECTION_GROUPS = (
    "#       CPU(%)     Mem(%)  Interrupt  Page   Swap   Context           <{name}> information"
)
_SECTION_COLUMNS = (
    "#   Load User  Sys  Usage   Overall  In/out In/out   Swtich   RecvPkg    RecvByte   SentPkg"
    "    SentByte  "
)
_SECTION_WIDTHS = (4, 5, 5, 7, 10, 8, 7, 9, 10, 12, 10, 12)
CPU_HEAD = ("## CPU workload distribution: ", "##")
_CPU_SECTION = "##         CPU{cpu} workload (%)           Overall CPU workload (%)"
_CPU_COLUMNS = "#   < load   user  system   idle >  < load   user  system   idle >"
CPU_WIDTHS = (6, 7, 7, 8, 10, 7, 7, 8)

# Hpcbench's names for types of service: its samples show the first two, the third is by analogy.
TOS_NAMES = {0: "Default", 8: "IPTOS_Maximize_Throughput", 16: "IPTOS_Minimize_Delay"}


def interface_text(name: str) -> str:
    """Return what Hpcbench calls an interface."""
    return LOOP if name == "lo" else name


def interface_name(text: str) -> str:
    """Return what Linux calls an interface of Hpcbench's."""
    return "lo" if text == LOOP else text


def section_head(name: str, cpus: int) -> tuple[str, str, str]:
    """Return the three lines above an interface's table; `name` as the file calls it."""
    columns = "".join(f"Int-CPU{cpu} " for cpu in range(cpus))
    return (
        _SECTION.format(name=name),
        _SECTION_GROUPS.format(name=name),
        _SECTION_COLUMNS + columns,
    )


def section_widths(cpus: int) -> tuple[int, ...]:
    """Return the widths of an interface's columns after the row's number."""
    return (*_SECTION_WIDTHS, 10, *[9] * (cpus - 1))


def cpu_section_head(cpu: int) -> tuple[str, str]:
    """Return the two lines above a CPU's table."""
    return _CPU_SECTION.format(cpu=cpu), _CPU_COLUMNS


def row(number: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return a table's line; a cell too wide for its column still has a space before it."""
    start = number.ljust(4)
    return start + "".join(
        cell.rjust(width) if len(cell) < width else f" {cell}"
        for cell, width in zip(cells, widths, strict=True)
    )


def cell(value: float | None, decimals: int, scale: float = 1.0) -> str:
    """Return a number in the printed unit, or MISSING."""
    return MISSING if value is None else f"{value / scale:.{decimals}f}"


def moment_text(moment: datetime) -> str:
    """Return the moment as C's ctime writes it, in UTC: `Tue Jul 13 23:02:45 2004`."""
    utc = moment.astimezone(UTC)
    day, month = _DAYS[utc.weekday()], _MONTHS[utc.month - 1]
    return f"{day} {month} {utc.day:2d} {utc:%H:%M:%S} {utc.year:04d}"


def parse_moment(text: str) -> datetime:
    """Return the moment that ctime wrote, taken as UTC; ValueError when it is none."""
    match = _MOMENT.fullmatch(text)
    if match is None or match[1] not in _DAYS or match[2] not in _MONTHS:
        raise ValueError(f"{text!r} is not a moment such as 'Tue Jul 13 23:02:45 2004'")
    day, hour, minute, second, year = (int(part) for part in match.groups()[2:])
    try:
        moment = datetime(year, _MONTHS.index(match[2]) + 1, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a moment: {error}") from error
    if _DAYS[moment.weekday()] != match[1]:
        raise ValueError(f"{text!r} was a {_DAYS[moment.weekday()]}, not a {match[1]}")
    return moment


@lru_cache(maxsize=64)
def pattern(template: str) -> re.Pattern[str]:
    """Return what a line made from `template` looks like, whatever the spaces between its words.

    A hole of a moment or of names takes several words, any other one.
    """
    parts = [r"\s*"]
    end = 0
    for hole in _HOLE.finditer(template):
        parts.append(_literal(template[end : hole.start()]))
        content = r".+?" if hole[1] in ("moment", "names") else r"\S+?"
        parts.append(f"(?P<{hole[1]}>{content})")
        end = hole.end()
    parts.append(_literal(template[end:].rstrip()))
    return re.compile("".join(parts) + r"\s*", re.ASCII)


def _literal(text: str) -> str:
    return re.sub(r"(?:\\ )+", r"\\s+", re.escape(text))
