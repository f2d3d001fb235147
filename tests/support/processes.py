"""Programs that tests start, stopped for a while or ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.wire import PATIENCE


def end_process(process: subprocess.Popen[Any]) -> None:
    """Kill it where it goes on, and close its pipes."""
    process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
    process.wait(timeout=PATIENCE)


def is_in_state(process: int, state: str) -> bool:
    """Whether all threads of the process are in the state, a letter of proc(5)."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return all((task / "stat").read_text().rpartition(") ")[2].startswith(state) for task in tasks)


@contextlib.contextmanager
def stopped(process: int) -> Iterator[None]:
    """Stop the process meanwhile."""
    os.kill(process, signal.SIGSTOP)
    while not is_in_state(process, "T"):
        time.sleep(0.001)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)
