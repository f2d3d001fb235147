"""The names of cases in lists: test, link, and the parameters in which a test's cases differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.plan.cases import Case, varying
from railgauge.report.tables.selection import make_axes
from railgauge.store.records import StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue


class CaseNames:
    """Names the cases of one run."""

    def __init__(self, run: StoredRun, catalogue: Catalogue | None) -> None:
        self._run = run
        self._catalogue = catalogue
        self._varying: dict[str, tuple[str, ...]] | None = None

    def name(self, test: str, case: Case) -> str:
        """Return `stream, gw→hh, datagram 4KiB`."""
        parts = [visible(test), visible(case.link), self.differing(test, case)]
        return ", ".join(part for part in parts if part)

    def differing(self, test: str, case: Case) -> str:
        """Return the parameters in which the test's cases differ: `datagram 4KiB, wait 12us`."""
        if self._varying is None:
            self._varying = _varying(self._run)
        texts = dict(parameter_texts(case, self._catalogue))
        names = self._varying.get(test, ())
        return ", ".join(
            f"{name.replace('_', ' ')} {texts[name]}" for name in names if name in texts
        )


def parameter_texts(case: Case, catalogue: Catalogue | None) -> list[tuple[str, str]]:
    """Return the case's parameters as a plan would write them."""
    axes = make_axes(case.parameters, {}, [case.engine], catalogue)
    return [(name, axes[name].text(value)) for name, value in case.parameters.items()]


def _varying(run: StoredRun) -> dict[str, tuple[str, ...]]:
    # Of a matrix's hundred thousands of pairs the parameters are one object.
    cases = {(planned.test, id(planned.case.parameters)): planned.case for planned in run.cases}
    by_test: dict[str, list[Case]] = {}
    for (test, _), case in cases.items():
        by_test.setdefault(test, []).append(case)
    return {test: varying(of_test) for test, of_test in by_test.items()}
