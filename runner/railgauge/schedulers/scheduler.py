"""The one interface to a batch scheduler, and what `railgauge submit` asks of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

# Before a job's time is over: for the last results, and for submitting the next job.
MARGIN = 60.0


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the allocation: the scheduler's name of it and the address it reaches it by."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Batch:
    """What is asked for a job that runs `command` in the folder `directory`.

    `nodelist`, `time` and `options` (whole ones, `--qos=high`) are as the scheduler writes them;
    what the job prints goes into `out`.
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


class Scheduler(Protocol):
    """A batch scheduler whose allocations are measured, asked through its own programs.

    A program that is missing, fails or says nothing of use is an EnvironmentFailedError.
    """

    name: str
    """What plans call it: `transport: NAME` and `hosts: {NAME: all}`."""

    title: str
    """What messages call it."""

    outside: str
    """That this is in none of its allocations, and how to get one."""

    starter: str
    """The program by which `start` starts others."""

    node_status: str
    """The command that shows why nothing starts on a node."""

    job_ended: re.Pattern[str]
    """What `starter` writes where the job itself has ended, and not one of its nodes."""

    launcher: str | None
    """The program that starts MPI's ranks on its nodes, by `ranks`; None where mpirun does."""

    def current_job(self) -> str | None:
        """Return the id of the job we run in, None outside of any."""

    def nodes(self, job: str) -> tuple[Node, ...]:
        """Return the nodes of `job` in the scheduler's order, at least one."""

    def node_names(self, nodelist: str) -> list[str]:
        """Return the nodes in what `--nodelist` takes: at least names with commas in between."""

    def current_nodelist(self) -> str | None:
        """Return the nodes of the job we run in as `--nodelist` takes them, None outside of any."""

    def seconds_left(self, job: str) -> float | None:
        """Return the time in s until `job` is ended, None without a limit."""

    def script(self, batch: Batch) -> str:
        """Return the batch script; InputError for options that can't be.

        Nobody else measures on the job's nodes meanwhile; a node that dies does not end it; and
        it is never started a second time, which would begin a second run.
        """

    def submit(self, script: Path, variables: Mapping[str, str]) -> str:
        """Submit `script` with `variables` added to our environment; return the job's id."""

    def start(self, job: str, node: str, step: str) -> list[str]:
        """Return what stands before a program's arguments to start it on `node` within `job`.

        Standard input with its end, output lines and the status pass through at once. `step` is
        the name that `cancel` knows it by.
        """

    def cancel(self, job: str, step: str) -> bool:
        """End all that was started as `step`, on its node too; return whether there was any.

        False where ending what `start` gave does so.
        """

    def broadcast(self, job: str, file: Path, path: str) -> bool:
        """Put `file` at `path` on all nodes of `job`, from node to node; False if that isn't there.

        A file that is there at `path` already is a failure.
        """

    def ranks(self, nodes: Sequence[str]) -> list[str]:
        """Return what stands before an MPI program to start a rank on each node, in their order.

        It is run in a step on the first one; a node may be there more than once.
        """
