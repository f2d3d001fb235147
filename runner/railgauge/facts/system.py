"""The machine and its distribution: DMI and os-release."""

from __future__ import annotations

from railgauge.facts.source import Files, Source

_PATHS = ("/etc/os-release", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name")


def parse(files: Files) -> dict[str, str]:
    """Return `os` and, where firmware tells, `machine`."""
    facts = {}
    for line in files.get("/etc/os-release", ()):
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            facts["os"] = value.strip().strip("\"'")
    vendor, product = (files.get(path, [""])[0].strip() for path in _PATHS[1:])
    if vendor or product:
        facts["machine"] = f"{vendor} {product}".strip()
    return facts


SOURCE = Source(_PATHS, parse)
