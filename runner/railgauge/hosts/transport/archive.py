"""Files for a host as one tar archive, and the command that unpacks it there."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping

from railgauge.base.errors import EnvironmentFailedError
from railgauge.hosts.transport.interface import Exit

# $1 is a folder; the files come as a tar archive.
_UNPACK = (
    'case $1 in "~/"*) set -- "$HOME/${1#"~/"}";; esac; mkdir -p "$1" && exec tar -xmof - -C "$1"'
)


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return a tar archive of `files` (path -> content)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def unpack_command(directory: str) -> list[str]:
    """Return the command that unpacks an archive from its standard input below `directory`."""
    return ["sh", "-c", _UNPACK, "sh", directory]


def write_failed(host: str, directory: str, ended: Exit) -> EnvironmentFailedError:
    """Return what to raise when that command failed."""
    reason = " ".join(ended.stderr.split()) or f"status {ended.status}"
    return EnvironmentFailedError(
        f"{host}: can't write to {directory}: {reason[-300:]}; "
        "make room or make the folder writable"
    )


def write_timed_out(host: str, directory: str, seconds: float) -> EnvironmentFailedError:
    """Return what to raise when it has not ended after `seconds`."""
    return EnvironmentFailedError(
        f"{host}: writing to {directory} took more than {seconds:g} s; "
        "see whether that disk answers"
    )
