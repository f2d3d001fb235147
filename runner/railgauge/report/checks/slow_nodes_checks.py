"""What is checked in each list of slow nodes against the engines it may show."""

from __future__ import annotations

from collections.abc import Iterator

from railgauge.base.errors import Problem
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.yamlfile import Document
from railgauge.report.checks.checking import Checker, Place
from railgauge.report.definition.definition_model import SlowNodesSpec


class SlowNodesChecker(Checker):
    """Checks one list of slow nodes."""

    def __init__(
        self, document: Document, place: Place, listing: SlowNodesSpec, catalogue: Catalogue
    ) -> None:
        super().__init__(document, place, catalogue, listing.select, listing.axes)
        self._listing = listing

    def problems(self) -> Iterator[Problem]:
        """Yield everything that is wrong with the list."""
        yield from super().problems()
        yield from self._axis_list("each", self._listing.each, set())
        yield from self._metric((), self._listing.metric, "median", self._listing.unit)
