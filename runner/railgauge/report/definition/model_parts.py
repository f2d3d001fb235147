"""What all parts of a report definition have in common: names, values, selections, axes."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from railgauge.plan.cases import Value
from railgauge.plan.validation import StrictModel, describe


def _scalar(value: object) -> Value:
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{describe(value)} can't be a value: write text, a number, true or false")


def _selection(value: object) -> Value | list[Value]:
    return [_scalar(member) for member in value] if isinstance(value, list) else _scalar(value)


# Plain validators, as a union's own errors would name each of its members.
_A_VALUE = {"type": ["string", "number", "boolean"]}
Scalar = Annotated[Value, PlainValidator(_scalar), WithJsonSchema(_A_VALUE)]
Selection = Annotated[
    Value | list[Value],
    PlainValidator(_selection),
    WithJsonSchema({"anyOf": [_A_VALUE, {"items": _A_VALUE, "type": "array"}]}),
]
Text = Annotated[str, PlainValidator(lambda value: str(_scalar(value))), WithJsonSchema(_A_VALUE)]


_STEM = r"[a-z0-9][a-z0-9-]{0,63}"


def _stem(text: str) -> str:
    if re.fullmatch(_STEM, text) is None:
        raise ValueError(
            f"{text!r} can't name a file, a LaTeX label and an HTML anchor at once:"
            " use a-z, 0-9 and '-', at most 64 of them, such as table-1"
        )
    return text


Stem = Annotated[
    str,
    AfterValidator(_stem),
    WithJsonSchema({"pattern": f"^{_STEM}$", "type": "string"}),
]


_LENGTH = r"([0-9]+(?:\.[0-9]+)?) ?(cm|mm)"
_LEAST_WIDTH, _MOST_WIDTH = 5, 50


def _width(value: object) -> float:
    length = re.fullmatch(_LENGTH, value) if isinstance(value, str) else None
    width = 0.0 if length is None else float(length[1]) / (10 if length[2] == "mm" else 1)
    if not _LEAST_WIDTH <= width <= _MOST_WIDTH:
        raise ValueError(
            f"{describe(value)} can't be how wide a picture is: write it in cm or mm, from"
            f" {_LEAST_WIDTH}cm to {_MOST_WIDTH}cm, such as 8.5cm"
        )
    return width


# In cm.
Width = Annotated[
    float,
    PlainValidator(_width),
    WithJsonSchema({"pattern": f"^{_LENGTH}$", "type": "string"}),
]


class AxisSpec(StrictModel):
    """How an axis reads: its title, other texts for some of its values, and their order.

    `order` are the values that come first, in that order; `sort` arranges the rest
    (`appearance`: as the run had them).
    """

    title: str = ""
    labels: dict[str, Text] = Field(default_factory=dict)
    order: list[Scalar] = Field(default_factory=list)
    sort: Literal["ascending", "descending", "appearance"] | None = None
