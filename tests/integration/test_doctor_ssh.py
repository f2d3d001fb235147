"""The doctor on hosts behind real sshds: keys, dead hosts, firewalls, ports, limits, MPIs."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.clusterlab import come_to_an_end
from tests.support.sshlab import Lab, LabHost, ip

from railgauge.lab.doctor.diagnosis import Diagnosis
from railgauge.lab.doctor.examine import examine
from railgauge.lab.doctor.targets import read_targets
from railgauge.run.execution import Observer

LINKS = "links: {ab: {from: a, to: b}, ba: {from: b, to: a}}\n"
PLAN = """\
railgauge: 1
name: p
hosts_file: hosts.yaml
control_port: 4711
tests:
  - {name: t, engine: tcp, links: [ab], set: {duration: 1s, sockbuf: 256MiB, data_port: 4712}}
"""
Diagnose = Callable[..., Diagnosis]


@pytest.fixture
def diagnose(lab: Lab, tmp_path: Path) -> Diagnose:
    """Examine the lab's hosts; `a` and `b` are their ssh destinations."""

    def run(
        *, a: str = "host-a", b: str = "host-b", links: str = LINKS, plan: str = "", most: int = 10
    ) -> Diagnosis:
        (tmp_path / "hosts.yaml").write_text(
            f"hosts:\n  a: {{address: {lab.a.address}, ssh: {a}}}\n"
            f"  b: {{address: {lab.b.address}, ssh: {b}}}\n{links}"
        )
        (tmp_path / "plan.yaml").write_text(plan)
        where = tmp_path / ("plan.yaml" if plan else "hosts.yaml")
        return examine(read_targets(where, None), most, Observer())

    return run


@pytest.fixture
def other_login(lab: Lab) -> Callable[..., str]:
    """Start another sshd on a host; gives the destination that leads to it."""

    def make(host: LabHost, port: int, *lines: str, **environment: object) -> str:
        host.sshd(port, *lines, **environment)
        name = f"other-{host.name}"
        entry = lab.entry(name, host.control, f"HostKeyAlias {name}", port=port)
        with lab.config.open("a") as config:
            config.write(entry)
        with lab.known_hosts.open("a") as known_hosts:
            known_hosts.write(f"{name} {host.host_key.with_suffix('.pub').read_text()}")
        return name

    return make


@contextlib.contextmanager
def dropped(host: LabHost, protocol: str) -> Iterator[None]:
    """Have a host drop what comes in from the other one by this protocol, as firewalls do."""
    inside = ["-n", host.namespace, "rule"]
    rule = ["iif", "test0", "ipproto", protocol, "blackhole", "pref", "10"]
    # What is for the host itself is looked up first, unless that comes later.
    ip(*inside, "add", "pref", "100", "lookup", "local")
    ip(*inside, "del", "pref", "0")
    ip(*inside, "add", *rule)
    try:
        yield
    finally:
        ip(*inside, "del", *rule)
        ip(*inside, "add", "pref", "0", "lookup", "local")
        ip(*inside, "del", "pref", "100")


def test_hosts_that_are_ready_have_no_problem_and_all_gets_through(diagnose: Diagnose) -> None:
    diagnosis = diagnose()
    assert diagnosis.sentences() == []
    for findings in diagnosis.hosts.values():
        assert findings.reachable
        assert findings.facts["make"].startswith("GNU Make")
        assert findings.clock is not None
        assert abs(findings.clock.seconds) <= findings.clock.error
    assert [(link.name, link.tcp, link.udp, link.udp_back) for link in diagnosis.links] == [
        ("ab", True, True, True),
        ("ba", True, True, True),
    ]


def test_nothing_is_left_running_there(diagnose: Diagnose, lab: Lab) -> None:
    diagnose()
    assert all(come_to_an_end(host, "rail-") for host in (lab.a, lab.b))


def test_unknown_host_key_is_told_and_the_other_host_is_examined(
    diagnose: Diagnose, lab: Lab
) -> None:
    lines = lab.known_hosts.read_text().splitlines()
    lab.known_hosts.write_text(lines[0] + "\n")
    diagnosis = diagnose()
    a, b = diagnosis.hosts["a"], diagnosis.hosts["b"]
    assert (a.reachable, b.reachable) == (True, False)
    (problem,) = b.problems
    assert "key" in problem
    assert not problem.startswith("b:")
    assert diagnosis.sentences() == [f"b: {problem}"]
    assert [(link.tcp, link.udp) for link in diagnosis.links] == [(None, None)] * 2


def test_a_host_that_is_down_is_told_and_the_other_one_is_examined(
    diagnose: Diagnose, lab: Lab
) -> None:
    lab.write_config(lab.entry("host-b", lab.b.control, "ConnectTimeout 1"))
    lab.b.link("down")
    diagnosis = diagnose()
    assert [findings.reachable for findings in diagnosis.hosts.values()] == [True, False]
    assert diagnosis.hosts["a"].facts["compiler"]
    assert len(diagnosis.sentences()) == 1


def test_a_firewall_against_udp_is_told_with_the_direction(diagnose: Diagnose, lab: Lab) -> None:
    with dropped(lab.b, "udp"):
        diagnosis = diagnose()
    ab, ba = diagnosis.links
    assert (ab.tcp, ab.udp, ab.udp_back) == (True, False, None), ab.problems
    assert (ba.tcp, ba.udp, ba.udp_back) == (True, True, False), ba.problems
    (forward,), (back,) = ab.problems, ba.problems
    assert forward.startswith(f"UDP from a to b ({lab.b.address}) doesn't arrive")
    assert back.startswith(f"UDP from a to b ({lab.b.address}) (the way back of what arrived) does")


def test_a_way_without_tcp_is_told_with_what_works(diagnose: Diagnose, lab: Lab) -> None:
    with dropped(lab.b, "tcp"):
        diagnosis = diagnose(links="links: {ab: {from: a, to: b}}\n")
    (link,) = diagnosis.links
    assert (link.tcp, link.udp) == (False, None)
    (problem,) = link.problems
    assert problem.startswith(f"TCP from a to b ({lab.b.address}) fails: port ")
    assert problem.endswith("(from b to a it fails as well)")


def test_a_link_without_a_route_is_told(diagnose: Diagnose, lab: Lab) -> None:
    route = ["-n", lab.a.namespace, "route"]
    ip(*route, "add", "unreachable", lab.b.address)
    try:
        diagnosis = diagnose(links="links: {ab: {from: a, to: b}}\n")
    finally:
        ip(*route, "del", "unreachable", lab.b.address)
    (link,) = diagnosis.links
    assert link.tcp is False
    assert lab.b.address in link.problems[0]


def test_what_the_plan_wants_and_a_host_lacks_is_told(
    diagnose: Diagnose, other_login: Callable[..., str], lab: Lab
) -> None:
    # Root without the right to go past the limits, as users are.
    bounded = "exec setpriv --inh-caps=-net_admin --bounding-set=-net_admin"
    login = other_login(lab.b, 2251, f'ForceCommand {bounded} sh -c "$SSH_ORIGINAL_COMMAND"')
    listening = "import socket, sys; s = socket.create_server(('', 4711)); sys.stdin.read()"
    inside = ["ip", "netns", "exec", lab.b.namespace, "python3", "-u", "-c"]
    with subprocess.Popen(
        [*inside, f"{listening.replace('; sys', '; print(); sys')}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as listener:
        assert listener.stdout is not None
        listener.stdout.readline()
        diagnosis = diagnose(b=login, plan=PLAN, most=0)
        assert listener.stdin is not None
        listener.stdin.close()
    assert diagnosis.hosts["a"].problems == []
    rmem, wmem, port = diagnosis.hosts["b"].problems
    assert rmem.startswith("net.core.rmem_max is ")
    assert rmem.endswith("sysctl -w net.core.rmem_max=268435456")
    assert wmem.startswith("net.core.wmem_max is ")
    assert port.startswith("TCP port 4711 is in use there")


def test_the_plans_ports_are_those_that_are_tried(diagnose: Diagnose, lab: Lab) -> None:
    inside = ["-n", lab.b.namespace, "rule"]
    with dropped(lab.b, "sctp"):  # so that the rules are in an order in which ours counts
        ip(
            *inside,
            "add",
            "iif",
            "test0",
            "ipproto",
            "tcp",
            "dport",
            "4712",
            "blackhole",
            "pref",
            "9",
        )
        try:
            fixed = diagnose(plan=PLAN)
            free = diagnose(links="links: {ab: {from: a, to: b}}\n")
        finally:
            ip(*inside, "del", "pref", "9")
    (link,) = fixed.links
    assert link.tcp is False
    assert "4712" in link.problems[0]
    assert free.links[0].tcp is True


def test_a_host_without_a_compiler_is_told_once_and_its_links_are_not_tried(
    diagnose: Diagnose, other_login: Callable[..., str], lab: Lab, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "uname", "head", "cat", "grep", "cut", "date", "make"):
        (folder / name).symlink_to(str(shutil.which(name)))
    diagnosis = diagnose(b=other_login(lab.b, 2252, PATH=folder))
    (sentence,) = diagnosis.sentences()
    assert sentence.startswith("b: there is no C compiler (cc, gcc or clang)")
    assert [link.tcp for link in diagnosis.links] == [None, None]


def mpi(folder: Path, version: str) -> Path:
    """Make a folder with an mpirun that says this version."""
    folder.mkdir()
    program = folder / "mpirun"
    program.write_text(f"#!/bin/sh\necho 'mpirun (Open MPI) {version}'\n")
    program.chmod(0o755)
    (folder / "mpicc").symlink_to("/bin/false")
    return folder


@pytest.mark.parametrize("other", ["4.1.4", "5.0.11"])
def test_mpi_versions_are_held_against_each_other(
    diagnose: Diagnose, other_login: Callable[..., str], lab: Lab, tmp_path: Path, other: str
) -> None:
    usual = "/usr/local/bin:/usr/bin:/bin"
    a = other_login(lab.a, 2253, PATH=f"{mpi(tmp_path / 'one', '4.1.4')}:{usual}")
    b = other_login(lab.b, 2254, PATH=f"{mpi(tmp_path / 'two', other)}:{usual}")
    diagnosis = diagnose(a=a, b=b, most=0)
    assert [findings.facts["mpi"] for findings in diagnosis.hosts.values()] == [
        "Open MPI 4.1.4",
        f"Open MPI {other}",
    ]
    differ = "the hosts have different MPIs: Open MPI 4.1.4 (a), Open MPI 5.0.11 (b)"
    assert diagnosis.notes[:1] == ([] if other == "4.1.4" else [differ])
    assert diagnosis.sentences() == []


def test_an_mpi_that_is_there_is_tried_and_has_to_be_in_one_place(
    diagnose: Diagnose,
    other_login: Callable[..., str],
    lab: Lab,
    require: Callable[[object, str], None],
) -> None:
    compiler = shutil.which("mpicc")
    require(compiler, "Open MPI (mpicc and mpirun in PATH)")
    folder = Path(str(compiler)).parent
    plan = (
        "railgauge: 1\nname: p\nhosts_file: hosts.yaml\n"
        f"mpi: {{prefix: {folder.parent}}}\n"
        "tests: [{name: t, engine: mpi, set: {mode: barrier, duration: 1s}}]\n"
    )
    (sentence,) = diagnose(plan=plan).sentences()
    assert sentence.startswith("a job starts one program on all its hosts, but rail-mpi is ")
    a, b = (
        other_login(host, port, XDG_CACHE_HOME=lab.a.home / ".cache")
        for host, port in ((lab.a, 2255), (lab.b, 2256))
    )
    diagnosis = diagnose(a=a, b=b, plan=plan)
    assert diagnosis.sentences() == []
    assert [link.name for link in diagnosis.links] == ["a→b", "b→a"]
    for findings in diagnosis.hosts.values():
        assert findings.facts["mpirun"] == f"{folder}/mpirun"
        assert findings.facts["mpi"].startswith("Open MPI ")


def test_two_names_of_one_machine_are_examined_as_one(diagnose: Diagnose, lab: Lab) -> None:
    before = lab.a.sshds[0].log.read_text().count("Accepted publickey")
    diagnosis = diagnose(b="host-a", links="")
    assert lab.a.sshds[0].log.read_text().count("Accepted publickey") == before + 1
    assert diagnosis.hosts["a"] == diagnosis.hosts["b"]
