"""What opens a device's SNMP agent, read from where a hosts file says that it stands."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from railgauge.base.errors import InputError
from railgauge.plan.equipment import KeyPlace, Snmp
from railgauge.plan.yamlfile import why_unreadable

# RFC 3414, 11.2; agents refuse shorter ones.
_SHORTEST_KEY = 8
_LONGEST_KEY = 1024
_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Credentials:
    """A community, or a version 3 user's keys; not shown by `repr`."""

    community: str = field(default="", repr=False)
    authentication_key: str = field(default="", repr=False)
    privacy_key: str = field(default="", repr=False)


def read_credentials(device: str, snmp: Snmp) -> Credentials:
    """Return what opens the agent of `device`; InputError where one can't be had."""
    if isinstance(snmp.community, str):
        return Credentials(community=snmp.community)
    return Credentials(
        _read(device, "community", snmp.community, shortest=1),
        _read(device, "authentication key", snmp.authentication_key),
        _read(device, "privacy key", snmp.privacy_key),
    )


def _read(device: str, kind: str, place: KeyPlace | None, shortest: int = _SHORTEST_KEY) -> str:
    if place is None:
        return ""
    subject = f"the {kind} of equipment {device!r}"
    if place.env is not None:
        location = f"the environment variable {place.env}"
        text = os.environ.get(place.env)
        if text is None:
            raise InputError(f"{location}, with {subject}, is not set: export it")
    else:
        location = str(place.path)
        text = _first_line(place.path, subject)
    if not shortest <= len(text) <= _LONGEST_KEY:
        message = f"{subject}, in {location}, has {len(text)} characters, but SNMP wants at least"
        raise InputError(f"{message} {shortest} and no more than {_LONGEST_KEY}: mend it")
    return text


def _first_line(path: Path, subject: str) -> str:
    if reason := why_unreadable(path):
        raise InputError(f"{path}, with {subject}, {reason}")
    try:
        with path.open("rb") as stream:
            if os.fstat(stream.fileno()).st_mode & _OTHERS:
                message = f"{path}, with {subject}, can be read by others"
                raise InputError(f"{message}: chmod 600 {path}")
            return stream.readline(4 * _LONGEST_KEY + 2).decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"{path}, with {subject}, is not UTF-8 text: save it as such") from None
    except OSError as error:
        raise InputError(f"{path}, with {subject}, can't be read: {error.strerror}") from error
