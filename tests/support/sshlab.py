"""Two network namespaces with real sshds: a cluster of two machines on this one.

    root namespace ── 10.192.x.y/30 ── A ── 10.77.0.0/24, fd77::/64 ── B ── 10.192.x.y/30 ── root

The controller reaches each by its link to the root namespace; test traffic takes the pair A–B.
Names carry our process id, so that what a crashed session left can be told and removed.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.engine_cache import copy_to

PORT = 2222
TOOLS = ("ip", "ssh-keygen", "/usr/sbin/sshd")
_NAME = re.compile(r"rg(\d+)[a-z]\d*")
_CONFIG = """\
Port {port}
HostKey {key}
PidFile none
AuthorizedKeysFile {authorized}
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PrintMotd no
MaxStartups 100
LogLevel VERBOSE
"""


def missing() -> str:
    """Return what this machine lacks for the lab, "" if nothing."""
    if os.geteuid() != 0:
        return "root, for network namespaces"
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    if lacking:
        return " and ".join(lacking)
    completed = subprocess.run(["ip", "netns", "add", f"rg{os.getpid()}p"], capture_output=True)
    if completed.returncode:
        return "the right to make network namespaces"
    subprocess.run(["ip", "netns", "del", f"rg{os.getpid()}p"], check=True)
    return ""


def ip(*arguments: str) -> str:
    """Run iproute2's ip."""
    completed = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    assert completed.returncode == 0, f"ip {' '.join(arguments)}: {completed.stderr}"
    return completed.stdout


def kill_tree(pid: int) -> None:
    """Kill a process and everything below it, as a machine that loses power would."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGSTOP)  # so that it starts nothing meanwhile
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        # Before them, or it might tell their end to a peer.
        os.kill(pid, signal.SIGKILL)
        for child in children:
            kill_tree(int(child))


def remove(namespace: str) -> None:
    """End everything in a namespace of ours and remove it; its links go with it."""
    for pid in ip("netns", "pids", namespace).split():
        kill_tree(int(pid))
    ip("netns", "del", namespace)


def remove_stale() -> None:
    """Remove what sessions left that are dead by now."""
    for name in ip("netns", "list").split():
        match = _NAME.fullmatch(name)
        if match and not Path(f"/proc/{match[1]}").exists():
            with contextlib.suppress(AssertionError):  # another session may be at it
                remove(name)


@dataclass
class Sshd:
    """A running sshd; `port` on the host's control address."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """End it with all its connections."""
        kill_tree(self.process.pid)
        self.process.wait()


@dataclass
class LabHost:
    """One namespace. `control` is its address towards us, `address` the one for test traffic."""

    name: str
    namespace: str
    control: str
    address: str
    address6: str
    folder: Path
    sshds: list[Sshd] = field(default_factory=list)

    @property
    def host_key(self) -> Path:
        """The private host key; the public one stands beside it."""
        return self.folder / "host_key"

    @property
    def home(self) -> Path:
        """The home folder of a login on this host."""
        return self.folder / "home"

    def sshd(self, port: int, *lines: str, **environment: object) -> Sshd:
        """Start an sshd with further configuration `lines`; returns once it answers.

        Logins get an empty home folder and the `environment`.
        """
        config = self.folder / f"sshd_config.{port}"
        authorized = self.folder.parent / "user_key.pub"
        text = _CONFIG.format(port=port, key=self.host_key, authorized=authorized)
        variables = " ".join(f"{name}={value}" for name, value in environment.items())
        lines = (*lines, f"SetEnv HOME={self.home} {variables}")
        config.write_text(text + "\n".join(lines) + "\n")
        log = self.folder / f"sshd.{port}.log"
        with log.open("ab") as out:
            inside = ["ip", "netns", "exec", self.namespace]
            process = subprocess.Popen(
                [*inside, "/usr/sbin/sshd", "-D", "-e", "-f", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        server = Sshd(port, process, log)
        self.sshds.append(server)
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection((self.control, port), 1).close()
                return server
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, f"sshd on {self.name} does not answer"
            time.sleep(0.01)

    def link(self, state: str) -> None:
        """Set its end of the link to us `up` or `down`."""
        ip("-n", self.namespace, "link", "set", "ctl0", state)
        if state == "up":  # a look for it begun before would still fail
            ip("neigh", "flush", "to", self.control)

    def test_link(self, state: str) -> None:
        """Set its end of the pair A–B `up` or `down`."""
        ip("-n", self.namespace, "link", "set", "test0", state)
        if state == "up":  # an interface that goes down loses its IPv6 addresses
            address = ["addr", "replace", f"{self.address6}/64", "dev", "test0", "nodad"]
            ip("-n", self.namespace, *address)

    def test_bytes(self) -> int:
        """Return how many bytes its test interface has sent and received."""
        counters = Path("/sys/class/net/test0/statistics")
        names = [str(counters / "rx_bytes"), str(counters / "tx_bytes")]
        stdout = ip("netns", "exec", self.namespace, "cat", *names)
        return sum(map(int, stdout.split()))


@dataclass
class Lab:
    """Both hosts, and an ssh configuration that knows them as `host-a` and `host-b`."""

    folder: Path
    a: LabHost
    b: LabHost

    @property
    def config(self) -> Path:
        """The ssh configuration."""
        return self.folder / "ssh_config"

    @property
    def known_hosts(self) -> Path:
        """Its known_hosts file."""
        return self.folder / "known_hosts"

    def entry(self, alias: str, address: str, *lines: str, port: int = PORT) -> str:
        """Return a Host block for the ssh configuration."""
        parts = [
            f"Host {alias}",
            f"HostName {address}",
            f"Port {port}",
            "User root",
            f"IdentityFile {self.folder}/user_key",
            "IdentitiesOnly yes",
            "IdentityAgent none",
            f"UserKnownHostsFile {self.known_hosts}",
            "GlobalKnownHostsFile none",
            *lines,
        ]
        return "\n    ".join(parts) + "\n"

    def write_config(self, *entries: str) -> None:
        """Write the ssh configuration: both hosts, and `entries`."""
        host_entries = [self.entry(f"host-{host.name}", host.control) for host in (self.a, self.b)]
        self.config.write_text("\n".join([*host_entries, *entries]))

    def write_known_hosts(self, *lines: str) -> None:
        """Write known_hosts: both hosts on all ports, and `lines`."""
        host_lines = []
        for host in (self.a, self.b):
            key = " ".join(host.host_key.with_suffix(".pub").read_text().split()[:2])
            names = f"{host.control},[{host.control}]:{PORT},[{host.address}]:{PORT}"
            host_lines.append(f"{names} {key}")
        self.known_hosts.write_text("\n".join([*host_lines, *lines]) + "\n")


def keygen(path: Path, *, kind: str = "ed25519", passphrase: str = "") -> None:
    """Make a key pair, unless it is there already."""
    if not path.exists():
        command = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", str(path)]
        subprocess.run(command, check=True)


def build(folder: Path) -> Lab:
    """Set the lab up below `folder`; `tear_down` removes it.

    Its logins have the engines: a test of how they come there uses a cache folder of its own.
    """
    remove_stale()
    Path("/run/sshd").mkdir(exist_ok=True)  # what sshd's privilege separation wants
    keygen(folder / "user_key")
    net = ipaddress.ip_address("10.192.0.0") + (os.getpid() % 2**19) * 8
    lab = Lab(folder, _host(folder, "a", net), _host(folder, "b", net + 4))
    pair = ["link", "add", "test0", "netns", lab.a.namespace, "type", "veth"]
    ip(*pair, "peer", "name", "test0", "netns", lab.b.namespace)
    for host in (lab.a, lab.b):
        inside = ["-n", host.namespace]
        ip(*inside, "addr", "add", f"{host.address}/24", "dev", "test0")
        host.test_link("up")
        host.sshd(PORT)
    lab.write_config()
    lab.write_known_hosts()
    return lab


def build_many(folder: Path, count: int) -> list[LabHost]:
    """Set up `count` hosts below `folder`, 64 at most, with no links between them.

    Their engines are there; an ssh configuration `ssh_config` in the folder knows them by their
    names. `tear_down` removes them.
    """
    remove_stale()
    Path("/run/sshd").mkdir(exist_ok=True)
    keygen(folder / "user_key")
    first = ipaddress.ip_address("10.188.0.0") + (os.getpid() % 2**10) * 256
    hosts = [_host(folder, f"h{index}", first + 4 * index) for index in range(count)]
    for host in hosts:
        host.sshd(PORT)
    lab = Lab(folder, hosts[0], hosts[-1])
    lab.config.write_text("\n".join(lab.entry(host.name, host.control) for host in hosts))
    keys = [" ".join(h.host_key.with_suffix(".pub").read_text().split()[:2]) for h in hosts]
    host_keys = zip(hosts, keys, strict=True)
    lab.known_hosts.write_text("".join(f"[{h.control}]:{PORT} {key}\n" for h, key in host_keys))
    return hosts


def _host(folder: Path, name: str, net: ipaddress.IPv4Address | ipaddress.IPv6Address) -> LabHost:
    """Make the namespace of one host with its link to us, of the four addresses from `net` on."""
    pid = os.getpid()
    namespace, uplink = f"rg{pid}{name}", f"rg{pid}m{name}"
    index = int(net) % 8 // 4
    uplink_address, host_address = net + 1, net + 2
    ip("netns", "add", namespace)
    ip("link", "add", uplink, "type", "veth", "peer", "name", "ctl0", "netns", namespace)
    ip("addr", "add", f"{uplink_address}/30", "dev", uplink)
    ip("link", "set", uplink, "up")
    for device in ("lo", "ctl0"):
        ip("-n", namespace, "link", "set", device, "up")
    ip("-n", namespace, "addr", "add", f"{host_address}/30", "dev", "ctl0")
    home = folder / name
    home.mkdir()
    keygen(home / "host_key")
    copy_to(home / "home")
    return LabHost(
        name=name,
        namespace=namespace,
        control=str(host_address),
        address=f"10.77.0.{index + 1}",
        address6=f"fd77::{index + 1}",
        folder=home,
    )


@contextlib.contextmanager
def ssh_config(file: Path) -> Iterator[None]:
    """Have railgauge read this configuration of ssh, for as long as the block."""
    before = os.environ.get("RAILGAUGE_SSH_CONFIG")
    os.environ["RAILGAUGE_SSH_CONFIG"] = str(file)
    try:
        yield
    finally:
        os.environ.pop("RAILGAUGE_SSH_CONFIG")
        if before is not None:
            os.environ["RAILGAUGE_SSH_CONFIG"] = before


def tear_down() -> None:
    """Remove what `build` or `build_many` made in this process, also after it failed half-way."""
    for name in ip("netns", "list").split():
        if re.fullmatch(rf"rg{os.getpid()}(?:[ab]|h\d+)", name):
            with contextlib.suppress(AssertionError):
                remove(name)
