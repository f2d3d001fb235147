"""What hosts behind sshds are, asked as a login asks it, with each other as peers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.sshlab import Lab, LabHost

from railgauge.hosts import facts
from railgauge.hosts.transport.ssh import SshTransport


@pytest.fixture
def node(two_hosts: Lab) -> Iterator[SshTransport]:
    transport = SshTransport("a", "host-a")
    yield transport
    transport.close()


def interface(host: LabHost, host_facts: dict[str, str]) -> str:
    """Return the interface towards `host`."""
    return host_facts[f"route.{host.address}"].partition(",")[0]


def test_the_interface_towards_a_peer_is_told_of_and_how_it_is_set(
    node: SshTransport, two_hosts: Lab
) -> None:
    a, b = two_hosts.a, two_hosts.b
    host_facts = facts.gather(node, [b.address, b.address6])
    name = interface(b, host_facts)
    assert host_facts[f"route.{b.address}"] == f"{name}, source {a.address}, mtu 1500"
    assert host_facts[f"route.{b.address6}"].startswith(f"{name}, source {a.address6}")
    assert host_facts["peer_interfaces"] == name
    assert host_facts[f"nic.{name}.mtu"] == "1500"
    assert host_facts[f"nic.{name}.state"] == "up"


def test_what_has_no_way_there_is_left_out(node: SshTransport) -> None:
    host_facts = facts.gather(node, ["203.0.113.7", "no-such-host.invalid", "fe80::1%nowhere"])
    assert not [fact for fact in host_facts if fact.startswith("route.")]
    assert host_facts["kernel"].startswith("Linux version")


def test_hosts_on_one_machine_have_one_boot_id(two_hosts: Lab, node: SshTransport) -> None:
    other = SshTransport("b", "host-b")
    try:
        assert facts.gather(node)["boot_id"] == facts.gather(other)["boot_id"]
    finally:
        other.close()
