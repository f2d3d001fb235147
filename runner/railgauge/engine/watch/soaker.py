"""One rail-soak on one kernel, as long as one replication: how much of its CPUs' time that took."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from typing import Any

from railgauge.base.errors import EngineError
from railgauge.base.systemlog import SoakLoad, Suspicion
from railgauge.engine.events import MALFORMED
from railgauge.engine.follow import naming_lost_host
from railgauge.hosts.transport.interface import Process, Transport

# A calibration takes a second, and is tried again where the machine is not idle.
_CALIBRATION_SECONDS = 60.0
_MOST_CPUS = 65_536

Loads = Mapping[tuple[int, int], tuple[SoakLoad, ...]]
"""By launch and replication."""


class Soaker:
    """Soakers on all CPUs of a host, until `process` ends; engines find them by their `name`."""

    def __init__(self, transport: Transport, engines: str, name: str) -> None:
        self.name = name
        self._host = transport.host
        self.suspicions: list[Suspicion] = []
        with naming_lost_host(transport.host):
            self.process: Process = transport.start(
                [f"{engines}/rail-soak", "--json", f"--marks={name}"]
            )

    def calibrate(self) -> None:
        """Return when the idle CPUs' speed is known; EngineError, `not-idle` if they aren't."""
        deadline = time.monotonic() + _CALIBRATION_SECONDS
        while self._next(deadline)["event"] != "calibrated":
            pass

    def finish(self) -> None:
        """Have it calibrate again, which takes its time, and end."""
        self.process.send_line("finish")

    def loads(self) -> Loads:
        """Return the loads of what was marked until it was to finish; EngineError."""
        deadline = time.monotonic() + _CALIBRATION_SECONDS
        loads: dict[tuple[int, int], tuple[SoakLoad, ...]] = {}
        while (event := self._next(deadline))["event"] != "done":
            if event["event"] == "load":
                launch, replication, cpu_loads = _load(event)
                loads[launch, replication] = cpu_loads
            elif event["event"] == "warning":
                message = f"{self._host}: {str(event.get('message'))[:500]}"
                self.suspicions.append(Suspicion(str(event.get("code"))[:40], self._host, message))
        return loads

    def _next(self, deadline: float) -> dict[str, Any]:
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            with naming_lost_host(self._host):
                line = self.process.read_line(left)
        except TimeoutError:
            raise EngineError(
                "no-answer",
                f"rail-soak on {self._host} wasn't done after {_CALIBRATION_SECONDS:g} s",
            ) from None
        if line is None:
            raise EngineError("engine-lost", f"rail-soak on {self._host} ended before it was done")
        try:
            event = json.loads(line)
            if not isinstance(event["event"], str):
                raise TypeError
        except MALFORMED as error:
            raise self._contract(line) from error
        if event["event"] == "error":
            code, message = str(event.get("code")), str(event.get("message"))
            raise EngineError(code[:40], f"{self._host}: {message[:500]}")
        return dict(event)

    def _contract(self, line: object) -> EngineError:
        return EngineError("contract", f"rail-soak on {self._host} said {str(line)[:200]!r}")


def _load(event: Mapping[str, Any]) -> tuple[int, int, tuple[SoakLoad, ...]]:
    try:
        loads = tuple(
            SoakLoad(
                int(cpu["cpu"]),
                _share(cpu["load"]),
                _share(cpu["lost"]),
                _share(cpu["slowdown"]),
            )
            for cpu in event["cpus"][:_MOST_CPUS]
        )
        return int(event["launch"]), int(event["replication"]), loads
    except MALFORMED as error:
        raise EngineError("contract", f"rail-soak said {str(event)[:200]!r}") from error


def _share(value: Any) -> float:
    share = float(value)
    if not math.isfinite(share):
        raise ValueError(f"{value!r} is no share")
    return share
