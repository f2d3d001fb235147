"""What is written down of testbeds, while others are built and removed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from railgauge.lab.testbed.layout import ClusterLayout
from railgauge.lab.testbed.state import ClusterRecord, State, root, states


@pytest.fixture
def changing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Have another process's testbed come and go, as fast as a thread makes and removes it."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    layout = ClusterLayout("other", "10.77.0.0/16", {}, {}, (), (), (), ())
    record = ClusterRecord("token", layout, "other.yaml", privileged=False)
    folder, ended = root() / layout.name, threading.Event()

    def change() -> None:
        while not ended.is_set():
            folder.mkdir(parents=True)
            State(folder, None).write(record).forget()

    thread = threading.Thread(target=change)
    thread.start()
    yield
    ended.set()
    thread.join()


@pytest.mark.usefixtures("changing")
def test_a_testbed_that_goes_while_others_are_listed_is_no_error() -> None:
    for _ in range(2000):
        states()
