"""The script with which mpirun starts its daemons on a testbed's hosts, in place of ssh."""

from __future__ import annotations

import shlex

from railgauge.testbed.state import Record
from railgauge.transport.netns import enter

_SCRIPT = """\
#!/bin/sh
# Stands for ssh in the testbed {name}: [OPTIONS] HOST COMMAND... runs the command on that host.
while :; do
    case "${{1-}}" in
        -[BbcDEeFIiJLlmOopQRSWw]) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
case "${{1#*@}}" in
{hosts}
    *) echo "railgauge: the testbed {name} has no host '${{1-}}'" >&2; exit 255 ;;
esac
shift
{enter}exec ip netns exec "$namespace" sh -c "$*"
"""
# Whoever comes from outside doesn't see the namespace.
_ENTER = '[ -e "/run/netns/$namespace" ] || exec {prefix} ip netns exec "$namespace" sh -c "$*"\n'


def agent(record: Record) -> str:
    """Return the script: it knows the testbed's hosts by name and by address."""
    layout = record.layout
    hosts = [
        f"    {shlex.quote(name)}|{layout.addresses[name]}) namespace={shlex.quote(namespace)} ;;"
        for name, namespace in layout.namespaces.items()
    ]
    prefix = shlex.join(enter(record.holder))
    return _SCRIPT.format(
        name=layout.name,
        hosts="\n".join(hosts),
        enter=_ENTER.format(prefix=prefix) if prefix else "",
    )
