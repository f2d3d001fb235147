"""What cases are called: their link, and the parameters in which the cases of their test differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from railgauge.base.characters import visible
from railgauge.plan.cases import Case, ExpandedTest, parameter_value, shown_parameters, varying

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue, ParameterInfo, Value

BETWEEN = " · "


class HasCase(Protocol):
    """What is of a case of a test."""

    @property
    def test(self) -> str: ...  # noqa: D102
    @property
    def case(self) -> Case: ...  # noqa: D102


class NamedCase(NamedTuple):
    """A case and its test."""

    test: str
    case: Case


class CaseNames:
    """Names the cases of a plan's tests, of which `cases` are all.

    A name has what differs between the cases of its test, defaults included: what they share is
    said once, elsewhere. Names are free of acting characters.
    """

    def __init__(self, cases: Iterable[HasCase], catalogue: Catalogue | None) -> None:
        self._cases, self._catalogue = cases, catalogue

    def case(self, source: HasCase) -> str:
        """Return the case's name within its test: `gw→gw · datagram 1460 · sockbuf 1MiB`."""
        return BETWEEN.join(filter(None, (visible(source.case.link), self._differing(source))))

    def with_test(self, source: HasCase) -> str:
        """Return `stream: gw→gw · datagram 1460 · sockbuf 1MiB`."""
        return f"{visible(source.test)}: {self.case(source)}"

    def _differing(self, source: HasCase) -> str:
        case = source.case
        infos = _infos(case, self._catalogue)
        # In whatever order the cases came.
        places = {name: place for place, name in enumerate(infos)}
        axes = sorted(
            self.axes.get(source.test, ()), key=lambda name: (places.get(name, len(places)), name)
        )
        return BETWEEN.join(
            f"{visible(name)} {value_text(value, infos.get(name))}"
            for name in axes
            if (value := parameter_value(case, name)) is not None
        )

    @cached_property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """The parameters in which the cases of each test differ."""
        by_test: dict[str, list[Case]] = {}
        for source in self._cases:
            by_test.setdefault(source.test, []).append(source.case)
        return {test: tuple(sorted(varying(cases))) for test, cases in by_test.items()}


def of_tests(tests: Iterable[ExpandedTest]) -> list[NamedCase]:
    """Return all cases of the tests."""
    return [NamedCase(expanded.test.name, case) for expanded in tests for case in expanded.cases]


def parameter_texts(case: Case, catalogue: Catalogue | None) -> list[tuple[str, str]]:
    """Return the case's parameters as a plan would write them."""
    infos = _infos(case, catalogue)
    return [
        (visible(name), value_text(value, infos.get(name)))
        for name, value in shown_parameters(case).items()
    ]


def value_text(value: Value, info: ParameterInfo | None) -> str:
    """Return a parameter's value as a plan would write it, as far as `info` gives its unit."""
    if info is not None:
        text = info.format(value)
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    return visible(text) or "(empty)"


def _infos(case: Case, catalogue: Catalogue | None) -> Mapping[str, ParameterInfo]:
    engine = catalogue.engines.get(case.engine) if catalogue else None
    return engine.parameters if engine else {}
