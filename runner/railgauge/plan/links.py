"""Links: single ones, and as they are written, one by one or as a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from railgauge.base.suggestion import suggest
from railgauge.plan.equipment import DevicePort
from railgauge.plan.fields import Label, Labels, Members, Rate, Time
from railgauge.plan.patterns import OF_HOSTS
from railgauge.plan.validation import StrictModel

ALL = "all"
_EXAMPLES = {"star": "{star: {centre: gw1}}", "between": "{between: [rackA, rackB]}"}
_PATTERNS = (*OF_HOSTS, *_EXAMPLES)
_ONE_KIND: JsonValue = [
    {"required": [*keys]} for keys in (("from", "to"), *((pattern,) for pattern in _PATTERNS))
]


@dataclass(frozen=True, slots=True)
class Link:
    """An ordered pair of hosts; `rate` in bit/s and `rtt` in seconds, where they are known.

    On a `network`, both hosts' addresses there are used, else their plain ones. `path` are the
    ports of equipment that it takes, from the client on, where they are known.
    """

    client: str
    server: str
    rate: float | None = None
    rtt: float | None = None
    network: str | None = None
    path: tuple[DevicePort, ...] = ()


def _between_ends(stops: list[str]) -> list[str]:
    if len(stops) < 2:
        raise ValueError("a path leads from one host to another: write [gw1, 'switchA:17', hh1]")
    return stops


def _two_or_more(names: list[str]) -> list[str]:
    if len(names) < 2:
        raise ValueError("links are between two hosts or groups, or more: name another")
    return names


class Star(StrictModel):
    """Links of each of the `hosts` with the one in the centre, both ways."""

    centre: Label
    hosts: Members = Field(default=[ALL])


class WrittenLink(StrictModel):
    """A link as it is written, or a pattern of links, each of which has that rate and RTT.

    Members are hosts or groups. All pairs are those in both directions, a ring leads from each
    host to the next, and `between` connects the hosts of each member with those of the others.
    The `path` of a single link names the ports of equipment on it between its two hosts.
    """

    model_config = ConfigDict(json_schema_extra={"oneOf": _ONE_KIND})

    client: Label | None = Field(default=None, alias="from")
    server: Label | None = Field(default=None, alias="to")
    all_pairs: Members | None = Field(default=None, alias="all-pairs")
    ring: Members | None = None
    star: Star | None = None
    between: Annotated[Labels, AfterValidator(_two_or_more)] | None = None
    rate: Rate = None
    rtt: Time = None
    network: Label | None = None
    networks: Labels | None = None
    path: Annotated[Labels, AfterValidator(_between_ends)] | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> WrittenLink:
        ends = [self.client, self.server]
        patterns = [key for key in _PATTERNS if self.pattern(key) is not None]
        if len(patterns) + (ends != [None, None]) != 1:
            *names, last = map(repr, _PATTERNS)
            raise ValueError(
                f"a link has 'from' and 'to', or is a pattern: {', '.join(names)} or {last}: "
                "write one of these"
            )
        if ends.count(None) == 1:
            missing = "from" if self.client is None else "to"
            raise ValueError(f"the key {missing!r} is missing here: add it")
        if self.network is not None and self.networks is not None:
            raise ValueError("'network' is one and 'networks' a list of them: keep one of the two")
        if self.path is not None and not self.single:
            raise ValueError("'path' is of one link: write that with 'from' and 'to'")
        return self

    def pattern(self, key: str) -> Any:
        """Return what stands under a pattern's key, None where that isn't there."""
        return getattr(self, key.replace("-", "_"))

    @property
    def single(self) -> bool:
        """Whether this is one link, whose name is the one it is written under."""
        return self.client is not None and self.networks is None


def _pattern_of_all(value: Any) -> Any:
    """Return what a pattern's bare name stands for."""
    if not isinstance(value, str):
        return value
    if value in OF_HOSTS:
        return {value: [ALL]}
    if value in _EXAMPLES:
        raise ValueError(f"the pattern {value!r} needs to know of whom: write {_EXAMPLES[value]}")
    hint = suggest(value, _PATTERNS)
    hint = hint or ": write {from: HOST, to: HOST}, or a pattern such as all-pairs"
    raise ValueError(f"{value[:80]!r} is no pattern of links{hint}")


def _as_written(value: Any, _: ValidatorFunctionWrapHandler) -> WrittenLink:
    """Validate the value as what may be written alone, whatever stands there later."""
    return WrittenLink.model_validate(value)


# What stands under `links`: as written, and in a plan that is loaded the single links.
LinkEntry = Annotated[
    WrittenLink | Annotated[Link, SkipJsonSchema()],
    WrapValidator(_as_written),
    BeforeValidator(
        _pattern_of_all,
        json_schema_input_type=WrittenLink
        | Annotated[str, Field(json_schema_extra={"enum": [*OF_HOSTS]})],
    ),
]
