"""The machine, its firmware, its distribution and C library: DMI, os-release, getconf."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first, first_lines

_DMI = "/sys/class/dmi/id/"
_MACHINE = ("sys_vendor", "product_name")
_FIRMWARE = ("bios_vendor", "bios_version", "bios_date")
_BOARD = ("board_vendor", "board_name")
_DEVICE_TREE = "/sys/firmware/devicetree/base/model"
_PATHS = (
    "/etc/os-release",
    *(_DMI + name for name in (*_MACHINE, *_FIRMWARE, *_BOARD)),
    _DEVICE_TREE,
)
_SCRIPT = "ask libc getconf GNU_LIBC_VERSION"


def parse(files: Files) -> dict[str, str]:
    """Return `os`, `libc` and, where firmware reports them, `machine`, `board` and `firmware`."""
    facts = {}
    for line in files.get("/etc/os-release", ()):
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            facts["os"] = value.strip().strip("\"'")
    for fact, names in (("machine", _MACHINE), ("board", _BOARD), ("firmware", _FIRMWARE)):
        if words := [text for name in names if (text := first(files, _DMI + name))]:
            facts[fact] = " ".join(words)
    if "machine" not in facts and (model := first(files, _DEVICE_TREE)):
        facts["machine"] = model
    return facts | first_lines(files, {"libc": "libc"})


SOURCE = FactSource(_PATHS, parse, _SCRIPT)
