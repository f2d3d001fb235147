"""Turns a file's text for a parameter into a value in base units."""

from __future__ import annotations

import re
from decimal import Decimal

from railgauge.plan.catalogue import ParameterInfo, Value
from railgauge.plan.catalogue.imported import ImportedParameter

_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_SUFFIXED = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", re.ASCII)


def imported_value(info: ParameterInfo, description: ImportedParameter, text: str) -> Value:
    """Return the value that `text` stands for; ValueError says why it stands for none."""
    if description.values:
        if text not in description.values:
            raise ValueError(
                f"{text!r} is not known here: known are {', '.join(description.values)}"
            )
        return description.values[text]
    if description.units:
        return info.parse(f"{_base(text, description)}{info.unit}")
    return parse_number(info, text, description.unit)


def parse_number(info: ParameterInfo, text: str, unit: str) -> Value:
    """Return the value of a text in that unit; ValueError says why it has none."""
    if info.type == "int" and _WHOLE.fullmatch(text):
        return info.parse(int(text))
    # 50m and s would be 50ms, and 4k and B 4000, though 4k is 4096.
    if unit and text[-1:].isalpha():
        raise ValueError(
            f"{text!r} has a unit already, and the column's is {unit}: say one of them"
        )
    return info.parse(f"{text}{unit}")


def _base(text: str, description: ImportedParameter) -> str:
    """Return a number with a suffix as text in the base unit that a plan can have."""
    match = _SUFFIXED.fullmatch(text)
    if match is None or match[2] not in description.units:
        suffixes = ", ".join(repr(suffix) for suffix in description.units)
        raise ValueError(f"{text!r} is no number with a suffix that is known here: {suffixes}")
    return f"{Decimal(match[1]) * Decimal(repr(description.units[match[2]])):f}"
