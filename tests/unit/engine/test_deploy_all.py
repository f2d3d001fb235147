"""The engines on many hosts: sent and built once where the hosts share a cache folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from railgauge.base.errors import BuildError
from railgauge.engine.deploy import Bundle
from railgauge.engine.deploy_all import deploy_all
from railgauge.hosts.transport.local import LocalTransport
from railgauge.run.execution import Observer

HOSTS = ("a", "b", "c", "d")


class Counting(LocalTransport):
    """This machine, under one of many names; `received` counts what it was sent."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.received = 0

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        self.received += 1
        super().put(files, directory)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "railgauge/engines"


def logging_bundle(log: Path, *, status: int = 0) -> Bundle:
    """Return sources whose build writes a line to `log`."""
    recipe = f"all:\n\techo built >>{log}; mkdir -p $(BUILD); exit {status}\n"
    return Bundle.of({"Makefile": recipe.encode()})


def test_hosts_that_share_a_cache_get_the_engines_once(cache: Path, tmp_path: Path) -> None:
    hosts = {name: Counting(name) for name in HOSTS}
    sources = logging_bundle(tmp_path / "log")
    folders = deploy_all(hosts, sources, Observer())
    assert set(folders.values()) == {f"{cache}/{sources.digest}-{os.uname().machine}/build"}
    assert set(folders) == set(HOSTS)
    assert sum(host.received for host in hosts.values()) == 1
    assert (tmp_path / "log").read_text() == "built\n"
    assert len(list(cache.iterdir())) == 1


def test_hosts_that_have_the_engines_get_nothing(cache: Path, tmp_path: Path) -> None:
    sources = logging_bundle(tmp_path / "log")
    before = deploy_all({"a": LocalTransport("a")}, sources, Observer())
    hosts = {name: Counting(name) for name in HOSTS}
    assert set(deploy_all(hosts, sources, Observer()).values()) == {before["a"]}
    assert not any(host.received for host in hosts.values())


def test_a_build_that_fails_is_reported_once_and_leaves_nothing(
    cache: Path, tmp_path: Path
) -> None:
    with pytest.raises(BuildError, match="can't build the engines"):
        deploy_all(
            {name: Counting(name) for name in HOSTS},
            logging_bundle(tmp_path, status=1),
            Observer(),
        )
    assert list(cache.iterdir()) == []
