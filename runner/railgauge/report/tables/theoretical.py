"""What a case's hosts can do at most: finds the value that a cell shows or is held against."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.base.number import best_unit, scale
from railgauge.hosts.peaks import LINK_RATE, Peak, missing_peak_reason
from railgauge.plan.cases import Case
from railgauge.plan.peaks import RESOURCES
from railgauge.report.tables.axes import Placed, axis_value
from railgauge.report.tables.notes import listed, words

# An axis whose value is part of a resource's name: cpu_{precision}.
BRACED = re.compile(r"\{([^{}]*)\}")
# What both ends of a link have a part in, and all members of a group.
_SHARED = "network"
# What the hosts of a group have together.
_ADDED = re.compile(r"cpu_\w+|memory")
_MOST_TOLD = 8


@dataclass(frozen=True, slots=True)
class Limit:
    """A theoretical value, in its base unit, and where it comes from."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class NoLimit:
    """Why there is none, as a sentence's beginning."""

    why: str


class Theoretical:
    """Finds theoretical values by run and host, and keeps account of those that were used."""

    def __init__(
        self,
        peaks: Mapping[int, Iterable[Peak]],
        facts: Mapping[int, Mapping[str, Mapping[str, str]]],
    ) -> None:
        self._peaks = {
            (run, one.host, one.resource): one for run, those in peaks.items() for one in those
        }
        self._facts = facts
        self._used: dict[Peak, None] = {}

    def of(self, template: str, one: Placed) -> Limit | NoLimit:
        """Return what the hosts of the case of `one` can do at most of the resource `template`.

        A part in braces stands for the case's value on that axis. Of a link's or a group's
        `network` it is what the worst host's allows, unless there is one of the link itself. The
        hosts of a group compute and reach their memory together, so those values are added.
        """
        lacking = [name for name in BRACED.findall(template) if axis_value(one, name) is None]
        if lacking:
            return NoLimit(f"no theoretical value: {', '.join(lacking)} isn't told")
        resource = BRACED.sub(lambda match: _plain(axis_value(one, match[1])), template)
        if resource not in RESOURCES:
            return NoLimit(f"no theoretical value: there is no resource {visible(resource)}")
        shared = resource.startswith(_SHARED)
        on_link = one.case.server is not None
        own = self._peaks.get((one.run, one.case.link, LINK_RATE))
        if own is not None and on_link and resource == "network":
            return self._limit([own], own.value)
        hosts = _hosts(one.case)
        if len(hosts) > 1 and not shared and (on_link or _ADDED.fullmatch(resource) is None):
            return NoLimit(
                f"no theoretical value: {words(resource)} is of one host, not of {len(hosts)}"
            )
        found = {host: self._peaks.get((one.run, host, resource)) for host in hosts}
        known = [peak for peak in found.values() if peak is not None]
        if len(known) < len(found):
            return self._unknown(one.run, resource, [host for host in hosts if not found[host]])
        if on_link and shared and len(hosts) == 1 and known[0].from_facts:
            return NoLimit(
                "no theoretical value: what a host sends to itself doesn't leave by the interface"
                " whose speed was found; declare one in the hosts file"
            )
        values = [peak.value for peak in known]
        if not shared:
            return self._limit(known, math.fsum(values))
        return self._limit(known, max(values) if known[0].unit == "s" else min(values))

    def _unknown(self, run: int, resource: str, hosts: Sequence[str]) -> NoLimit:
        facts = self._facts.get(run, {}).get(hosts[0])
        why = missing_peak_reason(resource, facts) if facts else ""
        return NoLimit(
            f"no theoretical value of {words(resource)} is known of {listed(map(visible, hosts))}"
            + (f": {visible(why)}" if why else "")
        )

    def sentences(self) -> tuple[str, ...]:
        """Return where each of the values that were used comes from, those alike together."""
        alike: dict[str, dict[str, None]] = {}
        for peak in self._used:
            told = f"{_quantity(peak.value, peak.unit)} ({visible(peak.source)})"
            place = f"{words(peak.resource)} of {{}} {told}"
            alike.setdefault(place, {})[peak.host] = None
        # The words of a source may hold braces of their own, so no format().
        places = [
            text.replace("{}", listed(map(visible, hosts)), 1) for text, hosts in alike.items()
        ]
        if not places:
            return ()
        more = f"; {len(places) - _MOST_TOLD} more" if len(places) > _MOST_TOLD else ""
        return (f"Theoretical: {'; '.join(places[:_MOST_TOLD])}{more}.",)

    def _limit(self, peaks: Sequence[Peak], value: float) -> Limit | NoLimit:
        if not math.isfinite(value) or value <= 0:
            return NoLimit(f"no theoretical value: {words(peaks[0].resource)} is {value:g}")
        self._used.update(dict.fromkeys(peaks))
        sources = dict.fromkeys(visible(peak.source) for peak in peaks)
        return Limit(value, peaks[0].unit, "; ".join(sources))


def _hosts(case: Case) -> list[str]:
    """Return the hosts that a case is measured on: both ends, or a group's members."""
    ends = (case.client, case.server) if case.server is not None else case.members or (case.client,)
    return list(dict.fromkeys(ends))


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quantity(value: float, base: str) -> str:
    unit = best_unit(base, [value])
    per_unit = scale(unit, base)
    return f"{value / float(per_unit):.6g} {unit}" if per_unit is not None else f"{value:.6g}"
