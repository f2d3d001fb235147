"""Some network namespaces on one switch, each with a real sshd: a small cluster on this machine.

    root namespace ── switch ── h1, h2, h3, h4        one network for ssh and test traffic alike

Names carry our process id, so that what a crashed session left can be told and removed.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support import sshlab
from tests.support.engine_cache import copy_to
from tests.support.sshlab import PORT, Lab, LabHost, ip, keygen

NAMES = ("c", "d", "e", "f")
_SWITCH = "s"


@dataclass
class Cluster:
    """The hosts by name; ssh knows them as `host-NAME`."""

    lab: Lab
    hosts: dict[str, LabHost]

    def write_config(self, **lines: str) -> None:
        """Write the ssh configuration, with a line more for each host that is named."""
        self.lab.config.write_text(
            "\n".join(
                self.lab.entry(f"host-{name}", host.control, *filter(None, [lines.get(name)]))
                for name, host in self.hosts.items()
            )
        )

    def revive(self, host: LabHost) -> None:
        """Have a host that died back as it was: nothing runs there but its sshd."""
        for pid in ip("netns", "pids", host.namespace).split():
            sshlab.kill_tree(int(pid))
        for sshd in host.sshds:
            sshd.process.wait()
        host.sshds.clear()
        host.link("up")
        host.sshd(PORT)


def build(folder: Path) -> Cluster:
    """Set the cluster up below `folder`; `tear_down` removes it."""
    sshlab.remove_stale()
    Path("/run/sshd").mkdir(exist_ok=True)  # what sshd's privilege separation wants
    keygen(folder / "user_key")
    pid = os.getpid()
    # 10.64.0.0/10 in networks of sixteen addresses; the lab of two hosts has others.
    net = ipaddress.ip_network((int(ipaddress.ip_address("10.64.0.0")) + pid % 2**18 * 16, 28))
    uplink_address, *host_addresses = map(str, net.hosts())
    switch, uplink = f"rg{pid}{_SWITCH}", f"rg{pid}u"
    ip("netns", "add", switch)
    ip("-n", switch, "link", "add", "switch", "type", "bridge")
    ip("-n", switch, "link", "set", "switch", "up")
    ip("link", "add", uplink, "type", "veth", "peer", "name", "root", "netns", switch)
    ip("addr", "add", f"{uplink_address}/28", "dev", uplink)
    ip("link", "set", uplink, "up")
    ip("-n", switch, "link", "set", "root", "master", "switch", "up")
    hosts = {
        name: _host(folder, name, switch, address)
        for name, address in zip(NAMES, host_addresses, strict=False)
    }
    first, second, *_ = hosts.values()
    cluster = Cluster(Lab(folder, first, second), hosts)
    cluster.write_config()
    keys = []
    for host in hosts.values():
        host.sshd(PORT)
        key = " ".join(host.host_key.with_suffix(".pub").read_text().split()[:2])
        keys.append(f"[{host.control}]:{PORT} {key}")
    cluster.lab.known_hosts.write_text("\n".join(keys) + "\n")
    return cluster


def _host(folder: Path, name: str, switch: str, address: str) -> LabHost:
    """Make the namespace of one host, on the switch."""
    namespace, port = f"rg{os.getpid()}{name}", f"port-{name}"
    ip("netns", "add", namespace)
    ip(
        "link",
        "add",
        port,
        "netns",
        switch,
        "type",
        "veth",
        "peer",
        "name",
        "ctl0",
        "netns",
        namespace,
    )
    ip("-n", switch, "link", "set", port, "master", "switch", "up")
    for device in ("lo", "ctl0"):
        ip("-n", namespace, "link", "set", device, "up")
    ip("-n", namespace, "addr", "add", f"{address}/28", "dev", "ctl0")
    home = folder / name
    copy_to(home / "home")
    keygen(home / "host_key")
    return LabHost(name, namespace, address, address, "", home)


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """Set the cluster up below `folder` for as long as the block; ssh knows its hosts."""
    try:
        cluster = build(folder)
        with sshlab.ssh_config(cluster.lab.config):
            yield cluster
    finally:
        tear_down()


def tear_down() -> None:
    """Remove what `build` made in this process, also after it failed half-way."""
    for name in (*NAMES, _SWITCH):
        with contextlib.suppress(AssertionError):
            sshlab.remove(f"rg{os.getpid()}{name}")


def traffic(host: LabHost) -> int:
    """Return how many bytes a host has sent so far."""
    counter = "/sys/class/net/ctl0/statistics/tx_bytes"
    return int(ip("netns", "exec", host.namespace, "cat", counter))


def programs(host: LabHost, name: str) -> list[int]:
    """Return the processes on a host whose program's name begins with `name`."""
    pids = []
    for pid in ip("netns", "pids", host.namespace).split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{pid}/comm").read_text().startswith(name):
                pids.append(int(pid))
    return pids


def signal_programs(host: LabHost, name: str, number: signal.Signals) -> int:
    """Signal those processes, and return to how many that was."""
    count = 0
    for pid in programs(host, name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            count += 1
    return count


def come_to_an_end(host: LabHost, name: str) -> bool:
    """Tell whether none of those processes is left, within a minute."""
    deadline = time.monotonic() + 60
    while programs(host, name):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
