"""The kernel: release and command line (proc_version and proc_cmdline of proc(5))."""

from __future__ import annotations

from railgauge.facts.source import Files, Source

_PATHS = ("/proc/sys/kernel/hostname", "/proc/version", "/proc/cmdline")


def parse(files: Files) -> dict[str, str]:
    """Return `hostname`, `kernel` and `kernel_command_line`."""
    names = ("hostname", "kernel", "kernel_command_line")
    return {
        name: files[path][0].strip()
        for name, path in zip(names, _PATHS, strict=True)
        if path in files
    }


SOURCE = Source(_PATHS, parse)
