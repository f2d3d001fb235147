"""How many floating-point operations a second all cores of a host could do together.

Cores × elements in a register × 2 (a multiplication and an addition) × units that do this at once
× clock. Units for matrix tiles don't count, and neither do those that only add.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.number import plural
from railgauge.hosts.peaks.peak import PeakValue

Facts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Units:
    """`count` units for registers of `bits` that multiply and add, where the CPU has `flag`."""

    flag: str
    bits: int
    count: int


_SANDY_BRIDGE = (_Units("avx", 256, 1),)  # one unit multiplies and another one adds
_HASWELL = (_Units("avx2", 256, 2),)
_ICE_LAKE = (_Units("avx512f", 512, 1), *_HASWELL)
_ICE_LAKE_SP = (_Units("avx512f", 512, 2), *_HASWELL)
_ZEN = (_Units("avx2", 128, 2),)
_NEOVERSE_N = (_Units("asimd", 128, 2),)
_NEOVERSE_V = (_Units("asimd", 128, 4),)
_A64FX = (_Units("sve", 512, 2),)

# Models of Intel's family 6: Intel 64 and IA-32 Architectures Optimization Reference Manual
# (248966), the chapters on each core; of Skylake-SP (85) Intel's list of models says how many
# AVX-512 units each has: two those called Platinum or Gold 6.
_INTEL: Sequence[tuple[tuple[int, ...], Sequence[_Units]]] = (
    ((42, 45, 58, 62), _SANDY_BRIDGE),
    ((60, 61, 63, 69, 70, 71, 79, 86), _HASWELL),
    ((78, 94, 142, 158, 165, 166), _HASWELL),
    ((125, 126, 140, 141, 167), _ICE_LAKE),
    ((106, 108, 143, 173, 174, 207), _ICE_LAKE_SP),
)
_SKYLAKE_SP = 85
_TWO_UNITS = re.compile(r"Platinum|Gold 6")
# Family and models: AMD's Software Optimization Guides for families 17h (55723, 56305), 19h (56665,
# 57647) and 1Ah (58455). Zen 4 takes two cycles for 512 bits.
_AMD: Sequence[tuple[int, range, Sequence[_Units]]] = (
    (0x17, range(0x30), _ZEN),
    (0x17, range(0x30, 0xB0), _HASWELL),
    (0x19, range(0xB0), _HASWELL),
    (0x1A, range(0x20), _ICE_LAKE_SP),
)
# Implementer and part: Arm's Software Optimization Guides for Neoverse N1, N2, V1, V2; Fujitsu's
# A64FX Microarchitecture Manual.
_ARM: Mapping[tuple[str, str], Sequence[_Units]] = {
    ("0x41", "0xd0c"): _NEOVERSE_N,
    ("0x41", "0xd49"): _NEOVERSE_N,
    ("0x41", "0xd40"): _NEOVERSE_V,
    ("0x41", "0xd4f"): _NEOVERSE_V,
    ("0x46", "0x001"): _A64FX,
}
# Their highest frequency is the one with boost.
_BOOST_TOLD = frozenset(
    {"intel_pstate", "intel_cpufreq", "amd-pstate", "amd-pstate-epp", "amd_pstate", "cppc_cpufreq"}
)
_MEGAHERTZ = re.compile(r"([0-9.]+) MHz")


def floating_point(facts: Facts, bits: int) -> PeakValue | str:
    """Return the operations per second on numbers of so many bits, or why they are not known."""
    if facts.get("virtual_machine", "none") != "none":
        return "a virtual machine may report any model and clock"
    units = _units(facts)
    if isinstance(units, str):
        return units
    clock = _clock(facts)
    if isinstance(clock, str):
        return clock
    if not (cores := facts.get("cpu.cores", "")).isdecimal():
        return "the kernel doesn't report the cores"
    lanes = units.bits // bits
    count = plural(units.count, "unit")
    return PeakValue(
        int(cores) * lanes * 2 * units.count * clock,
        f"{cores} cores × {lanes} lanes × 2 × {count} × {clock / 1e9:g} GHz (cpufreq)",
    )


def _units(facts: Facts) -> _Units | str:
    flags = facts.get("cpu.vector", "").split()
    model_units = _model_units(facts)
    if isinstance(model_units, str):
        return model_units
    for units in model_units:
        if units.flag in flags:
            return units
    return "the kernel doesn't show the vector instructions of this processor"


def _model_units(facts: Facts) -> Sequence[_Units] | str:
    """Return the units of this model, the widest first, or why they are not known."""
    identity = dict(part.rpartition(" ")[::2] for part in facts.get("cpu_id", "").split(", "))
    if (vendor := facts.get("cpu.vendor", "")) == "GenuineIntel":
        units = _intel(identity, facts.get("cpu", ""))
    elif vendor == "AuthenticAMD":
        units = _amd(identity)
    else:
        part = identity.get("CPU implementer", ""), identity.get("CPU part", "")
        units = _ARM.get(part, ())
    return units or f"how many units this model has is not known ({facts.get('cpu', 'no name')})"


def _intel(identity: Mapping[str, str], name: str) -> Sequence[_Units]:
    if identity.get("cpu family") != "6" or not identity.get("model", "").isdecimal():
        return ()
    model = int(identity["model"])
    if model == _SKYLAKE_SP:
        return _ICE_LAKE_SP if _TWO_UNITS.search(name) else ()
    return next((units for models, units in _INTEL if model in models), ())


def _amd(identity: Mapping[str, str]) -> Sequence[_Units]:
    family, model = identity.get("cpu family", ""), identity.get("model", "")
    if not (family.isdecimal() and model.isdecimal()):
        return ()
    for model_family, models, units in _AMD:
        if int(family) == model_family and int(model) in models:
            return units
    return ()


def _clock(facts: Facts) -> float | str:
    """Return the highest clock in Hz, or why it is not known.

    That in a processor's name is the lowest that its maker promises: with boost it isn't the peak.
    """
    text = facts.get("frequency.hardware_maximum", "")
    if not text:
        return "the kernel doesn't report the clock (no cpufreq)"
    if (highest := _hertz(text)) is None:
        return f"the cores' clocks differ ({text})"
    if facts.get("frequency.boost") == "off":
        return _hertz(facts.get("frequency.base", "")) or highest
    if facts.get("frequency.driver") not in _BOOST_TOLD and highest <= _last_step(facts):
        return "the frequency driver doesn't report the clock with boost"
    return highest


def _last_step(facts: Facts) -> float:
    """Return the highest of the frequencies to choose from, which boost exceeds, or infinity."""
    steps = facts.get("frequency.steps", "").removesuffix(" MHz").split()
    return float(steps[-1]) * 1e6 if steps else float("inf")


def _hertz(text: str) -> float | None:
    match = _MEGAHERTZ.fullmatch(text)
    return None if match is None else float(match[1]) * 1e6
