"""What a controller that is stopped leaves of other people's programs on this machine: nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from foreign import TwoSleeps

PLAN = """\
railgauge: 1
name: stop
hosts:
  here: {{address: 127.0.0.1, transport: local}}
tests:
  - name: foreign
    engine: command
    hosts: [here]
    set: {{command: "{command}"}}
"""


@pytest.fixture
def sleeps() -> Iterator[TwoSleeps]:
    sleeps = TwoSleeps()
    yield sleeps
    sleeps.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_stopped_controller_leaves_nothing_of_a_foreign_command(
    tmp_path: Path, sleeps: TwoSleeps, number: signal.Signals
) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.format(command=sleeps.command))
    controller = subprocess.Popen(
        [sys.executable, "-m", "railgauge", "run", "plan.yaml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        assert sleeps.started()
        controller.send_signal(number)
        output = controller.communicate(timeout=15)[0].decode()
    finally:
        controller.kill()
        controller.communicate()
    assert sleeps.ended()
    assert "Traceback" not in output
    assert controller.returncode == (-number if number == signal.SIGKILL else 130)
