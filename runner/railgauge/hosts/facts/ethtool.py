"""What only ethtool(8) knows of an interface: firmware, offloads, rings, coalescing, channels."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from railgauge.hosts.facts.routes import by_interface
from railgauge.hosts.facts.source import FactSource, Files, pairs

_SCRIPT = """
if command -v ethtool >/dev/null; then
    echo ethtool:there
    for interface in $interfaces; do
        ask "ethtool $interface" ethtool "$interface"
        for option in -i -k -g -c -l -a --show-fec; do
            ask "ethtool $option $interface" ethtool "$option" "$interface"
        done
    done
fi
"""
MISSING = "unknown: no ethtool"
# Each a fact of its own; of the many others the names of those that are on are one.
_OFFLOADS = (
    "rx-checksumming",
    "tx-checksumming",
    "scatter-gather",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
    "tx-udp-segmentation",
    "rx-gro-list",
    "rx-udp-gro-forwarding",
    "receive-hashing",
    "ntuple-filters",
)
_OTHER = "offload.others"
_FEATURE = re.compile(r"^\s*([a-z][a-z0-9-]*): (on|off)\b")
_SETTINGS = re.compile(r"^(\S+):\s+(\S+)$")


def parse(files: Files) -> dict[str, str]:
    """Return `nic.eth0.firmware`, `.offload.…`, `.rings`, `.coalescing.…`, `.channels`, `.pause` ….

    Without ethtool they are `unknown: no ethtool`.
    """
    return by_interface(files, _interface)


def _interface(files: Files, interface: str) -> dict[str, str]:
    if "ethtool" not in files:
        names = ("firmware", "offload", "rings", "coalescing", "channels", "pause")
        return dict.fromkeys(names, MISSING)
    facts = _link(files.get(f"ethtool {interface}", ()))
    for option, read in _READERS.items():
        facts |= read(files.get(f"ethtool {option} {interface}", ()))
    return facts


def _link(lines: Sequence[str]) -> dict[str, str]:
    values = pairs(lines)
    names = {"Auto-negotiation": "autonegotiation", "Port": "port"}
    return {fact: values[name] for name, fact in names.items() if values.get(name)}


def _driver(lines: Sequence[str]) -> dict[str, str]:
    values = pairs(lines)
    names = {"driver": "driver", "version": "driver_version", "firmware-version": "firmware"}
    return {
        fact: values[name]
        for name, fact in names.items()
        if values.get(name, "N/A") not in ("", "N/A")
    }


def _offloads(lines: Sequence[str]) -> dict[str, str]:
    features = {match[1]: match[2] for line in lines if (match := _FEATURE.match(line))}
    facts = {f"offload.{name}": features[name] for name in _OFFLOADS if name in features}
    if features:
        other_names = sorted(features.keys() - set(_OFFLOADS))
        facts[_OTHER] = " ".join(name for name in other_names if features[name] == "on") or "none"
    return facts


def _of_most(title: str) -> Callable[[Sequence[str]], dict[str, str]]:
    """Return a reader of two blocks, what is possible and what is set: `rx 1024 of 8192, …`."""

    def read(lines: Sequence[str]) -> dict[str, str]:
        blocks: list[dict[str, str]] = []
        for line in lines:
            name, _, value = line.partition(":")
            if value.strip():
                if blocks and value.strip() != "n/a":
                    blocks[-1][name.strip().lower()] = value.strip()
            elif name.startswith(("Pre-set maximums", "Current hardware settings")):
                blocks.append({})
        if len(blocks) != 2 or not any(map(str.isdecimal, blocks[0].values())):
            return {}
        most, now = blocks
        words = (f"{name} {now[name]} of {most[name]}" for name in most if _used(most, now, name))
        return {title: ", ".join(words)}

    return read


def _used(most: Mapping[str, str], now: Mapping[str, str], name: str) -> bool:
    return name in now and most[name] != "0"


def _coalescing(lines: Sequence[str]) -> dict[str, str]:
    """Return the settings that are not zero, and whether they adapt by themselves."""
    facts = {}
    for line in lines:
        if line.startswith("Adaptive"):
            words = line.split()  # Adaptive RX: on  TX: on
            facts["coalescing.adaptive"] = " ".join(words[1:]).lower().replace(":", "")
        elif (match := _SETTINGS.match(line)) and match[2] not in ("0", "n/a"):
            facts[f"coalescing.{match[1]}"] = match[2]
    return facts


def _pause(lines: Sequence[str]) -> dict[str, str]:
    values = pairs(lines)
    if "RX" not in values:
        return {}
    return {"pause": f"rx {values['RX']}, tx {values.get('TX', 'n/a')}"}


def _error_correction(lines: Sequence[str]) -> dict[str, str]:
    active = next((value for name, value in pairs(lines).items() if "Active FEC" in name), "")
    return {"fec": active} if active else {}


_READERS: Mapping[str, Callable[[Sequence[str]], dict[str, str]]] = {
    "-i": _driver,
    "-k": _offloads,
    "-g": _of_most("rings"),
    "-c": _coalescing,
    "-l": _of_most("channels"),
    "-a": _pause,
    "--show-fec": _error_correction,
}

SOURCE = FactSource((), parse, _SCRIPT)
