"""The memory's channels from SMBIOS tables, which are built here as the specification has them."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railgauge.hosts.facts import dmi
from railgauge.hosts.facts.asking import script, split
from railgauge.hosts.facts.source import FactSource

DDR4, DDR5, HBM2 = 0x1A, 0x22, 0x21


def structure(kind: int, handle: int, fields: bytes, *texts: str) -> bytes:
    """Return a structure of SMBIOS (DSP0134, 6.1.2): header, fields, texts."""
    strings = b"".join(text.encode() + b"\0" for text in texts) + b"\0"
    if not texts:
        strings = b"\0\0"
    return struct.pack("<BBH", kind, 4 + len(fields), handle) + fields + strings


def array(handle: int = 0x1000, use: int = 3) -> bytes:
    return structure(16, handle, struct.pack("<BBBIHH", 3, use, 6, 0x80000000, 0xFFFE, 16))


def module(
    locator: str,
    bank: str = "",
    *,
    size: int = 0x7FFF,
    extended: int = 32 * 1024,
    kind: int = DDR4,
    width: int = 64,
    rated: int = 3200,
    configured: int = 3200,
    technology: int = 3,
    of: int = 0x1000,
) -> bytes:
    """Return a module (7.18) with the fields up to version 3.3."""
    fields = struct.pack(
        "<HHHHHBBBBBHHBBBBBIHHHHBHBHHHHQQQQII",
        *(of, 0xFFFE, min(width + 8, 0xFFFF), width, size, 9, 0, 1, 2, kind, 0x80),
        *(rated, 3, 0, 4, 0, 2, extended, configured, 1200, 1200, 1200, technology, 8, 0),
        *(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    )
    return structure(17, 0x1100, fields, locator, bank or "x", "Maker", "serial 1234")


END = structure(127, 0xFEFF, b"")


def facts(*parts: bytes) -> dict[str, str]:
    table = b"".join(parts) + END
    lines = [table[start : start + 16].hex(" ") for start in range(0, len(table), 16)]
    return dmi.parse({"dmi": [f" {line}" for line in lines]})


def channels(names: Iterable[tuple[str, str]], **more: int) -> str | None:
    return facts(array(), *(module(*name, **more) for name in names)).get("memory.channels")


def test_modules_and_channels_of_a_server_are_counted() -> None:
    names = [(f"P{cpu}-DIMM{letter}1", "") for cpu in (1, 2) for letter in "ABCDEFGH"]
    assert facts(array(), *(module(*name) for name in names)) == {
        "memory.modules": "16 x 32 GiB DDR4 rated 3200 MT/s",
        "memory.channels": "16 x 64 bit x 3200 MT/s",
    }


@pytest.mark.parametrize(
    ("names", "count"),
    [
        ([("DIMM 0", "P0 CHANNEL A"), ("DIMM 1", "P0 CHANNEL A"), ("DIMM 0", "P0 CHANNEL B")], 2),
        ([("ChannelA-DIMM0", "BANK 0"), ("ChannelB-DIMM0", "BANK 2")], 2),
        ([("ChannelA-DIMM0", "BANK 0"), ("ChannelA-DIMM1", "BANK 1")], 1),
        ([("DIMM 0", f"P0_Node{n}_Channel{c}_Dimm0") for n in (0, 1) for c in range(3)], 6),
        ([("CPU1_DIMM_A1", ""), ("CPU1_DIMM_A2", ""), ("CPU2_DIMM_A1", "")], 2),
    ],
)
def test_channels_are_told_apart_by_what_board_makers_write(
    names: list[tuple[str, str]], count: int
) -> None:
    assert channels(names) == f"{count} x 64 bit x 3200 MT/s"


@pytest.mark.parametrize(
    "names",
    [
        [("A1", ""), ("B1", "")],  # the letter is the processor's
        [("DIMM_A1", ""), ("DIMM_B1", "")],
        [("PROC 1 DIMM 1", ""), ("PROC 1 DIMM 3", "")],
        [("ChannelA-DIMM0", ""), ("DIMM 7", "")],
        [("ChannelA", ""), ("ChannelA", "")],  # two modules at one place
        [(f"ChannelA-DIMM{number}", "") for number in range(8)],
    ],
)
def test_names_that_tell_no_channel_give_none(names: list[tuple[str, str]]) -> None:
    memory_facts = facts(array(), *(module(*name) for name in names))
    assert list(memory_facts) == ["memory.modules"]


def test_a_channel_goes_at_the_pace_of_its_slowest_module() -> None:
    slow = module("ChannelA-DIMM1", configured=2933)
    memory_facts = facts(array(), module("ChannelA-DIMM0"), slow, module("ChannelB-DIMM0"))
    assert memory_facts["memory.channels"] == "1 x 64 bit x 2933 MT/s, 1 x 64 bit x 3200 MT/s"


@pytest.mark.parametrize(
    "more",
    [
        {"configured": 0},
        {"configured": 1600},  # a clock, half the transfers
        {"width": 0xFFFF},
        {"width": 32},  # half of a module of DDR
        {"kind": HBM2, "width": 1024},
    ],
)
def test_figures_that_cannot_be_relied_on_give_no_channels(more: dict[str, int]) -> None:
    assert channels([("ChannelA-DIMM0", ""), ("ChannelB-DIMM0", "")], **more) is None


def test_a_speed_beyond_sixteen_bits_is_read_where_it_stands() -> None:
    long = bytearray(module("ChannelA-DIMM0", rated=0xFFFF, configured=0xFFFF, kind=DDR5))
    long[0x54:0x58] = long[0x58:0x5C] = struct.pack("<I", 70_000)
    assert facts(array(), bytes(long))["memory.channels"] == "1 x 64 bit x 70000 MT/s"


@pytest.mark.parametrize(
    ("size", "extended", "text"),
    [(16384, 0, "16 GiB"), (0x7FFF, 131072, "128 GiB"), (0x8000 | 2048, 0, "2 MiB")],
)
def test_sizes_are_in_megabytes_kilobytes_or_extended(size: int, extended: int, text: str) -> None:
    memory_facts = facts(array(), module("A1", size=size, extended=extended))
    assert memory_facts["memory.modules"].startswith(f"1 x {text} ")


def test_empty_slots_other_arrays_and_persistent_modules_do_not_count() -> None:
    parts = [
        array(),
        array(0x2000, use=7),
        module("ChannelA-DIMM0"),
        module("ChannelB-DIMM0", size=0),
        module("ChannelB-DIMM1", size=0xFFFF),
        module("ChannelC-DIMM0", of=0x2000),
        module("ChannelD-DIMM0", technology=7),
    ]
    assert facts(*parts)["memory.channels"] == "1 x 64 bit x 3200 MT/s"


def test_a_virtual_machines_module_without_a_speed_is_listed_alone() -> None:
    memory_facts = facts(array(), module("DIMM 0", kind=7, width=0xFFFF, rated=0, configured=0))
    assert memory_facts == {"memory.modules": "1 x 32 GiB type 7"}


def test_a_table_is_asked_for_as_a_file_of_the_host(tmp_path: Path) -> None:
    path = tmp_path / "DMI"
    path.write_bytes(array() + module("ChannelA-DIMM0") + END)
    question = dmi.SOURCE.script.replace("/sys/firmware/dmi/tables/DMI", str(path))
    command = ["sh", "-c", script([FactSource((), dmi.parse, question)]), "facts", ""]
    stdout = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    memory_facts = dmi.parse(split(stdout.splitlines()))
    assert memory_facts["memory.channels"] == "1 x 64 bit x 3200 MT/s"
    path.unlink()
    stdout = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert dmi.parse(split(stdout.splitlines())) == {}


def test_serial_numbers_are_kept_nowhere() -> None:
    assert "serial" not in str(facts(array(), module("ChannelA-DIMM0")))


@pytest.mark.parametrize("lines", [[], ["od: permission denied"], ["11 22 3"], ["zz"]])
def test_what_is_no_table_is_no_fact(lines: list[str]) -> None:
    assert dmi.parse({"dmi": lines}) == {}


def test_a_table_that_is_cut_off_anywhere_gives_the_modules_before() -> None:
    first_module = module("ChannelA-DIMM0")
    table = array() + first_module + module("ChannelB-DIMM0")
    counts = [len(dmi.modules(table[:end])) for end in range(len(table) + 1)]
    assert counts == sorted(counts)
    assert counts[len(array() + first_module)] == 1
    assert counts[-1] == 2


@given(st.binary(max_size=400))
def test_any_bytes_are_read_to_their_end(noise: bytes) -> None:
    assert len(dmi.modules(noise)) <= len(noise) // 4
    dmi.parse({"dmi": [noise.hex(" ")]})


@given(st.data())
def test_any_change_to_a_table_is_read(data: st.DataObject) -> None:
    table = bytearray(array() + module("P1-DIMMA1") + module("P1-DIMMB1") + END)
    for _ in range(data.draw(st.integers(1, 8))):
        table[data.draw(st.integers(0, len(table) - 1))] = data.draw(st.integers(0, 255))
    memory_facts = dmi.parse({"dmi": [bytes(table).hex(" ")]})
    assert memory_facts.keys() <= {"memory.modules", "memory.channels"}
