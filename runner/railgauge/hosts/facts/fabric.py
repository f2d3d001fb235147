"""InfiniBand, RoCE and Omni-Path adapters (ABI/stable/sysfs-class-infiniband)."""

from __future__ import annotations

import re

from railgauge.base.characters import natural
from railgauge.hosts.facts.source import FactSource, Files, first

_FOLDER = "/sys/class/infiniband/"
_NAMES = {
    "fw_ver": "firmware",
    "hca_type": "model",
    "board_id": "board",
    "boardversion": "board",
    "hw_rev": "revision",
}
_PORT_NAMES = ("link_layer", "rate", "state", "phys_state", "cap_mask")
_PATHS = (
    *(f"{_FOLDER}*/{name}" for name in _NAMES),
    *(f"{_FOLDER}*/ports/*/{name}" for name in _PORT_NAMES),
)
_SCRIPT = """
for path in /sys/class/infiniband/*/device/net/*; do
    [ -e "$path" ] || continue
    device=${path#/sys/class/infiniband/}
    echo "fabric/${device%%/*}:${path##*/}"
done
"""
_PATH = re.compile(re.escape(_FOLDER) + r"([^/]+)/(?:ports/([0-9]+)/)?([^/]+)$")


def parse(files: Files) -> dict[str, str]:
    """Return `fabric.mlx5_0.firmware`, `.model`, `.interfaces`, `.port1.rate`, `.port1.state` …."""
    facts = {}
    for key in sorted(files, key=natural):
        match, text = _PATH.match(key), first(files, key)
        if match is None or not text:
            continue
        device, port, name = match.groups()
        if port is None and name in _NAMES:
            facts[f"fabric.{device}.{_NAMES[name]}"] = text
        elif port is not None and name in _PORT_NAMES:
            # States come with their number before: "4: ACTIVE".
            facts[f"fabric.{device}.port{port}.{name}"] = text.rpartition(": ")[2]
    for key in sorted(files):
        if key.startswith("fabric/"):
            facts[f"fabric.{key.removeprefix('fabric/')}.interfaces"] = " ".join(files[key])
    return facts


SOURCE = FactSource(_PATHS, parse, _SCRIPT)
