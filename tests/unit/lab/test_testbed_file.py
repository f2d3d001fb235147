"""A testbed's file: what it may say, where its mistakes stand, and what it comes to."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from tests.support.problems import problems

from railgauge.base.assets import folder
from railgauge.base.errors import FileProblems
from railgauge.lab.testbed.layout import ClusterLayout, free_network, lay_out
from railgauge.lab.testbed.read_testbed import read_testbed
from railgauge.lab.testbed.relay import arguments
from railgauge.lab.testbed.shaping import discipline
from railgauge.plan.yamlfile import load

NETWORK = "10.77.0.0/16"


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "box.yaml"
    path.write_text(f"railgauge_testbed: 1\nname: box\n{text}")
    return path


def _layout(tmp_path: Path, text: str, *, netem: bool = False) -> ClusterLayout:
    return lay_out(read_testbed(_write(tmp_path, text)), NETWORK, netem=netem)


def test_addresses_follow_the_order_of_the_hosts_and_leave_out_given_ones(tmp_path: Path) -> None:
    layout = _layout(tmp_path, "hosts: {a: {}, b: {address: 10.77.0.2}, c: {}, d: {}}\n")
    assert layout.addresses == {
        "a": "10.77.0.1",
        "b": "10.77.0.2",
        "c": "10.77.0.3",
        "d": "10.77.0.4",
    }


def test_a_link_is_a_way_in_both_directions_with_half_its_rtt_each(tmp_path: Path) -> None:
    text = "hosts: [a, b]\nlinks: [{between: [a, b], rate: 1Gbit/s, rtt: 2.9ms, name: far}]\n"
    layout = _layout(tmp_path, text)
    assert [(way.name, way.client, way.server) for way in layout.ways] == [
        ("far", "a", "b"),
        ("b→a", "b", "a"),
    ]
    assert {(way.rate, way.rtt) for way in layout.ways} == {(1e9, 2.9e-3)}
    (cable,) = layout.cables
    assert (cable.delay, cable.by) == (1.45e-3, "rail-wire")


def test_a_switchs_slow_port_slows_the_pairs_it_is_in_and_no_others(tmp_path: Path) -> None:
    text = (
        "hosts: [a, b, c]\n"
        "switches:\n"
        "  s: {hosts: [a, b, c], rate: 1Gbit/s, ports: {c: {rate: 10Mbit/s, delay: 1ms}}}\n"
    )
    layout = _layout(tmp_path, text)
    ways = {way.name: (way.rate, way.rtt) for way in layout.ways}
    assert ways["a→b"] == ways["b→a"] == (1e9, None)
    assert {ways[name] for name in ("a→c", "c→a", "b→c", "c→b")} == {(10e6, 2e-3)}
    assert [cable.by for cable in layout.cables] == ["veth", "veth", "rail-wire"]
    assert layout.bridges == ("rg-box-s",)


@pytest.mark.parametrize(
    ("link", "by"),
    [
        ("", "veth"),
        (", rate: 1Gbit/s, mtu: 9000", "veth"),
        (", delay: 1ms", "netem"),
        (", delay: 1ms, loss: 0.1%", "rail-wire"),
        (", loss: {every: 100}", "rail-wire"),
    ],
)
def test_netem_makes_delays_where_it_is_but_only_rail_wire_loses(
    tmp_path: Path, link: str, by: str
) -> None:
    text = f"hosts: [a, b]\nlinks: [{{between: [a, b]{link}}}]\n"
    assert _layout(tmp_path, text, netem=True).cables[0].by == by


@pytest.mark.parametrize(
    ("loss", "pattern"),
    [
        ("0.5%", ["random:0.005:1"]),
        ("{random: 0.001, seed: 7}", ["random:0.001:7"]),
        ("{every: 100, of: udp}", ["every:100", "--loss-of", "udp"]),
        ("{list: [5, 17], direction: there}", ["list:5,17"]),
        ("{every: 3, direction: back}", ["every:3", "--loss-of", "ip", "--direction", "right"]),
    ],
)
def test_a_loss_is_rail_wires_pattern(tmp_path: Path, loss: str, pattern: list[str]) -> None:
    text = f"hosts: [a, b]\nlinks: [{{between: [a, b], loss: {loss}}}]\n"
    words = arguments(_layout(tmp_path, text).cables[0])
    assert " ".join(["--loss", *pattern]) in " ".join(words)


def test_duplicates_and_reordering_are_rail_wires_patterns_too(tmp_path: Path) -> None:
    patterns = "duplicate: {every: 5, of: udp}, reorder: {list: [7], of: udp}"
    (cable,) = _layout(
        tmp_path, f"hosts: [a, b]\nlinks: [{{between: [a, b], {patterns}}}]\n"
    ).cables
    words = " ".join(arguments(cable))
    assert cable.by == "rail-wire"
    assert "--duplicate every:5 --reorder list:7 --loss-of udp --direction both" in words


def test_a_rate_is_shaped_with_what_a_frame_takes_on_the_wire(tmp_path: Path) -> None:
    text = "hosts: [a, b]\nlinks: [{between: [a, b], rate: 1Gbit/s, queue: 1MiB}]\n"
    assert " ".join(discipline(_layout(tmp_path, text).cables[0])) == (
        "tbf rate 1000000000bit overhead 24 mpu 84 burst 125000 limit 1048576"
    )


def test_a_switchs_queue_is_that_of_the_ports_with_rates_of_their_own(tmp_path: Path) -> None:
    text = (
        "hosts: [a, b]\nswitches:\n"
        "  s: {hosts: [a, b], queue: 64KiB, ports: {b: {rate: 100Mbit/s}}}\n"
    )
    free, slow = _layout(tmp_path, text).cables
    assert discipline(free) == ()
    assert discipline(slow)[-2:] == ("limit", "65536")


def test_netem_has_room_for_what_waits_and_for_what_is_under_way(tmp_path: Path) -> None:
    text = "hosts: [a, b]\nlinks: [{between: [a, b], rate: 1Gbit/s, delay: 12ms, queue: 1500000}]\n"
    (cable,) = _layout(tmp_path, text, netem=True).cables
    assert " ".join(discipline(cable)) == (
        "netem delay 12000.000us rate 1000000000bit 24 limit 2000"
    )


@pytest.mark.parametrize(
    ("delay", "packets"), [("10us", 100_000), ("20ms", 297_619), ("1s", 1_000_000)]
)
def test_without_a_rate_netem_has_room_for_short_frames_at_ten_gigabits_a_second(
    tmp_path: Path, delay: str, packets: int
) -> None:
    text = f"hosts: [a, b]\nlinks: [{{between: [a, b], delay: {delay}}}]\n"
    (cable,) = _layout(tmp_path, text, netem=True).cables
    assert discipline(cable)[-2:] == ("limit", str(packets))


def test_another_testbed_gets_another_network() -> None:
    assert free_network([]) == "10.77.0.0/16"
    assert free_network(["10.77.0.0/16", "10.78.128.0/20"]) == "10.79.0.0/16"
    assert free_network(["10.64.0.0/10"]) == "10.128.0.0/16"


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("hosts: [a, b]\nlinks: [{between: [a, c]}]\n", "4:23", "no host 'c': there are a, b"),
        ("hosts: [a, a]\n", "3:8", "host 'a' is listed twice"),
        ("hosts: [a, b]\nlinks: [{between: [a, a]}]\n", "4:19", "can't be joined with itself"),
        (
            "hosts: [a, b]\nlinks: [{between: [a, b]}, {between: [b, a]}]\n",
            "4:38",
            "a and b are joined already",
        ),
        (
            "hosts: [a, b]\nlinks: [{between: [a, b]}]\nswitches: {s: {hosts: [a, b]}}\n",
            "5:27",
            "a and b are joined already",
        ),
        ("hosts: [a, b]\nswitches: {a: {hosts: [a, b]}}\n", "4:12", "is already a host"),
        (
            "hosts: [a, b]\nswitches: {s: {hosts: [a, b], ports: {c: {}}}}\n",
            "4:39",
            "'c' is not on this switch",
        ),
        ("hosts: [a, b]\nlinks: [{between: [a, b], queue: 1MiB}]\n", "4:27", "add 'rate'"),
        (
            "hosts: [a, b]\nlinks: [{between: [a, b], rtt: 1ms, delay: 1ms}]\n",
            "4:9",
            "'rtt' and 'delay' say the same",
        ),
        ("hosts: [a, b]\nlinks: [{between: [a, b], loss: 200%}]\n", "4:33", "no share of packets"),
        (
            "hosts: [a, b]\nlinks: [{between: [a, b], loss: 1%, reorder: {every: 3, of: udp}}]\n",
            "4:9",
            "a link counts its packets once",
        ),
        (
            "hosts: [a, b]\nlinks: [{between: [a, b], loss: {every: 3, list: [1]}}]\n",
            "4:33",
            "say one of",
        ),
        (
            "hosts: [a, b]\nlinks: [{between: [a, b], loss: {every: 3, seed: 1}}]\n",
            "4:33",
            "'seed' belongs to 'random'",
        ),
        ("hosts: [a, b]\nlinks: [{between: [a, b], rat: 1G}]\n", "4:27", "did you mean 'rate'?"),
        ("hosts: ['a b']\n", "3:8", "no name of a host"),
        ("hosts: {a: {address: 10.0.0}}\n", "3:22", "no IPv4 address"),
        (
            "hosts: {a: {address: 10.0.0.1}, b: {address: 10.0.0.1}}\n",
            "3:46",
            "10.0.0.1 is already a's",
        ),
        ("hosts: [a]\nnetwork: 10.77.0.0/30\n", "4:10", "at least /20"),
        ("hosts: [a]\nnetwork: 127.0.0.0/16\n", "4:10", "no other host's address"),
        ("hosts: {a: {address: 127.0.0.1}}\n", "3:22", "no other host's address"),
        ("hosts: {a: {address: 0.0.0.0}}\n", "3:22", "no other host's address"),
        ("hosts: {a: {address: 224.0.0.1}}\n", "3:22", "no other host's address"),
        ("hosts: [a, all]\n", "3:8", "'all' stands for all hosts"),
        (
            "hosts: [a, b]\nlinks: [{between: [a, b], name: b→a}]\n",
            "4:33",
            "'b→a' is the way from b to a",
        ),
        (
            "hosts: [a, b]\nlinks: [{between: [a, b], name: x→y→z}, {between: [b, a]}]\n",
            "4:51",
            "joined already",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_and_column(
    tmp_path: Path, text: str, where: str, message: str
) -> None:
    path = _write(tmp_path, text)
    (line,) = problems(read_testbed, path)
    assert line.startswith(f"{path}:{where}: "), line
    assert message in line


def test_a_name_that_could_be_anothers_namespace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("railgauge_testbed: 1\nname: a-b\nhosts: [c]\n")
    with pytest.raises(FileProblems, match=r"x\.yaml:2:7: 'name': 'a-b' is no testbed's name"):
        read_testbed(path)


def test_the_schema_for_editors_takes_the_short_forms() -> None:
    schema_text = (folder("schema") / "testbed.schema.json").read_text(encoding="utf-8")
    validator = jsonschema.Draft202012Validator(json.loads(schema_text))
    for path in (folder("plans") / "testbeds").glob("*.yaml"):
        validator.validate(load(path).data)
    link = {"between": ["a", "b"], "loss": "0.1%"}
    validator.validate({"railgauge_testbed": 1, "name": "x", "hosts": ["a", "b"], "links": [link]})
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"railgauge_testbed": 1, "name": "x", "hosts": [{"a": {}}]})


def test_the_testbeds_that_come_with_railgauge_are_valid() -> None:
    files = sorted((folder("plans") / "testbeds").glob("*.yaml"))
    assert {path.stem for path in files} >= {"box", "sharcnet"}
    for path in files:
        assert read_testbed(path).name == path.stem
