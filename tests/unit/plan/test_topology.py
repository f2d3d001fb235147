"""Groups, what a plan and its hosts file say together, and what a test's links may name."""

from pathlib import Path

import pytest
from tests.support import ROOT
from tests.support.problems import in_one_file, problems

from railgauge.base.errors import FileProblems
from railgauge.plan.cases import expand
from railgauge.plan.load import load_plan_text
from railgauge.plan.topology import Topology, read_hosts_file

HOSTS = """\
hosts:
  a: {address: 10.0.0.1, ssh: a}
  b: {address: 10.0.0.2, ssh: b}
  c: {address: 10.0.0.3, ssh: c}
"""
PLAN = """\
railgauge: 1
name: p
hosts_file: h.yaml
tests: [{name: t, engine: udp, set: {duration: 1s}}]
"""


def read(tmp_path: Path, text: str) -> Topology:
    (tmp_path / "h.yaml").write_text(HOSTS + text)
    return read_hosts_file(tmp_path / "h.yaml")


def mistakes(tmp_path: Path, text: str) -> list[str]:
    return in_one_file(read, tmp_path, text)


def plan_mistakes(tmp_path: Path, hosts: str, plan: str) -> list[str]:
    (tmp_path / "h.yaml").write_text(HOSTS + hosts)
    return problems(load_plan_text, PLAN + plan, "p.yaml", tmp_path)


def test_all_is_always_a_group_of_all_hosts(tmp_path: Path) -> None:
    assert read(tmp_path, "").groups == {"all": ("a", "b", "c")}


def test_groups_of_groups_keep_their_order_and_no_host_twice(tmp_path: Path) -> None:
    text = "groups:\n  outer: [c, inner, a, all]\n  inner: [b, a, b]\n"
    groups = read(tmp_path, text).groups
    assert list(groups) == ["all", "outer", "inner"]
    assert (groups["outer"], groups["inner"]) == (("c", "b", "a"), ("b", "a"))


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        (["x: [q]"], "6:7: unknown host or group 'q': known are a, all, b, c, x"),
        (["rackA: [a]", "y: [a, racka]"], "7:10: unknown host or group 'racka': did you mean 'r"),
        (["all: [a]"], "6:3: 'all' always stands for all hosts: choose another name"),
        (["a: [b]"], "6:3: 'a' is a host: choose another name"),
        (["x: [a, x]"], "6:10: group 'x' contains itself (x → x): take 'x' out of it"),
        (
            ["x: [a, y]", "y: [b, z]", "z: [x, c]"],
            "6:10: group 'x' contains itself (x → y → z → x): take 'y' out of it",
        ),
        (["x: []"], "6:6: 'x': the list is empty"),
        (["x: a"], "6:6: 'x' is the text 'a', but a list is wanted"),
    ],
)
def test_faulty_group_is_reported(tmp_path: Path, groups: list[str], says: str) -> None:
    text = "groups:\n" + "".join(f"  {group}\n" for group in groups)
    assert len(mistakes(tmp_path, text)) == 1
    assert mistakes(tmp_path, text)[0].startswith(f"{says}")


def test_every_circle_of_groups_is_told_and_nothing_that_only_contains_one(tmp_path: Path) -> None:
    text = "groups: {u: [v], v: [u], w: [u, a], x: [y], y: [x]}\nlinks: {l: {ring: [w]}}\n"
    messages = mistakes(tmp_path, text)
    assert [line.split(" (")[1].split("):")[0] for line in messages] == ["u → v → u", "x → y → x"]


def test_groups_nested_very_deeply_are_read(tmp_path: Path) -> None:
    lines = "".join(f"  g{level}: [g{level + 1}]\n" for level in range(5000))
    assert read(tmp_path, f"groups:\n{lines}  g5000: [b]\n").groups["g0"] == ("b",)


def test_host_named_all_is_reported(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text("hosts: {all: {address: 10.0.0.1, ssh: a}}\n")
    with pytest.raises(FileProblems, match=r"h\.yaml:1:9: 'all' always stands for all hosts"):
        read_hosts_file(tmp_path / "h.yaml")


def test_groups_and_patterns_of_plan_and_hosts_file_join(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(f"{HOSTS}groups: {{x: [a, b]}}\nlinks: {{l: {{ring: [x]}}}}\n")
    text = f"{PLAN}groups: {{y: [x, c]}}\nlinks: {{m: {{all-pairs: [y], rate: 1Gbit/s}}}}\n"
    plan = load_plan_text(text, "p.yaml", tmp_path).plan
    assert plan.groups == {"all": ["a", "b", "c"], "x": ["a", "b"], "y": ["a", "b", "c"]}
    assert list(plan.links) == ["a→b", "b→a", "a→c", "b→c", "c→a", "c→b"]
    assert plan.links["b→a"].rate == 1e9


def test_name_that_plan_and_hosts_file_both_give_is_reported(tmp_path: Path) -> None:
    hosts = "groups: {x: [a]}\nlinks: {l: ring}\n"
    assert plan_mistakes(tmp_path, hosts, "groups: {x: [b]}\nlinks: {l: all-pairs}\n") == [
        f"p.yaml:5:10: group 'x' is in {tmp_path}/h.yaml:5 as well: choose another name",
        f"p.yaml:6:9: link 'l' is in {tmp_path}/h.yaml as well: choose another name",
    ]


def test_mistakes_in_both_files_are_told_at_once(tmp_path: Path) -> None:
    hosts = "groups: {x: [q]}\nlinks: {l: {ring: [x]}, m: {from: a, to: z}}\n"
    messages = plan_mistakes(
        tmp_path, hosts, "groups: {y: [x, w]}\nlinks: {n: {star: {centre: v}}}\n"
    )
    assert [line.split(": ")[0].rpartition("/")[2] for line in messages] == [
        "h.yaml:5:14",
        "h.yaml:6:42",
        "p.yaml:5:17",
        "p.yaml:6:28",
    ]


def test_what_the_plan_says_of_mpi_goes_before_what_its_hosts_file_says(tmp_path: Path) -> None:
    mpi = 'mpi: {prefix: /opt/openmpi, launcher: mpirun, agent: "ssh -q"}\n'
    (tmp_path / "h.yaml").write_text(HOSTS + "links: {l: ring}\n" + mpi)
    plan = load_plan_text(f"{PLAN}mpi: {{prefix: /opt/other}}\n", "p.yaml", tmp_path).plan
    assert plan.mpi is not None
    assert (plan.mpi.launcher, plan.mpi.prefix, plan.mpi.agent) == (
        "mpirun",
        "/opt/other",
        "ssh -q",
    )
    plan = load_plan_text(PLAN, "p.yaml", tmp_path).plan
    assert plan.mpi is not None
    assert plan.mpi.prefix == "/opt/openmpi"


def test_a_tests_links_are_a_patterns_or_single_ones(tmp_path: Path) -> None:
    links = "links:\n  l: {ring: [a, b]}\n  m: all-pairs\n  n: {from: c, to: a}\n"
    (tmp_path / "h.yaml").write_text(HOSTS + links)

    def measured(names: str) -> list[str]:
        text = PLAN.replace("engine: udp", f"engine: udp, links: {names}")
        (test,) = expand(load_plan_text(text, "p.yaml", tmp_path))
        return [case.link for case in test.cases]

    assert measured("[l]") == ["a→b", "b→a"]
    assert measured("[c→b, n, l]") == ["c→b", "n", "a→b", "b→a"]


def test_unknown_link_is_reported_with_the_nearest_pattern(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(HOSTS + "links: {fabric: ring}\n")
    text = PLAN.replace("engine: udp", "engine: udp, links: [fabrik]")
    with pytest.raises(FileProblems, match="unknown link 'fabrik': did you mean 'fabric'"):
        load_plan_text(text, "p.yaml", tmp_path)


def test_the_shipped_example_of_patterns_and_networks_is_valid() -> None:
    topology = read_hosts_file(ROOT / "plans" / "hosts" / "two-racks.yaml")
    assert set(topology.link_sets) == {"fabric", "ring", "hub", "racks"}
    assert {link.network for link in topology.links.values()} == {None, "ib0"}
    assert topology.groups["all"] == tuple(topology.hosts)


LISTED = """\
hosts:
  n[1-3]: {address: "10.0.0.[7,9,8]", networks: {ib: "10.9.0.[1-3]"}, ssh: "me@n[1-3].site:22"}
  gw: {address: fd00::1, ssh: "[fd00::1]:22"}
groups:
  two: n[1-2]
  some:
    - n[2,1]
    - gw
links:
  ring: {ring: "n[1-2]"}
  racks: {between: ["n[1-2]", gw]}
"""


def listed(tmp_path: Path, text: str) -> Topology:
    (tmp_path / "h.yaml").write_text(text)
    return read_hosts_file(tmp_path / "h.yaml")


def test_a_hostlist_is_as_many_hosts_whose_texts_go_along(tmp_path: Path) -> None:
    topology = listed(tmp_path, LISTED)
    assert {name: (host.address, host.ssh) for name, host in topology.hosts.items()} == {
        "n1": ("10.0.0.7", "me@n1.site:22"),
        "n2": ("10.0.0.9", "me@n2.site:22"),
        "n3": ("10.0.0.8", "me@n3.site:22"),
        "gw": ("fd00::1", "[fd00::1]:22"),
    }
    assert topology.hosts["n3"].networks == {"ib": "10.9.0.3"}
    assert topology.groups["two"] == ("n1", "n2")
    assert topology.groups["some"] == ("n2", "n1", "gw")
    assert topology.link_sets["ring"] == ("n1→n2", "n2→n1")
    assert topology.link_sets["racks"] == ("n1→gw", "n2→gw", "gw→n1", "gw→n2")


def test_a_test_names_its_hosts_by_hostlists(tmp_path: Path) -> None:
    text = 'tests: [{name: t, engine: cpu, hosts: "n[3,1]"}]\n'
    plan = load_plan_text(f"railgauge: 1\nname: p\n{LISTED}{text}", "p.yaml", tmp_path)
    assert [case.link for case in expand(plan)[0].cases] == ["n3", "n1"]


def test_every_mistake_in_a_hostlist_has_its_place(tmp_path: Path) -> None:
    text = """\
hosts:
  a[1-2]: {address: "10.0.0.[1-3]", ssh: "a[1-2]"}
  b[1-2]: {address: 10.0.0.1, ssh: "b[1-2]"}
  c[2-1]: {address: 10.0.0.1, ssh: c}
  d1: {address: 10.0.0.1, ssh: d, port: 2}
  d[1-2]: {address: "10.0.0.[1-2]", ssh: "d[1-2]"}
  e[1-2]: {address: "10.0.0.[1-2]", ssh: "e[1-2]", port: 1}
"""
    places = in_one_file(listed, tmp_path, text)
    assert places[:2] == [
        "2:21: '10.0.0.[1-3]' has 3 names, but the hosts here are 2",
        "3:21: '10.0.0.1' is the same for 2 hosts: write a hostlist",
    ]
    assert places[2].startswith("4:3: '2-1' is no range of the hostlist 'c[2-1]'")
    assert places[3].startswith("5:35: unknown key 'port'")
    assert places[4] == "6:3: host 'd1' is here twice: keep one of the two"
    assert places[5].startswith("7:52: unknown key 'port'")
    assert len(places) == 6


def test_hosts_of_which_all_are_wrong_are_not_too_few_beside(tmp_path: Path) -> None:
    text = 'hosts:\n  a[1-2]: {address: "10.0.0.[1-3]", ssh: "a[1-2]"}\n'
    (problem,) = in_one_file(listed, tmp_path, text)
    assert problem.endswith(": '10.0.0.[1-3]' has 3 names, but the hosts here are 2")


def test_hostlists_of_unknown_hosts_have_their_place(tmp_path: Path) -> None:
    assert mistakes(
        tmp_path,
        """\
groups:
  g: a[1-2]
  h[1]: [a]
links:
  x: {from: "a[1]", to: b}
  y: {all-pairs: ["a[1", b]}
""",
    ) == [
        "6:6: hostlist 'a[1-2]': unknown host 'a1': did you mean 'a'?",
        "7:3: 'h[1]' is a hostlist: choose another name, and write that in its list",
        "9:13: link 'x': 'a[1]' is a hostlist: write a host, or the pattern 'between'",
        "10:19: 'a[1' is no hostlist: write such as n[1-4,7]",
    ]
