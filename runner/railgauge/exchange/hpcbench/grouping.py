"""Which replications of a run become one output of Hpcbench's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railgauge.exchange.hpcbench.file_names import safe_name
from railgauge.plan.cases import Case, varying
from railgauge.plan.catalogue import Catalogue
from railgauge.store.records import PlannedCase

# The modes of rail-udp whose layout Hpcbench's samples show.
_MODES = ("stream", "bidirectional", "latency")


@dataclass(frozen=True, slots=True)
class OutputGroup:
    """What becomes one output: a case's replications or, mode exponential, a series of sizes.

    `rows` are a case and the number of its replication each. `mode` is empty where Hpcbench has
    no layout for such a test.
    """

    mode: str
    name: str
    rows: tuple[tuple[Case, int], ...]


def parts(cases: Sequence[PlannedCase], catalogue: Catalogue) -> Iterator[OutputGroup]:
    """Yield the parts of one test's cases in their order, with names that may not be unique."""
    names = [name for name in varying(planned.case for planned in cases) if name != "mode"]
    several_links = len({planned.case.link for planned in cases}) > 1
    groups: dict[object, list[PlannedCase]] = {}
    for planned in cases:
        groups.setdefault(_all_but_size(planned.case), []).append(planned)
    several_modes = len({planned.case.parameters.get("mode") for planned in cases}) > 1
    for group in groups.values():
        words = [cases[0].test]
        if several_links:
            words.append(group[0].case.link)
        if several_modes:
            words.append(str(group[0].case.parameters["mode"]))
        if _is_series(group):
            yield from _series(
                group, [*words, *_texts(group[0].case, names, catalogue, "datagram")]
            )
            continue
        for planned in group:
            name = safe_name([*words, *_texts(planned.case, names, catalogue)])
            rows = tuple((planned.case, number) for number in range(1, planned.replications + 1))
            yield OutputGroup(_mode(planned.case), name, rows)


def _mode(case: Case) -> str:
    mode = str(case.parameters.get("mode", ""))
    return mode if case.engine == "udp" and mode in _MODES else ""


def _all_but_size(case: Case) -> object:
    parameters = {name: value for name, value in case.parameters.items() if name != "datagram"}
    return case.engine, case.link, case.client, case.server, frozenset(parameters.items())


def _is_series(cases: Sequence[PlannedCase]) -> bool:
    """Return whether these are the sizes of mode exponential: 1, 2, 4 … and a last one."""
    sizes = [planned.case.parameters.get("datagram") for planned in cases]
    if len(sizes) < 2 or _mode(cases[0].case) != "stream":
        return False
    doubling = [2**number for number in range(len(sizes) - 1)]
    last = sizes[-1]
    return (
        sizes[:-1] == doubling and isinstance(last, int) and 0 < last - doubling[-1] <= doubling[-1]
    )


def _series(cases: Sequence[PlannedCase], words: Sequence[str]) -> Iterator[OutputGroup]:
    """Yield an output for each replication of the series: Hpcbench went through it once."""
    most = max(planned.replications for planned in cases)
    for number in range(1, most + 1):
        name = safe_name([*words, *([f"r{number}"] if most > 1 else [])])
        yield OutputGroup("exponential", name, tuple((planned.case, number) for planned in cases))


def _texts(
    case: Case, names: Sequence[str], catalogue: Catalogue, without: str = ""
) -> Iterator[str]:
    engine = catalogue.engines.get(case.engine)
    for name in names:
        if name in case.parameters and name != without:
            info = engine.parameters.get(name) if engine else None
            value = case.parameters[name]
            yield f"{name}={info.format(value) if info else value}"
