"""A log's counters by their families: from `cpu/0/user` to the CPU 0 and its `user`."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.base.systemlog import SystemLog


class Counters:
    """What one host's kernel counted, looked up by family. Counters that didn't move are 0."""

    def __init__(self, log: SystemLog) -> None:
        self.log = log
        self._counts = _families(log.counts)
        self._gauges = _families(log.gauges)

    def counts(self, family: str) -> Mapping[str, int]:
        """Return the counts of a family, by the rest of their names."""
        return self._counts.get(family, {})

    def gauges(self, family: str) -> Mapping[str, int]:
        """Return the gauges of a family, by the rest of their names."""
        return self._gauges.get(family, {})

    def members(self, family: str) -> dict[str, dict[str, int]]:
        """Return the counts of a family by its members: `1 -> {processed: 7}` of `softnet`."""
        members: dict[str, dict[str, int]] = {}
        for name, number in self.counts(family).items():
            member, _, counter = name.rpartition("/")
            members.setdefault(member, {})[counter] = number
        return members


def by_number(name: str) -> tuple[int, int, str]:
    """Return what sorts `2` before `10`, and both before names."""
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)


def _families(values: Mapping[str, int]) -> dict[str, dict[str, int]]:
    families: dict[str, dict[str, int]] = {}
    for name, number in values.items():
        family, _, rest = name.partition("/")
        families.setdefault(family, {})[rest] = number
    return families
