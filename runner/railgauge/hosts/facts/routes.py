"""The ways to the peers, and which interfaces the other sources are to ask about.

`ip route get` of iproute2 says which way the kernel would take. Of more than 64 peers only the
interfaces are kept: a thousand hosts' facts would be a million otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from railgauge.hosts.facts.source import FactSource, Files, first

MOST_PEERS = 64
# Leaves $interfaces: those towards peers, what these stand on, and the rest of the hardware. The
# ends of containers' veth pairs are many and come and go; they count where nothing else is there.
_SCRIPT = f"""
address() {{
    case $1 in
    *:*) echo "$1" ;;
    *[!0-9.]*)
        found=$(bounded getent ahosts "$1")
        took_too_long $? && return 124
        echo "${{found%%[[:space:]]*}}"
        ;;
    *) echo "$1" ;;
    esac
}}
routes=
if command -v ip >/dev/null && [ $# -gt {MOST_PEERS} ]; then
    routes=$(for peer; do echo "route get $peer"; done |
        if command -v timeout >/dev/null; then timeout 10 ip -force -o -batch -
        else ip -force -o -batch -; fi | say route)
elif command -v ip >/dev/null; then
    routes=$(for peer; do
        to=$(address "$peer")
        took_too_long $? && break
        way=$(bounded ip -o route get "$to")
        took_too_long $? && break
        [ -n "$way" ] && echo "route:$way" && echo "route/peer:$peer"
    done)
fi
[ -n "$routes" ] && printf '%s\\n' "$routes"

interfaces=
count=0
add() {{
    case " $interfaces " in *" $1 "*) return ;; esac
    [ "$1" = lo ] || [ $count -ge 32 ] && return
    interfaces="$interfaces $1"; count=$((count + 1))
}}
for interface in $(printf '%s\\n' "$routes" | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p' | sort -u); do
    add "$interface"
done
for depth in 1 2 3; do
    for interface in $interfaces; do
        for lower in /sys/class/net/$interface/lower_*; do
            [ -e "$lower" ] || continue
            [ -d /sys/class/net/$interface/bridge ] && ! [ -e "$lower/device" ] && continue
            add "${{lower##*/lower_}}"
        done
    done
done
for path in /sys/class/net/*; do [ -e "$path/device" ] && add "${{path##*/}}"; done
if [ $count -eq 0 ]; then
    for path in /sys/class/net/*; do
        read -r state <"$path/operstate"
        [ "$state" = up ] && [ $count -lt 8 ] && add "${{path##*/}}"
    done
fi
[ -n "$interfaces" ] && echo "interfaces:$interfaces"
"""
_FIELDS = {"dev": "", "via": "via ", "src": "source ", "mtu": "mtu ", "table": "table "}


def parse(files: Files) -> dict[str, str]:
    """Return `route.PEER` (interface, next hop, source, MTU) and `peer_interfaces`."""
    routes = [_fields(line) for line in files.get("route", ())]
    facts = {}
    if names := sorted({route["dev"] for route in routes if "dev" in route}):
        facts["peer_interfaces"] = " ".join(names)
    for peer, route in zip(files.get("route/peer", ()), routes, strict=False):
        if "dev" in route:
            if mtu := first(files, f"/sys/class/net/{route['dev']}/mtu"):
                route.setdefault("mtu", mtu)
            words = (prefix + route[name] for name, prefix in _FIELDS.items() if name in route)
            facts[f"route.{peer}"] = ", ".join(words)
    return facts


def interfaces(files: Files) -> list[str]:
    """Return the interfaces that facts are about, those towards peers first."""
    return (first(files, "interfaces") or "").split()


def by_interface(files: Files, read: Callable[[Files, str], dict[str, str]]) -> dict[str, str]:
    """Return what `read` gives for each interface, as `nic.eth0.NAME`."""
    return {
        f"nic.{interface}.{name}": text
        for interface in interfaces(files)
        for name, text in read(files, interface).items()
    }


def _fields(line: str) -> dict[str, str]:
    """Return the named values in a route, but no MTU that was learned and will be forgotten."""
    words: Iterable[str] = line.replace("\\", " ").split()
    fields: dict[str, str] = {}
    name = ""
    for word in words:
        if name in _FIELDS:
            fields.setdefault(name, word)
        name = word
    if "expires" in line.split():
        fields.pop("mtu", None)
    return fields


SOURCE = FactSource((), parse, _SCRIPT)
