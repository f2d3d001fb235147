"""A host's and a link's peaks: what is declared goes before what the facts give."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.hosts.peaks.derived_peak import derived_peak
from railgauge.hosts.peaks.peak import LINK_RATE, Peak, PeakValue
from railgauge.plan.declared_peaks import RESOURCES, Peaks


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
        elif isinstance(derived := derived_peak(resource, facts), PeakValue):
            peaks.append(Peak(host, resource, derived.value, unit, f"found: {derived.source}"))
    return tuple(peaks)


def link_peak(link: str, rate: float, *, file: str = "hosts file") -> Peak:
    """Return what the link is declared to carry (bit/s): no host has that resource."""
    return Peak(link, LINK_RATE, rate, RESOURCES["network"], f"declared: rate in the {file}")
