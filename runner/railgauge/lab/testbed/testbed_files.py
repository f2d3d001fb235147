"""What a testbed has for plans: a hosts file, and a script for mpirun in place of ssh."""

from __future__ import annotations

import shlex
from typing import Any

import yaml

from railgauge.base.units import format_rate, format_time
from railgauge.hosts.transport.netns import enter, inside
from railgauge.lab.testbed.state import ClusterRecord, State

_AGENT = """\
#!/bin/sh
# Stands for ssh in the testbed {name}: [OPTIONS] HOST COMMAND... runs the command on that host.
while :; do
    case "${{1-}}" in
        -[BbcDEeFIiJLlmOopQRSWw]) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
host="${{1#*@}}"
[ $# -eq 0 ] || shift
set -- sh -c "$*"
case "$host" in
{hosts}
    *) echo "railgauge: the testbed {name} has no host '$host'" >&2; exit 255 ;;
esac
{enter}exec "$@"
"""
# Whoever comes from outside doesn't see the namespaces.
_ENTER = '[ -e /run/netns/{namespace} ] || set -- {prefix} "$@"\n'


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


def agent(record: ClusterRecord) -> str:
    """Return the script: it knows the testbed's hosts by name and by address."""
    layout = record.layout
    hosts = [
        f'    {name}|{layout.addresses[name]}) set -- {shlex.join(inside(namespace))} "$@" ;;'
        for name, namespace in layout.namespaces.items()
    ]
    enters = ""
    if record.holder is not None:
        first = layout.all_namespaces[0]
        enters = _ENTER.format(namespace=first, prefix=shlex.join(enter(record.holder)))
    return _AGENT.format(name=layout.name, hosts="\n".join(hosts), enter=enters)
