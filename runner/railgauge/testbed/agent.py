"""The script with which mpirun starts its daemons on a testbed's hosts, in place of ssh."""

from __future__ import annotations

import shlex

from railgauge.testbed.state import Record
from railgauge.transport.netns import enter

# Each host gets a name of its own: Open MPI names shared memory after it, and two hosts' would mix.
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
set -- ip netns exec "rg-{name}-$host" unshare --uts sh -c 'hostname "$0"; eval "$1"' "$host" "$*"
{enter}exec "$@"
"""
# Whoever comes from outside doesn't see the namespaces.
_ENTER = '[ -e "/run/netns/rg-{name}-$host" ] || set -- {prefix} "$@"\n'


def agent(record: Record) -> str:
    """Return the script: it knows the testbed's hosts by name and by address."""
    layout = record.layout
    hosts = [
        f"    {shlex.quote(name)}|{layout.addresses[name]}) host={shlex.quote(name)} ;;"
        for name in layout.namespaces
    ]
    enters = ""
    if record.holder is not None:
        enters = _ENTER.format(name=layout.name, prefix=shlex.join(enter(record.holder)))
    return _SCRIPT.format(name=layout.name, hosts="\n".join(hosts), enter=enters)
