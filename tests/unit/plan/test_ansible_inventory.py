"""Ansible inventories as hosts files: hosts, groups, how they are reached, and mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.problems import problems

from railgauge.plan.load import load_plan
from railgauge.plan.texts import named_texts
from railgauge.plan.topology import Topology, read_hosts_file

INI = """\
# A cluster.
front ansible_host=10.0.0.1 ansible_connection=local

[rackA]
n[01:02] ansible_port=2222   # two of them
[rackB]
m1 ansible_host=fd00::7 ansible_user="root" note="a b"

[racks:children]
rackA
rackB

[racks:vars]
ansible_user=me
[all:vars]
ansible_user=nobody
"""
YAML = """\
all:
  hosts:
    front: {ansible_host: 10.0.0.1, ansible_connection: local}
  vars: {ansible_user: nobody}
  children:
    racks:
      vars: {ansible_user: me}
      children:
        rackA:
          hosts:
            n[01:02]: {ansible_port: 2222}
        rackB:
          hosts:
            m1: {ansible_host: "fd00::7", ansible_user: root, note: [a, b]}
"""


def read(tmp_path: Path, name: str, text: str) -> Topology:
    (tmp_path / name).write_text(text)
    return read_hosts_file(tmp_path / name)


@pytest.mark.parametrize(("name", "text"), [("site.ini", INI), ("site.yaml", YAML)])
def test_an_inventory_is_a_hosts_file(tmp_path: Path, name: str, text: str) -> None:
    topology = read(tmp_path, name, text)
    assert {key: (host.address, host.ssh) for key, host in topology.hosts.items()} == {
        "front": ("10.0.0.1", None),
        "n01": ("n01", "me@n01:2222"),
        "n02": ("n02", "me@n02:2222"),
        "m1": ("fd00::7", "root@[fd00::7]"),
    }
    assert {key: {*hosts} for key, hosts in topology.groups.items()} == {
        "all": {"front", "n01", "n02", "m1"},
        "racks": {"n01", "n02", "m1"},
        "rackA": {"n01", "n02"},
        "rackB": {"m1"},
    }


def test_a_plan_names_an_inventory_and_keeps_its_text(tmp_path: Path) -> None:
    (tmp_path / "site.ini").write_text(INI)
    (tmp_path / "plan.yaml").write_text(
        "railgauge: 1\nname: p\nhosts_file: site.ini\nlinks: {racks: {all-pairs: [racks]}}\n"
        "tests: [{name: t, engine: udp, set: {duration: 1s}}]\n"
    )
    loaded = load_plan(tmp_path / "plan.yaml")
    assert len(loaded.plan.links) == 6
    assert named_texts(loaded) == {"site.ini": INI}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (
            "s.ini",
            "a\nb ansible_host=x_!\n",
            "s.ini:2:1: 'address': 'x_!' is neither an IP address",
        ),
        ("s.ini", "a\n[g\nb\n", "s.ini:2:1: write a section as [GROUP]"),
        ("s.ini", "a[x:z]\n", "s.ini:1:1: 'x:z' is no range of the hostlist"),
        ("s.ini", "a\n[g:children]\nh\n", "s.ini:3:1: group 'g' contains 'h', which is no group"),
        ("s.ini", "a 'b\n", "s.ini:1:1: No closing quotation: close the quote"),
        ("s.ini", "[g]\n", "s.ini:1:1: this inventory has no hosts"),
        ("s.ini", "a\n[a]\na\n", "s.ini:2:1: 'a' is a host: choose another name"),
        ("s.ini", "a\n[g:children]\nh\n[h:children]\ng\n", "contains itself"),
        ("s.yaml", "all:\n  hosts: [a]\n", "s.yaml:2:1: 'hosts' of group 'all' is no mapping"),
        ("s.yaml", "all:\n  hosts:\n    a:\n    a:\n", "s.yaml:4:5: key 'a' is already on line 3"),
    ],
)
def test_a_mistake_in_an_inventory_has_its_line(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    assert says in problems(read, tmp_path, name, text)[0]
