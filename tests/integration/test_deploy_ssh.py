"""Shipping the engines to hosts behind real sshds and building them there."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.sshlab import Lab

from railgauge.base.errors import BuildError
from railgauge.engine.deploy import Bundle, bundle, deploy
from railgauge.hosts.transport.interface import run
from railgauge.hosts.transport.ssh import SshTransport

MAKEFILE = b"""BUILD = build
$(BUILD)/hello: hello.c
\tmkdir -p $(BUILD)
\tcc -o $@ hello.c
"""
HELLO = b'#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
TINY = Bundle.of({"Makefile": MAKEFILE, "hello.c": HELLO})


@pytest.fixture
def node(lab: Lab) -> Iterator[SshTransport]:
    """Host A with an empty home folder."""
    shutil.rmtree(lab.a.home)
    lab.a.home.mkdir()
    transport = SshTransport("node", "host-a")
    yield transport
    transport.close()


@pytest.fixture
def node_at(lab: Lab) -> Iterator[Callable[..., SshTransport]]:
    """Host A by another sshd, whose logins get the given environment."""
    opened: list[SshTransport] = []

    def make(port: int, **environment: object) -> SshTransport:
        lab.a.sshd(port, **environment)
        lab.write_config(lab.entry("other", lab.a.control, "HostKeyAlias a", port=port))
        lab.write_known_hosts("a " + lab.a.host_key.with_suffix(".pub").read_text())
        opened.append(SshTransport("node", "other"))
        return opened[-1]

    yield make
    for transport in opened:
        transport.close()


def tools(folder: Path, *names: str) -> Path:
    """Make a folder with nothing but these of the system's programs."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def test_our_engines_are_built_there_and_describe_themselves(
    node_at: Callable[..., SshTransport], tmp_path: Path
) -> None:
    # Unoptimised: less than half the work.
    node = node_at(2233, XDG_CACHE_HOME=tmp_path, CFLAGS="-O0")
    folder = deploy(node, bundle())
    assert "cflags -O0" in Path(folder, "build.txt").read_text()
    for name in ("udp", "tcp", "exec"):
        described = run(node, [f"{folder}/rail-{name}", "--describe"], timeout=60)
        assert json.loads(described.stdout)["name"] == name


def test_the_engines_stand_in_the_logins_cache(node: SshTransport, lab: Lab) -> None:
    expected = lab.a.home / ".cache/railgauge/engines" / f"{TINY.digest}-{os.uname().machine}"
    assert deploy(node, TINY) == f"{expected}/build"
    assert list(expected.parent.glob(f"{TINY.digest}*")) == [expected]


def test_what_is_built_is_not_shipped_again(node: SshTransport) -> None:
    folder = deploy(node, TINY)
    before = Path(folder, "hello").stat().st_ino  # the file system is the same one
    assert deploy(node, TINY) == folder
    assert Path(folder, "hello").stat().st_ino == before


def test_two_controllers_at_once_both_end_well(node: SshTransport, lab: Lab) -> None:
    other = SshTransport("other", "host-a")
    with ThreadPoolExecutor(2) as pool:
        folders = list(pool.map(lambda transport: deploy(transport, TINY), (node, other)))
    other.close()
    assert folders[0] == folders[1]
    assert run(node, [f"{folders[0]}/hello"], timeout=60).stdout == "hello\n"
    assert len(list(Path(folders[0]).parent.parent.iterdir())) == 1


def test_a_host_without_compiler_is_named(
    lab: Lab, node_at: Callable[..., SshTransport], tmp_path: Path
) -> None:
    path = tools(
        tmp_path / "bin",
        "sh",
        "uname",
        "find",
        "rm",
        "mv",
        "mkdir",
        "tar",
        "gzip",
        "make",
        "sha256sum",
    )
    shutil.rmtree(lab.a.home)
    lab.a.home.mkdir()
    with pytest.raises(BuildError, match=r"node: .*install a C compiler"):
        deploy(node_at(2230, PATH=path), bundle())


def test_a_home_that_cannot_be_written_is_named(
    node_at: Callable[..., SshTransport],
) -> None:
    with pytest.raises(BuildError, match=r"node: can't write to /proc/1/railgauge.*XDG_CACHE_HOME"):
        deploy(node_at(2231, XDG_CACHE_HOME="/proc/1"), TINY)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (random.Random(1).randbytes(1_000_000), r"can't write to .*make room"),
        (b"x" * 1_000_000, r"can't be unpacked; make room"),
    ],
    ids=["packed", "unpacked"],
)
def test_a_full_disk_is_named(
    content: bytes, problem: str, lab: Lab, node_at: Callable[..., SshTransport]
) -> None:
    disk = lab.folder / "disk"
    disk.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], check=True)
    try:
        big = Bundle.of({**TINY.files, "big.h": content})
        with pytest.raises(BuildError, match=f"node: .*{problem}"):
            deploy(node_at(2232, XDG_CACHE_HOME=disk), big)
        assert list((disk / "railgauge/engines").iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_shell_that_talks_does_not_confuse_it(
    lab: Lab, node_at: Callable[..., SshTransport]
) -> None:
    noise = lab.folder / "talk.sh"
    noise.write_text("echo railgauge-deploy: ready /nonsense\n")
    folder = deploy(node_at(2233, BASH_ENV=noise), TINY)
    assert Path(folder, "hello").exists()
