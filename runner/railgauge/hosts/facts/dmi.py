"""The memory modules as the firmware's tables list them: SMBIOS, structure type 17.

System Management BIOS (SMBIOS) Reference Specification 3.7, DMTF DSP0134, 6.1 and 7.17 to 7.18. The
kernel shows the tables to root only. Nothing in them is trusted: firmware gets them wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railgauge.base.characters import natural
from railgauge.hosts.facts.source import FactSource, Files

_TABLE = "/sys/firmware/dmi/tables/DMI"
# A large server's table has some 20 KB.
_MOST_BYTES = 262_144
_SCRIPT = f"[ -r {_TABLE} ] && ask dmi od -An -v -tx1 -N {_MOST_BYTES} {_TABLE}"
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}\s*)*")

_ARRAY, _MODULE, _END = 16, 17, 127
_SYSTEM_MEMORY = 3  # 7.17.2: not video memory, flash or cache
# 7.18.2, what servers have; a number stands for the rest.
_TYPES = {
    0x13: "DDR2",
    0x18: "DDR3",
    0x1A: "DDR4",
    0x1B: "LPDDR",
    0x1C: "LPDDR2",
    0x1D: "LPDDR3",
    0x1E: "LPDDR4",
    0x20: "HBM",
    0x21: "HBM2",
    0x22: "DDR5",
    0x23: "LPDDR5",
    0x24: "HBM3",
}
_DRAM = (0, 1, 2, 3)  # 7.18.6: absent, other, unknown, DRAM; the rest is persistent

# What board makers write: P1-DIMMB2, CPU1_DIMM_C1, ChannelD-DIMM0; with a bank beside it that says
# more: P0_Node1_Channel2_Dimm0, P0 CHANNEL A. A letter is a channel only beside a processor's name,
# as in DIMM_B1 it may be the processor itself; PROC 2 DIMM 3 names no channel.
_CHANNEL = re.compile(r"CHAN(?:NEL)?[ _-]?([A-Z](?![A-Z])|\d{1,2})", re.IGNORECASE)
_LETTERED = re.compile(r"DIMM[ _-]?([A-Z])[ _-]?\d{1,2}$", re.IGNORECASE)
_PROCESSOR = re.compile(r"(?<![A-Z])(?:CPU|SOCKET|P|NODE)[ _-]?\d{1,2}", re.IGNORECASE)
# More modules than these share no channel: the names were not understood.
_MOST_OF_CHANNEL = 3


@dataclass(frozen=True, slots=True)
class Module:
    """A memory module: bytes, data bits, transfers a second in millions, 0 where nobody says.

    `channel` is a name that modules of one channel share, empty where the firmware names none;
    `place` is what it says of where the module is.
    """

    kind: str
    size: int
    width: int
    rated: int
    configured: int
    channel: str
    place: str


@dataclass(frozen=True, slots=True)
class _Structure:
    kind: int
    handle: int
    data: bytes  # with the header's four bytes in front, so that offsets are the specification's
    texts: tuple[str, ...]

    def number(self, offset: int, size: int) -> int:
        """Return the little-endian number there, or 0 where an older structure ended before it."""
        field = self.data[offset : offset + size]
        return int.from_bytes(field, "little") if len(field) == size else 0

    def text(self, offset: int) -> str:
        place = self.number(offset, 1)
        return self.texts[place - 1] if 1 <= place <= len(self.texts) else ""


def parse(files: Files) -> dict[str, str]:
    """Return `memory.modules` and, where the tables report them, `memory.channels`.

    The latter is how many channels have modules, how wide and how fast they are:
    `8 x 64 bit x 3200 MT/s`, several such with commas where they differ.
    """
    text = " ".join(files.get("dmi", ()))
    if not text or _HEX.fullmatch(text.strip()) is None:
        return {}
    installed = modules(bytes.fromhex(text))
    if not installed:
        return {}
    facts = {"memory.modules": _with_counts([_description(module) for module in installed])}
    if channels := _channels(installed):
        facts["memory.channels"] = _with_counts(channels)
    return facts


def modules(table: bytes) -> list[Module]:
    """Return the modules of the system's memory that are plugged in, as far as the table goes."""
    structures = list(_structures(table))
    arrays = {
        structure.handle: structure.number(0x05, 1) == _SYSTEM_MEMORY
        for structure in structures
        if structure.kind == _ARRAY
    }
    return [
        module
        for structure in structures
        if structure.kind == _MODULE and arrays.get(structure.number(0x04, 2), True)
        if (module := _module(structure)) is not None
    ]


def _structures(table: bytes) -> Iterator[_Structure]:
    """Yield the structures: a header, its length of fields, then texts up to two zeros (6.1.3)."""
    start = 0
    while start + 4 <= len(table):
        kind, length = table[start], table[start + 1]
        end = table.find(b"\0\0", start + length)
        if length < 4 or end < 0 or kind == _END:
            return
        texts = table[start + length : end].split(b"\0")
        yield _Structure(
            kind,
            int.from_bytes(table[start + 2 : start + 4], "little"),
            table[start : start + length],
            tuple(text.decode("ascii", "replace").strip() for text in texts),
        )
        start = end + 2


def _module(structure: _Structure) -> Module | None:
    size = _size(structure)
    if size == 0 or structure.number(0x28, 1) not in _DRAM:
        return None
    return Module(
        kind=_TYPES.get(structure.number(0x12, 1), f"type {structure.number(0x12, 1)}"),
        size=size,
        width=structure.number(0x0A, 2) if structure.number(0x0A, 2) != 0xFFFF else 0,
        rated=_speed(structure, 0x15, 0x54),
        configured=_speed(structure, 0x20, 0x58),
        channel=_channel(structure.text(0x10), structure.text(0x11)),
        place=f"{structure.text(0x10)} {structure.text(0x11)}",
    )


def _size(structure: _Structure) -> int:
    size = structure.number(0x0C, 2)
    if size in (0, 0xFFFF):
        return 0
    if size == 0x7FFF:
        return (structure.number(0x1C, 4) & 0x7FFFFFFF) << 20
    # The highest bit says that it counts kilobytes.
    return (size & 0x7FFF) << (10 if size & 0x8000 else 20)


def _speed(structure: _Structure, offset: int, extended: int) -> int:
    speed = structure.number(offset, 2)
    return structure.number(extended, 4) & 0x7FFFFFFF if speed == 0xFFFF else speed


def _channel(locator: str, bank: str) -> str:
    """Return a name for the module's channel, with its processor's in front; empty without any."""
    names = f"{bank} {locator}"
    processors = dict.fromkeys(match[0].upper() for match in _PROCESSOR.finditer(names))
    match = _CHANNEL.search(names) or (_LETTERED.search(locator) if processors else None)
    return "" if match is None else " ".join([*processors, match[1].upper()])


def _description(module: Module) -> str:
    size, unit = module.size >> 30, "GiB"
    if size << 30 != module.size:
        size, unit = module.size >> 20, "MiB"
    rated = f" rated {module.rated} MT/s" if module.rated else ""
    return f"{size} {unit} {module.kind}{rated}"


def _channels(installed: Sequence[Module]) -> list[str]:
    """Return the width and speed of each channel; nothing where it is not known of all of them."""
    by_channel: dict[str, list[Module]] = {}
    for module in installed:
        by_channel.setdefault(module.channel, []).append(module)
    distinct_places = len({module.place for module in installed}) == len(installed)
    of_one_kind = len({(module.kind, module.width) for module in installed}) == 1
    most = max(map(len, by_channel.values()))
    if "" in by_channel or not distinct_places or not of_one_kind or most > _MOST_OF_CHANNEL:
        return []
    if not all(map(_is_reliable, installed)):
        return []
    # All modules of a channel go at one pace.
    paces = (min(channel, key=lambda module: module.configured) for channel in by_channel.values())
    return [f"{module.width} bit x {module.configured} MT/s" for module in paces]


def _is_reliable(module: Module) -> bool:
    """Return whether its figures can be relied on.

    Before SMBIOS 3.1 the configured speed was called a clock, which some firmware takes for half
    the transfers. A module of DDR to DDR5 has 64 bits of data.
    """
    is_clock = module.configured <= 0.55 * module.rated
    widths = (64,) if module.kind.startswith("DDR") else range(16, 129)
    return module.width in widths and module.configured > 0 and not is_clock


def _with_counts(texts: Sequence[str]) -> str:
    """Return `2 x A, 1 x B`, by name."""
    counts = Counter(texts)
    return ", ".join(f"{counts[text]} x {text}" for text in sorted(counts, key=natural))


SOURCE = FactSource((), parse, _SCRIPT)
