"""Two hosts on a switch that counts: three network namespaces, and a real snmpd in the middle one.

    root namespace ── mgmt ── [switch: port1, port2]        port1 ── client, port2 ── server

The controller asks the switch's snmpd by its link to the root namespace; test traffic takes the
bridge. Names carry our process id, so that what a crashed session left can be told and removed.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import sshlab
from tests.support.sshlab import ip

SERVER = "10.78.0.2"
COMMUNITY, USER = "public", "rail"
# May see the counters of 32 bits, as of a device that has no others.
NARROW = "narrow"
AUTHENTICATION_KEY, PRIVACY_KEY = "a-key-of-the-test", "another-of-the-test"
_PORT = 7000
_AGENT = "/usr/sbin/snmpd"
_CONFIG = f"""\
agentAddress udp:{{address}}:161
rocommunity {COMMUNITY}
createUser {USER} SHA-256 {AUTHENTICATION_KEY} AES {PRIVACY_KEY}
rouser {USER} authpriv
view narrow included .1.3.6.1.2.1.1
view narrow included .1.3.6.1.2.1.2
rocommunity {NARROW} default -V narrow
"""
# Prints how many came, once those are all or its standard input closes.
_RECEIVE = """\
import os, select, socket, sys
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
made.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
made.bind(("", int(sys.argv[1])))
print("ready", flush=True)
count = 0
while count < int(sys.argv[2]):
    ready, _, _ = select.select([made, 0], [], [])
    if made in ready:
        count += made.recv(4096)[:1] == b"t"
    elif not os.read(0, 1):
        break
print(count)
"""
_SEND = """\
import socket, sys, time
made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for sent in range(int(sys.argv[3])):
    if sent % 100 == 0:
        time.sleep(0.001)  # a kernel's backlog has room for a thousand
    made.sendto(sys.argv[4].encode() * 1000, (sys.argv[1], int(sys.argv[2])))
"""


def missing() -> str:
    """Return what this machine lacks for the lab, "" if nothing."""
    if os.geteuid() != 0:
        return "root, for network namespaces"
    tools = ("ip", "tc", _AGENT)
    return " and ".join(tool for tool in tools if shutil.which(tool) is None)


@dataclass
class Lab:
    """The switch at `address`, and the namespaces of the two hosts."""

    folder: Path
    address: str
    client: str
    server: str
    switch: str
    agents: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_agent(self, *lines: str) -> None:
        """Start the switch's snmpd with further configuration `lines`; returns once it answers."""
        config, log = self.folder / "snmpd.conf", self.folder / "snmpd.log"
        config.write_text("\n".join([_CONFIG.format(address=self.address), *lines, ""]))
        log.write_text("")
        command = [_AGENT, "-f", "-C", "-c", str(config), "-Lf", str(log), "-I", "-smux"]
        self.agents.append(
            subprocess.Popen(
                ["ip", "netns", "exec", self.switch, *command],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "SNMP_PERSISTENT_DIR": str(self.folder / "state"), "MIBS": ""},
            )
        )
        deadline = time.monotonic() + 60
        while "NET-SNMP version" not in log.read_text():
            assert self.agents[-1].poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.01)

    def stop_agent(self) -> None:
        """End the switch's snmpd."""
        agent = self.agents.pop()
        sshlab.kill_tree(agent.pid)
        agent.wait()

    def narrow(self, rate: str) -> None:
        """Have the switch send no more than `rate` to the server, with a queue for few packets."""
        tc = ["tc", "-n", self.switch, "qdisc", "replace", "dev", "port2", "root"]
        shape = ["tbf", "rate", rate, "burst", "20kb", "limit", "20kb"]
        subprocess.run([*tc, *shape], check=True)

    def widen(self) -> None:
        """Have the switch send as much as it gets."""
        tc = ["tc", "-n", self.switch, "qdisc", "del", "dev", "port2", "root"]
        subprocess.run(tc, check=False, capture_output=True)

    def stream(self, count: int) -> int:
        """Send `count` datagrams of 1000 bytes to the server; return how many it received."""
        python = ["python3", "-c"]
        receiver = subprocess.Popen(
            ["ip", "netns", "exec", self.server, *python, _RECEIVE, str(_PORT), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert receiver.stdout is not None
            assert receiver.stdout.readline() == "ready\n"
            send = ["ip", "netns", "exec", self.client, *python, _SEND, SERVER, str(_PORT)]
            subprocess.run([*send, str(count), "t"], check=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                receiver.wait(10)  # for what is queued at the switch
            out, _ = receiver.communicate(timeout=60)
        finally:
            receiver.kill()
            receiver.wait()
        return int(out)


@contextlib.contextmanager
def lab(folder: Path) -> Iterator[Lab]:
    """Set the lab up below `folder`, and remove it in the end."""
    sshlab.remove_stale()
    pid = os.getpid()
    # 10.128.0.0/10 in networks of four addresses; the other labs have others.
    network = int(ipaddress.ip_address("10.128.0.0")) + pid % 2**20 * 4
    uplink_ip, switch_ip = (str(ipaddress.ip_address(network + offset)) for offset in (1, 2))
    snmp_lab = Lab(folder, switch_ip, f"rg{pid}x", f"rg{pid}y", f"rg{pid}z")
    try:
        _build(snmp_lab, uplink_ip, f"rg{pid}k")
        snmp_lab.start_agent()
        yield snmp_lab
    finally:
        while snmp_lab.agents:
            snmp_lab.stop_agent()
        for namespace in (snmp_lab.client, snmp_lab.server, snmp_lab.switch):
            with contextlib.suppress(AssertionError):
                sshlab.remove(namespace)


def _build(snmp_lab: Lab, uplink_ip: str, uplink: str) -> None:
    for namespace in (snmp_lab.client, snmp_lab.server, snmp_lab.switch):
        ip("netns", "add", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
    switch = ["-n", snmp_lab.switch]
    ip("link", "add", uplink, "type", "veth", "peer", "name", "mgmt", "netns", snmp_lab.switch)
    ip("addr", "add", f"{uplink_ip}/30", "dev", uplink)
    ip("link", "set", uplink, "up")
    ip(*switch, "addr", "add", f"{snmp_lab.address}/30", "dev", "mgmt")
    ip(*switch, "link", "set", "mgmt", "up")
    ip(*switch, "link", "add", "switch", "type", "bridge")
    ip(*switch, "link", "set", "switch", "up")
    for number, host in enumerate((snmp_lab.client, snmp_lab.server), 1):
        pair = ["link", "add", f"port{number}", "type", "veth"]
        ip(*switch, *pair, "peer", "name", "test0", "netns", host)
        ip(*switch, "link", "set", f"port{number}", "master", "switch", "up")
        ip("-n", host, "addr", "add", f"10.78.0.{number}/24", "dev", "test0")
        ip("-n", host, "link", "set", "test0", "up")
