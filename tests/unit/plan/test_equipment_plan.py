"""What a hosts file says of switches and routers, and of the paths of links through them."""

from pathlib import Path

import pytest
from tests.support import ROOT
from tests.support.problems import in_one_file

from railgauge.base.errors import FileProblems
from railgauge.plan.equipment import DevicePort, KeyPlace
from railgauge.plan.load import load_plan_text
from railgauge.plan.topology import Topology, read_hosts_file

HOSTS = """\
hosts:
  a: {address: 10.0.0.1, ssh: a}
  b: {address: 10.0.0.2, ssh: b}
"""
SWITCHES = """\
equipment:
  switchA: {address: 10.0.0.3, snmp: {version: 2c, community: public}, settle: 2s}
  switchB: {address: fd00::4, port: 1161, snmp: {version: 3, user: rail}}
"""
FIRST = len((HOSTS + SWITCHES).splitlines()) + 1


def read(tmp_path: Path, text: str) -> Topology:
    (tmp_path / "h.yaml").write_text(HOSTS + text)
    return read_hosts_file(tmp_path / "h.yaml")


def mistakes(tmp_path: Path, text: str) -> list[str]:
    return in_one_file(read, tmp_path, text)


def test_a_link_knows_the_ports_on_its_path_in_order(tmp_path: Path) -> None:
    path = "[a, 'switchA:17', 'switchA:Ethernet1/3', 'switchB:vlan:7', b]"
    topology = read(tmp_path, f"{SWITCHES}links: {{ab: {{from: a, to: b, path: {path}}}}}\n")
    assert topology.links["ab"].path == (
        DevicePort("switchA", "17"),
        DevicePort("switchA", "Ethernet1/3"),
        DevicePort("switchB", "vlan:7"),
    )
    assert topology.equipment["switchA"].settle == 2
    assert topology.equipment["switchB"].settle == 10
    assert [device.port for device in topology.equipment.values()] == [161, 1161]


def test_the_example_names_the_switches_between_its_clusters() -> None:
    topology = read_hosts_file(ROOT / "plans" / "hosts" / "switched.yaml")
    assert list(topology.equipment) == ["switchA", "switchB"]
    assert [str(port) for port in topology.links["gw→hh"].path] == [
        "switchA:17",
        "switchA:uplink",
        "switchB:Ethernet1/1",
        "switchB:Ethernet1/3",
    ]


def test_a_pattern_that_makes_the_same_link_leaves_it_its_path(tmp_path: Path) -> None:
    link = "  a→b: {from: a, to: b, path: [a, 'switchA:1', b]}\n"
    topology = read(tmp_path, f"{SWITCHES}links:\n  every: {{ring: [a, b], rate: 1Gbit/s}}\n{link}")
    assert topology.links["a→b"].path == (DevicePort("switchA", "1"),)
    assert topology.links["a→b"].rate == 1e9
    assert topology.links["b→a"].path == ()


def test_a_plan_adds_equipment_to_that_of_its_hosts_file(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(HOSTS + SWITCHES)
    plan = (
        "railgauge: 1\nname: p\nhosts_file: h.yaml\n"
        "equipment: {core: {address: core, snmp: {version: 2c, community: {env: CORE}}}}\n"
        "links: {ab: {from: a, to: b, path: [a, 'switchA:1', 'core:2', b]}}\n"
        "tests: [{name: t, engine: udp, set: {duration: 1s}}]\n"
    )
    loaded = load_plan_text(plan, "p.yaml", tmp_path).plan
    assert list(loaded.equipment) == ["switchA", "switchB", "core"]
    assert loaded.equipment["core"].snmp.community == KeyPlace(env="CORE")
    twice = plan.replace("core:", "switchA:").replace("core", "switchA")
    with pytest.raises(FileProblems, match=r"equipment 'switchA' is in .*h\.yaml:5 as well"):
        load_plan_text(twice, "p.yaml", tmp_path)


def test_keys_are_named_by_their_places(tmp_path: Path) -> None:
    snmp = (
        "version: 3, user: rail, authentication: SHA-256, authentication_key: {env: RAIL_AUTH}, "
        "privacy: AES, privacy_key: {file: ~/.config/railgauge/s.key}"
    )
    topology = read(tmp_path, f"equipment: {{s: {{address: 10.0.0.9, snmp: {{{snmp}}}}}}}\n")
    key = topology.equipment["s"].snmp.privacy_key
    assert key is not None
    assert key.path == Path.home() / ".config/railgauge/s.key"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("[a, 'switchC:17', b]", "unknown equipment 'switchC': did you mean 'switchB'?"),
        ("[a, switchA, b]", "'switchA' is no port: write DEVICE:PORT"),
        ("[a, 'switchA:', b]", "'switchA:' is no port: write DEVICE:PORT"),
        ("[b, 'switchA:1', a]", "a path leads from the link's first host to its other: write 'a'"),
        ("[a, 'switchA:1']", "a path leads from the link's first host to its other: write 'b'"),
        ("[a]", "'path': a path leads from one host to another"),
        ("[a, b]", "this path has no switch: name its ports"),
        ("[a, 'switchA:1', 'switchA:1', b]", "'switchA:1' is on this path twice: drop one"),
        (
            "[a, 'switchA:1', 'switchA:2', 'switchA:3', b]",
            "more than two ports of 'switchA' in a row",
        ),
        ("a", "'path' is the text 'a', but a list is wanted"),
    ],
)
def test_faulty_path_is_reported(tmp_path: Path, path: str, says: str) -> None:
    text = f"{SWITCHES}links:\n  ab: {{from: a, to: b, path: {path}}}\n"
    messages = mistakes(tmp_path, text)
    assert messages
    assert all(message.startswith(f"{FIRST + 1}:") for message in messages)
    assert any(says in message for message in messages)


def test_only_a_single_link_has_a_path(tmp_path: Path) -> None:
    text = f"{SWITCHES}links: {{x: {{ring: [a, b], path: [a, 'switchA:1', b]}}}}\n"
    assert mistakes(tmp_path, text) == [
        f"{FIRST}:12: 'x': 'path' is of one link: write that with 'from' and 'to'"
    ]


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ("{address: x}", "the key 'snmp' is missing here: add it"),
        ("{address: x, snmp: {version: 2c}}", "'version: 2c' needs a community"),
        ("{address: x, snmp: {version: 1}}", "'version' is the number 1, but '2c' or 3 is wanted"),
        ("{address: x, snmp: {version: 2c, community: c, user: u}}", "'user' belongs to 'version:"),
        ("{address: x, snmp: {version: 3}}", "'version: 3' needs a user"),
        ("{address: x, snmp: {version: 3, community: c}}", "'community' belongs to 'version: 2c'"),
        ("{address: x, snmp: {version: 2c, community: 7}}", "the number 7 is no community"),
        ("{address: x, snmp: {version: 2c, community: {enf: X}}}", "unknown key 'enf'"),
        ("{address: x, snmp: {version: 2c, community: {}}}", "say one of 'env: VARIABLE' and"),
        ("{address: x, snmp: {version: 2c, community: {file: key}}}", "is no absolute file name"),
        ("{address: x, snmp: {version: 2c, community: {env: $X}}}", "is no environment variable"),
        (
            "{address: x, snmp: {version: 3, user: u, authentication: SHA, "
            "authentication_key: hunter22}}",
            "a key may not stand here, as this text is stored with every run",
        ),
        (
            "{address: x, snmp: {version: 3, user: u, authentication: SHA}}",
            "'authentication' and 'authentication_key' go together: add the other",
        ),
        (
            "{address: x, snmp: {version: 3, user: u, privacy: AES, privacy_key: {env: X}}}",
            "SNMP has no privacy without authentication",
        ),
        ("{address: x, settle: 1h, snmp: {version: 3, user: u}}", "too long a wait"),
    ],
)
def test_faulty_equipment_is_reported_where_it_stands(
    tmp_path: Path, device: str, says: str
) -> None:
    (message,) = mistakes(tmp_path, f"equipment:\n  s: {device}\n")
    assert message.startswith("5:")
    assert says in message
    assert "hunter22" not in message


def test_equipment_has_neither_a_hosts_name_nor_a_colon(tmp_path: Path) -> None:
    snmp = "snmp: {version: 2c, community: public}"
    text = f"equipment:\n  a: {{address: x, {snmp}}}\n"
    assert mistakes(tmp_path, text) == ["5:3: 'a' is a host: choose another name"]
    (message,) = mistakes(tmp_path, text.replace("  a:", "  'a:1':"))
    assert message.startswith("5:3: 'a:1' has a ':', which stands before a port in a path")
