"""Two hosts behind real sshds in network namespaces, whose sessions, links and engines go."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.campaign import Disaster, Finding, Place
from tests.chaos.measuring import Measuring, kill, nothing_left
from tests.support import sshlab


def _build(folder: Path, closing: ExitStack) -> sshlab.Lab:
    closing.callback(sshlab.tear_down)
    place = folder / "lab"
    place.mkdir()
    lab = sshlab.build(place)
    os.environ["RAILGAUGE_SSH_CONFIG"] = str(lab.config)
    closing.callback(os.environ.pop, "RAILGAUGE_SSH_CONFIG")
    return lab


def _strike(place: Place, disturb: Callable[[Place, sshlab.LabHost, int], None]) -> list[Finding]:
    """Measure over both hosts, disturb one of them at any instant, and resume."""
    findings: list[Finding] = []
    lab = place.lab("ssh", lambda closing: _build(place.folder.parent, closing))
    hosts = "\n".join(
        f"  {host.name}: {{address: {host.address}, ssh: host-{host.name}}}"
        for host in (lab.a, lab.b)
    )
    measuring = Measuring(place.folder, hosts=hosts)
    with nothing_left(findings):
        host = place.chance.choice((lab.a, lab.b))
        ended, before = measuring.disturbed(
            place.chance, lambda controller: disturb(place, host, controller)
        )
        findings += measuring.complete(ended)
        findings += measuring.compare(before)
    return findings


def _kill_controller(place: Place, host: sshlab.LabHost, controller: int) -> None:
    kill(controller)


def _kill_session(place: Place, host: sshlab.LabHost, controller: int) -> None:
    """Kill the sshd of a session, or an engine, as they come."""
    servers = {sshd.process.pid for sshd in host.sshds}
    pids = [int(pid) for pid in sshlab.ip("netns", "pids", host.namespace).split()]
    victims = [pid for pid in pids if pid not in servers]
    if victims:
        kill(place.chance.choice(victims))


def _cut_test_link(place: Place, host: sshlab.LabHost, controller: int) -> None:
    host.test_link("down")
    time.sleep(place.chance.uniform(0.1, 4))
    host.test_link("up")


def _cut_control_link(place: Place, host: sshlab.LabHost, controller: int) -> None:
    host.link("down")
    time.sleep(place.chance.uniform(0.1, 4))
    host.link("up")


DISASTERS = tuple(
    Disaster(
        f"ssh-{name}",
        summary,
        lambda place, disturb=disturb: _strike(place, disturb),  # type: ignore[misc]
        strikes,
        2,
        sshlab.missing,
    )
    for name, summary, disturb, strikes in (
        ("controller", "kill -9 of the controller of two hosts", _kill_controller, 30),
        ("session", "kill -9 of an ssh session, or of an engine behind it", _kill_session, 60),
        ("test-link", "the link that is measured is cut for a while", _cut_test_link, 30),
        ("control-link", "the link to a host is cut for a while", _cut_control_link, 30),
    )
)
