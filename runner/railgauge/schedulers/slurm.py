"""Slurm: its job steps, its batch scripts, and the allocation that this process runs in.

Slurm's own programs are asked. Their clients' variables say which job it is; SLURM_CONF and a
token, where a site needs them, are left as they are.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.base.stop_signals import run_interruptibly
from railgauge.schedulers.scheduler import Batch, Node

_SECONDS = 60.0
# What shows Slurm's clients where their Slurm is and who we are.
_SITE_VARIABLES = {"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_CLUSTERS"}
_FIELD = re.compile(r"(\w+)=(\S*)")

# $1 the nodes, a rank each, $2 how many; then the program. Only from a file, and if its name has a
# slash, does srun take them in their order. What Slurm gave the step that this runs in would be
# taken for what is asked of this one; but both have one name, by which the transport ends them.
# By its tree of nodes Slurm 22.05 now and then lets ranks leave MPI_Init that others are still in,
# and these crash (on a busy machine 6 of 1,017 launches, by its ring none of 2,000).
_RANKS = """
nodes=$(mktemp "${TMPDIR:-/tmp}/railgauge-nodes.XXXXXX") || exit 1
trap 'rm -f "$nodes"' EXIT
trap 'exit 143' TERM
printf "%s\\n" "$1" | tr , "\\n" >"$nodes" || exit 1
ranks=$2; shift 2
job=$SLURM_JOB_ID called=${SLURM_JOB_NAME:-rail-mpi}
for name in $(env | sed -n "s/^\\(SLURM_[A-Z0-9_]*\\)=.*/\\1/p"); do
    [ "$name" = SLURM_CONF ] || unset "$name"
done
export SLURM_PMIX_FENCE=ring
srun --jobid="$job" --overlap --mem=0 --overcommit --quiet --mpi=pmix --cpu-bind=none \\
    --job-name="$called" --kill-on-bad-exit=1 --ntasks="$ranks" --distribution=arbitrary \\
    --nodelist="$nodes" "$@"
"""


class Slurm:
    """See `Scheduler`."""

    name = "slurm"
    title = "Slurm"
    outside = (
        "this is not inside a Slurm allocation: start it by `railgauge submit PLAN`, or get one "
        "first, as with `salloc --nodes=2 --exclusive`"
    )
    starter = "srun"
    launcher: str | None = "srun"
    node_status = "scontrol show node"
    # A step that its node's failure ends is CANCELLED as well, but then that reason stands there.
    job_ended = re.compile(
        r"Slurm job \d+ has expired|Expired or invalid job|Invalid job id specified"
        "|Job/step already completing or completed|Job credential revoked|Force Terminated Job"
        r"|CANCELLED AT \S+ (?:DUE TO (?:TIME LIMIT|PREEMPTION) )?\*\*\*"
    )

    def current_job(self) -> str | None:
        """See `Scheduler.current_job`."""
        return os.environ.get("SLURM_JOB_ID") or None

    def nodes(self, job: str) -> tuple[Node, ...]:
        """See `Scheduler.nodes`."""
        # Of a job array or a heterogeneous job its other jobs may be listed, too.
        record = next((record for record in _records("job", job) if record.get("JobId") == job), {})
        names = self.node_names(record.get("NodeList", ""))
        if not names:
            raise EnvironmentFailedError(
                f"Slurm lists no nodes of job {job}: see `scontrol show job`"
            )
        addresses = {
            record["NodeName"]: record.get("NodeAddr", record["NodeName"])
            for record in _records("node", ",".join(names))
        }
        return tuple(Node(name, addresses.get(name, name)) for name in names)

    def node_names(self, nodelist: str) -> list[str]:
        """See `Scheduler.node_names`."""
        return _ask(["scontrol", "show", "hostnames", nodelist]).split()

    def current_nodelist(self) -> str | None:
        """See `Scheduler.current_nodelist`."""
        return os.environ.get("SLURM_JOB_NODELIST") or None

    def seconds_left(self, job: str) -> float | None:
        """See `Scheduler.seconds_left`."""
        end_time = os.environ.get("SLURM_JOB_END_TIME", "")
        if end_time.isdigit():
            return float(end_time) - time.time()
        return seconds_of(_ask(["squeue", "-h", "-j", job, "-o", "%L"]).strip())

    def script(self, batch: Batch) -> str:
        """See `Scheduler.script`."""
        wishes = {
            "job-name": f"railgauge-{batch.name}",
            "nodes": None if batch.nodes is None else str(batch.nodes),
            "nodelist": batch.nodelist,
            "time": batch.time,
            "partition": batch.partition,
            "account": batch.account,
            "chdir": str(batch.directory),
            "output": f"{str(batch.out).replace('%', '%%')}/railgauge-%j.out",
        }
        options = [f"--{name}={value}" for name, value in wishes.items() if value is not None]
        options += ["--exclusive", "--no-kill", "--no-requeue", *batch.options]
        lines = [f"#SBATCH {_quoted(option)}" for option in options]
        return "\n".join(["#!/bin/sh", *lines, f"exec {shlex.join(batch.command)}", ""])

    def submit(self, script: Path, variables: Mapping[str, str]) -> str:
        """See `Scheduler.submit`."""
        job_variables = set(inherited())
        environment = {
            name: text
            for name, text in os.environ.items()
            if name not in job_variables or name.startswith("SBATCH_")
        }
        answer = _ask(["sbatch", "--parsable", str(script)], {**environment, **variables})
        job = answer.strip().partition(";")[0]
        if not job.isdigit():
            raise EnvironmentFailedError(f"sbatch printed no job's id but {answer.strip()[:100]!r}")
        return job

    def start(self, job: str, node: str, step: str) -> list[str]:
        """See `Scheduler.start`: beside other steps, unbound.

        Without the variables by which a job's options would change what srun does.
        """
        forgotten = [part for name in inherited() for part in ("-u", name)]
        options = ["--overlap", "--overcommit", "--mem=0", "--cpu-bind=none", "--chdir=/"]
        options += ["--quiet", f"--job-name={step}", f"--nodelist={node}", "--nodes=1"]
        options += ["--ntasks=1", "--mpi=none"]
        return ["env", *forgotten, "srun", f"--jobid={job}", *options]

    def cancel(self, job: str, step: str) -> bool:
        """See `Scheduler.cancel`: Slurm kills all of a step, also what left its process group."""
        lines = _ask(["squeue", "-h", "-s", "-j", job, "-o", "%i %j"]).splitlines()
        pairs = [line.partition(" ") for line in lines]
        # Our own step, and one that it started for MPI.
        steps = [number for number, _, name in pairs if name == step]
        if steps:
            _ask(["scancel", *steps])
        return bool(steps)

    def broadcast(self, job: str, file: Path, path: str) -> bool:
        """See `Scheduler.broadcast`: by sbcast."""
        _ask(["sbcast", f"--jobid={job}", str(file), path])
        return True

    def ranks(self, nodes: Sequence[str]) -> list[str]:
        """See `Scheduler.ranks`."""
        return ["sh", "-c", _RANKS, "railgauge", ",".join(nodes), str(len(nodes))]


def inherited(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the variables by which a job, or a user, changes what srun and sbatch do."""
    return sorted(
        name
        for name in environment
        if name.startswith(("SLURM_", "SRUN_", "SBATCH_")) and name not in _SITE_VARIABLES
    )


def seconds_of(text: str) -> float | None:
    """Return what Slurm's `1-02:03:04`, `02:03:04`, `03:04` or `UNLIMITED` means in seconds."""
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in parts) or (dash and not days.isdigit()):
        return None
    hours, minutes, seconds = (int(part) for part in (["0", "0", *parts])[-3:])
    return float(((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)


def _ask(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Return what one of Slurm's programs prints; EnvironmentFailedError where it fails.

    Its environment is ours without what a job's options would change, if no other is given.
    """
    if environment is None:
        job_variables = set(inherited())
        environment = {name: text for name, text in os.environ.items() if name not in job_variables}
    try:
        completed = run_interruptibly(command, environment, _SECONDS)
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
    output = _ask(["scontrol", "show", kind, names, "--oneliner"])
    return [dict(_FIELD.findall(line)) for line in output.splitlines() if line.strip()]


def _quoted(option: str) -> str:
    """Return an option as sbatch reads it from a script."""
    if not option.startswith("-") or not option.isprintable():
        raise InputError(f"{option[:80]!r} is no option of sbatch's: write for example --qos=high")
    return shlex.quote(option)
