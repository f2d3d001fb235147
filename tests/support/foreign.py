"""A foreign command that is a whole process group, and whether any of it still runs."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from pathlib import Path

_numbers = itertools.count(1)


class TwoSleeps:
    """`sh -c 'sleep A & sleep B'`, with numbers that no other test uses."""

    def __init__(self) -> None:
        own = f"{os.getpid()}{next(_numbers):03}"
        self._sleeps = [["sleep", f"{seconds}.{own}"] for seconds in (97, 98)]
        self.command = "sh -c '{} & {}'".format(*map(" ".join, self._sleeps))

    def pids(self) -> list[int]:
        """Return the sleeps that run."""
        pids = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and self._is_one(entry):
                    pids.append(int(entry.name))
        return pids

    def started(self) -> bool:
        """Tell whether both run, within a minute."""
        return self._come_to(2)

    def ended(self) -> bool:
        """Tell whether neither runs, within a minute."""
        return self._come_to(0)

    def kill(self) -> None:
        """Kill what a failed test left."""
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _is_one(self, entry: Path) -> bool:
        return (entry / "cmdline").read_text().split("\0")[:-1] in self._sleeps

    def _come_to(self, count: int) -> bool:
        deadline = time.monotonic() + 60
        while len(self.pids()) != count:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        return True
