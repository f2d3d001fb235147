"""What a case's hosts can do at most: the value that a cell shows or is divided by."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.base.number import best_unit, plain_number, scale
from railgauge.hosts.peaks.peak import LINK_RATE, Peak
from railgauge.plan.cases import Case
from railgauge.report.tables.axes import Placed, as_written, axis_value
from railgauge.report.tables.notes import listed, words

# An axis whose value is part of a resource's name: cpu_{precision}.
BRACED = re.compile(r"\{([^{}]*)\}")
# What both ends of a link have a part in, and all members of a group.
_SHARED = "network"
# What the hosts of a group have together.
_ADDED = re.compile(r"cpu_\w+|memory")
_MOST_SOURCES = 8


@dataclass(frozen=True, slots=True)
class Limit:
    """A theoretical value, in its base unit, and where it comes from."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class NoLimit:
    """Why there is none, as a sentence's beginning."""

    reason: str


class Theoretical:
    """Finds theoretical values by run and host, and records those that were used."""

    def __init__(
        self,
        peaks: Mapping[int, Iterable[Peak]],
        facts: Mapping[int, Mapping[str, Mapping[str, str]]],
    ) -> None:
        self._peaks = {
            (run, peak.host, peak.resource): peak
            for run, of_run in peaks.items()
            for peak in of_run
        }
        self._facts = facts
        self._used: dict[Peak, None] = {}

    def of(self, template: str, measurement: Placed) -> Limit | NoLimit:
        """Return what the hosts of the measurement's case can do at most of a resource.

        A part of `template` in braces stands for the case's value on that axis. Of a link's or a
        group's `network` it is what the worst host's allows, unless there is one of the link
        itself; of three hosts or more, whose rates are several interfaces' together, there is none.
        The hosts of a group compute and reach their memory together, so those values are added.
        """
        run, case = measurement.run, measurement.case
        axes = BRACED.findall(template)
        lacking = [name for name in axes if axis_value(measurement, name) is None]
        if lacking:
            return NoLimit(f"no theoretical value: {', '.join(lacking)} is not known")
        resource = BRACED.sub(lambda match: as_written(axis_value(measurement, match[1])), template)
        # Imported here: it takes longer than the rest of a page without theoretical values.
        from railgauge.plan.declared_peaks import RESOURCES

        if resource not in RESOURCES:
            return NoLimit(f"no theoretical value: there is no resource {visible(resource)}")
        shared = resource.startswith(_SHARED)
        on_link = case.server is not None
        own = self._peaks.get((run, case.link, LINK_RATE))
        if own is not None and on_link and resource == "network":
            return self._limit([own], own.value)
        hosts = _hosts(case)
        added = not on_link and _ADDED.fullmatch(resource) is not None
        # What two hosts send passes both their interfaces, what more do is the sum of several.
        together = added or (shared and (len(hosts) == 2 or resource != "network"))
        if len(hosts) > 1 and not together:
            return NoLimit(
                f"no theoretical value: {words(resource)} is of one host, not of {len(hosts)}"
            )
        by_host = {host: self._peaks.get((run, host, resource)) for host in hosts}
        peaks = [peak for peak in by_host.values() if peak is not None]
        if len(peaks) < len(hosts):
            return self._unknown(run, resource, [host for host in hosts if not by_host[host]])
        if on_link and shared and len(hosts) == 1 and peaks[0].from_facts:
            return NoLimit(
                "no theoretical value: what a host sends to itself doesn't leave by the interface"
                " whose speed was found; declare one in the hosts file"
            )
        numbers = [peak.value for peak in peaks]
        if not shared:
            return self._limit(peaks, math.fsum(numbers))
        return self._limit(peaks, max(numbers) if peaks[0].unit == "s" else min(numbers))

    def _unknown(self, run: int, resource: str, hosts: Sequence[str]) -> NoLimit:
        from railgauge.hosts.peaks.host_peaks import missing_peak_reason

        facts = self._facts.get(run, {}).get(hosts[0])
        reason = missing_peak_reason(resource, facts) if facts else ""
        return NoLimit(
            f"no theoretical value of {words(resource)} is known of {listed(map(visible, hosts))}"
            + (f": {visible(reason)}" if reason else "")
        )

    def sentences(self) -> tuple[str, ...]:
        """Return where each of the values that were used comes from, equal ones together."""
        hosts: dict[tuple[str, str], dict[str, None]] = {}
        for peak in self._used:
            value = f"{_quantity(peak.value, peak.unit)} ({visible(peak.source)})"
            hosts.setdefault((words(peak.resource), value), {})[peak.host] = None
        sources = [
            f"{resource} of {listed(map(visible, of_value))} {value}"
            for (resource, value), of_value in hosts.items()
        ]
        if not sources:
            return ()
        more = f"; {len(sources) - _MOST_SOURCES} more" if len(sources) > _MOST_SOURCES else ""
        return (f"Theoretical: {'; '.join(sources[:_MOST_SOURCES])}{more}.",)

    def _limit(self, peaks: Sequence[Peak], value: float) -> Limit | NoLimit:
        if not math.isfinite(value) or value <= 0:
            return NoLimit(
                f"no theoretical value: {words(peaks[0].resource)} is {plain_number(value, 6)}"
            )
        self._used.update(dict.fromkeys(peaks))
        sources = dict.fromkeys(visible(peak.source) for peak in peaks)
        return Limit(value, peaks[0].unit, "; ".join(sources))


def _hosts(case: Case) -> list[str]:
    """Return the hosts that a case is measured on: both ends, or a group's members."""
    ends = (case.client, case.server) if case.server is not None else case.members or (case.client,)
    return list(dict.fromkeys(ends))


def _quantity(value: float, base: str) -> str:
    unit = best_unit(base, [value])
    per_unit = scale(unit, base)
    number = plain_number(value / float(per_unit or 1), 6)
    return f"{number} {unit}" if per_unit is not None else number
