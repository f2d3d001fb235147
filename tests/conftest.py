"""What tests of several folders need."""

from __future__ import annotations

import fcntl
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from tests.support.own_machine import keep_in_memory, separate
from tests.support.trials import LONG

T = TypeVar("T")

separate()
# The settings of whoever runs the tests are none of theirs.
os.environ["XDG_CONFIG_HOME"] = str(Path(tempfile.gettempdir()) / "railgauge-test-settings")
# The same examples wherever the suite runs; other ones, and many, for nights (make test-long).
settings.register_profile("test", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("long", deadline=None, print_blob=True, max_examples=2000)
settings.load_profile("long" if LONG else "test")
# While tests are collected nothing is garbage: looking for it took an eighth of that time.
gc.disable()
HERE = Path(__file__).parent
# What takes longest (make test-times) begins first, then what waits; what computes fills the gaps.
LONGEST = {
    HERE / name: turn
    for turn, name in enumerate(
        (
            "integration/test_benchmarks.py",
            "engines/test_engine_mpi.py",
            "integration/test_lost_hosts.py",
            "unit/schedulers/test_scheduler.py",
            "unit/store/test_controllers.py",
            "unit/store/test_database.py",
            "unit/store/test_claim.py",
            "unit/report/test_latex_tables.py",
            "unit/report/test_site_again.py",
            "browser/test_pages.py",
            "unit/report/test_reproducible.py",
            "unit/test_gallery.py",
            "unit/test_house.py",
            "unit/store/test_copy.py",
            "unit/store/test_store.py",
        )
    )
}
ORDER = ("integration", "browser", "engines", "unit")
assert all(path.exists() for path in LONGEST), "a file of LONGEST has another name"


def _turn(item: pytest.Item) -> int:
    if item.path in LONGEST:
        return LONGEST[item.path] - len(LONGEST)
    return ORDER.index(item.path.relative_to(HERE).parts[0])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_turn)


def pytest_collection_finish() -> None:
    # What is there now stays: a tenth of the unit tests' time went into looking whether it does.
    gc.collect()
    gc.freeze()
    # All that came since is looked at a tenth as often: that took a tenth of the rest.
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, 10 * old)
    gc.enable()


def pytest_sessionfinish() -> None:
    # make coverage: a worker that takes longer than 10 s to end is killed, and with it what it ran.
    coverage = sys.modules.get("coverage")
    if coverage and (running := coverage.Coverage.current()):
        running.save()


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _folders_in_memory(tmp_path_factory: pytest.TempPathFactory) -> None:
    keep_in_memory(tmp_path_factory.getbasetemp())


@pytest.fixture
def only_soaker() -> Iterator[None]:
    """Wait until no other worker's test has soakers: a machine has room for one."""
    with (Path(tempfile.gettempdir()) / "railgauge-test-soak.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _require(condition: object, requirement: str) -> None:
    if condition:
        return
    if os.environ.get("CI"):
        pytest.fail(f"CI must have {requirement}")
    pytest.skip(f"needs {requirement}")


@pytest.fixture(scope="session")
def require() -> Callable[[object, str], None]:
    """Skip the test on a user's machine that lacks something; in CI that is a failure."""
    return _require


def _ends(pid: int) -> bool:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def process_ends() -> Callable[[int], bool]:
    """Tell whether a process is gone within a minute (a zombie is)."""
    return _ends


def _paced(measure: Callable[[], T], holds: Callable[[T], object]) -> T:
    if not LONG:
        return measure()
    end = time.monotonic() + 120
    results: list[T] = []
    while True:
        results.append(measure())
        if holds(results[-1]):
            return results[-1]
        early = time.monotonic() < end or len(results) < 3
        assert early, f"never in {len(results)} attempts: {results[-3:]}"
        time.sleep(min(1.0, 0.02 * len(results)))


@pytest.fixture(scope="session")
def paced() -> Callable[..., object]:
    """Measure, and in make test-long measure again until `holds`.

    `holds` is a pace, which is only kept on a machine that nobody else keeps busy. What is true on
    any machine is asserted in `measure`, or of what is returned.
    """
    return _paced
