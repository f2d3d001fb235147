"""With which settings a test measured: what its plan asked for, and what was granted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.plan.cases import Case, Value
from railgauge.report.tables.selection import make_axes
from railgauge.store.counts import LaunchSettings
from railgauge.store.records import PlannedCase

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

# Of a setting with more values only their number is given.
_MOST_VALUES = 6
# Settings of a single connection, which say nothing of how it was measured.
_OF_A_CONNECTION = frozenset(
    {
        "address",
        "clock_offset",
        "clock_offset_error",
        "control_rtt",
        "port",
        "ports",
        "target",
        "target_port",
        "tcp_address",
    }
)


def settings(
    cases: Sequence[PlannedCase], launches: LaunchSettings | None, catalogue: Catalogue | None
) -> Iterator[str]:
    """Yield which parameters all cases of a test share, which vary, and what was granted."""
    yield from _parameters(cases, catalogue)
    if launches is not None:
        yield from _in_effect(launches)


def distinct_parameters(cases: Iterable[PlannedCase]) -> Collection[Case]:
    """Return a case for each set of parameters: a matrix's 100,000s of pairs share one object."""
    return {id(planned.case.parameters): planned.case for planned in cases}.values()


def _parameters(cases: Sequence[PlannedCase], catalogue: Catalogue | None) -> Iterator[str]:
    distinct_cases = distinct_parameters(cases)
    names = dict.fromkeys(name for case in distinct_cases for name in case.parameters)
    engines = list(dict.fromkeys(case.engine for case in distinct_cases))
    axes = make_axes(names, {}, engines, catalogue)
    fixed, varied = [], []
    for name, axis in axes.items():
        values = {case.parameters.get(name) for case in distinct_cases}
        if len(values) == 1:
            fixed.append(f"{visible(name)} {axis.text(values.pop())}")
        else:
            varied.append(visible(name))
    parts = [f"Fixed parameters: {', '.join(sorted(fixed))}"] if fixed else []
    if varied:
        parts.append(f"{'varied' if fixed else 'Varied parameters'}: {', '.join(sorted(varied))}")
    if parts:
        yield f"{'; '.join(parts)}."


def _in_effect(launches: LaunchSettings) -> Iterator[str]:
    """Yield which settings the engines had: the same at both ends, and each end's own."""
    client, server = (_texts(side) for side in (launches.client, launches.server))
    common = {name: text for name, text in client.items() if server.get(name) == text}
    sides = {
        "both ends": common,
        "client": {name: text for name, text in client.items() if name not in common},
        "server": {name: text for name, text in server.items() if name not in common},
    }
    parts = [
        f"{side} {', '.join(f'{name} {text}' for name, text in sorted(texts.items()))}"
        for side, texts in sides.items()
        if texts
    ]
    if parts:
        yield f"Settings in effect: {'; '.join(parts)}."


def _texts(side: Mapping[str, Mapping[Value, None]]) -> dict[str, str]:
    """Return each setting that was made: an empty one, such as no CPU to run on, was not."""
    return {
        visible(name): _text(values)
        for name, values in side.items()
        if name not in _OF_A_CONNECTION and set(values) != {""}
    }


def _text(values: Mapping[Value, None]) -> str:
    if len(values) > _MOST_VALUES:
        return f"of {len(values)} values"
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    return " or ".join(visible(text) or "(empty)" for text in texts)
