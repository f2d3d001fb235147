"""Writes the hosts file with which plans measure on a testbed."""

from __future__ import annotations

from typing import Any

import yaml

from railgauge.base.units import format_rate, format_time
from railgauge.lab.testbed.state import State


def hosts_file(state: State) -> str:
    """Return the text of the testbed's hosts file."""
    record = state.record
    assert record is not None
    layout = record.layout
    hosts: dict[str, dict[str, Any]] = {}
    for name, namespace in layout.namespaces.items():
        hosts[name] = {"address": layout.addresses[name], "netns": namespace}
        if record.holder is not None:
            hosts[name]["holder"] = record.holder
    links: dict[str, dict[str, Any]] = {}
    for way in layout.ways:
        links[way.name] = {"from": way.client, "to": way.server}
        if way.rate is not None:
            links[way.name]["rate"] = format_rate(way.rate)
        if way.rtt is not None:
            links[way.name]["rtt"] = format_time(way.rtt)
    parts: dict[str, dict[str, Any]] = {
        "hosts": hosts,
        "links": links,
        "mpi": {"agent": str(state.agent)},
    }
    head = f"# The testbed {layout.name}, as railgauge testbed up built it from {record.source}.\n"
    return head + "".join(_section(name, entries) for name, entries in parts.items() if entries)


def _section(name: str, entries: dict[str, Any]) -> str:
    """Return a mapping, a line for each of its entries."""
    lines = [f"{name}:\n"]
    for key, value in entries.items():
        text = yaml.safe_dump(
            {key: value}, allow_unicode=True, default_flow_style=True, sort_keys=False, width=1e9
        )
        lines.append(f"  {text.strip()[1:-1]}\n")
    return "".join(lines)
