"""Programs that a scheduler starts, without the scheduler: what its starter says and does."""

from __future__ import annotations

from typing import cast

import pytest

from railgauge.hosts.transport.allocation import AllocationProcess
from railgauge.hosts.transport.interface import Exit
from railgauge.hosts.transport.local import LocalProcess
from railgauge.schedulers import SCHEDULERS


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
