"""Whether this is a virtual machine, a container, or neither.

systemd-detect-virt(1) knows; where it is missing, Xen's folder, the processor's flag (bit 31 of
ECX of CPUID's leaf 1, which hypervisors set) and the marks of container engines say less.
"""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, first

_XEN = "/sys/hypervisor/type"
_SCRIPT = """
ask virtualisation/vm systemd-detect-virt --vm
ask virtualisation/container systemd-detect-virt --container
for mark in /.dockerenv /run/.containerenv; do
    [ -e "$mark" ] && echo "virtualisation/mark:$mark"
done
"""
_MARKS = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}


def parse(files: Files) -> dict[str, str]:
    """Return `virtual_machine` and `container`: their kinds, or none."""
    facts = {}
    if kind := first(files, "virtualisation/vm") or first(files, _XEN) or _flag(files):
        facts["virtual_machine"] = kind
    mark = first(files, "virtualisation/mark")
    if kind := first(files, "virtualisation/container") or (mark and _MARKS.get(mark)):
        facts["container"] = kind
    return facts


def _flag(files: Files) -> str | None:
    """Return what x86's processor flags show; other architectures have no such flag."""
    for line in files.get("/proc/cpuinfo", ()):
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return "unknown kind" if "hypervisor" in value.split() else "none"
    return None


SOURCE = FactSource((_XEN,), parse, _SCRIPT)
