"""Ships the engines' sources to hosts and builds them there, once per content and file system.

On the host: `<cache>/railgauge/engines/<digest>-<machine>/build/`, where `<cache>` is
$XDG_CACHE_HOME or ~/.cache there and `<machine>` its architecture, for homes are shared.
A folder with that name is made under another name and renamed, so neither a crash nor a second
controller at the same time can leave a half of it. What was lost or changed there later shows by
the hashes in its file `built`, and it is built again. Of many hosts with one cache folder, who
makes that other folder first builds, and the others have what is built there.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from railgauge.base.assets import folder
from railgauge.base.errors import (
    BuildError,
    EngineError,
    EnvironmentFailedError,
    HostUnreachableError,
)
from railgauge.engine.build_all import STEPWISE, LineTaker
from railgauge.hosts.transport.archive import archive
from railgauge.hosts.transport.interface import Completed, Transport, run

# What a login shell may say first (a banner, a message of the day) comes before this.
_MARK = "railgauge-deploy:"
_LOOK_TIMEOUT = 30.0
_LAST_LINES = 12
# All sources in one file below their folder on the host.
PACKED = "sources.tar.gz"
_ENGINES = "the engines"

# Of all but objects, and of rail-mpi, which has its own (deploy_mpi.py).
_WHOLE = """
whole() { (cd "$1" && sha256sum -c built) >/dev/null 2>&1; }
"""

# $1 digest, $2 what marks the folder for the sources. Says `ready FOLDER`; `missing FOLDER`, and
# has made the folder for the sources if it could; or `shared FOLDER`: with who has made that.
# Reading the folder above has NFS ask its server what is there.
_LOOK = f"""{_WHOLE}
final=${{XDG_CACHE_HOME:-$HOME/.cache}}/railgauge/engines/$1-$(uname -m)
state=missing
for name in "${{final%/*}}"/*; do :; done
if whole "$final"; then state=ready
else case $final in /*)
    mkdir -p "${{final%/*}}" 2>/dev/null
    if ! mkdir "$final.$2" 2>/dev/null && [ -d "$final.$2" ]; then state=shared; fi
esac; fi
echo "{_MARK} $state $final"
"""

# $1 the sources' temporary folder, $2 the final one. What crashes left goes after a day; a make
# above us must not lend its flags; a compiler we never saw may warn of what it likes; programs of
# a damaged folder may still run, so it is moved away at once and then removed.
_BUILD = f"""{_WHOLE}{STEPWISE}
trap 'rm -rf "$1" "$1.old"' EXIT
find "${{2%/*}}" -maxdepth 1 -name '*.*' -mtime +1 -exec rm -rf {{}} +
command -v make >/dev/null || {{ echo "{_MARK} no-make"; exit 1; }}
gzip -dc "$1/{PACKED}" | tar -xmof - -C "$1" >&2 || {{ echo "{_MARK} packed"; exit 1; }}
rm -f "$1/{PACKED}"
unset MAKEFLAGS MFLAGS MAKELEVEL
stepwise -C "$1" BUILD=build MPICC= WARNINGS= || {{ echo "{_MARK} failed"; exit 1; }}
[ -d "$1/build" ] || {{ echo "{_MARK} nothing-built"; exit 1; }}
(cd "$1" && find . -type f ! -name '*.[do]' ! -name built -exec sha256sum {{}} + >built) || exit 1
if ! mv -T "$1" "$2" 2>/dev/null && ! whole "$2"; then
    mv -T "$2" "$1.old" && mv -T "$1" "$2" || whole "$2" || exit 1
fi
echo "{_MARK} built"
"""

_ADVICE = {
    "packed": "their sources can't be unpacked; make room, or install gzip and tar",
    "no-make": "there is no make; install make and a C compiler (Debian: build-essential)",
    "nothing-built": "make ended well but built nothing; report this as a bug of railgauge",
    "failed": "the build failed; install a C compiler (Debian: build-essential) if that is what "
    "the lines below complain about",
}


@dataclass(frozen=True, slots=True)
class Bundle:
    """The engines' sources: path below engines/ -> content, and a digest of both."""

    digest: str
    files: Mapping[str, bytes]

    def packed(self) -> bytes:
        """Return all files as an archive, compressed: a third to a fifth of their size."""
        return gzip.compress(archive(self.files), mtime=0)

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Bundle:
        """Bundle `files`, whatever their order."""
        digest = hashlib.sha256()
        for name in sorted(files):
            for part in (name.encode(), files[name]):
                digest.update(len(part).to_bytes(8, "big") + part)
        return cls(digest.hexdigest()[:32], dict(files))


def bundle() -> Bundle:
    """Return the sources of our own engines: all of engines/ but external/ and what was built."""
    root = folder("engines")
    files: dict[str, bytes] = {}
    for top, folders, names in os.walk(root):
        if Path(top) == root:
            folders[:] = [name for name in folders if name not in ("external", "build")]
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        for name in names:
            if name.endswith((".c", ".h", ".mk")) or name == "Makefile":
                path = Path(top) / name
                files[path.relative_to(root).as_posix()] = path.read_bytes()
    return Bundle.of(files)


@dataclass(frozen=True, slots=True)
class EnginesPlace:
    """The engines on one host: `ready`, `missing` or `shared`, the folder, that of the sources."""

    state: str
    final: str
    fresh: str


def deploy(
    transport: Transport,
    bundle: Bundle,
    *,
    timeout: float = 300.0,
    on_line: LineTaker = lambda _: None,
) -> str:
    """Return the absolute folder on the transport's host that holds the built engines.

    Ships and builds only what isn't there yet; one round trip if it is. `timeout` (seconds)
    bounds the build, `on_line` gets what make does, line by line. Raises BuildError, or
    HostUnreachableError when the host is lost.
    """
    place = look(transport, bundle, uuid.uuid4().hex)
    if place.state != "ready":
        ship(transport, bundle.packed(), place)
        build(transport, place, timeout, on_line)
    return f"{place.final}/build"


def look(transport: Transport, bundle: Bundle, mark: str) -> EnginesPlace:
    """Return where the engines are or are to be; hosts asked with one `mark` build once a cache."""
    looked = _shell(transport, _LOOK, (bundle.digest, mark), _LOOK_TIMEOUT)
    state, _, final = _answer(looked).partition(" ")
    if not final.startswith("/"):
        problem = "its cache folder isn't an absolute path; mend HOME or XDG_CACHE_HOME there"
        raise failure(transport.host, _ENGINES, problem, looked.stderr)
    return EnginesPlace(state, final, f"{final}.{mark}")


def ship(transport: Transport, packed: bytes, place: EnginesPlace) -> None:
    """Send a bundle's sources, `packed`."""
    try:
        transport.put({PACKED: packed}, place.fresh)
    except HostUnreachableError:
        raise
    except EnvironmentFailedError as error:
        _shell(transport, 'rm -rf "$1"', (place.fresh,), _LOOK_TIMEOUT)
        raise BuildError(
            f"{error} (the engines' sources go there; XDG_CACHE_HOME on the host moves the cache)"
        ) from error


def build(
    transport: Transport,
    place: EnginesPlace,
    timeout: float = 300.0,
    on_line: LineTaker = lambda _: None,
) -> None:
    """Build the sources that were shipped; `on_line` gets what make does, line by line."""
    built = _shell(transport, _BUILD, (place.fresh, place.final), timeout, on_line)
    answer = _answer(built)
    if answer != "built":
        problem = _ADVICE.get(answer, f"can't make the folder {place.final}")
        raise failure(transport.host, _ENGINES, problem, built.stderr)


def _shell(
    transport: Transport,
    script: str,
    arguments: tuple[str, ...],
    timeout: float,
    on_line: LineTaker = lambda _: None,
) -> Completed:
    command = ["sh", "-c", script, "railgauge", *arguments]
    try:
        return run(transport, command, timeout=timeout, on_line=on_line)
    except TimeoutError as error:
        raise BuildError(
            f"{error}; it was about to build the engines: log in and see how busy the host is "
            "and whether its home folder answers"
        ) from error
    except EngineError as error:
        raise BuildError(f"building the engines failed: {error}") from error


def _answer(completed: Completed) -> str:
    """Return what our script said after its mark, "" if it said nothing."""
    for line in reversed(completed.stdout.splitlines()):
        if line.startswith(_MARK):
            return line.removeprefix(_MARK).strip()
    return ""


def failure(host: str, program: str, problem: str, stderr: str) -> BuildError:
    """Return the error that `program` can't be built, with the last lines of what make wrote."""
    last = stderr.strip().splitlines()[-_LAST_LINES:]
    message = f"{host}: can't build {program}: {problem}"
    return BuildError("\n".join([message, *(f"    {line}" for line in last)]))
