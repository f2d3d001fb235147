"""The network cards: driver, PCI numbers and words, slot, and how fast the bus to them is.

ABI/testing/sysfs-bus-pci. Words come from lspci(8) or udevadm(8), where one of them is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.hosts.facts.routes import by_interface
from railgauge.hosts.facts.source import FactSource, Files, first

# A virtio card is a device below its PCI function; one without PCI has a modalias at least.
_SCRIPT = """
for interface in $interfaces; do
    device=/sys/class/net/$interface/device
    [ -e "$device" ] || continue
    driver=$(readlink "$device/driver") && echo "pci/driver $interface:${driver##*/}"
    path=$(readlink -f "$device")
    while [ -n "$path" ]; do
        case ${path##*/} in [0-9a-f]*:[0-9a-f]*:[0-9a-f]*.[0-7]) break ;; esac
        path=${path%/*}
    done
    if [ -z "$path" ]; then
        say "pci/modalias $interface" <"$device/modalias"
        continue
    fi
    echo "pci/slot $interface:${path##*/}"
    for name in vendor device subsystem_vendor subsystem_device numa_node \\
        current_link_speed current_link_width max_link_speed max_link_width; do
        [ -r "$path/$name" ] && say "pci/$name $interface" <"$path/$name"
    done
    ask "pci/words $interface" lspci -D -s "${path##*/}"
    ask "pci/udev $interface" udevadm info -q property -p "$path"
done
"""


def parse(files: Files) -> dict[str, str]:
    """Return `nic.eth0.driver`, `.device` (PCI numbers), `.model` (words), `.slot`, `.bus` …."""
    return by_interface(files, _card)


def _card(files: Files, interface: str) -> dict[str, str]:
    def value(name: str) -> str:
        return first(files, f"pci/{name} {interface}") or ""

    def numbers(vendor: str, device: str) -> str:
        return ":".join(text.removeprefix("0x") for text in (value(vendor), value(device)) if text)

    speed, width = value("current_link_speed"), value("current_link_width")
    best = f"{value('max_link_speed')} x{value('max_link_width')}"
    facts = {
        "driver": value("driver"),
        "modalias": value("modalias"),
        "slot": value("slot"),
        "device": numbers("vendor", "device"),
        "subsystem": numbers("subsystem_vendor", "subsystem_device"),
        "model": _words(value("words")) or _from_udev(files.get(f"pci/udev {interface}", ())),
        # -1 where the machine has one node only.
        "numa_node": value("numa_node").removeprefix("-1"),
        "bus": f"{speed} x{width} (of {best})" if speed and width else "",
    }
    return {name: text for name, text in facts.items() if text}


def _words(line: str) -> str:
    """Return what lspci says after the slot and the class: `0000:3b:00.0 CLASS: WORDS`."""
    return line.partition(" ")[2].partition(": ")[2]


def _from_udev(lines: Sequence[str]) -> str:
    """Return what udev's hardware database says of vendor and model."""
    properties = dict(line.partition("=")[::2] for line in lines)
    names = ("ID_VENDOR_FROM_DATABASE", "ID_MODEL_FROM_DATABASE")
    return " ".join(properties[name] for name in names if name in properties)


SOURCE = FactSource((), parse, _SCRIPT)
