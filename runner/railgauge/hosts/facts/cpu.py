"""The processors: model, count, frequency governor and the mitigations in force."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, distinct, first, matching

_FOLDER = "/sys/devices/system/cpu/"
_GOVERNORS = (_FOLDER + "cpu", "/cpufreq/scaling_governor")
_VULNERABILITIES = _FOLDER + "vulnerabilities/"
_SMT = _FOLDER + "smt/active"
_PATHS = ("/proc/cpuinfo", "*".join(_GOVERNORS), _SMT, _VULNERABILITIES + "*")
# The field that names the processor: x86, then arm64, POWER and s390.
_MODEL_FIELDS = ("model name", "CPU part", "cpu", "processor 0")
# What distinguishes processors of one name: x86, then arm64, then POWER.
_IDENTITY_FIELDS = (
    "cpu family",
    "model",
    "stepping",
    "CPU implementer",
    "CPU part",
    "CPU variant",
    "CPU revision",
    "revision",
)


# What the kernel calls the sets of vector instructions that peaks and engines go by.
_VECTORS = frozenset(("sse2", "avx", "fma", "avx2", "avx512f", "asimd", "sve", "sve2"))


def parse(files: Files) -> dict[str, str]:
    """Return `cpu`, `cpu_id`, `cpus`, `microcode`, `governor`, `smt`, `mitigation_…` ….

    `cpu.vector` are the sets of vector instructions that all processors have.
    """
    facts = _processors(files)
    if governors := matching(files, *_GOVERNORS):
        facts["governor"] = distinct(governors)
    if smt := first(files, _SMT):
        facts["smt"] = "on" if smt == "1" else "off"
    for name, text in matching(files, _VULNERABILITIES, "").items():
        facts[f"mitigation_{name}"] = text
    return facts


def _processors(files: Files) -> dict[str, str]:
    fields = [
        (name.strip(), value.strip())
        for name, _, value in (line.partition(":") for line in files.get("/proc/cpuinfo", ()))
    ]
    if not fields:
        return {}
    facts = {"cpus": str(sum(name == "processor" for name, _ in fields))}
    values = dict(reversed(fields))  # of a name that comes more than once, the first
    for name in _MODEL_FIELDS:
        if name in values:
            facts["cpu"] = values[name]
            break
    if identity := [f"{name} {values[name]}" for name in _IDENTITY_FIELDS if name in values]:
        facts["cpu_id"] = ", ".join(identity)
    if "vendor_id" in values:
        facts["cpu.vendor"] = values["vendor_id"]
    flags = [set(value.split()) for name, value in fields if name in ("flags", "Features")]
    if flags and (vector := _VECTORS.intersection(*flags)):
        facts["cpu.vector"] = " ".join(sorted(vector))
    # One processor may have been left out of an update.
    if microcode := {
        str(place): value for place, (name, value) in enumerate(fields) if name == "microcode"
    }:
        facts["microcode"] = distinct(microcode)
    return facts


SOURCE = FactSource(_PATHS, parse)
