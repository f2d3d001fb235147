"""The links that patterns make, and what is wrong with a pattern."""

from pathlib import Path

import pytest
from tests.support.problems import in_one_file

from railgauge.base.errors import FileProblems
from railgauge.plan.links import Link
from railgauge.plan.patterns import Pattern, all_pairs, between, ring, star
from railgauge.plan.topology import Topology, read_hosts_file

HOSTS = """\
hosts:
  a: {address: 10.0.0.1, ssh: a, networks: {eth: 10.1.0.1, ib0: 10.2.0.1}}
  b: {address: 10.0.0.2, ssh: b, networks: {eth: 10.1.0.2, ib0: 10.2.0.2}}
  c: {address: 10.0.0.3, ssh: c, networks: {eth: 10.1.0.3}}
  d: {address: 10.0.0.4, ssh: d}
groups:
  left: [a, b]
  right: [c, d]
  one: [a]
links:
"""
FIRST = HOSTS.count("\n") + 1


def read(tmp_path: Path, links: str) -> Topology:
    (tmp_path / "h.yaml").write_text(HOSTS + links)
    return read_hosts_file(tmp_path / "h.yaml")


def mistakes(tmp_path: Path, links: str) -> list[str]:
    """Return what is wrong with the links, the first of which are on line 0."""
    places = [place.split(":", 1) for place in in_one_file(read, tmp_path, links)]
    return [f"{int(line) - FIRST}:{rest}" for line, rest in places]


@pytest.mark.parametrize(
    ("pattern", "pairs"),
    [
        (all_pairs("abc"), "ab ac ba bc ca cb"),
        (ring("abc"), "ab bc ca"),
        (ring("ab"), "ab ba"),
        (star("a", "abc"), "ab ba ac ca"),
        (between(["ab", "cd"]), "ac ad bc bd ca cb da db"),
        (between(["ab", "bc"]), "ab ac bc ba ca cb"),
        (between(["a", "b", "c"]), "ab ac ba bc ca cb"),
        (all_pairs("a"), ""),
        (ring("a"), ""),
        (star("a", "a"), ""),
        (between(["a", "a"]), ""),
    ],
)
def test_a_pattern_pairs_distinct_hosts_each_once(pattern: Pattern, pairs: str) -> None:
    links = list(pattern.pairs)
    assert links == [tuple(pair) for pair in pairs.split()]
    assert len(links) <= pattern.at_most


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("all-pairs", 12),
        ("{all-pairs: [left]}", 2),
        ("{all-pairs: [left, d, a]}", 6),
        ("ring", 4),
        ("{ring: [right, left]}", 4),
        ("{star: {centre: a}}", 6),
        ("{star: {centre: a, hosts: [right]}}", 4),
        ("{between: [left, right]}", 8),
        ("{between: [left, all]}", 10),
    ],
)
def test_a_pattern_stands_for_its_links_under_its_name(
    tmp_path: Path, written: str, count: int
) -> None:
    topology = read(tmp_path, f"  x: {written}\n")
    assert list(topology.links) == list(topology.link_sets["x"])
    assert len(topology.links) == count
    assert all(name == f"{link.client}→{link.server}" for name, link in topology.links.items())
    assert all(link.client != link.server for link in topology.links.values())


def test_a_patterns_links_have_its_rate_and_rtt(tmp_path: Path) -> None:
    links = read(tmp_path, "  x: {ring: [left], rate: 1Gbit/s, rtt: 2ms}\n").links
    assert links == {
        "a→b": Link("a", "b", 1e9, 0.002),
        "b→a": Link("b", "a", 1e9, 0.002),
    }


def test_links_on_networks_are_named_after_them(tmp_path: Path) -> None:
    written = "  x: {ring: [left], networks: [eth, ib0]}\n  y: {ring: [left], network: ib0}\n"
    topology = read(tmp_path, written)
    assert topology.link_sets == {
        "x": ("a→b/eth", "b→a/eth", "a→b/ib0", "b→a/ib0"),
        "y": ("a→b/ib0", "b→a/ib0"),
    }
    assert [link.network for link in topology.links.values()] == ["eth", "eth", "ib0", "ib0"]


def test_a_single_link_on_a_network_keeps_its_name_and_on_several_is_a_set(tmp_path: Path) -> None:
    written = "  x: {from: a, to: b, network: ib0}\n  y: {from: a, to: b, networks: [eth, ib0]}\n"
    topology = read(tmp_path, written)
    assert topology.links == {
        "x": Link("a", "b", network="ib0"),
        "y/eth": Link("a", "b", network="eth"),
        "y/ib0": Link("a", "b", network="ib0"),
    }
    assert topology.link_sets == {"y": ("y/eth", "y/ib0")}


def test_patterns_that_make_one_link_say_together_what_is_known_of_it(tmp_path: Path) -> None:
    written = (
        "  x: {all-pairs: [left], rtt: 1ms}\n  y: {ring: [left], rate: 1Gbit/s}\n"
        "  a→b: {from: a, to: b, rate: 1Gbit/s}\n"
    )
    topology = read(tmp_path, written)
    assert topology.links == {
        "a→b": Link("a", "b", 1e9, 0.001),
        "b→a": Link("b", "a", 1e9, 0.001),
    }
    assert topology.link_sets["x"] == topology.link_sets["y"] == ("a→b", "b→a")


def test_patterns_that_contradict_each_other_are_reported_with_both_lines(tmp_path: Path) -> None:
    written = "  x: {all-pairs: [left], rate: 1Gbit/s}\n  y: {ring: [left], rate: 2Gbit/s}\n"
    assert mistakes(tmp_path, written) == [
        f"1:27: 'rate': link 'a→b' has 1Gbit/s on line {FIRST}, and here 2Gbit/s: "
        "keep one of the two"
    ]
    written = "  a→b: {from: a, to: b, rtt: 1ms}\n  y: {ring: [left], rtt: 2ms}\n"
    assert mistakes(tmp_path, written) == [
        f"1:26: 'rtt': link 'a→b' has 1ms on line {FIRST}, and here 2ms: keep one of the two"
    ]


def test_link_named_as_another_that_a_pattern_makes_is_reported_with_both_lines(
    tmp_path: Path,
) -> None:
    says = f"link 'a→b' stands for something else on line {FIRST}: choose another name there"
    assert mistakes(tmp_path, "  a→b: {from: a, to: c}\n  y: ring\n") == [f"1:3: {says}"]
    assert mistakes(tmp_path, "  y: {ring: [left]}\n  a→b: {from: a, to: c}\n") == [f"1:3: {says}"]


def test_pattern_named_as_a_link_that_one_makes_is_reported_with_both_lines(tmp_path: Path) -> None:
    says = f"'a→b' is also a link of 'y' on line {FIRST}: choose another name"
    assert mistakes(tmp_path, "  y: {ring: [left]}\n  a→b: ring\n") == [f"1:3: {says}"]


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("all-pair", "0:6: 'x': 'all-pair' is no pattern of links: did you mean 'all-pairs'?"),
        ("mesh", "0:6: 'x': 'mesh' is no pattern of links: write {from: HOST, to: HOST}, or"),
        ("star", "0:6: 'x': the pattern 'star' needs to know of whom: write {star: {centre: gw1}"),
        ("between", "0:6: 'x': the pattern 'between' needs to know of whom: write {between: [ra"),
        ("{al-pairs: [left]}", "0:7: unknown key 'al-pairs': did you mean 'all-pairs'?"),
        ("{from: a}", "0:6: 'x': the key 'to' is missing here: add it"),
        ("{to: a}", "0:6: 'x': the key 'from' is missing here: add it"),
        ("{rate: 1Gbit/s}", "0:6: 'x': a link has 'from' and 'to', or is a pattern: 'all-pairs'"),
        ("{ring: [a], from: a, to: b}", "0:6: 'x': a link has 'from' and 'to', or is a pattern"),
        ("{ring: [a], all-pairs: [b]}", "0:6: 'x': a link has 'from' and 'to', or is a pattern"),
        ("{ring: left}", "0:13: 'ring' is the text 'left', but a list is wanted"),
        ("{ring: []}", "0:13: 'ring': the list is empty"),
        ("{ring: [a, lft]}", "0:17: unknown host or group 'lft': did you mean 'left'?"),
        ("{star: {centre: a, host: [b]}}", "0:25: unknown key 'host': did you mean 'hosts'?"),
        ("{star: {centre: q}}", "0:22: link 'x': unknown host 'q': known are a, b, c, d"),
        ("{star: {centre: left}}", "0:22: link 'x': 'left' is a group: write a host"),
        ("{star: {centre: a, hosts: [q]}}", "0:33: unknown host or group 'q': known are"),
        ("{from: left, to: a}", "0:13: link 'x': 'left' is a group: write a host, or the pattern"),
        ("{between: [left]}", "0:16: 'between': links are between two hosts or groups, or more"),
        ("{between: [left, q]}", "0:23: unknown host or group 'q': known are"),
        ("{between: [a, one]}", "0:16: links are between two hosts, and here is only one"),
        ("{all-pairs: [one, a]}", "0:18: links are between two hosts, and here is only one"),
        ("{ring: [a, one]}", "0:13: links are between two hosts, and here is only one"),
        ("{star: {centre: a, hosts: [one]}}", "0:13: links are between two hosts, and here"),
        ("{ring: [left], network: ib}", "0:30: unknown network 'ib': did you mean 'ib0'?"),
        ("{ring: [left, c], network: ib0}", "0:33: host c has no address on network 'ib0': add"),
        ("{ring: [all], networks: [eth, ib0]}", "0:31: host d has no address on network 'eth'"),
        ("{from: a, to: d, network: eth}", "0:32: host d has no address on network 'eth': add"),
        ("{ring: [left], networks: [eth, eth]}", "0:31: a network is listed twice: drop one"),
        ("{ring: [left], network: eth, networks: [ib0]}", "0:6: 'x': 'network' is one and 'netw"),
        ("{ring: [left], rate: fast}", "0:27: 'rate': 'fast' is not a rate"),
        ("5", "0:6: 'x' is the number 5, but a mapping is wanted"),
    ],
)
def test_faulty_pattern_is_reported(tmp_path: Path, written: str, says: str) -> None:
    assert mistakes(tmp_path, f"  x: {written}\n")[0].startswith(says)


def test_each_host_that_lacks_a_network_is_reported_with_the_network(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "  x: {ring: [all], networks: [eth, ib0]}\n") == [
        "0:31: host d has no address on network 'eth': add it there under 'networks'",
        "0:36: hosts c, d have no address on network 'ib0': add it there under 'networks'",
    ]


def test_network_where_no_host_has_any_is_reported_with_an_example(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(
        "hosts: {a: {address: 10.0.0.1, ssh: a}}\nlinks: {x: {from: a, to: a, network: ib0}}\n"
    )
    with pytest.raises(FileProblems, match=r"2:38: no host has an address on network 'ib0': add"):
        read_hosts_file(tmp_path / "h.yaml")


def many(count: int, links: str) -> str:
    hosts = "".join(f"  n{index}: {{address: n{index}, ssh: n{index}}}\n" for index in range(count))
    return f"hosts:\n{hosts}links:\n{links}"


def test_all_pairs_of_a_thousand_hosts_are_links_and_of_many_more_are_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "h.yaml").write_text(many(1000, "  x: all-pairs\n  y: {ring: [n1, n0]}\n"))
    topology = read_hosts_file(tmp_path / "h.yaml")
    assert len(topology.links) == 999_000
    assert topology.links["n999→n0"] == Link("n999", "n0")
    assert topology.link_sets["y"] == ("n1→n0", "n0→n1")
    (tmp_path / "h.yaml").write_text(many(10_000, "  x: all-pairs\n"))
    with pytest.raises(FileProblems, match="these are 99,990,000 links, and more than 1,000,000"):
        read_hosts_file(tmp_path / "h.yaml")
