"""Programs that a scheduler starts, without the scheduler: what its starter says and does."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import cast

import pytest

from railgauge.base.errors import EnvironmentFailedError
from railgauge.hosts.transport.allocation import AllocationProcess, AllocationTransport, broadcast
from railgauge.hosts.transport.interface import Exit
from railgauge.hosts.transport.local import LocalProcess
from railgauge.schedulers import SCHEDULERS
from railgauge.schedulers.scheduler import Node
from railgauge.schedulers.slurm import Slurm


class LingeringStarter:
    """An srun whose program has closed its output, and which doesn't end."""

    def read_line(self, timeout: float | None = None) -> str | None:
        """Return the end of the output."""
        return None

    def wait(self, timeout: float | None = None) -> Exit:
        """Not end in that time."""
        raise TimeoutError


def test_the_end_of_the_output_comes_before_that_of_a_starter_which_lingers() -> None:
    starter = cast(LocalProcess, LingeringStarter())
    process = AllocationProcess("n1", starter, SCHEDULERS["slurm"], "1", "mark")
    assert process.read_line() is None
    with pytest.raises(TimeoutError):
        process.wait(0)


class TwoNodes(Slurm):
    """A job's two nodes, without Slurm."""

    def current_job(self) -> str | None:
        """See `Scheduler.current_job`."""
        return "1"

    def nodes(self, job: str) -> tuple[Node, ...]:
        """See `Scheduler.nodes`."""
        return Node("n1", "n1"), Node("n2", "n2")


def test_a_folder_of_temporary_files_without_room_is_a_failed_broadcast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    nodes = [AllocationTransport(name, name, TwoNodes()) for name in ("n1", "n2")]
    with pytest.raises(
        EnvironmentFailedError, match="can't write to the folder of temporary files"
    ):
        broadcast(nodes, b"sources", "/cache/sources")
