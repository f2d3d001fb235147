"""Shipping the engines to a real Slurm's nodes, each with a cache folder of its own."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.support.slurmlab import NODES, SlurmLab

from railgauge.engine.deploy import Bundle, deploy
from railgauge.engine.deploy_all import deploy_all
from railgauge.hosts.transport.allocation import AllocationTransport
from railgauge.hosts.transport.interface import run
from railgauge.run.execution import Observer
from railgauge.schedulers import SCHEDULERS

MAKEFILE = b"""BUILD = build
$(BUILD)/hello: hello.c
\tmkdir -p $(BUILD)
\tcc -o $@ hello.c
"""
HELLO = b'#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
TINY = Bundle.of({"Makefile": MAKEFILE, "hello.c": HELLO})


class Stages(Observer):
    """The lines of a run's stages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


class Counting(AllocationTransport):
    """A node; `received` counts what it was sent from here."""

    received = 0

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        self.received += 1
        super().put(files, directory)


@pytest.fixture
def nodes(slurm: SlurmLab, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Counting]]:
    """The nodes of an allocation of both that we are in; their /dev/shm are apart."""
    monkeypatch.setenv("SLURM_CONF", str(slurm.config))
    monkeypatch.setenv("SLURM_JOB_ID", slurm.allocate())
    monkeypatch.setenv("XDG_CACHE_HOME", f"/dev/shm/{uuid.uuid4().hex}")
    transports = {node: Counting(node, node, SCHEDULERS["slurm"]) for node in NODES}
    yield transports
    for transport in transports.values():
        transport.close()


@pytest.fixture
def other_sbcast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have an sbcast in PATH that writes a line to the file returned, and fails."""
    log = tmp_path / "log"
    program = tmp_path / "sbcast"
    program.write_text(f"#!/bin/sh\necho called >>{log}\necho no such thing >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return log


def check_built(nodes: Mapping[str, Counting], folders: Mapping[str, str]) -> None:
    """Check that all nodes have the engines, and nothing but them."""
    for name, node in nodes.items():
        assert run(node, [f"{folders[name]}/hello"], timeout=60).stdout == "hello\n"
        whole = Path(folders[name]).parent
        assert run(node, ["ls", str(whole.parent)], timeout=60).stdout == f"{whole.name}\n"


def test_slurm_passes_the_engines_on_from_node_to_node(nodes: dict[str, Counting]) -> None:
    stages = Stages()
    check_built(nodes, deploy_all(nodes, TINY, stages))
    assert [node.received for node in nodes.values()] == [0, 0]
    assert stages.lines == ["building the engines on node1, node2: about half a minute"]


def test_where_sbcast_fails_each_node_gets_them_from_here(
    nodes: dict[str, Counting], other_sbcast: Path
) -> None:
    stages = Stages()
    check_built(nodes, deploy_all(nodes, TINY, stages))
    assert [node.received for node in nodes.values()] == [1, 1]
    assert other_sbcast.read_text() == "called\n"
    sentence, _ = stages.lines
    assert sentence.endswith("Slurm's sbcast failed: no such thing")


def test_a_node_that_has_the_engines_gets_none(
    nodes: dict[str, Counting], other_sbcast: Path
) -> None:
    deploy(nodes["node1"], TINY)
    check_built(nodes, deploy_all(nodes, TINY, Observer()))
    assert [node.received for node in nodes.values()] == [1, 1]
    assert not other_sbcast.exists()
