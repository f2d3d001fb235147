"""OpenPBS as railgauge's second scheduler: what somebody who has one would add to `schedulers/`.

As a program it is railgauge with that scheduler in the registry.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError
from railgauge.schedulers import SCHEDULERS
from railgauge.schedulers.scheduler import Batch, Node


class Pbs:
    """See `Scheduler`."""

    name = "pbs"
    title = "PBS"
    outside = "this is not inside a PBS job: get one first, as with `qsub -I -l select=2`"
    starter = "pbs_tmrsh"
    node_status = "pbsnodes -a"
    job_ended = re.compile("Unknown Job Id")
    launcher: str | None = None

    def current_job(self) -> str | None:
        return os.environ.get("PBS_JOBID") or None

    def nodes(self, job: str) -> tuple[Node, ...]:
        names = dict.fromkeys(Path(os.environ["PBS_NODEFILE"]).read_text().split())
        addresses = {name: re.search(r"Mom = (\S+)", _ask("pbsnodes", name)) for name in names}
        return tuple(Node(name, match[1] if match else name) for name, match in addresses.items())

    def node_names(self, nodelist: str) -> list[str]:
        return [name for name in nodelist.split(",") if name]

    def current_nodelist(self) -> str | None:
        job = self.current_job()
        return None if job is None else ",".join(node.name for node in self.nodes(job))

    def seconds_left(self, job: str) -> float | None:
        status = _ask("qstat", "-f", job)
        limit = _walltime("Resource_List", status)
        return None if limit is None else limit - (_walltime("resources_used", status) or 0.0)

    def script(self, batch: Batch) -> str:
        chunks = [f"1:host={name}" for name in self.node_names(batch.nodelist or "")]
        wishes = {
            "-N": f"railgauge-{batch.name}",
            "-l select=": "+".join(chunks) or batch.nodes,
            "-l walltime=": batch.time,
            "-q": batch.partition,
            "-A": batch.account,
            "-o": batch.out,
        }
        options = [
            f"{option}{'' if option.endswith('=') else ' '}{value}"
            for option, value in wishes.items()
            if value is not None
        ]
        options += ["-j oe", "-l place=scatter:excl", "-W tolerate_node_failures=all", "-r n"]
        lines = [f"#PBS {option}" for option in [*options, *batch.options]]
        command = [
            f"cd {shlex.quote(str(batch.directory))} && exec {shlex.join(batch.command)}",
            "",
        ]
        return "\n".join(["#!/bin/sh", *lines, *command])

    def submit(self, script: Path, variables: Mapping[str, str]) -> str:
        named = ["-v", ",".join(variables)] if variables else []
        return _ask("qsub", *named, str(script), variables=variables).strip()

    def start(self, job: str, node: str, step: str) -> list[str]:
        return ["pbs_tmrsh", node]

    def cancel(self, job: str, step: str) -> bool:
        return False

    def broadcast(self, job: str, file: Path, path: str) -> bool:
        return False

    def ranks(self, nodes: Sequence[str]) -> list[str]:
        raise AssertionError("PBS leaves the ranks to mpirun")


def _ask(*command: str, variables: Mapping[str, str] | None = None) -> str:
    try:
        return subprocess.run(
            command,
            env={**os.environ, **(variables or {})},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise EnvironmentFailedError(f"PBS's {command[0]} failed: {error}") from error


def _walltime(kind: str, status: str) -> float | None:
    match = re.search(rf"{kind}\.walltime = (\d+):(\d+):(\d+)", status)
    return None if match is None else sum(60**n * int(match[3 - n]) for n in range(3))


SCHEDULERS["pbs"] = Pbs()

if __name__ == "__main__":
    from railgauge.cli import main

    main()
