"""How lists call a case: by its test, link, and the parameters in which those of a test differ."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.plan.cases import Case
from railgauge.report.tables.selection import make_axes
from railgauge.store.records import StoredRun

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue


class CaseNames:
    """Calls the cases of one run."""

    def __init__(self, run: StoredRun, catalogue: Catalogue | None) -> None:
        self._run = run
        self._catalogue = catalogue
        self._varying: dict[str, list[str]] | None = None

    def name(self, test: str, case: Case) -> str:
        """Return `stream, gw→hh, datagram 4KiB`."""
        parts = [visible(test), visible(case.link), self.differing(test, case)]
        return ", ".join(part for part in parts if part)

    def differing(self, test: str, case: Case) -> str:
        """Return the parameters in which the test's cases differ: `datagram 4KiB, wait 12us`."""
        if self._varying is None:
            self._varying = _varying(self._run)
        texts = dict(parameter_texts(case, self._catalogue))
        names = self._varying.get(test, [])
        return ", ".join(
            f"{name.replace('_', ' ')} {texts[name]}" for name in names if name in texts
        )


def telling(case: Case, catalogue: Catalogue, also: Collection[str] = ()) -> list[str]:
    """Return the parameters that aren't as the engine has them by itself, and those in `also`."""
    engine = catalogue.engines.get(case.engine)
    known = engine.parameters if engine else {}
    return [
        name
        for name, value in case.parameters.items()
        if name in also or name not in known or known[name].default != value
    ]


def parameter_texts(case: Case, catalogue: Catalogue | None) -> list[tuple[str, str]]:
    """Return the case's parameters as a plan would write them."""
    axes = make_axes(case.parameters, {}, [case.engine], catalogue)
    return [(name, axes[name].text(value)) for name, value in case.parameters.items()]


def _varying(run: StoredRun) -> dict[str, list[str]]:
    # Of a matrix's hundred thousands of pairs the parameters are one object.
    parameters = {(one.test, id(one.case.parameters)): one.case.parameters for one in run.cases}
    seen: dict[str, dict[str, set[object]]] = {}
    for (test, _), those in parameters.items():
        values = seen.setdefault(test, {})
        for name, value in those.items():
            values.setdefault(name, set()).add(value)
    return {
        test: [name for name, different in values.items() if len(different) > 1]
        for test, values in seen.items()
    }
