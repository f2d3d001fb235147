"""Asks a host all that the sources need, in one program launch.

The answers come as lines of `key:text` between two marks, as `grep -H` writes them. A file, a
program or a right that isn't there is an answer that isn't there, never an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.base.errors import EnvironmentFailedError
from railgauge.hosts.facts.source import FactSource, Files
from railgauge.hosts.transport.interface import Transport, run

# A login shell may talk before the first.
_MARK = "railgauge-facts:"
_SECONDS = 60.0

# `say KEY` puts the key before each line it reads; `ask KEY PROGRAM ARGUMENT…` says what the
# program writes, if there is one, and lets no program take more than 5 s. One that did is not asked
# again: a card that doesn't answer ethtool would use up the time for all others.
_PRELUDE = """
LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
export LC_ALL PATH
exec 2>/dev/null
say() { while IFS= read -r line || [ -n "$line" ]; do printf '%s:%s\\n' "$1" "$line"; done; }
if timeout -k 1 5 true; then bounded() { timeout -k 1 5 "$@" </dev/null; }
elif command -v timeout >/dev/null; then bounded() { timeout 5 "$@" </dev/null; }
else bounded() { "$@" </dev/null; }; fi
stuck=
took_too_long() { [ "$1" -eq 124 ] || [ "$1" -eq 137 ] || [ "$1" -eq 143 ]; }
ask() {
    key=$1; shift
    case " $stuck " in *" $1 "*) return ;; esac
    command -v "$1" >/dev/null || return
    said=$(bounded "$@")
    took_too_long $? && stuck="$stuck $1"
    [ -n "$said" ] && printf '%s\\n' "$said" | say "$key"
}
engines=$1; shift
"""


def ask(
    transport: Transport, sources: Sequence[FactSource], engines: str, peers: Sequence[str]
) -> Files:
    """Return the answers of the transport's host; EnvironmentFailedError if they are incomplete."""
    argv = ["sh", "-c", script(sources), "railgauge", engines, *peers]
    try:
        completed = run(transport, argv, timeout=_SECONDS)
    except TimeoutError as error:
        raise EnvironmentFailedError(
            f"host {transport.host} did not say within {_SECONDS:g} s what it is: "
            "is /proc readable and the host not overloaded?"
        ) from error
    lines = completed.stdout.replace("\0", "").split("\n")
    if lines.count(_MARK) != 2:
        raise EnvironmentFailedError(
            f"host {transport.host}: the shell there didn't run to the end of what it was asked "
            f"({' '.join(completed.stderr.split())[-200:] or 'it said nothing'}): log in and try sh"
        )
    start = lines.index(_MARK)
    return split(lines[start + 1 : lines.index(_MARK, start + 1)])


def script(sources: Sequence[FactSource]) -> str:
    """Return the questions of all sources; $1 is the engines' folder, the rest the peers."""
    # grep names the file on each line and goes on past missing ones; a device tree's texts end in
    # a NUL, which makes them no less text (-a). Wildcards are the shell's.
    paths = " ".join(path for source in sources for path in source.paths)
    parts = [source.script for source in sources if source.script]
    return "\n".join(
        [f"echo {_MARK}", _PRELUDE, f'grep -asH "" {paths} </dev/null', *parts, f"echo {_MARK}"]
    )


def split(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return key -> lines, without those that have no key."""
    files: dict[str, list[str]] = {}
    for line in lines:
        key, colon, content = line.partition(":")
        if colon:
            files.setdefault(key, []).append(content)
    return files
