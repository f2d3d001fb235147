"""Where the time of a test session goes: CPU, waiting for a CPU, sleeping, waiting for others.

A pytest plugin (`make test-times`). With xdist each worker measures its own tests, the figures
travel with the reports, and the controller prints them.
"""

from __future__ import annotations

import resource
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

SLOWEST = 50
_PROPERTY = "times"


class Times(NamedTuple):
    """Seconds: by the clock, of CPU (children that ended included), queued for a CPU, in sleep."""

    wall: float = 0.0
    cpu: float = 0.0
    queued: float = 0.0
    slept: float = 0.0

    def plus(self, other: Times) -> Times:
        return Times(*(a + b for a, b in zip(self, other, strict=True)))

    def since(self, earlier: Times) -> Times:
        return Times(*(a - b for a, b in zip(self, earlier, strict=True)))

    @property
    def waited(self) -> float:
        """Seconds spent on processes, sockets and locks; 0 where children had several CPUs."""
        return max(0.0, self.wall - self.cpu - self.queued - self.slept)


class _Sleep:
    """Stands for time.sleep and adds its seconds up."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._sleep = time.sleep

    def __call__(self, seconds: float) -> None:
        began = time.monotonic()
        try:
            self._sleep(seconds)
        finally:
            if threading.current_thread() is threading.main_thread():
                self.seconds += time.monotonic() - began


class Recorder:
    """Puts the times of each phase of a test, and of each shared fixture, on its report."""

    def __init__(self) -> None:
        self._sleep = time.sleep = _Sleep()
        self._began = self._now()
        self._fixtures: dict[str, Times] = {}

    def _now(self) -> Times:
        usages = [resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        # proc(5): nanoseconds of waiting on a run queue, of the main thread.
        queued = int(Path("/proc/self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
        return Times(time.monotonic(), cpu, queued, self._sleep.seconds)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        began = self._now()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                name = f"fixture {fixturedef.baseid}::{fixturedef.argname}"
                self._fixtures[name] = self._now().since(began)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._began = self._now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = self._now()
        measured = {report.nodeid: now.since(self._began), **self._fixtures}
        plain = {place: tuple(times) for place, times in measured.items()}
        report.user_properties.append((_PROPERTY, plain))
        self._began, self._fixtures = now, {}
        return report


class Summary:
    """Adds up what the reports carry and prints it at the end of the session."""

    def __init__(self) -> None:
        self._of: dict[str, Times] = defaultdict(Times)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, measured in report.user_properties:
            if name == _PROPERTY:
                for place, times in measured.items():  # type: ignore[attr-defined]
                    self._of[place] = self._of[place].plus(Times(*times))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        folders: dict[str, Times] = defaultdict(Times)
        files: dict[str, Times] = defaultdict(Times)
        for place, times in self._of.items():
            if not place.startswith("fixture "):
                file = place.partition("::")[0]
                files[file] = files[file].plus(times)
                for folder in (str(Path(file).parent), "all"):
                    folders[folder] = folders[folder].plus(times)
        busiest = sorted(files.items(), key=lambda item: -item[1].cpu)[:SLOWEST]
        longest = sorted(files.items(), key=lambda item: -item[1].wall)[:SLOWEST]
        slowest = sorted(self._of.items(), key=lambda item: -item[1].wall)[:SLOWEST]
        _print(terminalreporter, "folders (shared fixtures included)", folders.items())
        _print(terminalreporter, f"the {SLOWEST} files that compute most", busiest)
        _print(terminalreporter, f"the {SLOWEST} files that take longest", longest)
        _print(terminalreporter, f"slowest {SLOWEST} tests and shared fixtures", slowest)


def _print(
    terminal: pytest.TerminalReporter, title: str, rows: Iterable[tuple[str, Times]]
) -> None:
    terminal.section(f"seconds: {title}")
    terminal.write_line(f"{'wall':>8}{'cpu':>8}{'queued':>8}{'slept':>8}{'waited':>8}")
    for place, times in rows:
        figures = (*times, times.waited)
        terminal.write_line("".join(f"{seconds:8.1f}" for seconds in figures) + f"  {place}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary())
