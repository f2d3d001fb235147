"""A Slurm job on two nodes whose controller, steps and allocation go."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.chaos.campaign import Disaster, Finding, Place
from tests.chaos.measuring import Measuring, kill, nothing_left
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
    # An srun whose step is killed waits in vain: an hour for a program that has no limit.
    measuring = Measuring(place.folder, figures=3, pings=3, hosts=HOSTS, limit="60s")
    with nothing_left(findings, spared=lambda: [daemon.pid for daemon in lab.daemons.values()]):
        job = {"SLURM_CONF": str(lab.config), "SLURM_JOB_ID": lab.allocate()}
        os.environ |= job
        try:
            ended, before = measuring.disturbed(
                place.chance, lambda controller: disturb(place, lab, controller)
            )
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
    kill(controller)


def _kill_daemon(place: Place, lab: slurmlab.SlurmLab, controller: int) -> None:
    """Kill a node's slurmd, not its steps, and start another one after a while."""
    node = place.chance.choice(slurmlab.NODES)
    _end_daemon(place, lab, f"slurmd-{node}")
    lab.start_node(node)


def _kill_scheduler(place: Place, lab: slurmlab.SlurmLab, controller: int) -> None:
    """Kill slurmctld, and start another one after a while."""
    _end_daemon(place, lab, "slurmctld")
    lab.start_controller()


def _end_daemon(place: Place, lab: slurmlab.SlurmLab, name: str) -> None:
    daemon = lab.daemons.pop(name)
    daemon.kill()
    daemon.wait()
    time.sleep(place.chance.uniform(0, 3))


def _kill_step(place: Place, lab: slurmlab.SlurmLab, controller: int) -> None:
    """Kill an srun, what keeps its step on the node, or what runs in it, as they come."""
    names = {}
    for pid in lab.processes():
        with suppress(OSError):
            names[pid] = Path(f"/proc/{pid}/comm").read_text().strip()
    if victims := sorted(pid for pid, name in names.items() if name in STEPS):
        kill(place.chance.choice(victims))


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
        ("slurmd", "kill -9 of a node's slurmd, and another one later", _kill_daemon, 10),
        ("slurmctld", "kill -9 of slurmctld, and another one later", _kill_scheduler, 10),
    )
)
