"""The kernel: release, command line and this boot (proc_version, proc_cmdline of proc(5))."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first_lines

_NAMES = {
    "hostname": "/proc/sys/kernel/hostname",
    "kernel": "/proc/version",
    "kernel_command_line": "/proc/cmdline",
    "boot_id": "/proc/sys/kernel/random/boot_id",
    "kernel_tainted": "/proc/sys/kernel/tainted",
    "selinux_enforcing": "/sys/fs/selinux/enforce",
}


def parse(files: Files) -> dict[str, str]:
    """Return `hostname`, `kernel`, `kernel_command_line`, `boot_id` and the like."""
    return first_lines(files, _NAMES)


SOURCE = FactSource(tuple(_NAMES.values()), parse)
