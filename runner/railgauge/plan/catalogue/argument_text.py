"""How a parameter's value is written on the command line of an external program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from railgauge.base import units

# A parameter's value in base units: bytes (int), seconds or bit/s (float), or what it plainly is.
Value = int | float | str | bool


def plain(value: Value) -> str:
    """Return `value` as programs read it: base units without a name, true or false."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def bare(text: str) -> Value:
    """Return what YAML makes of `text` without quotes: true or false, a whole number, or text."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.removeprefix("-").isdecimal() else text


@dataclass(frozen=True, slots=True)
class Written:
    """A number goes out in `unit` ("": the base unit), if `whole` without decimals.

    `special` values are written as is said there, whatever the unit.
    """

    unit: str = ""
    whole: bool = False
    special: Mapping[Value, str] = field(default_factory=dict)

    def text(self, value: Value) -> str:
        """Return `value` as the program wants it; ValueError where it can't be said exactly."""
        if value in self.special:
            return self.special[value]
        if isinstance(value, bool | str) or not (self.unit or self.whole):
            return plain(value)
        scale = Decimal(repr(units.DISPLAY[self.unit][1])) if self.unit else Decimal(1)
        # The shortest text that reads back as this double: 2.9 ms is that, and not its neighbour.
        base = Decimal(repr(value))
        number = base / scale
        if number * scale != base or (self.whole and number != number.to_integral_value()):
            kind = "a whole number" if self.whole else "a number with an end"
            unit = self.unit or "the unit"
            raise ValueError(
                f"it is no multiple of {unit}, which its program is given: {kind} of {unit} is "
                "wanted"
            )
        text = f"{number:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
