"""What a testbed's file may say: hosts, links between two of them, switches among many."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic.config import JsonDict

from railgauge.base import units
from railgauge.plan.validation import StrictModel, Version, describe, matching

# Both are parts of a namespace's name, rg-TESTBED-HOST, so that a testbed's has no hyphen; programs
# there take it for their host's name, which has at most 64 characters.
_TESTBED = r"[A-Za-z0-9][A-Za-z0-9_]{0,29}"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,28}[A-Za-z0-9])?")
_THIS_NETWORK = ipaddress.IPv4Network("0.0.0.0/8")
_QUANTITY: JsonDict = {"type": ["string", "number"]}


def _host(text: str) -> str:
    if not _HOST.fullmatch(text):
        raise ValueError(
            f"{text[:80]!r} is no name of a host or switch in a testbed: "
            "write up to 30 letters, digits, '.' and '-'"
        )
    if text == "all":
        raise ValueError("'all' stands for all hosts in plans: choose another name")
    return text


def _label(text: str) -> str:
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > 100:
        raise ValueError(f"{text[:40]!r} can't be a name: write 1 to 100 visible characters")
    return text


def _network(text: str) -> str:
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError as error:
        raise ValueError(f"{error}: write for example 10.77.0.0/16") from None
    if network.prefixlen > 20:
        raise ValueError(f"{text} is too small: write a network of at least /20")
    for end in (network[0], network[-1]):
        _address(str(end))
    return text


def _address(text: str) -> str:
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        raise ValueError(f"{text[:80]!r} is no IPv4 address: write for example 10.77.0.1") from None
    # Traffic to 127.0.0.1 would be measured, but on the host that sends it.
    nobodys = address.is_loopback or address.is_multicast or address.is_reserved
    if nobodys or address in _THIS_NETWORK:
        raise ValueError(f"{text} is no other host's address: write for example 10.77.0.1")
    return str(address)


def _rate(value: Any) -> float:
    rate = units.parse_rate(value)
    if not 1000 <= rate <= 1e12:
        raise ValueError(f"{value!r} can't be shaped: write a rate from 1kbit/s to 1Tbit/s")
    return rate


def _time(value: Any) -> float:
    seconds = units.parse_time(value)
    if seconds > 60:
        raise ValueError(f"{value!r} is too long: write at most 60s")
    return seconds


def _queue(value: Any) -> int:
    size = units.parse_size(value)
    if not 1 <= size <= 2**30:
        raise ValueError(f"{value!r} is no queue's size: write from 1 byte to 1GiB")
    return size


def _share(value: Any) -> float:
    """Return a share of packets, written as a percentage or a number from 0 to 1."""
    text = str(value).strip()
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = -1.0
    if isinstance(value, bool) or not 0 < share <= 1:
        raise ValueError(f"{value!r} is no share of packets: write for example 0.1% or 0.001")
    return share


def _by_name(value: Any) -> Any:
    """Take a plain list of names for hosts of which nothing more is said."""
    if not isinstance(value, list):
        return value
    hosts: dict[str, Any] = {}
    for name in value:
        if not isinstance(name, str):
            raise ValueError(f"{describe(name)} stands where a host's name is wanted")
        if name in hosts:
            raise ValueError(f"host {name!r} is listed twice: drop one")
        hosts[name] = {}
    return hosts


def _shorthand(value: Any) -> Any:
    """Take `loss: 0.1%` for a random loss."""
    return value if isinstance(value, dict) else {"random": value}


def _list_too(schema: JsonDict) -> None:
    """Add to the schema what `_by_name` takes."""
    keys = ("type", "additionalProperties", "minProperties", "propertyNames")
    mapping: JsonDict = {key: schema.pop(key) for key in keys if key in schema}
    names: JsonDict = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    schema["anyOf"] = [names, mapping]


def _share_too(schema: JsonDict) -> None:
    """Add to the schema what `_shorthand` takes."""
    alternatives = schema.pop("anyOf")
    assert isinstance(alternatives, list)
    schema["anyOf"] = [dict(_QUANTITY), *alternatives]


Name = Annotated[str, AfterValidator(_host)]
Label = Annotated[str, AfterValidator(_label)]
Rate = Annotated[float | None, BeforeValidator(_rate), WithJsonSchema(_QUANTITY)]
Time = Annotated[float | None, BeforeValidator(_time), WithJsonSchema(_QUANTITY)]
Queue = Annotated[int | None, BeforeValidator(_queue), WithJsonSchema(_QUANTITY)]
Share = Annotated[float | None, BeforeValidator(_share), WithJsonSchema(_QUANTITY)]
Mtu = Annotated[int, Field(ge=576, le=65521)]
Count = Annotated[int, Field(ge=1, le=2**53)]


class PacketPattern(StrictModel):
    """Packets of a link, counted from 1 in each direction: the same ones every time.

    `every` N: each Nth; `list`: those numbers; `random`: this share of them, drawn by `seed`.
    `of` counts and picks packets of that protocol only, `direction` those of one direction.
    """

    every: Count | None = None
    list_: Annotated[list[Count] | None, Field(alias="list", min_length=1, max_length=1000)] = None
    random: Share = None
    seed: int = Field(default=1, ge=0, le=2**63 - 1)
    of: Literal["ip", "udp", "tcp"] = "ip"
    direction: Literal["both", "there", "back"] = "both"

    @model_validator(mode="after")
    def _single_pattern(self) -> PacketPattern:
        if [self.every, self.list_, self.random].count(None) != 2:
            raise ValueError("say one of 'every: N', 'list: [numbers]' and 'random: SHARE'")
        if self.random is None and "seed" in self.model_fields_set:
            raise ValueError("'seed' belongs to 'random': leave it out")
        return self


Pattern = Annotated[PacketPattern | None, BeforeValidator(_shorthand)]


class TestbedHost(StrictModel):
    """A host; `address` if it shall not be the next one of the testbed's network."""

    __test__ = False  # Not one of pytest's.

    address: Annotated[str, AfterValidator(_address)] | None = None


class TestbedLink(StrictModel):
    """A cable between two hosts.

    `rate` in bit/s for each direction; `rtt` or `delay` (one way) in s; `queue` in bytes before
    it, each way; which packets it loses (`loss`), sends on twice (`duplicate`) or lets the next one
    overtake (`reorder`); `name` for its first direction in the hosts file in place of `a→b`.
    """

    __test__ = False

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    name: Label | None = None
    rate: Rate = None
    rtt: Time = None
    delay: Time = None
    queue: Queue = None
    mtu: Mtu = 1500
    loss: Pattern = Field(default=None, json_schema_extra=_share_too)
    duplicate: Pattern = Field(default=None, json_schema_extra=_share_too)
    reorder: Pattern = Field(default=None, json_schema_extra=_share_too)

    @model_validator(mode="after")
    def _one_delay(self) -> TestbedLink:
        if self.rtt is not None and self.delay is not None:
            raise ValueError("'rtt' and 'delay' say the same (rtt is twice the delay): drop one")
        return self

    @model_validator(mode="after")
    def _same_packets(self) -> TestbedLink:
        if len({(pattern.of, pattern.direction) for pattern in self.patterns.values()}) > 1:
            raise ValueError(
                "a link counts its packets once: give 'loss', 'duplicate' and 'reorder' the same "
                "'of' and 'direction'"
            )
        return self

    @property
    def patterns(self) -> dict[str, PacketPattern]:
        """What happens to which packets: `loss`, `duplicate` and `reorder`, where there is any."""
        patterns = {"loss": self.loss, "duplicate": self.duplicate, "reorder": self.reorder}
        return {name: pattern for name, pattern in patterns.items() if pattern is not None}

    @property
    def one_way(self) -> float:
        """The delay of each direction in seconds."""
        return self.rtt / 2 if self.rtt is not None else self.delay or 0.0


class Port(StrictModel):
    """What is different about one host's cable to the switch."""

    rate: Rate = None
    delay: Time = None
    queue: Queue = None


class Switch(StrictModel):
    """A bridge with a cable to each host: `rate`, `delay` (one way) and `queue` of each.

    `ports` says what is different for single hosts, so that one can be made slow.
    """

    hosts: Annotated[list[str], Field(min_length=2)]
    rate: Rate = None
    delay: Time = None
    queue: Queue = None
    mtu: Mtu = 1500
    ports: dict[str, Port] = Field(default={})


class Testbed(StrictModel):
    """What `railgauge testbed up` builds."""

    __test__ = False

    railgauge_testbed: Version
    name: Annotated[
        str, matching(_TESTBED, "is no testbed's name: write up to 30 letters, digits and '_'")
    ]
    description: str = ""
    network: Annotated[str, AfterValidator(_network)] | None = None
    hosts: Annotated[dict[Name, TestbedHost], BeforeValidator(_by_name)] = Field(
        min_length=1, json_schema_extra=_list_too
    )
    links: list[TestbedLink] = Field(default=[])
    switches: dict[Name, Switch] = Field(default={})
