"""Something done with each of many machines."""

from __future__ import annotations

import threading

from railgauge.base.side_by_side import everywhere


def test_two_hundred_machines_are_at_work_at_a_time() -> None:
    machines = [f"n{number}" for number in range(200)]
    together = threading.Barrier(len(machines), timeout=60)

    def act(machine: str) -> str:
        together.wait()
        return machine

    assert everywhere(act, machines) == {machine: machine for machine in machines}
