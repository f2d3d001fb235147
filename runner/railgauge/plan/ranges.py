"""Ranges, which stand for a list in a grid: `{from: 0us, to: 20us, step: 0.1us}` and its like.

A `step` is added, a `factor` multiplied by, from `from` up to and including `to`. Fractions are
exact, so the third value of steps of 0.1us is the 0.3us that a list would have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from railgauge.base.suggestion import suggest
from railgauge.plan.catalogue import ParameterInfo, Value

if TYPE_CHECKING:
    from railgauge.plan.validation import Reporter

MAX_VALUES = 100_000
_KEYS = ("from", "to", "step", "factor")
_NUMERIC = ("size", "time", "rate", "int")


def read_range(info: ParameterInfo, written: Mapping[str, Any], report: Reporter) -> list[Value]:
    """Return the values of the range `written` for `info`, in base units; empty if it is wrong.

    Problems are reported at keys of the range, or at none: at all of it.
    """
    if info.type not in _NUMERIC:
        report(f"{info.name!r} takes no numbers, so there is no range of it: write a list")
        return []
    sound = _check_keys(written, report)
    unbounded = replace(info, name="step", min=None, max=None)
    kinds = {"from": info, "to": info, "step": unbounded, "factor": ParameterInfo("", "int", min=2)}
    numbers: dict[str, Fraction] = {}
    for key in written.keys() & kinds.keys():
        try:
            # Of a float the shortest decimal that is it: what was written, if that has 15 digits.
            numbers[key] = Fraction(repr(kinds[key].parse(written[key])))
        except ValueError as error:
            report(f"{key!r}: {error}", key)
            sound = False
    if not sound:
        return []
    expand = _by_step if "step" in numbers else _by_factor
    return [_value(info, value) for value in expand(info, numbers, report)]


def _check_keys(written: Mapping[str, Any], report: Reporter) -> bool:
    sound = True
    for key in written:
        if key not in _KEYS:
            hint = suggest(key, _KEYS) or f": known here are {', '.join(_KEYS)}"
            report(f"unknown key {key!r}{hint}", key, key=True)
            sound = False
    for key in ("from", "to"):
        if key not in written:
            report(f"the key {key!r} is missing here: add it")
            sound = False
    if sound and ("step" in written) == ("factor" in written):
        report("a range has either a 'step' to add or a 'factor' to multiply by: write one of them")
        sound = False
    return sound


def _by_step(
    info: ParameterInfo, numbers: Mapping[str, Fraction], report: Reporter
) -> list[Fraction]:
    first, last, step = numbers["from"], numbers["to"], numbers["step"]
    if step <= 0:
        report("'step' has to be more than 0", "step")
        return []
    if not _check_order(info, first, last, report):
        return []
    steps = (last - first) // step
    if steps >= MAX_VALUES:
        message = f"the range has {steps + 1:,} values, more than {MAX_VALUES:,}: take larger steps"
        report(message, "step")
        return []
    values = [first + step * index for index in range(steps + 1)]
    return values if _check_end(info, values[-1], last, report) else []


def _by_factor(
    info: ParameterInfo, numbers: Mapping[str, Fraction], report: Reporter
) -> list[Fraction]:
    first, last, factor = numbers["from"], numbers["to"], numbers["factor"]
    if first <= 0:
        report("'from' has to be more than 0, or no 'factor' leads away from it", "from")
        return []
    if not _check_order(info, first, last, report):
        return []
    values = [first]
    while values[-1] * factor <= last:
        values.append(values[-1] * factor)
    return values if _check_end(info, values[-1], last, report) else []


def _check_order(info: ParameterInfo, first: Fraction, last: Fraction, report: Reporter) -> bool:
    if first > last:
        message = f"{_show(info, last)} is less than 'from', {_show(info, first)}: swap the two"
        report(f"'to': {message}", "to")
    return first <= last


def _check_end(info: ParameterInfo, end: Fraction, last: Fraction, report: Reporter) -> bool:
    """Report a range that misses its end, as nobody knows whether that end was meant."""
    if end != last:
        message = f"{_show(info, last)} is never reached, the value before it is {_show(info, end)}"
        report(f"'to': {message}: write that, or go on otherwise", "to")
    return end == last


def _value(info: ParameterInfo, value: Fraction) -> int | float:
    return int(value) if info.type in ("size", "int") else float(value)


def _show(info: ParameterInfo, value: Fraction) -> str:
    return info.format(_value(info, value))
