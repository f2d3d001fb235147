"""The batch script that runs railgauge in a Slurm job, and its submission."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.schedulers.slurm.allocation import ask, inherited


@dataclass(frozen=True, slots=True)
class Batch:
    """What is asked of Slurm for a job that runs `command` in the folder `directory`.

    `options` are more of sbatch's, whole (`--qos=high`); what the job prints goes into `out`.
    """

    name: str
    command: Sequence[str]
    directory: Path
    out: Path
    nodes: int | None = None
    nodelist: str | None = None
    time: str | None = None
    partition: str | None = None
    account: str | None = None
    options: Sequence[str] = ()

    def script(self) -> str:
        """Return the batch script.

        Nobody else measures on the job's nodes meanwhile; a node that dies does not end it; and
        Slurm never starts it a second time, which would begin a second run.
        """
        wishes = {
            "job-name": f"railgauge-{self.name}",
            "nodes": None if self.nodes is None else str(self.nodes),
            "nodelist": self.nodelist,
            "time": self.time,
            "partition": self.partition,
            "account": self.account,
            "chdir": str(self.directory),
            "output": f"{str(self.out).replace('%', '%%')}/railgauge-%j.out",
        }
        options = [f"--{name}={value}" for name, value in wishes.items() if value is not None]
        options += ["--exclusive", "--no-kill", "--no-requeue", *self.options]
        lines = [f"#SBATCH {_quoted(option)}" for option in options]
        return "\n".join(["#!/bin/sh", *lines, f"exec {shlex.join(self.command)}", ""])


def submit(script: Path, variables: Mapping[str, str]) -> str:
    """Submit `script` with `variables` added to our environment; return the job's id."""
    job_variables = set(inherited())
    environment = {
        name: text
        for name, text in os.environ.items()
        if name not in job_variables or name.startswith("SBATCH_")
    }
    answer = ask(["sbatch", "--parsable", str(script)], {**environment, **variables})
    job = answer.strip().partition(";")[0]
    if not job.isdigit():
        raise EnvironmentFailedError(f"sbatch told no job's id but {answer.strip()[:100]!r}")
    return job


def _quoted(option: str) -> str:
    """Return an option as sbatch reads it from a script."""
    if not option.startswith("-") or not option.isprintable():
        raise InputError(f"{option[:80]!r} is no option of sbatch's: write for example --qos=high")
    return shlex.quote(option)
