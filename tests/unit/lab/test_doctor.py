"""What the doctor makes of a host's answers, of its clock, and of a plan's needs."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.build_progress import progress_of_builds
from tests.support.simulated import SimulatedTransport

from railgauge.base.assets import shipped
from railgauge.base.errors import EnvironmentFailedError, FileProblems, InputError
from railgauge.cli.doctor import doctor
from railgauge.engine.measure import EquippedHost
from railgauge.hosts.transport.fake import LINE, FakeTransport, Program
from railgauge.hosts.transport.local import LocalTransport
from railgauge.lab.doctor import (
    architecture,
    buffers,
    clock_offset,
    compiler,
    governor,
    mpi,
    ports,
)
from railgauge.lab.doctor.check import Check
from railgauge.lab.doctor.choice import choose, distinct
from railgauge.lab.doctor.clock_offset import Offset
from railgauge.lab.doctor.diagnosis import HostFindings
from railgauge.lab.doctor.firewall import Firewall, LinkEnd
from railgauge.lab.doctor.host_differences import compare
from railgauge.lab.doctor.needs import Needs
from railgauge.lab.doctor.probe import probe, split
from railgauge.lab.doctor.targets import read_targets
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.links import Link
from railgauge.plan.model import Host, Mpi

HOSTS = """\
hosts:
  a: {address: 10.0.0.1, ssh: a, networks: {ib0: 10.1.0.1}}
  b: {address: 10.0.0.2, ssh: b, networks: {ib0: 10.1.0.2}}
  c: {address: 10.0.0.3, ssh: c, networks: {ib0: 10.1.0.3}}
links: {fabric: all-pairs, fast: {ring: [all], network: ib0, rate: 10Gbit/s}}
mpi: {prefix: /opt/mpi}
"""
PLAN = """\
railgauge: 1
name: p
hosts_file: h.yaml
control_port: 4711
tests:
  - {name: t, engine: udp, links: [fast], set: {duration: 1s, data_port: 5000},
     grid: {sockbuf: [1MiB, 8MiB], threads: [1, 3]}}
  - {name: u, engine: tcp, links: [a→b], set: {duration: 1s, server_rcvbuf: 16MiB, rcvbuf: 1MiB}}
"""


def judged(check: Check, lines: list[str], needs: Needs | None = None) -> list[str]:
    return list(check.judge(check.read(lines), needs or Needs()))


def test_a_plan_that_ships_is_named_without_its_folder() -> None:
    context = doctor.make_context("doctor", ["quickstart"])
    assert context.params["hosts"] == shipped("plans")["quickstart"]


def test_this_machine_answers_every_check() -> None:
    transport = LocalTransport("here")
    try:
        facts = probe(transport, Needs())
    finally:
        transport.close()
    uname = subprocess.run(["uname", "-r"], capture_output=True, text=True, check=True).stdout
    assert facts["kernel"] == uname.strip()
    assert facts["make"].startswith("GNU Make")
    assert facts["compiler"]
    assert facts["net_admin"] in ("yes", "no")


def test_what_a_login_shell_says_before_the_checks_is_nobodys() -> None:
    mark = "railgauge-doctor:"
    assert split(["Welcome!", mark, "one", mark, mark, "two", "three", mark, "bye"]) == [
        ["one"],
        [],
        ["two", "three"],
    ]


def test_a_host_whose_shell_stops_midway_is_told() -> None:
    def script(argv):  # type: ignore[no-untyped-def]
        yield "railgauge-doctor:"
        return 1

    transport = FakeTransport("odd", {"sh": script})
    with pytest.raises(EnvironmentFailedError, match="odd: the shell there didn't run to the end"):
        probe(transport, Needs())


def test_missing_compiler_and_make_are_told_with_the_package() -> None:
    assert judged(compiler.CHECK, ["compiler gcc 12.2.0", "make GNU Make 4.3"]) == []
    no_compiler, no_make = judged(compiler.CHECK, [])
    assert no_compiler.startswith("there is no C compiler (cc, gcc or clang): install one (Deb")
    assert no_make.startswith("there is no make: install GNU make (Debian: build-essential)")
    (other,) = judged(compiler.CHECK, ["compiler cc", "make bmake 20200710"])
    assert other.startswith("make is not GNU make but 'bmake 20200710'")


@pytest.mark.parametrize("name", ["cc", "gcc", "clang"])
def test_a_compiler_that_builds_the_engines_is_seen(tmp_path: Path, name: str) -> None:
    for program in ("head", "make"):
        (tmp_path / program).symlink_to(str(shutil.which(program)))
    (tmp_path / name).write_text("#!/bin/sh\necho good 1.0\n")
    (tmp_path / name).chmod(0o755)
    script = ["/bin/sh", "-c", compiler.CHECK.script]
    completed = subprocess.run(script, capture_output=True, text=True, env={"PATH": str(tmp_path)})
    lines = completed.stdout.splitlines()
    assert compiler.CHECK.read(lines)["compiler"] == "good 1.0"
    assert judged(compiler.CHECK, lines) == []


def test_another_system_than_linux_is_told() -> None:
    assert judged(architecture.CHECK, ["system Linux", "kernel 6.1"]) == []
    assert judged(architecture.CHECK, ["system FreeBSD"]) == [
        "it runs FreeBSD, and the engines need Linux: leave it out"
    ]


@pytest.mark.parametrize(
    ("version_lines", "version"),
    [
        (["mpirun (Open MPI) 4.1.4", "Report bugs to http://www.open-mpi.org"], "Open MPI 4.1.4"),
        (["mpirun (Open MPI) 5.0.11rc2"], "Open MPI 5.0.11rc2"),
        (["HYDRA build details:", "Version:                     4.0.2"], "MPICH 4.0.2"),
        (["Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 2023"], "Intel MPI 2021.11"),
        (["something else"], None),
    ],
)
def test_the_mpi_and_its_version_are_found(version_lines: list[str], version: str | None) -> None:
    lines = ["mpirun /opt/mpi/bin/mpirun", *(f"version {line}" for line in version_lines)]
    assert mpi.CHECK.read(lines).get("mpi") == version


def test_missing_mpi_is_told_only_where_it_is_wanted() -> None:
    assert judged(mpi.CHECK, []) == []
    (problem,) = judged(mpi.CHECK, [], Needs(needs_mpi=True))
    assert problem.startswith("there is no mpicc and no mpirun in PATH: install Open MPI")
    (problem,) = judged(mpi.CHECK, ["mpirun /x"], Needs(mpi=Mpi(prefix="/opt/mpi")))
    assert problem.startswith("there is no mpicc in /opt/mpi/bin: install Open MPI")
    srun = Needs(needs_mpi=True, mpi=Mpi(launcher="srun"))
    assert judged(mpi.CHECK, ["mpicc /usr/bin/mpicc"], srun) == []


def test_limits_below_what_a_test_asks_for_are_told_with_the_command() -> None:
    lines = ["rmem_max 212992", "wmem_max 16777216", "capabilities 0000000000000000"]
    assert judged(buffers.CHECK, lines, Needs(sockbuf=212992)) == []
    assert judged(buffers.CHECK, lines, Needs(sockbuf=10 * 1024**2)) == [
        "net.core.rmem_max is 212992, and a test asks for socket buffers of 10MiB: "
        "sysctl -w net.core.rmem_max=10485760"
    ]


def test_limits_do_not_bind_who_may_lift_them() -> None:
    lines = ["rmem_max 212992", "capabilities 0000000000001000"]
    assert judged(buffers.CHECK, lines, Needs(sockbuf=10 * 1024**2)) == []


def test_governor_that_follows_the_load_is_told() -> None:
    assert judged(governor.CHECK, []) == []
    assert judged(governor.CHECK, ["performance", "performance"]) == []
    (problem,) = judged(governor.CHECK, ["performance", "powersave", "powersave"])
    assert problem.startswith(
        "its CPU governor is powersave (2 CPUs), performance (1 CPU), so that"
    )


PROC = [
    "/proc/net/tcp:   0: 00000000:1267 00000000:0000 0A 00000000:00000000 00:00000000 0 0 0 1",
    "/proc/net/tcp6:   0: 00000000000000000000000001000000:0016 0000:0000 0A 0:0 0:0 0 0 0 1",
    "/proc/net/udp: 1234: 0100007F:138A 00000000:0000 07 00000000:00000000 00:00000000 0 0 0 2",
]


def test_fixed_ports_that_something_else_has_are_told() -> None:
    assert ports.CHECK.read(PROC) == {"tcp_ports": "22,4711", "udp_ports": "5002"}
    assert judged(ports.CHECK, PROC) == []
    assert judged(ports.CHECK, PROC, Needs(control_port=5002, data_ports=(5000, 5001))) == []
    control, data = judged(ports.CHECK, PROC, Needs(control_port=4711, data_ports=(5001, 5002)))
    assert control.startswith("TCP port 4711 is in use there")
    assert control.endswith("or give the plan another control_port")
    assert data.startswith("UDP port 5002 is in use there")
    assert data.endswith("or give the plan another data_port")


def test_the_quickest_exchange_tells_the_clocks_offset_and_its_error() -> None:
    best = clock_offset.best(
        [(100.0, "102.5", 101.0), (200.0, "202.000000001", 200.2), (1.0, None, 1.1)]
    )
    assert best is not None
    assert best.seconds == pytest.approx(1.9)
    assert best.error == pytest.approx(0.1)


@pytest.mark.parametrize("line", ["1700000000.N", "1700000000.", "1700000000", "", None, "x"])
def test_a_date_without_nanoseconds_gives_no_offset(line: str | None) -> None:
    assert clock_offset.best([(1.0, line, 2.0)]) is None


def test_only_a_clock_that_is_surely_wrong_is_told() -> None:
    assert clock_offset.judge(Offset(0.15, 0.06)) == []
    assert clock_offset.judge(Offset(-0.05, 0.0)) == []
    (ahead,) = clock_offset.judge(Offset(2.5, 0.01))
    assert ahead.startswith("its clock is 2.500 s ahead of this machine's (± 0.010 s): let NTP")
    (behind,) = clock_offset.judge(Offset(-2.5, 0.01))
    assert "2.500 s behind" in behind


def test_this_machines_clock_agrees_with_itself() -> None:
    transport = LocalTransport("here")
    try:
        offset = clock_offset.clock_offset(transport)
    finally:
        transport.close()
    assert offset is not None
    assert abs(offset.seconds) <= offset.error


def test_a_clock_of_ours_that_is_set_meanwhile_makes_no_exchange_quick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def date(argv: Sequence[str]) -> Program:
        while (yield LINE) is not None:
            yield "1000.5"

    readings = itertools.chain([1000.0], itertools.repeat(400.0))
    monkeypatch.setattr("time.time", lambda: next(readings))
    offset = clock_offset.clock_offset(FakeTransport("n1", {"sh": date}))
    assert offset is not None
    assert offset.error >= 0
    assert min(abs(offset.seconds - right) for right in (0.5, 600.5)) < 0.1


@pytest.mark.parametrize(
    ("trips", "sent", "problem"),
    [
        (["no-data", ""], "too-short", ""),
        (["no-data", "no-data"], "too-short", "UDP from b to a (1.0.0.1) (the way back of what "),
        (["no-data"], "no-data", "UDP from a to b (1.0.0.2) doesn't arrive: "),
        (["port-in-use"], "", "UDP from a to b fails: it was port-in-use"),
    ],
)
def test_a_firewall_is_where_not_one_datagram_of_several_comes_through(
    trips: list[str], sent: str, problem: str
) -> None:
    """Exchanges by round trips end so, one after the other, and so does one that only sends."""
    catalogue, codes = load_catalogue(), iter(trips)
    engines = {name: SimulatedTransport("", catalogue.engine(name)) for name in ("udp", "tcp")}

    def play(argv: Sequence[str]) -> Program:
        name, code = argv[0].rpartition("-")[2], ""
        if (name, argv[1]) == ("udp", "client"):
            code = sent if "--mode=stream" in argv else next(codes)
        if not code:
            return (yield from engines[name].play(argv))
        yield json.dumps({"event": "error", "code": code, "message": f"it was {code}"})
        return 1

    hosts = [FakeTransport(name, {"rail-udp": play, "rail-tcp": play}) for name in "ab"]
    client, server = (
        LinkEnd(host.host, f"1.0.0.{place}", EquippedHost(host, "/engines"))
        for place, host in enumerate(hosts, 1)
    )
    link = Firewall(catalogue, Needs()).try_link("ab", client, server)
    assert [text[: len(problem)] for text in link.problems] == ([problem] if problem else [])
    # A busy host gets little done in a time.
    clients = [process.argv for process in hosts[0].started]
    counts = [word for argv in clients for word in argv if word.startswith("--count=")]
    assert len(counts) == len(clients) and "--count=0" not in counts


def findings(**facts: str) -> HostFindings:
    return HostFindings(True, facts)


def test_hosts_with_different_mpis_are_told_and_are_a_problem_where_it_is_needed() -> None:
    hosts = {
        "a": findings(mpi="Open MPI 4.1.4", kernel="6.1"),
        "b": findings(mpi="Open MPI 5.0.11", kernel="6.1"),
        "c": findings(mpi="Open MPI 4.1.4", kernel="6.1"),
        "d": findings(kernel="6.1"),
    }
    says = "the hosts have different MPIs: Open MPI 4.1.4 (a, c), Open MPI 5.0.11 (b)"
    assert compare(hosts, mpi=False) == ([], [says])
    (problem,), notes = compare(hosts, mpi=True)
    assert problem.startswith(says)
    assert notes == []
    assert compare({"a": hosts["a"], "c": hosts["c"]}, mpi=True) == ([], [])


def test_mpis_and_engines_in_different_folders_are_told_where_mpi_is_needed() -> None:
    hosts = {
        "a": findings(mpi="Open MPI 4.1.4", mpirun="/usr/bin/mpirun", rail_mpi="/home/a/rail-mpi"),
        "b": findings(mpi="Open MPI 4.1.4", mpirun="/opt/bin/mpirun", rail_mpi="/home/b/rail-mpi"),
    }
    folders, engines = compare(hosts, mpi=True)[0]
    assert folders.startswith(
        "the hosts have mpirun in different folders: /opt/bin/mpirun (b), /usr/bin/mpirun (a): put"
    )
    assert "rail-mpi is /home/a/rail-mpi (a), /home/b/rail-mpi (b): give" in engines
    same = {name: findings(mpirun=f"/{name}", mpi="Open MPI 4.1.4") for name in hosts}
    assert compare(same, mpi=False) == ([], [])


def test_slurms_nodes_need_no_mpirun(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(
        "hosts: {c1: {address: 10.0.0.1, transport: slurm}, c2: {address: c2, transport: slurm}}\n"
    )
    assert read_targets(tmp_path / "h.yaml", None).needs.mpi.launcher == "srun"


def test_different_architectures_and_kernels_are_noted() -> None:
    hosts = {f"n{index}": findings(architecture="x86_64", kernel="6.1") for index in range(7)}
    hosts["arm"] = findings(architecture="aarch64", kernel="5.14")
    assert compare(hosts, mpi=True) == (
        [],
        [
            "the hosts have different architectures: x86_64 (n0, n1, n2, n3, n4 and 2 more), "
            "aarch64 (arm)",
            "the hosts have different kernels: 6.1 (n0, n1, n2, n3, n4 and 2 more), 5.14 (arm)",
        ],
    )


def all_pairs(count: int) -> dict[str, Link]:
    names = [f"n{index}" for index in range(count)]
    return {f"{a}→{b}": Link(a, b) for a in names for b in names if a != b}


def test_of_too_many_links_every_host_is_tried_as_both_ends() -> None:
    links = all_pairs(30)
    chosen = choose(links, 60)
    assert len(chosen) == 60
    assert {link.client for link in chosen.values()} == {f"n{index}" for index in range(30)}
    assert {link.server for link in chosen.values()} == {f"n{index}" for index in range(30)}
    assert choose(links, 870) == choose(links, 1000) == links
    assert choose(links, 0) == {}
    star = {f"l{index}": Link("hub", f"n{index}") for index in range(9)}
    assert len(choose(star, 5)) == 5


def test_links_over_the_same_addresses_are_tried_once() -> None:
    hosts = {
        name: Host(address=f"10.0.0.{number}", ssh=name, networks={"ib0": f"10.1.0.{number}"})
        for name, number in (("a", 1), ("b", 2))
    }
    links = {
        "one": Link("a", "b", 1e9),
        "two": Link("a", "b"),
        "back": Link("b", "a"),
        "ib": Link("a", "b", network="ib0"),
    }
    assert list(distinct(links, hosts)) == ["one", "back", "ib"]


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., Path]:
    (tmp_path / "h.yaml").write_text(HOSTS)

    def write(text: str = PLAN) -> Path:
        (tmp_path / "p.yaml").write_text(text)
        return tmp_path

    return write


def test_a_plan_tells_what_its_tests_want_and_measure(files: Callable[..., Path]) -> None:
    targets = read_targets(files() / "p.yaml", None)
    assert targets.needs == Needs(
        16 * 1024**2, 4711, (5000, 5001, 5002), mpi=Mpi(prefix="/opt/mpi")
    )
    assert list(targets.links) == ["a→b/ib0", "b→c/ib0", "c→a/ib0", "a→b"]
    assert list(targets.hosts) == ["a", "b", "c"]


def test_a_hosts_file_is_held_against_any_plan(files: Callable[..., Path], tmp_path: Path) -> None:
    folder = files()
    (folder / "other.yaml").write_text("hosts: {x: {address: 10.9.0.1, ssh: x}}\n")
    assert read_targets(folder / "other.yaml", None).needs == Needs()
    targets = read_targets(folder / "other.yaml", folder / "p.yaml")
    assert list(targets.hosts) == ["x"]
    assert targets.links == {}
    assert (targets.needs.sockbuf, targets.needs.control_port) == (16 * 1024**2, 4711)
    assert len(read_targets(folder / "h.yaml", None).links) == 9


def test_a_generators_target_needs_no_free_port(files: Callable[..., Path]) -> None:
    start = PLAN[: PLAN.index("  - {name: t")]
    test = (
        "  - {name: t, engine: udp, links: [fast], "
        "set: {mode: generator, rate: 1Mbit/s, duration: 1s, data_port: 5678}}\n"
    )
    assert read_targets(files(start + test) / "p.yaml", None).needs.data_ports == ()


def test_of_a_group_each_host_is_tried_with_the_next(files: Callable[..., Path]) -> None:
    start = PLAN[: PLAN.index("  - {name: t")]
    test = "  - {name: t, engine: mpi, network: ib0, set: {mode: barrier, duration: 1s}}\n"
    targets = read_targets(files(start + test) / "p.yaml", None)
    assert targets.needs.needs_mpi
    assert list(targets.links) == ["a→b/ib0", "b→c/ib0", "c→a/ib0"]
    assert targets.links["a→b/ib0"].network == "ib0"


def test_two_plans_and_broken_files_are_refused(files: Callable[..., Path]) -> None:
    folder = files()
    with pytest.raises(InputError, match=r"p\.yaml is a plan itself"):
        read_targets(folder / "p.yaml", folder / "p.yaml")
    (folder / "h.yaml").write_text("hosts: {a: {address: 10.0.0.1}}\n")
    with pytest.raises(FileProblems, match=r"h\.yaml:1:12: 'a': say one of"):
        read_targets(folder / "h.yaml", None)


def test_the_command_tells_a_line_a_host_and_a_sentence_a_problem(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(
        "hosts:\n  here: {address: 127.0.0.1, transport: local}\n"
        "  gone: {address: 127.0.0.2, netns: rg-never-there}\n"
    )
    command = [*command_line.COMMAND, "doctor", str(tmp_path / "h.yaml")]
    completed = command_line.run(command, capture_output=True, text=True, timeout=120)
    assert (completed.returncode, completed.stderr) == (3, "examining 2 hosts\n")
    header, reachable_row, unreachable_row, empty, *rest = completed.stdout.splitlines()
    assert header.startswith("host  state")
    assert reachable_row.startswith("here  ")
    assert unreachable_row.startswith("gone  unreachable  -")
    assert empty == ""
    assert any(line.startswith("gone: the network namespace rg-never-th") for line in rest)
    assert rest[-1].startswith("2 hosts and 0 links examined: ")
    completed = command_line.run([*command, "--json"], capture_output=True, text=True, timeout=120)
    answer = json.loads(completed.stdout)
    assert set(answer) == {"hosts", "links", "links_known", "problems", "notes"}
    assert [set(host) for host in answer["hosts"]] == [
        {"name", "reachable", "facts", "clock_offset", "clock_offset_error", "problems"}
    ] * 2
    assert [host["reachable"] for host in answer["hosts"]] == [True, False]


def test_the_command_says_where_engines_are_built(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(
        "hosts: {here: {address: 127.0.0.1, transport: local}}\n"
        "links: {loopback: {from: here, to: here}}\n"
    )
    lines = progress_of_builds(tmp_path, "doctor", "h.yaml")
    assert lines == ["examining 1 host\n", "building the engines on here: about half a minute\n"]
