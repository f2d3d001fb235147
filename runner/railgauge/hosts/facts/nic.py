"""The network interfaces as the kernel shows them: ABI/testing/sysfs-class-net, and `ip link`."""

from __future__ import annotations

import re

from railgauge.hosts.facts.routes import by_interface
from railgauge.hosts.facts.source import FactSource, Files, first, first_lines

_FOLDER = "/sys/class/net/"
_NAMES = {
    "mtu": "mtu",
    "duplex": "duplex",
    "state": "operstate",
    "transmit_queue": "tx_queue_len",
    "gro_flush_timeout": "gro_flush_timeout",
    "napi_defer_hard_irqs": "napi_defer_hard_irqs",
    "threaded_napi": "threaded",
    "bond.mode": "bonding/mode",
    "bond.members": "bonding/slaves",
    "bond.hash": "bonding/xmit_hash_policy",
}
_SPEED = "speed"
_QUEUES = ("rx", "tx")
_PATHS = tuple(f"{_FOLDER}*/{name}" for name in (*_NAMES.values(), _SPEED, "uevent"))
_SCRIPT = """
for interface in $interfaces; do
    ask "link $interface" ip -d -o link show dev "$interface"
    ask "queueing $interface" tc qdisc show dev "$interface"
    ask "queueing $interface" tc class show dev "$interface"
    for queue in /sys/class/net/$interface/queues/*; do
        [ -e "$queue" ] || continue
        echo "queue $interface:${queue##*/}"
        [ -e "$queue/rps_cpus" ] && read -r steered <"$queue/rps_cpus" &&
            echo "rps $interface:$steered"
        [ -e "$queue/xps_cpus" ] && read -r steered <"$queue/xps_cpus" &&
            echo "xps $interface:$steered"
    done
done
"""
# Of `ip -d link`: settings of the queueing discipline and of segmentation.
_MOST_QUEUEING = 20
# Of `tc`: handles that the kernel gave out, and how often a discipline is referred to.
_BY_CHANCE = re.compile(r"\b(?:parent )?[89a-f][0-9a-f]{3}:[0-9a-f]*|\brefcnt \d+")
_LINK = ("qdisc", "gso_max_size", "gso_max_segs", "gro_max_size", "tso_max_size")


def parse(files: Files) -> dict[str, str]:
    """Return for each interface `nic.eth0.mtu`, `.speed`, `.duplex`, `.queues`, `.qdisc` …."""
    return by_interface(files, _interface)


def _interface(files: Files, interface: str) -> dict[str, str]:
    return {
        **_sysfs(files, interface),
        **_link(files, interface),
        **_queueing(files, interface),
    }


def _sysfs(files: Files, interface: str) -> dict[str, str]:
    paths = {fact: f"{_FOLDER}{interface}/{name}" for fact, name in _NAMES.items()}
    facts = first_lines(files, paths)
    # -1 where the driver doesn't know, as virtual ones don't.
    speed = first(files, f"{_FOLDER}{interface}/{_SPEED}")
    if speed and speed.isdecimal() and int(speed):
        facts["speed"] = f"{speed} Mbit/s"
    for line in files.get(f"{_FOLDER}{interface}/uevent", ()):
        if line.startswith("DEVTYPE="):
            facts["kind"] = line.removeprefix("DEVTYPE=")
    queues = [name.partition("-")[0] for name in files.get(f"queue {interface}", ())]
    if queues:
        facts["queues"] = ", ".join(f"{queues.count(side)} {side}" for side in _QUEUES)
    for steering in ("rps", "xps"):
        if masks := files.get(f"{steering} {interface}"):
            used = [mask for mask in masks if mask.strip("0,")]
            facts[steering] = " ".join(used) or "off"
    return facts


def _queueing(files: Files, interface: str) -> dict[str, str]:
    """Return how queueing disciplines and their classes are set, without what is by chance."""
    lines = [
        " ".join(_BY_CHANCE.sub("", line).split())
        for line in files.get(f"queueing {interface}", ())
        if not line.startswith("class mq ")
    ]
    settings = list(dict.fromkeys(lines))
    more = [f"{len(settings) - _MOST_QUEUEING} more"] if len(settings) > _MOST_QUEUEING else []
    return {"queueing": "; ".join([*settings[:_MOST_QUEUEING], *more])} if settings else {}


def _link(files: Files, interface: str) -> dict[str, str]:
    words = (first(files, f"link {interface}") or "").replace("\\", " ").split()
    return {name: words[words.index(name) + 1] for name in _LINK if name in words[:-1]}


SOURCE = FactSource(_PATHS, parse, _SCRIPT)
