"""The allocation that this process runs in: its nodes, and when its time is over.

Slurm's own programs are asked. Their clients' variables tell which job it is; SLURM_CONF and a
token, where a site needs them, are left as they are.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.errors import EnvironmentFailedError, InputError

_SECONDS = 60.0
# Before a job's time is over: for the last results, and for submitting the next job.
MARGIN = 60.0
# What tells Slurm's clients where their Slurm is and who we are.
_SITE_VARIABLES = {"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_CLUSTERS"}
_FIELD = re.compile(r"(\w+)=(\S*)")

OUTSIDE = (
    "this is not inside a Slurm allocation: start it by `railgauge submit PLAN`, or get one first, "
    "as with `salloc --nodes=2 --exclusive`"
)


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the allocation: Slurm's name of it and the address that Slurm reaches it by."""

    name: str
    address: str


def current_job(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the id of the job we run in, None outside of any."""
    return environment.get("SLURM_JOB_ID") or None


def inherited(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the variables by which a job, or a user, changes what srun and sbatch do."""
    return sorted(
        name
        for name in environment
        if name.startswith(("SLURM_", "SRUN_", "SBATCH_")) and name not in _SITE_VARIABLES
    )


def nodes(job: str) -> tuple[Node, ...]:
    """Return the nodes of `job` in Slurm's order; EnvironmentFailedError if it has none."""
    # Of a job array or a heterogeneous job its other jobs may be listed, too.
    record = next((record for record in _records("job", job) if record.get("JobId") == job), {})
    names = ask(["scontrol", "show", "hostnames", record.get("NodeList", "")]).split()
    if not names:
        raise EnvironmentFailedError(f"Slurm tells no nodes of job {job}: see `scontrol show job`")
    addresses = {
        record["NodeName"]: record.get("NodeAddr", record["NodeName"])
        for record in _records("node", ",".join(names))
    }
    return tuple(Node(name, addresses.get(name, name)) for name in names)


def require_nodes(names: Collection[str]) -> None:
    """See that we are in an allocation with all these nodes; InputError if not."""
    if not names:
        return
    job = current_job()
    ask_for = f"--nodelist={','.join(dict.fromkeys(names))}"
    if job is None:
        raise InputError(f"nodes of Slurm are to be measured, but {OUTSIDE} (with {ask_for})")
    present = {node.name for node in nodes(job)}
    if lacking := sorted(set(names) - present):
        raise InputError(
            f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not in this allocation "
            f"(job {job}), and other nodes would be another measurement: ask for {ask_for}"
        )


def deadline(margin: float, say: Callable[[str], None]) -> float | None:
    """Return when what runs in our job must have ended, a moment of time.monotonic().

    That is `margin` seconds before its time is over; None without a limit. Where Slurm
    doesn't tell, `say` gets a sentence.
    """
    job = current_job()
    if job is None:
        return None
    end_time = os.environ.get("SLURM_JOB_END_TIME", "")
    if end_time.isdigit():
        return time.monotonic() + float(end_time) - time.time() - margin
    try:
        left = seconds_of(ask(["squeue", "-h", "-j", job, "-o", "%L"]).strip())
    except EnvironmentFailedError as error:
        say(f"when job {job} ends is unknown, so its time limit may cut the run short: {error}")
        return None
    return None if left is None else time.monotonic() + left - margin


def seconds_of(text: str) -> float | None:
    """Return what Slurm's `1-02:03:04`, `02:03:04`, `03:04` or `UNLIMITED` means in seconds."""
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in parts) or (dash and not days.isdigit()):
        return None
    hours, minutes, seconds = (int(part) for part in (["0", "0", *parts])[-3:])
    return float(((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)


def ask(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Return what one of Slurm's programs prints; EnvironmentFailedError where it fails.

    Its environment is ours without what a job's options would change, if no other is given.
    """
    if environment is None:
        job_variables = set(inherited())
        environment = {name: text for name, text in os.environ.items() if name not in job_variables}
    try:
        completed = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
        )
    except OSError as error:
        raise EnvironmentFailedError(
            f"can't start Slurm's {command[0]}: {error.strerror}; is Slurm in PATH here?"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailedError(
            f"Slurm's {command[0]} gave no answer within {_SECONDS:g} s: is slurmctld up?"
        ) from error
    if completed.returncode != 0:
        message = " ".join(completed.stderr.split())[-300:] or f"status {completed.returncode}"
        raise EnvironmentFailedError(f"Slurm's {command[0]} failed: {message}")
    return completed.stdout


def _records(kind: str, names: str) -> list[dict[str, str]]:
    output = ask(["scontrol", "show", kind, names, "--oneliner"])
    return [dict(_FIELD.findall(line)) for line in output.splitlines() if line.strip()]
