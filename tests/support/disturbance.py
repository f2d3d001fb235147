"""Whether somebody else took this machine's CPUs away while a test ran."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

BEAT = 0.005
LATE = 0.03
STOLEN = 0.01  # of a CPU


def _stolen() -> float:
    """The seconds that the hypervisor gave others while a CPU of ours had work (proc(5), steal)."""
    ticks = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[8]
    return int(ticks) / os.sysconf("SC_CLK_TCK")


class Disturbance:
    """Seen by a thread that wants to wake often, and may be kept from it, and by what is stolen."""

    def __init__(self) -> None:
        self._woken = time.monotonic()
        self.begin()
        threading.Thread(target=self._beat, daemon=True).start()

    def begin(self) -> None:
        self._latest = 0.0
        self._began, self._stolen = time.monotonic(), _stolen()

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT)
            self._latest = max(self._latest, self._late())
            self._woken = time.monotonic()

    def _late(self) -> float:
        return time.monotonic() - self._woken - BEAT

    def seen(self) -> bool:
        """Whether there was any since it began: a wake-up too late, or CPU time given to others."""
        taken = time.monotonic() - self._began
        late = max(self._latest, self._late())
        return late > LATE or _stolen() - self._stolen > STOLEN * taken
