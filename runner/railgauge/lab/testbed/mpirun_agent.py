"""The script with which mpirun starts its daemons on a testbed's hosts, in place of ssh."""

from __future__ import annotations

import shlex

from railgauge.hosts.transport.netns import enter, inside
from railgauge.lab.testbed.state import ClusterRecord

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
    return _SCRIPT.format(name=layout.name, hosts="\n".join(hosts), enter=enters)
