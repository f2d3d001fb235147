"""What the user's ssh configuration says about a destination.

Read are ~/.ssh/config and /etc/ssh/ssh_config, or, as `ssh -F` does, only the file that
RAILGAUGE_SSH_CONFIG names. paramiko parses them; added here: Include, known hosts files,
HostKeyAlias, IdentitiesOnly, and every hop of ProxyJump in ssh's order. Not honoured: choices of
ciphers, key exchanges and algorithms, CertificateFile, an IdentityAgent other than `none`, and
whatever would accept an unknown host key (StrictHostKeyChecking no or accept-new).
"""

from __future__ import annotations

import getpass
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import paramiko
from paramiko.config import SSHConfigDict
from paramiko.ssh_exception import ConfigParseError, CouldNotCanonicalize

from railgauge.base.errors import HostUnreachableError
from railgauge.hosts.transport.interface import advice

VARIABLE = "RAILGAUGE_SSH_CONFIG"
_SYSTEM = Path("/etc/ssh")
_DEEPEST_INCLUDE = 16
_BLOCK = re.compile(r"\s*(host|match)\b", re.IGNORECASE)
_INCLUDE = re.compile(r"\s*include(?:\s*=\s*|\s+)(.+)", re.IGNORECASE)
_TIME_PART = re.compile(r"(\d+)([smhdw]?)", re.IGNORECASE)
_TIME = re.compile(rf"(?:{_TIME_PART.pattern})+", re.IGNORECASE)
# RuntimeError is pathlib's of a home folder that nobody has.
_SENSELESS = (ConfigParseError, CouldNotCanonicalize, OSError, ValueError, KeyError, RuntimeError)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DESTINATION = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@]+)@)?"
    r"(?:\[(?P<v6>[^][]+)\]|(?P<host>[^]:[@/]+)|(?P<bare_v6>[^]:[@/]*(?::[^]:[@/]*){2,}))"
    r"(?(bare_v6)|(?::(?P<port>\d+))?)/?"
)


@dataclass(frozen=True, slots=True)
class SshOptions:
    """How to reach a destination. `jumps` come before it, first hop first; times in seconds.

    `identity_files` may not exist; without `other_identities` no key but those may be tried.
    `alive_interval` is None where the configuration leaves it to us.
    """

    destination: str
    hostname: str
    port: int
    user: str
    identity_files: tuple[str, ...]
    other_identities: bool
    agent: bool
    known_hosts: tuple[Path, ...]
    key_name: str
    connect_timeout: float
    alive_interval: float | None
    jumps: tuple[str, ...]
    proxy_command: str | None


def resolve(destination: str, *, jumps: tuple[str, ...] | None = None) -> SshOptions:
    """Return how to reach `destination`: `[user@]host[:port]`, an IPv6 address in brackets.

    `jumps` replaces the configured ones. Raises HostUnreachableError if the configuration or the
    destination makes no sense.
    """
    user, host, port = _split(destination)
    try:
        settings = _config().lookup(host)
        return _options(destination, host, user, port, settings, jumps)
    except _SENSELESS as error:
        remedy = advice(error, f"mend ~/.ssh/config (or the file that {VARIABLE} names)")
        raise HostUnreachableError(
            f"can't make sense of the ssh configuration for {destination}: {error}; {remedy}"
        ) from error


def _split(destination: str) -> tuple[str | None, str, int | None]:
    match = _DESTINATION.fullmatch(destination)
    if not match:
        raise HostUnreachableError(
            f"{destination!r} is no ssh destination; write host, user@host or user@host:port"
        )
    host = match["v6"] or match["host"] or match["bare_v6"]
    return match["user"], host, int(match["port"]) if match["port"] else None


def _options(
    destination: str,
    host: str,
    user: str | None,
    port: int | None,
    settings: SSHConfigDict,
    jumps: tuple[str, ...] | None,
) -> SshOptions:
    hostname = settings["hostname"]
    login = user or settings.get("user") or getpass.getuser()
    number = int(settings.get("port", 22)) if port is None else port
    # The resolver would take it for that of its lower 16 bits.
    if not 0 < number < 2**16:
        raise ValueError(f"{number} is no port")
    tokens = {"d": str(Path.home()), "h": hostname, "n": host, "p": str(number), "r": login}
    proxy_command = settings.get("proxycommand")
    identity_files = tuple(settings.get("identityfile", []))
    return SshOptions(
        destination=destination,
        hostname=hostname,
        port=number,
        user=login,
        identity_files=identity_files,
        other_identities=settings.get("identitiesonly", "no") != "yes" or not identity_files,
        agent=settings.get("identityagent", "").lower() != "none",
        known_hosts=_known_hosts(settings, tokens),
        key_name=settings.get("hostkeyalias", ""),
        connect_timeout=_seconds(settings.get("connecttimeout", "10")),
        alive_interval=_seconds(settings.get("serveraliveinterval", "0")) or None,
        jumps=_jumps(settings) if jumps is None else jumps,
        proxy_command=_expand(proxy_command, tokens) if proxy_command else None,
    )


def _seconds(text: str) -> float:
    """Return a time as ssh writes it, `90` or `1m30s`, in seconds."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"{text!r} is no time")
    return float(
        sum(int(number) * _UNITS[unit.lower()] for number, unit in _TIME_PART.findall(text))
    )


def _jumps(settings: SSHConfigDict) -> tuple[str, ...]:
    value = settings.get("proxyjump", "none")
    return () if value.lower() == "none" else tuple(hop.strip() for hop in value.split(","))


def _known_hosts(settings: SSHConfigDict, tokens: dict[str, str]) -> tuple[Path, ...]:
    user = settings.get("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2")
    everyones = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
    system = settings.get("globalknownhostsfile", everyones)
    names = [name for name in shlex.split(f"{user} {system}") if name.lower() != "none"]
    return tuple(Path(_expand(name, tokens)).expanduser() for name in names)


def _expand(text: str, tokens: dict[str, str]) -> str:
    """Replace ssh's %h, %p and so on; a token we don't know stays."""
    replacements = {**tokens, "%": "%"}
    return re.sub(r"%(.)", lambda match: replacements.get(match[1], match[0]), text)


def _config() -> paramiko.SSHConfig:
    chosen = os.environ.get(VARIABLE)
    home = Path.home() / ".ssh"
    if chosen:
        if not Path(chosen).is_file():
            raise OSError(f"there is no file {chosen}")
        lines = list(_read(Path(chosen), home, 0))
    else:
        lines = [*_read(home / "config", home, 0), "Host *"]
        lines += _read(_SYSTEM / "ssh_config", _SYSTEM, 0)
    return paramiko.SSHConfig.from_text("\n".join(lines))


def _read(path: Path, folder: Path, depth: int) -> Iterator[str]:
    """Yield the lines of `path` with what it includes in place; `folder` is for relative names."""
    if depth > _DEEPEST_INCLUDE:
        raise ValueError(f"{path} is included too deeply, or includes itself")
    if not path.is_file():
        return
    block = "Host *"
    for line in path.read_text().splitlines():
        if _BLOCK.match(line):
            block = line
        if include := _INCLUDE.match(line):
            for pattern in shlex.split(include[1], comments=True):
                for name in _matching(pattern, folder):
                    yield from _read(name, folder, depth + 1)
            yield block  # what follows belongs to it again
        else:
            yield line


def _matching(pattern: str, folder: Path) -> list[Path]:
    whole = folder / Path(pattern).expanduser()
    return sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
