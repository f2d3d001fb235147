"""How the engines are called: the argument vectors of a server, a client and somebody else's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from railgauge.engine.deploy_mpi import MpiInstallation
from railgauge.engine.mpi_job import Launcher, foreign_job, own_job, watch_option
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import EngineInfo
from railgauge.plan.catalogue.argument_text import plain
from railgauge.plan.catalogue.external import RANKS
from railgauge.plan.catalogue.program import Program, expand, fill

# What starts an MPI program looks at its allocation, its user's settings and the ssh agent.
_MPI_VARIABLES = ",".join(
    (
        *("SLURM_*", "OMPI_*", "PMI*", "PRTE_*", "OPAL_*", "MPICH_*", "MPIR_*", "HYDRA_*"),
        *("I_MPI_*", "UCX_*", "FI_*", "SSH_AUTH_SOCK", "KRB5CCNAME"),
    )
)
# Linux takes 128 KiB an argument; of a list as long as that the target alone is named.
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Terms:
    """What a plan says of a launch beside its case: nothing that makes it another case.

    `control_port` (0: any), all test `addresses` of the plan's hosts, and the `link_rate` in bit/s
    where the plan knows it. `at` are the addresses for test traffic of the hosts that measure, the
    client's first or in the order of their ranks, `names` what the MPI `launcher` calls them, and
    `watch` the names of the watchers on each of them, who know this launch by its number. Each
    replication has `limit` seconds (None: as many as its engine may need).
    """

    control_port: int = 0
    addresses: tuple[str, ...] = ()
    link_rate: float | None = None
    at: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    launcher: Launcher = field(default_factory=Launcher)
    watch: tuple[str, ...] = ()
    launch: int = 0
    limit: float | None = None

    def watch_option(self, place: int) -> list[str]:
        """Return how the engine on the host at `place` is given its watchers, if it has any."""
        return watch_option(self.watch[place] if self.watch else None, self.launch)


def server_argv(engine: EngineInfo, folder: str, terms: Terms, deadline: float) -> list[str]:
    """Return how the server is started; `folder` has the engines, `deadline` is in seconds."""
    return [
        f"{folder}/rail-{engine.name}",
        "server",
        "--json",
        "--once",
        "--secret-stdin",
        f"--port={terms.control_port}",
        f"--deadline={deadline:.0f}",
        *terms.watch_option(1),
    ]


def client_argv(
    engine: EngineInfo,
    case: Case,
    folder: str,
    *,
    port: int | None,
    count: int,
    terms: Terms,
    deadline: float,
) -> list[str]:
    """Return how the client is started that measures `count` replications with the other host.

    `port` is the server's control channel; None where there is no server, and so no secret. Then
    the client gets the plan's addresses instead, as it may send to no others.
    """
    address = terms.at[1]
    if port is None:
        addresses = ",".join(terms.addresses)
        peer = [f"--plan-hosts={addresses if len(addresses) < _LONGEST else address}"]
    else:
        peer = ["--secret-stdin", f"--port={port}"]
    if terms.link_rate is not None and engine.takes_link_rate:
        peer.append(f"--link-rate={plain(terms.link_rate)}")
    return [
        f"{folder}/rail-{engine.name}",
        "client",
        address,
        "--json",
        *peer,
        f"--replications={count}",
        f"--deadline={deadline:.0f}",
        *terms.watch_option(0),
        *engine.options(case.parameters),
    ]


def host_argv(
    engine: EngineInfo, case: Case, folder: str, *, count: int, terms: Terms, deadline: float
) -> list[str]:
    """Return how our engine is started that measures `count` replications of its own host."""
    return [
        f"{folder}/rail-{engine.name}",
        "client",
        "--json",
        f"--replications={count}",
        f"--deadline={deadline:.0f}",
        *terms.watch_option(0),
        *engine.options(case.parameters),
    ]


def mpi_argv(
    engine: EngineInfo,
    case: Case,
    mpi: MpiInstallation,
    *,
    count: int,
    terms: Terms,
    deadline: float,
) -> list[str]:
    """Return how the MPI job that measures `count` replications is started, on its first host.

    Each rank checks that it is on a machine with its address.
    """
    ranks_per_host = 1
    if engine.has_effect("ranks_per_host", case.parameters):
        ranks_per_host = int(case.parameters["ranks_per_host"])
    return [
        *own_job(terms.launcher, mpi, terms.names, ranks_per_host),
        mpi.program,
        "rank",
        "--json",
        f"--rank-addresses={','.join(terms.at)}",
        f"--replications={count}",
        f"--deadline={deadline:.0f}",
        *watch_option(",".join(terms.watch) if terms.watch else None, terms.launch),
        *engine.options(case.parameters),
    ]


def executor_argv(
    engine: EngineInfo,
    case: Case,
    folder: str,
    count: int,
    terms: Terms,
    port: int | None = None,
) -> list[str]:
    """Return how rail-exec is started to run somebody else's program `count` times.

    `port` is its server's, if it has one. An MPI program is started on all the launch's hosts.
    """
    program = engine.program
    assert program is not None
    written = engine.written(case.parameters, **_ends(terms, port))
    command = expand(program.command, written, engine.argv_names)
    files = [part for name, text in program.files.items() for part in (name, fill(text, written))]
    start: list[str] = []
    if program.mpi:
        start = foreign_job(
            terms.launcher,
            program.launcher,
            hosts=terms.names,
            ranks_per_host=int(case.parameters.get(RANKS, 1)),
            further=expand(program.launcher_arguments, written),
        )
    return [
        f"{folder}/rail-exec",
        "client",
        "--json",
        f"--replications={count}",
        f"--timeout={plain(case.parameters['timeout'])}",
        *terms.watch_option(0),
        *([f"--files={len(program.files)}"] if files else []),
        *([f"--output-file={program.output}"] if program.output else []),
        *([f"--work-in={fill(program.work_in, written)}"] if program.work_in else []),
        *([f"--environment={_MPI_VARIABLES}"] if program.mpi else []),
        "--",
        *files,
        *start,
        *_environment(program, written),
        *command,
    ]


def guarded_argv(
    engine: EngineInfo, case: Case, folder: str, terms: Terms, deadline: float
) -> list[str]:
    """Return how rail-exec is started to be the guard of somebody else's server.

    It chooses the port, unless the plan or the description does, and puts it in.
    """
    program = engine.program
    assert program is not None
    written = engine.written(case.parameters, **_ends(terms, None))
    return [
        f"{folder}/rail-exec",
        "server",
        "--json",
        f"--port={program.port or terms.control_port}",
        f"--deadline={deadline:.0f}",
        *terms.watch_option(1),
        *([f"--ready={program.ready}"] if program.ready else []),
        "--",
        *_environment(program, written),
        *expand(program.server, written, engine.argv_names),
    ]


def _ends(terms: Terms, port: int | None) -> dict[str, str]:
    """Return what templates may say of a link's two ends; what isn't known stays a placeholder."""
    ends = dict(zip(("client", "server"), terms.at, strict=False))
    return {**ends, "port": "{port}" if port is None else str(port)}


def _environment(program: Program, written: Mapping[str, str]) -> list[str]:
    """Return what stands before a command so that it has its variables."""
    if not program.environment:
        return []
    return ["env", *(f"{key}={fill(text, written)}" for key, text in program.environment.items())]
