"""The processors: model, count, frequency governor and the mitigations in force."""

from __future__ import annotations

from railgauge.facts.source import Files, Source, distinct, first, matching

_FOLDER = "/sys/devices/system/cpu/"
_GOVERNORS = (_FOLDER + "cpu", "/cpufreq/scaling_governor")
_VULNERABILITIES = _FOLDER + "vulnerabilities/"
_SMT = _FOLDER + "smt/active"
_PATHS = ("/proc/cpuinfo", "*".join(_GOVERNORS), _SMT, _VULNERABILITIES + "*")
# The field that names the processor: x86, then arm64, POWER and s390.
_MODEL_FIELDS = ("model name", "CPU part", "cpu", "processor 0")
# What tells processors of one name apart: x86, then arm64, then POWER.
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


def parse(files: Files) -> dict[str, str]:
    """Return `cpu`, `cpu_id`, `cpus`, `microcode`, `governor`, `smt` and a `mitigation_…` each."""
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
    shown = dict(reversed(fields))  # of a name that comes more than once, the first
    for name in _MODEL_FIELDS:
        if name in shown:
            facts["cpu"] = shown[name]
            break
    if identity := [f"{name} {shown[name]}" for name in _IDENTITY_FIELDS if name in shown]:
        facts["cpu_id"] = ", ".join(identity)
    # One processor may have been left out of an update.
    if microcode := {
        str(place): value for place, (name, value) in enumerate(fields) if name == "microcode"
    }:
        facts["microcode"] = distinct(microcode)
    return facts


SOURCE = Source(_PATHS, parse)
