"""Builds on many machines side by side, and shows how far they are: make says what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeVar

from railgauge.base.side_by_side import everywhere
from railgauge.hosts.transport.interface import Transport

_MARK = "railgauge-steps:"
_STEPS = re.compile(rf"{_MARK} ([0-9]{{1,6}})")
# Every step that takes any time writes a file.
_STEP = " -o "

# For scripts: `stepwise ARGUMENTS` is make with them, which first says how many steps it takes.
STEPWISE = f"""
stepwise() {{
    echo "{_MARK} $({{ make -n "$@" | grep -c -e '{_STEP}'; }} 2>/dev/null)"
    make -j2 "$@"
}}
"""

T = TypeVar("T")
LineTaker = Callable[[str], None]


class BuildObserver(Protocol):
    """Follows builds; called from the controller's main thread only."""

    def say(self, text: str) -> None:
        """Take note of a stage."""

    def building(self, hosts: Sequence[str], begun: int, steps: int) -> None:
        """Take note of which hosts build, and how many of all hosts' steps have begun.

        Without hosts: nothing is built any more.
        """


def build_all(
    action: Callable[[str, LineTaker], T],
    transports: Mapping[str, Transport],
    program: str,
    observer: BuildObserver,
    builders: Collection[str] = (),
) -> dict[str, T]:
    """Return machine -> what `action` gives there, as `everywhere` does; it may build `program`.

    The action gets the machine and what takes the lines of a `stepwise` there. Machines that are
    `builders` build in any case, the others where `stepwise` says so.
    """
    builds = _Builds(builders)

    def act(machine: str) -> T:
        try:
            return action(machine, partial(builds.take, machine))
        finally:
            builds.end(machine)

    def show() -> None:
        hosts = [transports[machine].host for machine in builds.running]
        if hosts and not builds.announced:
            builds.announced = True
            observer.say(f"building {program} on {', '.join(hosts)}: about half a minute")
        if builds.announced:
            observer.building(hosts, *builds.progress)

    show()
    try:
        return everywhere(act, transports, meanwhile=show)
    finally:
        if builds.announced:
            observer.building((), 0, 0)


class _Builds:
    """How far builds are; any thread may say what comes of its machine's."""

    def __init__(self, builders: Collection[str]) -> None:
        self.announced = False
        # Machine -> how many steps have begun, of how many.
        self._begun = dict.fromkeys(builders, 0)
        self._steps = dict.fromkeys(builders, 0)
        self._ended: set[str] = set()

    def take(self, machine: str, line: str) -> None:
        """Note a line of a build."""
        if match := _STEPS.fullmatch(line):
            self._steps[machine], self._begun[machine] = int(match[1]), 0
        elif _STEP in line and machine in self._begun:
            self._begun[machine] += 1

    def end(self, machine: str) -> None:
        """Note that a machine builds nothing any more."""
        self._ended.add(machine)

    @property
    def running(self) -> list[str]:
        """The machines that build, in order."""
        return sorted(self._steps.keys() - self._ended)

    @property
    def progress(self) -> tuple[int, int]:
        """How many steps of all machines have begun, and how many there are."""
        return sum([*self._begun.values()]), sum([*self._steps.values()])
