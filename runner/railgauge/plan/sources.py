"""A file that hosts, groups and links are written in, and what is found wrong in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from railgauge.base.errors import Problem
from railgauge.base.suggestion import suggest_or_list
from railgauge.plan.equipment import Equipment
from railgauge.plan.links import WrittenLink
from railgauge.plan.yamlfile import Document

# Of more names than these nobody waits for the nearest.
_COMPARED = 20_000


@dataclass(frozen=True, slots=True)
class PlanSource:
    """A plan or hosts file, and the groups, links and equipment it writes."""

    document: Document
    groups: Mapping[str, Sequence[str]]
    links: Mapping[str, WrittenLink]
    equipment: Mapping[str, Equipment] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def report(self, message: str, *loc: str | int, key: bool = False) -> None:
        """Note a problem at `loc`, or at its key."""
        self.problems.append(self.document.problem(loc, message, key=key))

    def place(self, *loc: str | int, seen_from: PlanSource) -> str:
        """Return where a key stands: `line 7`, or of another file its name with the line."""
        line = self.document.problem(loc, "", key=True).line
        return f"line {line}" if self is seen_from else f"{self.document.path}:{line}"


def unknown(kind: str, name: str, names: Mapping[str, Any]) -> str:
    """Return the sentence about a name that isn't known."""
    compared = islice(names, _COMPARED)
    return f"unknown {kind} {name!r}{suggest_or_list(name, sorted(compared), most=10)}"
