"""Builds what a layout asks for, one kind of thing after the other."""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.lab.testbed.layout import Cable, CableEnd, ClusterLayout
from railgauge.lab.testbed.shaping import discipline, single_frames
from railgauge.lab.testbed.state import ClusterRecord
from railgauge.lab.testbed.system_commands import tool

# IPv6 would send packets of its own, which a link would count among those it loses.
_NO_IPV6 = """
for namespace in "$@"; do
    ip netns exec "$namespace" sh -c '
        for each in all default; do
            file=/proc/sys/net/ipv6/conf/$each/disable_ipv6
            [ ! -e $file ] || echo 1 >$file
        done' || exit
done
"""


def build_namespaces(record: ClusterRecord) -> None:
    """Make the hosts' and switches' namespaces, each with its loopback up."""
    names = record.layout.all_namespaces
    tool(record, "ip", "-batch", "-", lines=[("netns", "add", name) for name in names])
    tool(record, "sh", "-c", _NO_IPV6, "railgauge", *names)
    for name in names:
        tool(record, "ip", "-n", name, "link", "set", "lo", "up")
    for bridge in record.layout.bridges:
        lines = ["link add switch type bridge", "link set switch up"]
        tool(record, "ip", "-n", bridge, "-batch", "-", lines=[line.split() for line in lines])


def build_pairs(record: ClusterRecord) -> None:
    """Make the cables that the kernel makes: all but those of rail-wire."""
    pairs = [_pair(cable) for cable in record.layout.cables if cable.by != "rail-wire"]
    tool(record, "ip", "-batch", "-", lines=pairs)


def connect(record: ClusterRecord) -> None:
    """Give the interfaces their addresses, routes and rates, once they are there."""
    layout = record.layout
    for namespace in layout.all_namespaces:
        ends = [
            (cable, end)
            for cable in layout.cables
            for end in cable.ends
            if end.namespace == namespace
        ]
        links = list(_interfaces(layout, namespace, ends))
        tool(record, "ip", "-n", namespace, "-batch", "-", lines=links)
        shaped = [
            ("qdisc", "replace", "dev", end.interface, "root", *words)
            for cable, end in ends
            if (words := discipline(cable))
        ]
        tool(record, "tc", "-n", namespace, "-batch", "-", lines=shaped)


def _pair(cable: Cable) -> tuple[str, ...]:
    first, second = cable.ends
    mtu = ("mtu", str(cable.mtu))
    return (
        *("link", "add", first.interface, "netns", first.namespace, *mtu, "type", "veth"),
        *("peer", "name", second.interface, "netns", second.namespace, *mtu),
    )


def _interfaces(
    layout: ClusterLayout, namespace: str, ends: Sequence[tuple[Cable, CableEnd]]
) -> list[tuple[str, ...]]:
    """Return ip's lines for the interfaces of a host or of a switch."""
    lines: list[tuple[str, ...]] = []
    addresses = {layout.namespaces[name]: address for name, address in layout.addresses.items()}
    for cable, end in ends:
        if cable.by != "rail-wire" and single_frames(cable):
            lines.append(("link", "set", end.interface, "gso_max_segs", "1"))
        if namespace in layout.bridges:
            lines.append(("link", "set", end.interface, "master", "switch", "up"))
        else:
            address = f"{addresses[namespace]}/32"
            lines.append(("addr", "add", address, "dev", end.interface))
            lines.append(("link", "set", end.interface, "up"))
    for where, peer, interface in layout.routes:
        if where == namespace:
            source = ("src", addresses[namespace])
            lines.append(("route", "add", f"{peer}/32", "dev", interface, "scope", "link", *source))
    return lines
