"""How other people's programs are started: under rail-exec, with ports, files and launchers."""

from __future__ import annotations

from typing import Any

from railgauge.cli.engines import describe
from railgauge.engine.command_lines import Terms, executor_argv, guarded_argv
from railgauge.engine.mpi_job import Launcher
from railgauge.engine.presence import programs_of, why_skipped
from railgauge.plan.cases import Case, Value
from railgauge.plan.catalogue import EngineInfo, ParameterInfo
from railgauge.plan.catalogue.program import Program

AT = ("10.0.0.1", "10.0.0.2")


def engine(program: Program, *roles: str) -> EngineInfo:
    parameters = {name: ParameterInfo(name, "int") for name in ("threads", "ranks_per_host")}
    return EngineInfo("toy", "1", "a toy", roles, parameters, {}, program=program)


def case(**parameters: Value) -> Case:
    return Case("key", "toy", "a→b", "a", "b", {"timeout": 0.0, "threads": 3, **parameters})


PAIR = Program(
    ("toy", "{server}:{port}", ("-n", "{threads}")),
    server=("toyd", "--on={port}", "--for", "{client}"),
    environment={"THREADS": "{threads}"},
    files={"in.dat": "{threads} on {port}"},
    output="out.dat",
    needs=("toy", "toyd"),
)


def test_a_client_gets_its_servers_address_and_port_and_its_files() -> None:
    argv = executor_argv(
        engine(PAIR, "server", "client"), case(), "/engines", 1, Terms(at=AT), port=4711
    )
    assert argv[:2] == ["/engines/rail-exec", "client"]
    assert {"--files=1", "--output-file=out.dat"} <= set(argv)
    assert argv[argv.index("--") :] == [
        *("--", "in.dat", "3 on 4711", "env", "THREADS=3"),
        *("toy", "10.0.0.2:4711", "-n", "3"),
    ]


def test_a_servers_port_is_left_to_its_guard_unless_somebody_says_it() -> None:
    info = engine(PAIR, "server", "client")
    argv = guarded_argv(info, case(), "/engines", Terms(at=AT), deadline=60)
    assert argv[:2] == ["/engines/rail-exec", "server"]
    assert "--port=0" in argv
    assert argv[argv.index("--") :] == [
        *("--", "env", "THREADS=3", "toyd", "--on={port}", "--for", "10.0.0.1"),
    ]
    argv_with_port = guarded_argv(
        info, case(), "/engines", Terms(at=AT, control_port=7411), deadline=60
    )
    assert "--port=7411" in argv_with_port


def mpi_command(by: Launcher, **changes: Any) -> list[str]:
    info = engine(Program(("prog",), mpi="links", needs=("prog",), **changes), "rank")
    terms = Terms(at=AT, names=("n1", "n2"), launcher=by)
    argv = executor_argv(info, case(ranks_per_host=2), "/engines", 5, terms)
    return argv[argv.index("--") + 1 :]


def test_an_mpi_program_has_mpirun_before_it() -> None:
    argv = mpi_command(Launcher(prefix="/opt/mpi", agent="my-ssh"))
    assert argv[0] == "env"
    assert "OMPI_MCA_plm_rsh_agent=my-ssh" in argv
    assert argv[argv.index("/opt/mpi/bin/mpirun") + 1 :] == [
        *("--host", "n1:2,n2:2", "-n", "4", "--map-by", "slot", "--bind-to", "none", "prog"),
    ]


def test_a_description_may_bring_its_own_launcher_and_binding() -> None:
    argv = mpi_command(
        Launcher(), launcher=("mpirun.other", "-q"), launcher_arguments=("--bind-to", "core")
    )
    assert argv[argv.index("mpirun.other") + 1] == "-q"
    assert argv[-3:] == ["--bind-to", "core", "prog"]


def test_srun_starts_a_rank_or_more_on_each_node() -> None:
    argv = mpi_command(Launcher("srun"), launcher=("mpirun.other",))
    assert argv[:2] == ["sh", "-c"]
    assert argv[-4:] == ["railgauge", "n1,n1,n2,n2", "4", "prog"]


def test_the_launcher_is_among_the_programs_that_hosts_need() -> None:
    info = engine(Program(("prog",), mpi="links", needs=("prog", "{threads}x")), "rank")
    assert programs_of(info, case(), Launcher()) == ("prog", "3x", "mpirun")
    assert programs_of(info, case(), Launcher("srun")) == ("prog", "3x", "srun")
    assert programs_of(info, case(), Launcher(prefix="/opt"))[-1] == "/opt/bin/mpirun"


def test_a_reason_names_each_program_and_the_hosts_without_it() -> None:
    lacking = {"a": {"x", "y"}, "b": {"x"}}
    assert why_skipped(("x", "y"), ("a", "b"), lacking) == "x isn't on a, b; y isn't on a"
    assert why_skipped(("z",), ("a", "b"), lacking) == ""
    words = dict.fromkeys(("a", "b"), "what toy requires fails (no numpy)")
    assert why_skipped(("z",), ("a", "b"), lacking, words) == f"{words['a']} on a, b"


def test_a_listing_tells_how_a_program_is_run() -> None:
    lines = list(describe(engine(PAIR, "server", "client")))
    assert "  needs toy, toyd: without, its cases are skipped" in lines
    assert "  server: toyd --on={port} --for {client}" in lines
    assert "  in a working folder: writes in.dat, reads out.dat" in lines
