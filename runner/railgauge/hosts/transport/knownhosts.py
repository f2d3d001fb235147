"""Whether a host's key is the known one. Nothing is ever added.

known_hosts files are read here and not by paramiko, which knows neither patterns nor revoked keys
nor two keys of a type, and needs quadratic time for a cluster's thousands of lines.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import paramiko
from paramiko.hostkeys import HostKeys
from paramiko.pkey import PKey, UnknownKeyType

from railgauge.base.errors import HostKeyError
from railgauge.hosts.transport.sshconfig import VARIABLE, SshOptions

_REVOKED = "@revoked"


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A line of a known_hosts file that speaks of the host; `place` is its file:line."""

    key: PKey
    revoked: bool
    place: str


class KnownKeys(paramiko.MissingHostKeyPolicy):
    """What the user's known_hosts files say of one host; refuses every other key."""

    def __init__(self, host: str, options: SshOptions) -> None:
        self._host = host
        self._options = options
        plain = options.key_name or options.hostname
        self._name = plain
        if options.port != 22 and not options.key_name:
            self._name = f"[{plain}]:{options.port}"
        self._keys = list(_find(options, self._name))
        # As ssh does: a key known without the port is good, but a differing one says nothing.
        self._portless = list(_find(options, plain)) if plain != self._name else []

    def preferred(self, algorithms: tuple[str, ...]) -> tuple[str, ...]:
        """Return `algorithms` with those of the known keys first, so that the host shows one."""
        types = {entry.key.get_name() for entry in (*self._keys, *self._portless)}

        def unknown(algorithm: str) -> bool:
            return ("ssh-rsa" if algorithm.startswith("rsa-sha2-") else algorithm) not in types

        return tuple(sorted(algorithms, key=unknown))

    def missing_host_key(self, client: object, hostname: str, key: PKey) -> None:
        """Raise HostKeyError unless `key` is known. paramiko asks here, as we give it no keys."""
        matches = [entry for entry in (*self._keys, *self._portless) if entry.key == key]
        fingerprint = f"{key.get_name()} {key.fingerprint}"
        for entry in matches:
            if entry.revoked:
                raise HostKeyError(
                    f"{self._host}: the ssh host key of {self._name} ({fingerprint}) is revoked in "
                    f"{entry.place}; give the machine a new key"
                )
        if matches:
            return
        valid = [entry for entry in self._keys if not entry.revoked]
        if valid:
            raise HostKeyError(self._changed(fingerprint, valid[0].place))
        raise HostKeyError(self._unknown(fingerprint))

    def _unknown(self, fingerprint: str) -> str:
        options = self._options
        files = " ".join(map(str, options.known_hosts)) or "no file"
        target = options.known_hosts[0] if options.known_hosts else "~/.ssh/known_hosts"
        scan = f"ssh-keyscan -p {options.port} {options.hostname} >> {target}"
        advice = f"log in once by hand with `{_ssh(options)}` and compare the fingerprint"
        if not options.jumps and not options.proxy_command and not options.key_name:
            advice += f", or, if you trust the network, `{scan}`"
        return (
            f"{self._host}: the ssh host key of {self._name} ({fingerprint}) is unknown; {advice} "
            f"(looked for it in {files})"
        )

    def _changed(self, fingerprint: str, place: str) -> str:
        file = place.rpartition(":")[0]
        return (
            f"{self._host}: the ssh host key of {self._name} ({fingerprint}) is not the one in "
            f"{place}; either the machine was reinstalled or somebody stands in between. If you "
            f"know it was reinstalled: `ssh-keygen -R '{self._name}' -f {file}`, then log in once "
            f"by hand with `{_ssh(self._options)}`"
        )


def _ssh(options: SshOptions) -> str:
    """Return the command by which a user reaches the destination by hand."""
    chosen = os.environ.get(VARIABLE)
    destination = options.destination
    if ":" in destination and not destination.startswith("ssh://"):
        destination = f"ssh://{destination}"
    return f"ssh -F {chosen} {destination}" if chosen else f"ssh {destination}"


def _find(options: SshOptions, name: str) -> Iterator[KnownKey]:
    """Yield the keys that the known_hosts files have for `name`."""
    for path in options.known_hosts:
        try:
            lines = path.read_text(errors="replace").splitlines()
        except OSError:
            continue  # Most users lack some of them.
        for number, line in enumerate(lines, 1):
            if entry := _parse(line, name, f"{path}:{number}"):
                yield entry


def _parse(line: str, name: str, place: str) -> KnownKey | None:
    """Return the key on `line` if it is one for `name` of a kind that paramiko knows."""
    fields = line.split()
    marker = fields.pop(0) if fields and fields[0].startswith("@") else ""
    if len(fields) < 3 or fields[0].startswith("#") or marker not in ("", _REVOKED):
        return None
    patterns, kind, encoded = fields[:3]
    if not _matches(patterns, name.lower()):
        return None
    try:
        key = PKey.from_type_string(kind, base64.b64decode(encoded))
    except (binascii.Error, UnknownKeyType, paramiko.SSHException, ValueError):
        return None
    return KnownKey(key, marker == _REVOKED, place)


def _matches(patterns: str, name: str) -> bool:
    matched = False
    for pattern in patterns.split(","):
        if pattern.startswith("|1|"):
            matched = matched or _matches_hash(pattern, name)
        elif pattern.startswith("!"):
            if _matches_wildcard(pattern[1:], name):
                return False
        else:
            matched = matched or _matches_wildcard(pattern, name)
    return matched


def _matches_hash(pattern: str, name: str) -> bool:
    try:
        return HostKeys.hash_host(name, pattern) == pattern
    except (AssertionError, IndexError, ValueError):
        return False  # no salt to speak of


def _matches_wildcard(pattern: str, name: str) -> bool:
    if "*" not in pattern and "?" not in pattern:
        return pattern.lower() == name
    regex = re.escape(pattern.lower()).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(regex, name) is not None
