"""Two hosts behind real sshds, and two nodes of a real Slurm, built once for all tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support import boxes, slurmlab, sshlab
from tests.support.boxes import Box
from tests.support.engine_cache import copy_to, deploy_here


@pytest.fixture(scope="session", autouse=True)
def engines_built() -> None:
    """The engines in this login's cache, which each run finds there."""
    deploy_here()


@pytest.fixture(scope="session")
def namespaces(require: Callable[[object, str], None]) -> None:
    """Skip the test where no hosts can be built."""
    lacking = sshlab.missing()
    require(not lacking, lacking)


@pytest.fixture
def box(tmp_path: Path, namespaces: None) -> Iterator[Box]:
    """A testbed to be built by the test; nothing of it is left over."""
    box = Box(boxes.new_name(), tmp_path)
    yield box
    if Path("/run/railgauge", box.name).exists():
        assert box.down().returncode == 0
    assert boxes.traces(box.name) == []


@pytest.fixture(scope="session")
def two_hosts(tmp_path_factory: pytest.TempPathFactory, namespaces: None) -> Iterator[sshlab.Lab]:
    """Both hosts, with RAILGAUGE_SSH_CONFIG pointing at the configuration that knows them."""
    try:
        lab = sshlab.build(tmp_path_factory.mktemp("lab"))
        with sshlab.ssh_config(lab.config):
            yield lab
    finally:
        sshlab.tear_down()


@pytest.fixture
def lab(two_hosts: sshlab.Lab) -> Iterator[sshlab.Lab]:
    """The lab for a test that changes it: afterwards everything is as it was."""
    yield two_hosts
    two_hosts.write_config()
    two_hosts.write_known_hosts()
    for host in (two_hosts.a, two_hosts.b):
        host.link("up")
        host.test_link("up")
        copy_to(host.home)
        for sshd in host.sshds[1:]:
            sshd.stop()
        del host.sshds[1:]


@pytest.fixture(scope="session")
def slurm_lab(require: Callable[[object, str], None]) -> Iterator[slurmlab.SlurmLab]:
    """A Slurm of two nodes."""
    lacking = slurmlab.missing()
    require(not lacking, lacking)
    with slurmlab.slurm() as lab:
        yield lab


@pytest.fixture
def slurm(slurm_lab: slurmlab.SlurmLab) -> Iterator[slurmlab.SlurmLab]:
    """The same, for a test that uses it: afterwards both nodes are idle again."""
    yield slurm_lab
    slurm_lab.mend()
