"""Logging in again at a real sshd: what passes by itself doesn't end a run before it began."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.sshlab import Lab, keygen

from railgauge.base.errors import HostUnreachableError
from railgauge.hosts.transport import sshpool
from railgauge.hosts.transport.interface import run
from railgauge.hosts.transport.ssh import SshTransport

PORT = 2229


def configure_ssh(lab: Lab) -> None:
    """Have our ssh configuration know a further sshd on host A as `further`."""
    key = " ".join(lab.a.host_key.with_suffix(".pub").read_text().split()[:2])
    lab.write_config(lab.entry("further", lab.a.control, port=PORT))
    lab.write_known_hosts(f"[{lab.a.control}]:{PORT} {key}")


def test_a_login_dropped_by_a_busy_sshd_is_tried_again(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The login before is over in a moment, or on a stalled machine in some.
    monkeypatch.setattr(sshpool, "TRIES", 6)
    configure_ssh(lab)
    # One login may be under way, and all beyond that are dropped.
    sshd = lab.a.sshd(PORT, "MaxStartups 1:100:1")
    node = SshTransport("node", "further")
    with ThreadPoolExecutor(1) as pool:
        with socket.create_connection((lab.a.control, PORT)) as other:
            assert other.recv(8)  # its greeting: the only login that may be under way
            reaching = pool.submit(run, node, ["echo", "in"], timeout=60)
            while "past MaxStartups" not in sshd.log.read_text():
                assert not reaching.done()
                time.sleep(0.01)
        assert reaching.result(60).stdout == "in\n"
    node.close()


def test_a_path_that_breaks_during_the_first_login_is_tried_again(lab: Lab) -> None:
    tried = lab.folder / "tried"
    through = f"ip netns exec {lab.a.namespace} ssh -F {lab.config} -W %h:%p host-b-pair"
    first = f"test -e {tried} || {{ touch {tried}; exit 1; }}"
    lab.write_config(
        lab.entry("host-b-pair", lab.b.address),
        lab.entry("proxied", lab.b.address, f"ProxyCommand sh -c '{first}; exec {through}'"),
    )
    node = SshTransport("node", "proxied")
    assert run(node, ["echo", "in"], timeout=30).stdout == "in\n"
    assert tried.exists()
    node.close()


def test_a_key_that_is_not_accepted_is_shown_once(lab: Lab) -> None:
    configure_ssh(lab)
    keygen(lab.folder / "stranger")
    entry = lab.entry("further", lab.a.control, port=PORT)
    lab.write_config(entry.replace("/user_key", "/stranger"))
    log = lab.a.sshd(PORT).log
    node = SshTransport("node", "further")
    with pytest.raises(HostUnreachableError, match="accepts none of our keys"):
        run(node, ["true"], timeout=30)
    assert log.read_text().count("Failed publickey") == 1
