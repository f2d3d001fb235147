"""The processors: model, count, frequency governor and the mitigations in force."""

from __future__ import annotations

from railgauge.facts.source import Files, Source

_VULNERABILITIES = (
    "spectre_v1",
    "spectre_v2",
    "meltdown",
    "mds",
    "l1tf",
    "retbleed",
    "srbds",
    "tsx_async_abort",
    "gather_data_sampling",
    "spec_rstack_overflow",
)
_FOLDER = "/sys/devices/system/cpu/"
_GOVERNOR = _FOLDER + "cpu0/cpufreq/scaling_governor"
_SMT = _FOLDER + "smt/active"
_PATHS = (
    "/proc/cpuinfo",
    _GOVERNOR,
    _SMT,
    *(f"{_FOLDER}vulnerabilities/{name}" for name in _VULNERABILITIES),
)
# The field that names the processor: x86, then arm64, POWER and s390.
_MODEL_FIELDS = ("model name", "CPU part", "cpu", "processor 0")


def parse(files: Files) -> dict[str, str]:
    """Return `cpu`, `cpus`, `microcode`, `governor`, `smt` and one `mitigation_…` a weakness."""
    fields = [
        (name.strip(), value.strip())
        for name, _, value in (line.partition(":") for line in files.get("/proc/cpuinfo", ()))
    ]
    first = dict(reversed(fields))
    facts = {"cpus": str(sum(name == "processor" for name, _ in fields))} if fields else {}
    for name in _MODEL_FIELDS:
        if name in first:
            facts["cpu"] = first[name]
            break
    if "microcode" in first:
        facts["microcode"] = first["microcode"]
    if _GOVERNOR in files:
        facts["governor"] = files[_GOVERNOR][0]
    if _SMT in files:
        facts["smt"] = "on" if files[_SMT][0] == "1" else "off"
    for name in _VULNERABILITIES:
        path = f"{_FOLDER}vulnerabilities/{name}"
        if path in files:
            facts[f"mitigation_{name}"] = files[path][0]
    return facts


SOURCE = Source(_PATHS, parse)
