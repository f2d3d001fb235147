"""Switches and routers whose counters are read, and how to ask them by SNMP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from railgauge.base import units
from railgauge.plan.fields import Address, Label
from railgauge.plan.validation import StrictModel, describe, matching

_LONGEST_WAIT = 300.0
# What RFC 3414, RFC 3826 and RFC 7860 call them. No RFC has AES with longer keys: they are made as
# Blumenthal's draft has it or, with -C, as Reeder's, which Cisco and most others use.
Authentication = Literal["MD5", "SHA", "SHA-224", "SHA-256", "SHA-384", "SHA-512"]
Privacy = Literal["DES", "AES", "AES-192", "AES-256", "AES-192-C", "AES-256-C"]


def _file(text: str) -> str:
    if not text.isprintable() or not text.startswith(("/", "~/")):
        raise ValueError(
            f"{text[:80]!r} is no absolute file name: begin it with / or ~/, as this text is kept "
            "with every run and may be read anywhere"
        )
    return text


def _device(text: str) -> str:
    if ":" in text:
        raise ValueError(
            f"{text[:40]!r} has a ':', which stands before a port in a path: leave it out"
        )
    return text


def _community(text: str) -> str:
    if not text or not text.isprintable() or len(text) > 255:
        raise ValueError(
            "a community is 1 to 255 visible characters: write it as the switch has it"
        )
    return text


def _settle(value: Any) -> float:
    wait = units.parse_time(value)
    if wait > _LONGEST_WAIT:
        raise ValueError(f"{value!r} is too long a wait for each replication: write at most 5min")
    return wait


_Variable = Annotated[
    str,
    matching(
        r"[A-Za-z_][A-Za-z0-9_]{0,99}",
        "is no environment variable's name: write it without '$', as RAIL_AUTH",
    ),
]


class KeyPlace(StrictModel):
    """Where a key stands that isn't written here: an environment variable, or a file's first line.

    The text of plans and hosts files is stored with every run, so no key may be in it.
    """

    env: _Variable | None = None
    file: Annotated[str, AfterValidator(_file)] | None = None

    @model_validator(mode="after")
    def _check_place(self) -> KeyPlace:
        if (self.env is None) == (self.file is None):
            raise ValueError("say one of 'env: VARIABLE' and 'file: ~/.config/railgauge/NAME.key'")
        return self

    @property
    def path(self) -> Path:
        """The file, with the user's home folder for `~`."""
        return Path(self.file or "").expanduser()


def _key_place(value: Any, to_place: ValidatorFunctionWrapHandler) -> Any:
    if isinstance(value, str):
        raise ValueError(
            "a key may not stand here, as this text is stored with every run: write "
            "{env: VARIABLE} or {file: ~/.config/railgauge/NAME.key}"
        )
    return to_place(value)


def _text_or_place(value: Any, _: ValidatorFunctionWrapHandler) -> str | KeyPlace:
    if isinstance(value, str):
        return _community(value)
    if not isinstance(value, dict):
        raise ValueError(
            f"{describe(value)} is no community: write it as text (in quotes), {{env: VARIABLE}} "
            "or {file: NAME}"
        )
    return KeyPlace.model_validate(value)


_Key = Annotated[KeyPlace, WrapValidator(_key_place)]


class Snmp(StrictModel):
    """How to ask by SNMP: version 2c with a community, or version 3 as a user.

    Without `authentication` a version 3 user needs no key, and without `privacy` nothing that is
    said is encrypted.
    """

    version: Literal["2c", 3]
    community: Annotated[KeyPlace | str, WrapValidator(_text_or_place)] | None = None
    user: Annotated[Label, Field(max_length=32)] | None = None
    authentication: Authentication | None = None
    authentication_key: _Key | None = None
    privacy: Privacy | None = None
    privacy_key: _Key | None = None
    context: Annotated[Label, Field(max_length=32)] | None = None

    @model_validator(mode="after")
    def _check_version(self) -> Snmp:
        fields_set = self.model_fields_set - {"version"}
        if self.version == "2c":
            if excess := sorted(fields_set - {"community"}):
                raise ValueError(
                    f"{excess[0]!r} belongs to 'version: 3': leave it out, or say that"
                )
            if self.community is None:
                raise ValueError("'version: 2c' needs a community: add 'community: public', say")
            return self
        if "community" in fields_set:
            raise ValueError("'community' belongs to 'version: 2c': write a 'user', or say that")
        if self.user is None:
            raise ValueError("'version: 3' needs a user: add 'user'")
        for name in ("authentication", "privacy"):
            if (getattr(self, name) is None) != (getattr(self, f"{name}_key") is None):
                raise ValueError(f"'{name}' and '{name}_key' go together: add the other")
        if self.privacy is not None and self.authentication is None:
            raise ValueError("SNMP has no privacy without authentication: add 'authentication'")
        return self


class Equipment(StrictModel):
    """A switch or router with an SNMP agent.

    `settle` seconds after the traffic its counters are up to date: most devices bring them up to
    date every few seconds only, and what is read before that is too old.
    """

    address: Address
    port: int = Field(default=161, ge=1, le=65535)
    snmp: Snmp
    settle: Annotated[float, BeforeValidator(_settle), WithJsonSchema({"type": "string"})] = Field(
        default=10.0, json_schema_extra={"default": "10s"}
    )


@dataclass(frozen=True, slots=True)
class DevicePort:
    """A port of a device: `interface` is its ifIndex, or its ifName, ifDescr or ifAlias."""

    device: str
    interface: str

    def __str__(self) -> str:
        """Return it as it is written: `switchA:17`."""
        return f"{self.device}:{self.interface}"


Device = Annotated[Label, AfterValidator(_device)]
