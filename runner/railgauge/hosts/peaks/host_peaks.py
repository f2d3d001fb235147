"""A host's and a link's peaks: what is declared goes before what the facts give.

Nothing is guessed: where the facts don't suffice there is no peak.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from railgauge.hosts.peaks.devices import memory, network
from railgauge.hosts.peaks.peak import LINK_RATE, Peak, PeakValue
from railgauge.hosts.peaks.processor import floating_point
from railgauge.plan.declared_peaks import RESOURCES, Peaks

_BY_RESOURCE: Mapping[str, Callable[[Mapping[str, str]], PeakValue | str]] = {
    "cpu_single": partial(floating_point, bits=32),
    "cpu_double": partial(floating_point, bits=64),
    "memory": memory,
    "network": network,
}


def missing_peak_reason(resource: str, facts: Mapping[str, str]) -> str:
    """Return why no peak was found, and what to do; empty where the facts do give one."""
    derived = _derived_peak(resource, facts)
    if isinstance(derived, PeakValue):
        return ""
    return f"{derived}: declare it as 'peaks: {{{resource}: …}}' in the hosts file"


def host_peaks(
    host: str, declared: Peaks, facts: Mapping[str, str], *, file: str = "hosts file"
) -> tuple[Peak, ...]:
    """Return the host's peaks in the resources' order; what is declared goes before what is found.

    `file` is what the declarations stand in, where they don't name a better source.
    """
    declared_peaks = declared.declared()
    peaks = []
    for resource, unit in RESOURCES.items():
        if resource in declared_peaks:
            peak = declared_peaks[resource]
            peaks.append(Peak(host, resource, peak.value, unit, f"declared: {peak.source or file}"))
        elif isinstance(derived := _derived_peak(resource, facts), PeakValue):
            peaks.append(Peak(host, resource, derived.value, unit, f"found: {derived.source}"))
    return tuple(peaks)


def link_peak(link: str, rate: float, *, file: str = "hosts file") -> Peak:
    """Return what the link is declared to carry (bit/s): no host has that resource."""
    return Peak(link, LINK_RATE, rate, RESOURCES["network"], f"declared: rate in the {file}")


def _derived_peak(resource: str, facts: Mapping[str, str]) -> PeakValue | str:
    """Return the peak that the facts give, or why they give none."""
    derive = _BY_RESOURCE.get(resource)
    return "no fact says it" if derive is None else derive(facts)
