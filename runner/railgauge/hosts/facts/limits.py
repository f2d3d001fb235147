"""What programs started here are allowed: resource limits and capabilities.

proc_pid_limits and proc_pid_status of proc(5), capabilities(7).
"""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, pairs

_LIMITS = "/proc/self/limits"
_STATUS = "/proc/self/status"
_WANTED = {
    "Max locked memory": "limit.locked_memory",
    "Max open files": "limit.open_files",
    "Max processes": "limit.processes",
    "Max stack size": "limit.stack",
    "Max realtime priority": "limit.realtime_priority",
}
_FIELDS = {"CapEff": "capabilities", "NoNewPrivs": "no_new_privileges", "Seccomp": "seccomp"}


def parse(files: Files) -> dict[str, str]:
    """Return `limit.…` (the soft limit, which is in force) and `capabilities` (a bit mask)."""
    facts = {}
    for line in files.get(_LIMITS, ()):
        for title, fact in _WANTED.items():
            if line.startswith(title):
                facts[fact] = line.removeprefix(title).split()[0]
    status = pairs(files.get(_STATUS, ()))
    return facts | {fact: status[name] for name, fact in _FIELDS.items() if name in status}


SOURCE = FactSource((_LIMITS,), parse)
