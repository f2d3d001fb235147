"""What a plan comes to: hosts, links, hosts files, and what each test spans."""

from pathlib import Path

import pytest
from tests.support import ROOT, schemas

from railgauge.plan.cases import expand
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.load import load_plan, load_plan_text
from railgauge.plan.model import Host

SHIPPED = ["quickstart", "sharcnet-tcp", "sharcnet-udp"]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_plans_are_valid(name: str) -> None:
    path = ROOT / "plans" / f"{name}.yaml"
    loaded = load_plan(path)
    assert loaded.plan.name == name
    assert loaded.text == path.read_text(encoding="utf-8")
    counts = {test.test.replications for test in expand(loaded) if test.cases}
    assert counts == {6 if name == "quickstart" else 10}


def test_the_quickstarts_ends_have_a_cpu_each() -> None:
    # Unpinned, its round trips fall into two groups.
    tests = expand(load_plan(ROOT / "plans" / "quickstart.yaml"))
    cases = [case for test in tests for case in test.cases]
    pins = [(case.parameters["client_cpu"], case.parameters["server_cpu"]) for case in cases]
    assert pins == [("+0", "+1")] * len(cases)


def test_the_papers_plans_have_the_papers_cases() -> None:
    udp = expand(load_plan(ROOT / "plans" / "sharcnet-udp.yaml"))[0].cases
    tcp = expand(load_plan(ROOT / "plans" / "sharcnet-tcp.yaml"))[0].cases
    assert (len(udp), len(tcp)) == (3 * (4 * 4 - 1), 3 * 3 * 4)
    assert {case.link for case in udp} == {"gw→gw", "gw→dp", "gw→hh"}
    assert {case.parameters["datagram"] for case in udp} == {1024, 1460, 4096, 40960}
    assert {case.parameters["message"] for case in tcp} == {102_400, 1_048_576, 10_485_760}
    assert {case.parameters["sockbuf"] for case in tcp} == {10_240, 102_400, 1_048_576, 10_485_760}


def test_a_hosts_file_is_found_beside_the_plan_and_its_links_join_the_plans(tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text(
        "hosts: {a: {address: 10.0.0.1, ssh: me@a:2222}, b: {address: '::1', transport: local}}\n"
        "links: {ab: {from: a, to: b, rate: 1Gbit/s, rtt: 2.9ms}}\n"
    )
    text = (
        "railgauge: 1\nname: p\nhosts_file: hosts.yaml\nlinks: {ba: {from: b, to: a}}\n"
        "tests: [{name: t, engine: udp}]\n"
    )
    plan = load_plan_text(text, "stored", tmp_path).plan
    assert list(plan.links) == ["ab", "ba"]
    assert (plan.links["ab"].rate, plan.links["ab"].rtt) == (1e9, 0.0029)
    assert {name: host.machine for name, host in plan.hosts.items()} == {
        "a": "a:2222",
        "b": "local",
    }


def test_namespaces_of_one_name_in_two_user_namespaces_are_two_machines() -> None:
    first, second, third = (
        Host(address="10.0.0.1", netns="n1", holder=holder) for holder in (4711, 4712, None)
    )
    assert len({first.machine, second.machine, third.machine}) == 3


def test_logins_on_one_host_are_one_machine() -> None:
    first = Host(address="10.0.0.1", ssh="me@Node7")
    second = Host(address="10.0.0.2", ssh="node7")
    assert first.machine == second.machine


@pytest.mark.parametrize("address", ["10.0.0.1", "fd00::1", "fe80::1%eth0", "node7", "n-7.a.org"])
def test_addresses_are_ip_addresses_or_host_names(address: str) -> None:
    assert Host(address=address, transport="local").address == address


def test_a_plan_may_bring_its_own_engine(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "railgauge_engine: 1\nname: mine\nsummary: mine\n"
        "parameters: {times: {type: int, default: 2}}\ncommand: [echo, '{times}']\n"
        "metrics: {wall_time: {unit: s, better: lower, from: wall_time}}\n"
    )
    text = (
        "railgauge: 1\nname: p\nengines: [mine.yaml]\n"
        "hosts: {a: {address: 10.0.0.1, ssh: a}, b: {address: 10.0.0.2, ssh: b}}\n"
        "tests:\n  - {name: t, engine: mine, grid: {times: [1, 2]}}\n"
        "  - {name: u, engine: mine, hosts: [b]}\n"
    )
    loaded = load_plan_text(text, "stored", tmp_path)
    first, second = expand(loaded)
    assert [(case.link, case.client, case.server) for case in first.cases] == [
        ("a", "a", None),
        ("a", "a", None),
        ("b", "b", None),
        ("b", "b", None),
    ]
    assert [case.parameters for case in second.cases] == [{"times": 2, "timeout": 0.0}]
    assert "mine" not in load_catalogue().engines


@pytest.mark.parametrize("name", schemas.NAMES)
def test_a_kept_schema_is_what_the_models_or_migrations_say(name: str) -> None:
    schema_text = (ROOT / "schema" / name).read_text(encoding="utf-8")
    assert schema_text == schemas.schema_file(name), f"schema/{name} is stale: make schema"
