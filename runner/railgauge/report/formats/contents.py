"""What a report shows, in its order: texts, tables, figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.characters import visible
from railgauge.report.definition.model import Spec, TextSpec
from railgauge.report.figures.plotfile import DrawnFigure
from railgauge.report.tables.table import Table

_SPACES = re.compile(r"[ \t\n]+")
_BETWEEN = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text between tables and figures; `heading` may be empty."""

    name: str
    heading: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportPart:
    """What stands at one place of a report: one of the three. A figure's own table follows it."""

    passage: Passage | None = None
    table: Table | None = None
    drawn: DrawnFigure | None = None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that stand here."""
        own = self.drawn.figure.content.table if self.drawn is not None else self.table
        return () if own is None else (own,)


def passage(spec: TextSpec) -> Passage:
    """Return a definition's text with its paragraphs apart and every character showing."""
    paragraphs = (_SPACES.sub(" ", one).strip() for one in _BETWEEN.split(spec.text))
    heading = visible(_SPACES.sub(" ", spec.heading).strip())
    return Passage(spec.name, heading, tuple(visible(one) for one in paragraphs if one))


def arranged(spec: Spec, shown: Mapping[str, Iterable[ReportPart]]) -> list[ReportPart]:
    """Return the parts in the definition's order; `shown` has those of each name it uses."""
    return [part for name in spec.contents or _as_they_stand(spec) for part in shown[name]]


def _as_they_stand(spec: Spec) -> Sequence[str]:
    kinds = (spec.texts, spec.tables, spec.slow_nodes, spec.figures)
    return [one.name for those in kinds for one in those]
