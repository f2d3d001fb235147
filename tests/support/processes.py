"""The end of programs that tests start."""

from __future__ import annotations

import subprocess
from typing import Any

from tests.support.wire import PATIENCE


def end_process(process: subprocess.Popen[Any]) -> None:
    """Kill it where it goes on, and close its pipes."""
    process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
    process.wait(timeout=PATIENCE)
