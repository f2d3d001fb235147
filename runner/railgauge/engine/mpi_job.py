"""How an MPI job is started: one rank or more on each host, in the order of the hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from railgauge.engine.deploy_mpi import MpiInstallation
from railgauge.schedulers import launching

# As root Open MPI wants this said twice; whoever starts railgauge as root meant it. And a rank of
# Open MPI 4.1 waits two seconds for mpirun to hear of its MPI_Finalize, and ends: an mpirun that
# gets its CPU later than that would say that the rank failed.
MPIRUN_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_orte_allowed_exit_without_sync": "1",
}
# The first name is Open MPI 5's and the second one Open MPI 4's.
_AGENT = ("PRTE_MCA_plm_ssh_agent", "OMPI_MCA_plm_rsh_agent")

_UNBOUND = ("--bind-to", "none")

# The job's own guard: Open MPI 5's mpirun doesn't pass the end of standard input to its ranks, and
# sometimes heeds no SIGTERM. All ranks end with it.
_GUARD = """
exec 3<&0
"$@" <&3 3<&- &
job=$!
{ cat; sleep 1; kill -s KILL "$job"; } <&3 3<&- >/dev/null 2>&1 &
guard=$!
exec 3<&- </dev/null
wait "$job"
status=$?
kill "$guard" 2>/dev/null
exit "$status"
"""


@dataclass(frozen=True, slots=True)
class Launcher:
    """What starts the ranks: `mpirun` or a scheduler's own, and what mpirun uses in place of ssh.

    `prefix` is where the plan says that the MPI is, "" if in PATH.
    """

    program: str = "mpirun"
    agent: str | None = None
    prefix: str = ""


def own_job(
    launcher: Launcher, mpi: MpiInstallation, hosts: Sequence[str], ranks_per_host: int
) -> list[str]:
    """Return what stands before rail-mpi to start so many ranks on each host, from the first host.

    `hosts` are what the launcher calls them, in the order of the ranks.
    """
    if scheduler := launching(launcher.program):
        return scheduler.ranks(_ranks(hosts, ranks_per_host))
    # The engine binds its ranks itself, and says where: so it does the same elsewhere.
    mpirun = _mpirun(hosts, ranks_per_host, [f"{mpi.folder}/mpirun"], launcher, _UNBOUND)
    return ["sh", "-c", _GUARD, "railgauge", *mpirun]


def watch_option(names: str | None, launch: int) -> list[str]:
    """Return how an engine is given the watchers to notify of its replications, as of `launch`."""
    return [f"--watch={names}:{launch}"] if names else []


def foreign_job(
    launcher: Launcher,
    own: Sequence[str],
    *,
    hosts: Sequence[str],
    ranks_per_host: int,
    further: Sequence[str],
) -> list[str]:
    """Return what stands before somebody else's MPI program to start its ranks on each host.

    Its `own` launcher takes the place of mpirun, which gets the `further` arguments. rail-exec
    guards the job.
    """
    if scheduler := launching(launcher.program):
        return scheduler.ranks(_ranks(hosts, ranks_per_host))
    bound = any(argument.startswith("--bind-to") for argument in further)
    mpirun = list(own) or mpirun_of(launcher)
    return _mpirun(
        hosts, ranks_per_host, mpirun, launcher, [*further, *(() if bound else _UNBOUND)]
    )


def mpirun_of(launcher: Launcher) -> list[str]:
    """Return the mpirun of the plan's MPI."""
    return [f"{launcher.prefix}/bin/mpirun" if launcher.prefix else "mpirun"]


def _mpirun(
    hosts: Sequence[str],
    ranks_per_host: int,
    mpirun: Sequence[str],
    launcher: Launcher,
    further: Sequence[str],
) -> list[str]:
    agent = [f"{name}={launcher.agent}" for name in _AGENT] if launcher.agent else []
    return [
        "env",
        *(f"{name}={value}" for name, value in MPIRUN_ENVIRONMENT.items()),
        *agent,
        *mpirun,
        "--host",
        ",".join(f"{host}:{ranks_per_host}" for host in hosts),
        "-n",
        str(len(hosts) * ranks_per_host),
        # In the order of the hosts, of which one may stand there twice.
        "--map-by",
        "slot",
        *further,
    ]


def _ranks(hosts: Sequence[str], ranks_per_host: int) -> list[str]:
    return [host for host in hosts for _ in range(ranks_per_host)]
