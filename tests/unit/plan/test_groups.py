"""Groups of hosts: what a plan says of them, the cases they give, and the launches of those."""

from __future__ import annotations

import os
import subprocess
from itertools import permutations
from pathlib import Path

import pytest
from tests.support.problems import problems

from railgauge.cli.engines import describe
from railgauge.engine.command_lines import Terms, mpi_argv
from railgauge.engine.deploy_mpi import MpiInstallation
from railgauge.engine.launch_terms import launch_terms
from railgauge.engine.mpi_job import Launcher
from railgauge.plan.case_names import CaseNames, of_tests
from railgauge.plan.cases import Case, case_key, expand
from railgauge.plan.catalogue import Catalogue, EngineInfo, ParameterInfo, load_catalogue
from railgauge.plan.load import LoadedPlan, load_plan_text
from railgauge.plan.schedule import Dispatch, Round, Schedule, dispatch_name

HEAD = """\
railgauge: 1
name: p
hosts:
  a: {address: 10.0.0.1, ssh: a, networks: {ib0: 10.9.0.1}}
  b: {address: 10.0.0.2, ssh: b, networks: {ib0: 10.9.0.2}}
  c: {address: 10.0.0.3, ssh: c, networks: {ib0: 10.9.0.3}}
  d: {address: 10.0.0.4, ssh: d}
groups:
  three: [c, a, b]
  pair: [a, d]
links:
  ab: {from: a, to: b}
tests:
"""


def loaded(*tests: str, head: str = HEAD) -> LoadedPlan:
    return load_plan_text(head + "".join(f"  - {test}\n" for test in tests), "p.yaml", Path("none"))


def mistakes(*tests: str, head: str = HEAD) -> list[str]:
    return problems(loaded, *tests, head=head)


def rounds(plan: LoadedPlan, concurrency: int = 1, finished: dict | None = None) -> list[Round]:  # type: ignore[type-arg]
    machines = {name: host.machine for name, host in plan.plan.hosts.items()}
    return list(
        Schedule(
            expand(plan), machines=machines, concurrency=concurrency, seed=1, finished=finished
        ).rounds()
    )


BARRIER = "{name: t, engine: mpi, groups: [three], set: {mode: barrier}, replications: 2}"
MATRIX = "{name: m, engine: mpi, groups: [three], set: {mode: matrix}, replications: 2}"


def test_a_group_is_one_case_of_all_its_hosts_in_their_order() -> None:
    (test,) = expand(loaded(BARRIER))
    (case,) = test.cases
    assert (case.link, case.client, case.server) == ("three", "c", None)
    assert case.members == ("c", "a", "b")


def test_a_test_without_groups_measures_all_hosts() -> None:
    (test,) = expand(loaded("{name: t, engine: mpi, set: {mode: allreduce}}"))
    assert [(case.link, case.members) for case in test.cases] == [("all", ("a", "b", "c", "d"))]


def test_the_same_link_and_hosts_in_another_group_are_another_case() -> None:
    parameters = {"size": 1}
    alone = case_key("mpi", "a→b", "a", "b", parameters)
    among = case_key("mpi", "a→b", "a", "b", parameters, ("a", "b", "c"))
    more = case_key("mpi", "a→b", "a", "b", parameters, ("a", "b", "c", "d"))
    assert len({alone, among, more}) == 3


def test_a_key_can_be_told_from_the_case_alone() -> None:
    for test in expand(loaded(BARRIER, MATRIX, "{name: l, engine: mpi, set: {mode: latency}}")):
        for case in test.cases:
            again = case_key(
                case.engine, case.link, case.client, case.server, case.parameters, case.members
            )
            assert case.key == again


def test_a_matrix_has_a_case_for_each_ordered_pair() -> None:
    (test,) = expand(loaded(MATRIX))
    pairs = [(case.link, case.client, case.server) for case in test.cases]
    assert pairs == [
        (f"{client}→{server}", client, server) for client, server in permutations("cab", 2)
    ]
    assert {case.members for case in test.cases} == {("c", "a", "b")}


def test_one_launch_measures_all_pairs_of_a_combination() -> None:
    (test,) = expand(
        loaded(MATRIX.replace("replications: 2", "replications: 2, grid: {size: [1KiB, 1MiB]}"))
    )
    plan = loaded(MATRIX.replace("replications: 2", "replications: 2, grid: {size: [1KiB, 1MiB]}"))
    launches = [dispatch for dispatches in rounds(plan) for dispatch in dispatches]
    assert [(launch.case.parameters["size"], launch.replications) for launch in launches] == [
        (1024, (1,)),
        (1048576, (1,)),
        (1024, (2,)),
        (1048576, (2,)),
    ]
    for launch in launches:
        assert [case.link for case in launch.cases] == [
            f"{client}→{server}" for client, server in permutations("cab", 2)
        ]
        assert len({case.parameters["size"] for case in launch.cases}) == 1
        assert launch.hosts == ("c", "a", "b")
    assert len(test.cases) == 12


def test_a_pair_of_hosts_is_one_launch_of_two_cases() -> None:
    plan = loaded(MATRIX.replace("three", "pair").replace("replications: 2", "replications: 1"))
    ((launch,),) = rounds(plan)
    assert [case.link for case in launch.cases] == ["a→d", "d→a"]


def test_a_launch_for_many_pairs_is_not_named_after_the_first() -> None:
    plan = loaded(MATRIX)
    ((launch,), _) = rounds(plan)
    names = CaseNames(of_tests(expand(plan)), plan.catalogue)
    assert dispatch_name(launch, names) == "m: 6 pairs"
    single = launch._replace(pairs=launch.pairs[:1])
    assert dispatch_name(single, names) == "m: c→a"


def test_the_only_pair_that_exclusions_leave_is_still_one_of_a_groups() -> None:
    test = MATRIX.replace("three", "pair").replace("}, rep", "}, exclude: [{group: a→d}], rep")
    launches = [dispatch for dispatches in rounds(loaded(test)) for dispatch in dispatches]
    assert [[case.link for case in launch.pairs] for launch in launches] == [["d→a"], ["d→a"]]
    assert {launch.hosts for launch in launches} == {("a", "d")}


def test_what_is_done_of_a_matrix_is_not_done_again() -> None:
    plan = loaded(MATRIX)
    (test,) = expand(plan)
    finished = {("m", case.key): (1,) for case in test.cases}
    assert [
        dispatch.replications
        for dispatches in rounds(plan, finished=finished)
        for dispatch in dispatches
    ] == [(2,)]


@pytest.mark.parametrize("order", ["interleaved", "sequential", "random"])
@pytest.mark.parametrize("damaged", [0, 4])
def test_what_a_single_pair_of_a_matrix_lacks_is_measured_for_that_alone(
    order: str, damaged: int
) -> None:
    """As a copy has it that left out one damaged replication."""
    plan = loaded(MATRIX.replace("replications: 2", f"replications: 4, order: {order}"))
    (test,) = expand(plan)
    finished = {("m", case.key): {1, 2, 3} for case in test.cases}
    finished["m", test.cases[damaged].key] = {1, 3}
    launches = [launch for launches in rounds(plan, finished=finished) for launch in launches]
    measured = {launch.replications: launch.pairs for launch in launches}
    assert measured == {(2,): (test.cases[damaged],), (4,): test.cases}
    assert len(launches) == 2
    assert all(launch.case == launch.pairs[0] for launch in launches)
    assert all(launch.hosts == ("c", "a", "b") for launch in launches)


def test_a_matrix_of_which_all_is_done_but_one_of_a_pair_s() -> None:
    plan = loaded(MATRIX)
    (test,) = expand(plan)
    finished = {("m", case.key): {1, 2} for case in test.cases}
    del finished["m", test.cases[1].key]
    launches = [launch for launches in rounds(plan, finished=finished) for launch in launches]
    assert [(launch.replications, launch.pairs) for launch in launches] == [
        ((1,), test.cases[1:2]),
        ((2,), test.cases[1:2]),
    ]


def test_groups_run_side_by_side_only_when_they_share_no_machine() -> None:
    tests = (
        "{name: t, engine: mpi, groups: [three, pair, rest], set: {mode: barrier}, replications: 1}"
    )
    head = HEAD.replace("links:", "  rest: [d, e]\nlinks:").replace(
        "groups:", "  e: {address: 10.0.0.5, ssh: e}\ngroups:"
    )
    arranged = rounds(loaded(tests, head=head), concurrency=4)
    assert [[dispatch.case.link for dispatch in dispatches] for dispatches in arranged] == [
        ["three", "rest"],
        ["pair"],
    ]


def test_links_and_groups_are_not_mixed_in_one_test() -> None:
    (mistake,) = mistakes("{name: t, engine: mpi, grid: {mode: [latency, barrier]}}")
    assert mistake.endswith(
        "mode latency of engine mpi measures links and mode barrier groups: make two tests of them"
    )


def test_a_matrix_is_not_mixed_with_what_measures_the_group_as_one() -> None:
    (mistake,) = mistakes("{name: t, engine: mpi, grid: {mode: [barrier, matrix]}}")
    assert mistake.endswith(
        "mode matrix of engine mpi measures each pair of a group's hosts and mode barrier the "
        "group as one: make two tests of them"
    )


@pytest.mark.parametrize("test", [BARRIER, MATRIX, "{name: l, engine: mpi, links: [ab]}"])
def test_ranks_in_slurm_and_outside_it_are_no_job(test: str) -> None:
    head = HEAD.replace("ssh: b", "transport: slurm")
    (mistake,) = mistakes(test, head=head)
    assert "host 'b' is Slurm's and host" in mistake
    assert loaded(BARRIER.replace("three", "pair"), head=head)


@pytest.mark.parametrize("test", [BARRIER, MATRIX, "{name: l, engine: mpi, links: [ab]}"])
def test_hosts_that_mpirun_could_not_tell_apart_are_told(test: str) -> None:
    (mistake,) = mistakes(test, head=HEAD.replace("10.0.0.2", "10.0.0.1"))
    assert "hosts 'a' and 'b' have one address (10.0.0.1)" in mistake
    one_machine = HEAD.replace("address: 10.0.0.2, ssh: b", "address: 10.0.0.1, ssh: a")
    assert loaded(test, head=one_machine)


@pytest.mark.parametrize("test", [BARRIER, MATRIX, "{name: l, engine: mpi, links: [ab]}"])
def test_a_host_that_mpirun_knows_no_name_of_is_told(test: str) -> None:
    head = HEAD.replace("10.0.0.2", "fd00::2")
    (mistake,) = mistakes(test, head=head)
    assert "mpirun starts no ranks on host 'b' by an IPv6 address (fd00::2)" in mistake
    # Elsewhere it may have any address.
    assert loaded(MATRIX.replace("three", "pair"), head=head)
    assert loaded("{name: u, engine: udp, links: [ab]}", head=head)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (
            "{name: t, engine: mpi, links: [ab], set: {mode: barrier}}",
            "mode barrier measures groups",
        ),
        ("{name: t, engine: mpi, groups: [three], set: {mode: latency}}", "measures links"),
        ("{name: t, engine: udp, groups: [three]}", "engine udp measures links, not groups"),
        ("{name: t, engine: mpi, groups: [tree], set: {mode: barrier}}", "did you mean 'three'"),
        ("{name: t, engine: mpi, network: ib0, set: {mode: latency}}", "say it of the links"),
        (
            "{name: t, engine: mpi, groups: [pair], network: ib0, set: {mode: barrier}}",
            "host 'd' of group 'pair' has no address on network 'ib0'",
        ),
        ("{name: t, engine: mpi, groups: [three, three], set: {mode: matrix}}", "listed twice"),
    ],
)
def test_what_a_group_cannot_be_measured_with_is_said(test: str, words: str) -> None:
    assert any(words in message for message in mistakes(test)), mistakes(test)


def test_a_group_on_a_network_has_its_addresses_there_and_cases_of_its_own() -> None:
    plan = loaded(BARRIER.replace("set:", "network: ib0, set:"))
    (test,) = expand(plan)
    (case,) = test.cases
    assert case.link == "three/ib0"
    terms = launch_terms(plan.plan, Dispatch("t", case, (1,)))
    assert terms.at == ("10.9.0.3", "10.9.0.1", "10.9.0.2")
    assert terms.names == ("10.0.0.3", "10.0.0.1", "10.0.0.2")
    assert terms.launcher == Launcher("mpirun", None)


@pytest.mark.parametrize(
    ("launcher", "transport", "words"),
    [
        ("mpirun", "transport: slurm", "host 'a' is Slurm's, where srun starts the ranks"),
        ("srun", "ssh: a", "srun starts no ranks on host 'a'"),
    ],
)
def test_ranks_are_started_by_what_holds_the_hosts(
    launcher: str, transport: str, words: str
) -> None:
    head = HEAD.replace("ssh: a", transport).replace(
        "links:", f"mpi: {{launcher: {launcher}}}\nlinks:"
    )
    (mistake,) = mistakes(BARRIER, head=head)
    assert mistake.startswith("p.yaml:11:17: ")
    assert words in mistake


def test_a_group_of_slurms_hosts_is_started_by_srun() -> None:
    head = HEAD
    for name in "abcd":
        head = head.replace(f"ssh: {name}", f"transport: slurm, node: node-{name}")
    plan = loaded(BARRIER, head=head)
    (test,) = expand(plan)
    terms = launch_terms(plan.plan, Dispatch("t", test.cases[0], (1,)))
    assert terms.launcher.program == "srun"
    assert terms.names == ("node-c", "node-a", "node-b")


# What srun would be given, and the nodes in the file that it is pointed at.
SRUN = """#!/bin/sh
for each; do
    case $each in --nodelist=*) echo "nodes $(tr "\\n" " " <"${each#*=}")";; *) echo "$each";; esac
done
env | grep ^SLURM_
cat
"""


def test_srun_gets_a_node_for_each_rank_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "srun").write_text(SRUN)
    (tmp_path / "srun").chmod(0o755)
    engine = load_catalogue().engine("mpi")
    (test,) = expand(loaded(BARRIER.replace("mode: barrier", "mode: barrier, ranks_per_host: 2")))
    argv = mpi_argv(
        engine,
        test.cases[0],
        MpiInstallation("/e/rail-mpi", "/opt/bin"),
        count=1,
        terms=Terms(at=("10.0.0.3", "10.0.0.1"), names=("c1", "a1"), launcher=Launcher("srun")),
        deadline=9,
    )
    completed = subprocess.run(
        argv,
        input="secret\n",
        capture_output=True,
        text=True,
        check=True,
        env={
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "TMPDIR": str(tmp_path),
            "SLURM_JOB_ID": "17",
            "SLURM_NTASKS": "1",
            "SLURM_CONF": "/etc/other",
            "SLURM_PMIX_FENCE": "tree",
        },
    )
    lines = completed.stdout.splitlines()
    assert "nodes c1 c1 a1 a1 " in lines
    assert {"--jobid=17", "--ntasks=4", "--mpi=pmix", "/e/rail-mpi", "--mode=barrier"} <= set(lines)
    variables = {line for line in lines if line.startswith("SLURM_")}
    assert variables == {"SLURM_CONF=/etc/other", "SLURM_PMIX_FENCE=ring"}
    assert lines[-1] == "secret"
    assert list(tmp_path.glob("railgauge-nodes*")) == []


def test_an_engine_without_mpi_knows_nothing_of_groups() -> None:
    engine = load_catalogue().engine("udp")
    assert {engine.measures(mode) for mode in ("stream", "generator", None)} == {"links"}


def test_a_million_pairs_share_their_parameters_and_their_group() -> None:
    hosts = "".join(f"  h{n}: {{address: 10.1.{n >> 8}.{n & 255}, ssh: h{n}}}\n" for n in range(60))
    head = f"railgauge: 1\nname: p\nhosts:\n{hosts}tests:\n"
    (test,) = expand(loaded("{name: m, engine: mpi, set: {mode: matrix}}", head=head))
    assert len(test.cases) == 60 * 59
    assert len({id(case.members) for case in test.cases}) == 1
    assert len({id(case.parameters) for case in test.cases}) == 1
    assert len({case.key for case in test.cases}) == 60 * 59


def test_the_engines_command_tells_which_modes_are_for_groups() -> None:
    lines = list(describe(load_catalogue().engine("mpi")))
    assert "  barrier: on groups of hosts" in lines
    assert "  matrix: on groups of hosts, a case for each ordered pair of hosts" in lines


def test_an_unused_catalogue_entry_makes_no_group() -> None:
    info = EngineInfo("x", "1", "", ("client",), {"mode": ParameterInfo("mode", "text")}, {})
    assert Catalogue({"x": info}, info).engine("x").measures("barrier") == "hosts"
    assert Case("k", "x", "a", "a", None, {}).members == ()
