"""With which settings a test measured: what its plan asked for, and what was granted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.characters import visible
from railgauge.plan.cases import Value
from railgauge.report.tables.selection import make_axes
from railgauge.store.counts import LaunchSettings
from railgauge.store.records import PlannedCase

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue

# Of a setting with more values their number is told.
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
    """Say which parameters all cases of a test have in common, which vary, and what was granted."""
    yield from _parameters(cases, catalogue)
    if launches is not None:
        yield from _in_effect(launches)


def _parameters(cases: Sequence[PlannedCase], catalogue: Catalogue | None) -> Iterator[str]:
    # Of a matrix's hundred thousands of pairs the parameters are one object.
    every = {id(one.case.parameters): one.case for one in cases}.values()
    names = dict.fromkeys(name for case in every for name in case.parameters)
    axes = make_axes(names, {}, list(dict.fromkeys(case.engine for case in every)), catalogue)
    fixed, varied = [], []
    for name, axis in axes.items():
        values = {case.parameters.get(name) for case in every}
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
    """Say which settings the engines had: the same at both ends, and each end's own."""
    client, server = (_texts(side) for side in (launches.client, launches.server))
    both = {name: text for name, text in client.items() if server.get(name) == text}
    sides = {
        "both ends": both,
        "client": {name: text for name, text in client.items() if name not in both},
        "server": {name: text for name, text in server.items() if name not in both},
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
