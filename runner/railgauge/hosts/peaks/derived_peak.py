"""Which peak a host's facts give for a resource, or why they give none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from railgauge.hosts.peaks.devices import memory, network
from railgauge.hosts.peaks.peak import PeakValue
from railgauge.hosts.peaks.processor import floating_point

_BY_RESOURCE: Mapping[str, Callable[[Mapping[str, str]], PeakValue | str]] = {
    "cpu_single": partial(floating_point, bits=32),
    "cpu_double": partial(floating_point, bits=64),
    "memory": memory,
    "network": network,
}


def missing_peak_reason(resource: str, facts: Mapping[str, str]) -> str:
    """Return why no peak was found, and what to do; empty where the facts do give one."""
    derived = derived_peak(resource, facts)
    if isinstance(derived, PeakValue):
        return ""
    return f"{derived}: declare it as 'peaks: {{{resource}: …}}' in the hosts file"


def derived_peak(resource: str, facts: Mapping[str, str]) -> PeakValue | str:
    """Return the peak that the facts give, or why they give none."""
    derive = _BY_RESOURCE.get(resource)
    return "no fact tells it" if derive is None else derive(facts)
