"""How late an idle CPU of this machine may come back, by what the kernel says of its states."""

from __future__ import annotations

from pathlib import Path

# A virtual CPU that halted: when it runs again is the hypervisor's affair, and so is one of which
# the kernel says nothing.
HALTED = 100e-6


def longest_wake_up(root: Path = Path("/")) -> float:
    """Return the seconds that the deepest idle state in use takes to be left.

    0 where CPUs poll when they are idle; `root` holds `proc` and `sys`.
    """
    if "idle=poll" in text_of(root / "proc/cmdline").split():
        return 0.0
    if "hypervisor" in text_of(root / "proc/cpuinfo").split():
        return HALTED
    states = list((root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpuidle/state[0-9]*"))
    latencies = [
        float(text_of(state / "latency") or "inf") * 1e-6
        for state in states
        if text_of(state / "disable") != "1"
    ]
    return min(max(latencies, default=HALTED), HALTED)


def text_of(file: Path) -> str:
    """Return a file's text without blanks around it, empty where it can't be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
