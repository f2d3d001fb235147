"""Turns what a file tells of a parameter into a value in base units."""

from __future__ import annotations

import re
from decimal import Decimal

from railgauge.plan.catalogue import ParameterInfo, Value
from railgauge.plan.catalogue.imported import ImportedParameter

_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_SUFFIXED = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", re.ASCII)


def told_value(info: ParameterInfo, told: ImportedParameter, text: str) -> Value:
    """Return the value that `text` stands for; ValueError says why it stands for none."""
    if told.values:
        if text not in told.values:
            raise ValueError(f"{text!r} is not known here: known are {', '.join(told.values)}")
        return told.values[text]
    if told.units:
        return info.parse(f"{_base(text, told)}{info.unit}")
    if info.type == "int" and _WHOLE.fullmatch(text):
        return info.parse(int(text))
    return info.parse(f"{text}{told.unit}")


def _base(text: str, told: ImportedParameter) -> str:
    """Return a number with a suffix as text in the base unit that a plan can have."""
    match = _SUFFIXED.fullmatch(text)
    if match is None or match[2] not in told.units:
        known = ", ".join(repr(suffix) for suffix in told.units)
        raise ValueError(f"{text!r} is no number with a suffix that is known here: {known}")
    return f"{Decimal(match[1]) * Decimal(repr(told.units[match[2]])):f}"
