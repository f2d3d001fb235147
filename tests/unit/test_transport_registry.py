"""Each way to a host that a plan may name has its transport."""

from typing import Any

import pytest

from railgauge.base.errors import InputError
from railgauge.hosts.transport import check_transports, open_transport
from railgauge.hosts.transport.registry import TRANSPORTS
from railgauge.plan.model import Host

HOSTS: list[tuple[dict[str, Any], str]] = [
    ({"transport": "local"}, "LocalTransport"),
    ({"netns": "left"}, "NetnsTransport"),
    ({"transport": "slurm", "node": "node1"}, "AllocationTransport"),
    ({"ssh": "me@gw1"}, "SshTransport"),
]


@pytest.mark.parametrize(("written", "kind"), HOSTS)
def test_a_hosts_transport_is_the_one_that_the_plan_names(
    written: dict[str, Any], kind: str
) -> None:
    transport = open_transport("a", Host(address="10.0.0.1", **written))
    assert (type(transport).__name__, transport.host) == (kind, "a")
    transport.close()


def test_every_transport_is_one_that_a_plan_can_name() -> None:
    hosts = [Host(address="10.0.0.1", **written) for written, _ in HOSTS]
    assert sorted(host.transport_name for host in hosts) == sorted(TRANSPORTS)


def test_only_slurms_nodes_need_an_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    *other_hosts, slurm, ssh = (Host(address="10.0.0.1", **written) for written, _ in HOSTS)
    check_transports([*other_hosts, ssh])
    with pytest.raises(InputError, match="--nodelist=node1"):
        check_transports([ssh, slurm])
