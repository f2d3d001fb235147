"""What of a launch still fits in the time that a Slurm job has left, and when that is over."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from railgauge.plan.cases import Case
from railgauge.plan.catalogue import Value, load_catalogue
from railgauge.plan.schedule import Dispatch
from railgauge.plan.wall_time import LaunchTimes, within
from railgauge.schedulers import deadline

TIMES = LaunchTimes(load_catalogue())


def dispatch(replications: int, **parameters: Value) -> Dispatch:
    case = Case(f"{parameters}", "tcp", "a→b", "a", "b", {"mode": "stream", **parameters})
    return Dispatch("t", case, tuple(range(1, replications + 1)))


@pytest.mark.parametrize(
    ("seconds", "fitting"),
    [
        (1000.0, 5),
        (56.0, 5),
        (55.0, 4),
        (46.0, 4),
        (15.5, 1),
        (15.0, None),
        (0.0, None),
        (-3.0, None),
    ],
)
def test_only_replications_that_end_in_time_are_begun(seconds: float, fitting: int | None) -> None:
    whole = dispatch(5, duration=10.0, warmup=5.0)
    begun = within(whole, seconds, TIMES)
    assert (begun and len(begun.replications)) == fitting
    if fitting == 5:
        assert begun == whole


def test_a_launch_of_unknown_length_is_begun_as_long_as_there_is_time() -> None:
    whole = dispatch(3, duration=10.0, count=10**9)
    assert within(whole, 1.0, TIMES) == whole
    assert within(whole, 0.0, TIMES) is None


@pytest.fixture
def job() -> Iterator[None]:
    """In a job, as far as the environment tells."""
    names = ("SLURM_JOB_ID", "SLURM_JOB_END_TIME")
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    os.environ["SLURM_JOB_ID"] = "7"
    yield
    for name in names:
        os.environ.pop(name, None)
    os.environ.update(before)


def test_a_jobs_end_less_the_margin_is_the_deadline(job: None) -> None:
    end = round(time.time()) + 1000
    os.environ["SLURM_JOB_END_TIME"] = str(end)
    messages: list[str] = []
    # By the clock that nobody sets, whatever the machine's says meanwhile.
    earliest = time.monotonic() - time.time() + end - 60
    moment = deadline(60.0, messages.append)
    assert moment is not None
    latest = time.monotonic() - time.time() + end - 60
    assert min(earliest, latest) - 0.01 <= moment <= max(earliest, latest) + 0.01
    assert messages == []


def test_outside_a_job_there_is_no_deadline(job: None) -> None:
    os.environ.pop("SLURM_JOB_ID")
    os.environ["SLURM_JOB_END_TIME"] = "1000"
    assert deadline(60.0, print) is None


def test_an_end_that_slurm_does_not_tell_is_said_and_no_failure(job: None) -> None:
    path = os.environ["PATH"]
    os.environ["PATH"] = "/nonexistent"
    messages: list[str] = []
    try:
        assert deadline(60.0, messages.append) is None
    finally:
        os.environ["PATH"] = path
    assert "when job 7 ends is unknown" in messages[0]
