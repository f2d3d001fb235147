"""How fast the processors may run and how deep they may sleep: cpufreq and cpuidle.

Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst and cpuidle.rst. What the frequency is
just now is no fact but a log's gauge.
"""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files, distinct, first, matching

_CPU = "/sys/devices/system/cpu/"
_POLICY = _CPU + "cpufreq/policy"
_FREQUENCIES = {  # kHz
    "hardware_minimum": "cpuinfo_min_freq",
    "hardware_maximum": "cpuinfo_max_freq",
    "base": "base_frequency",
    "minimum": "scaling_min_freq",
    "maximum": "scaling_max_freq",
}
_CHOICES = {
    "driver": "scaling_driver",
    "energy_preference": "energy_performance_preference",
}
_SINGLE = {
    "frequency.pstate": _CPU + "intel_pstate/status",
    "frequency.amd_pstate": _CPU + "amd_pstate/status",
    "frequency.boost": _CPU + "cpufreq/boost",
    "idle.driver": _CPU + "cpuidle/current_driver",
    "idle.governor": _CPU + "cpuidle/current_governor",
}
_STEPS = "scaling_available_frequencies"
_NO_TURBO = _CPU + "intel_pstate/no_turbo"
_STATE = _CPU + "cpu0/cpuidle/state"
_PATHS = (
    *(f"{_POLICY}*/{name}" for name in (*_FREQUENCIES.values(), *_CHOICES.values())),
    f"{_POLICY}*/{_STEPS}",
    *_SINGLE.values(),
    _NO_TURBO,
    f"{_STATE}*/name",
    f"{_STATE}*/disable",
)
_SWITCH = {"0": "off", "1": "on"}


def parse(files: Files) -> dict[str, str]:
    """Return `frequency.minimum`, `.maximum`, `.base` … in MHz, `idle.driver`, `idle.states` …."""
    facts = {}
    for fact, name in _FREQUENCIES.items():
        if values := matching(files, _POLICY, "/" + name):
            megahertz = {cpu: _mhz(khz) for cpu, khz in values.items() if khz.isdecimal()}
            facts[f"frequency.{fact}"] = f"{distinct(megahertz)} MHz"
    if values := matching(files, _POLICY, "/" + _STEPS):
        steps = {khz for text in values.values() for khz in text.split() if khz.isdecimal()}
        facts["frequency.steps"] = f"{' '.join(_mhz(khz) for khz in sorted(steps, key=int))} MHz"
    for fact, name in _CHOICES.items():
        if values := matching(files, _POLICY, "/" + name):
            facts[f"frequency.{fact}"] = distinct(values)
    for fact, path in _SINGLE.items():
        if text := first(files, path):
            facts[fact] = _SWITCH.get(text, text)
    if (no_turbo := first(files, _NO_TURBO)) is not None:
        facts["frequency.boost"] = "off" if no_turbo == "1" else "on"
    disabled = matching(files, _STATE, "/disable")
    if states := matching(files, _STATE, "/name"):
        facts["idle.states"] = " ".join(
            f"{state}(off)" if disabled.get(number, "0") != "0" else state
            for number, state in states.items()
        )
    return facts


def _mhz(khz: str) -> str:
    return f"{int(khz) / 1000:.7g}"


SOURCE = FactSource(_PATHS, parse)
