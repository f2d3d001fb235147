"""The kinds of values in plans and hosts files: names, addresses, rates, lists of values."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic.config import JsonDict

from railgauge.base import units
from railgauge.base.hostlist import is_hostlist
from railgauge.plan.validation import Scalar, describe, matching

_HOST_NAME = re.compile(r"(?!.*\.[0-9]+\.?$)[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})")
_DESTINATION = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?"
    r"(?P<host>[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


def _label(text: str) -> str:
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > 100:
        raise ValueError(
            f"{text[:40]!r} can't be a name: write 1 to 100 visible characters, "
            "without spaces around them"
        )
    return text


def _address(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        if not _HOST_NAME.fullmatch(text):
            raise ValueError(
                f"{text[:80]!r} is neither an IP address nor a host's name: "
                "write for example 10.1.0.1, fd00::1 or node7.example.org"
            ) from None
    return text


def _destination(text: str) -> str:
    match = _DESTINATION.fullmatch(text)
    if match is None or not 1 <= int(match["port"] or 22) <= 65535:
        raise ValueError(
            f"{text[:80]!r} is no destination for ssh: write [user@]host[:port], "
            "as in gw1.example.org or me@[fd00::1]:2222"
        )
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/") or not text.isprintable():
        raise ValueError(f"{text[:80]!r} is no absolute folder: write for example /opt/openmpi")
    return text


def _rate(value: Any) -> float:
    rate = units.parse_rate(value)
    if not rate:
        raise ValueError(f"{value!r} is no link's rate: write more than 0, or leave it out")
    return rate


def _one_or_more(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError("the list is empty: name a value, or leave the key out")
    for scalar in values:
        if scalar is None or isinstance(scalar, dict | list):
            raise ValueError(f"{describe(scalar)} stands where a value or a list of them is wanted")
    return values


def _not_empty(values: list[Any]) -> list[Any]:
    if not values:
        raise ValueError("the list is empty: give it a value, or leave the key out")
    return values


def _hostlist_to_list(value: Any) -> Any:
    return [value] if isinstance(value, str) and is_hostlist(value) else value


def _list_or_range(value: Any, to_list: ValidatorFunctionWrapHandler) -> Any:
    """Leave a range alone: only its parameter knows what the values in it may be."""
    return value if isinstance(value, dict) else to_list(value)


Label = Annotated[str, AfterValidator(_label)]
Labels = Annotated[list[Label], AfterValidator(_not_empty)]
# Hosts and groups: a list of names and hostlists, or one hostlist alone.
_Hostlist = Annotated[str, Field(pattern=r"\[", description="a hostlist, as n[1-4,7]")]
Members = Annotated[
    Labels, BeforeValidator(_hostlist_to_list, json_schema_input_type=Labels | _Hostlist)
]
_SCALAR: JsonDict = {"type": ["string", "number", "boolean"]}
_NUMBER: JsonDict = {"type": ["string", "number"]}
# A list of values or, as a dict, a range (plan/ranges.py).
Axis = Annotated[
    list[Scalar],
    AfterValidator(_not_empty),
    WrapValidator(_list_or_range),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": _SCALAR, "minItems": 1},
                {
                    "type": "object",
                    "properties": {
                        "from": {"description": "the first value", **_NUMBER},
                        "to": {"description": "the last value", **_NUMBER},
                        "step": {"description": "what is added each time", **_NUMBER},
                        "factor": {
                            "description": "what is multiplied by each time",
                            "type": "integer",
                            "minimum": 2,
                        },
                    },
                    "required": ["from", "to"],
                    "oneOf": [{"required": ["step"]}, {"required": ["factor"]}],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
OneOrMore = Annotated[
    Any,
    AfterValidator(_one_or_more),
    WithJsonSchema({"type": ["string", "number", "boolean", "array"]}),
]
_Quantity = WithJsonSchema({"type": "string"})
Rate = Annotated[float | None, BeforeValidator(_rate), _Quantity]
Time = Annotated[float | None, BeforeValidator(units.parse_time), _Quantity]
Slug = Annotated[
    str,
    matching(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
        "is no plan's name: write letters, digits, '.', '_' and '-'",
    ),
]
Address = Annotated[str, AfterValidator(_address)]
Destination = Annotated[str, AfterValidator(_destination)]
Namespace = Annotated[
    str,
    matching(
        r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}",
        "is no network namespace's name: write it as `ip netns list` shows it",
    ),
]
Folder = Annotated[str, AfterValidator(_absolute)]
