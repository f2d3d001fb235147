"""A Slurm job on two nodes whose controller, steps and allocation go."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.chaos.campaign import Disaster, Finding, Place
from tests.chaos.measuring import Measuring, finish, nothing_left
from tests.support import slurmlab

HOSTS = """\
  a: {address: 127.0.0.1, transport: slurm, node: node1}
  b: {address: 127.0.0.1, transport: slurm, node: node2}"""
STEPS = ("srun", "slurmstepd", "sh", "sleep", "rail-udp", "rail-watch", "rail-hold", "rail-exec")


def _strike(
    place: Place, disturb: Callable[[Place, slurmlab.SlurmLab, int], None]
) -> list[Finding]:
    """Measure in an allocation, disturb it at any instant, and resume in another one."""
    findings: list[Finding] = []
    lab = place.lab("slurm", lambda closing: closing.enter_context(slurmlab.slurm()))
    measuring = Measuring(place.folder, figures=3, pings=3, hosts=HOSTS)
    with nothing_left(findings):
        job = {"SLURM_CONF": str(lab.config), "SLURM_JOB_ID": lab.allocate()}
        os.environ |= job
        try:
            controller = measuring.start("run", "plan.yaml")
            measuring.await_stored(place.chance.randrange(measuring.planned), controller)
            time.sleep(place.chance.uniform(0, 0.2))
            before = measuring.stored()
            disturb(place, lab, controller.pid)
            ended = finish(controller)
            lab.mend()
            os.environ["SLURM_JOB_ID"] = lab.allocate()
            findings += measuring.complete(ended)
            findings += measuring.compare(before)
        finally:
            for name in job:
                os.environ.pop(name)
            lab.mend()
    return findings


def _kill_controller(place: Place, lab: slurmlab.SlurmLab, controller: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(controller, signal.SIGKILL)


def _kill_step(place: Place, lab: slurmlab.SlurmLab, controller: int) -> None:
    """Kill an srun, what keeps its step on the node, or what runs in it, as they come."""
    names = {}
    for pid in lab.processes():
        with suppress(OSError):
            names[pid] = Path(f"/proc/{pid}/comm").read_text().strip()
    if victims := sorted(pid for pid, name in names.items() if name in STEPS):
        with suppress(ProcessLookupError):
            os.kill(place.chance.choice(victims), signal.SIGKILL)


def _cancel_job(place: Place, lab: slurmlab.SlurmLab, controller: int) -> None:
    lab.call("scancel", os.environ["SLURM_JOB_ID"])


DISASTERS = tuple(
    Disaster(
        f"slurm-{name}",
        summary,
        lambda place, disturb=disturb: _strike(place, disturb),  # type: ignore[misc]
        strikes,
        1,
        slurmlab.missing,
    )
    for name, summary, disturb, strikes in (
        ("controller", "kill -9 of the controller of a Slurm job", _kill_controller, 10),
        ("step", "kill -9 of a step of a Slurm job, or of what runs in it", _kill_step, 20),
        ("job", "a Slurm job is cancelled while its controller goes on", _cancel_job, 10),
    )
)
