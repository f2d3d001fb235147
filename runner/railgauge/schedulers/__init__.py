"""Batch schedulers: `scheduler` is the interface, one module for each, `SCHEDULERS` lists them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.schedulers.scheduler import Scheduler
from railgauge.schedulers.slurm import Slurm

SCHEDULERS: dict[str, Scheduler] = {
    "slurm": Slurm(),
}


def current() -> Scheduler | None:
    """Return the scheduler in whose job we run, None outside of any."""
    return next((owner for owner in SCHEDULERS.values() if owner.current_job() is not None), None)


def preferred() -> Scheduler:
    """Return the scheduler in whose job we run, else the first one that is installed here."""
    installed = (owner for owner in SCHEDULERS.values() if shutil.which(owner.starter))
    return current() or next(installed, next(iter(SCHEDULERS.values())))


def launching(program: str) -> Scheduler | None:
    """Return the scheduler whose `launcher` is `program`, None for mpirun."""
    return next((owner for owner in SCHEDULERS.values() if owner.launcher == program), None)


def require_nodes(scheduler: Scheduler, names: Collection[str]) -> None:
    """See that we are in an allocation with all these nodes; InputError if not."""
    if not names:
        return
    job = scheduler.current_job()
    ask_for = f"--nodelist={','.join(dict.fromkeys(names))}"
    if job is None:
        raise InputError(
            f"nodes of {scheduler.title} are to be measured, but {scheduler.outside} "
            f"(with {ask_for})"
        )
    present = {node.name for node in scheduler.nodes(job)}
    if lacking := sorted(set(names) - present):
        raise InputError(
            f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not in this allocation "
            f"(job {job}), and other nodes would be another measurement: ask for {ask_for}"
        )


def deadline(margin: float, say: Callable[[str], None]) -> float | None:
    """Return when what runs in our job must have ended, a moment of time.monotonic().

    That is `margin` seconds before its time is over; None without a limit. Where the scheduler
    doesn't say, `say` gets a sentence.
    """
    scheduler = current()
    job = None if scheduler is None else scheduler.current_job()
    if scheduler is None or job is None:
        return None
    try:
        left = scheduler.seconds_left(job)
    except EnvironmentFailedError as error:
        say(f"when job {job} ends is unknown, so its time limit may cut the run short: {error}")
        return None
    return None if left is None else time.monotonic() + left - margin
