"""A plan or a run in a scheduler's job, and in the next one, until it is done."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from railgauge.base.atomicfile import write_atomic
from railgauge.base.errors import InputError, RailgaugeError
from railgauge.base.real_path import real_path
from railgauge.plan.cases import expand
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.texts import load_stored
from railgauge.run.job import Finished, Request
from railgauge.schedulers import preferred
from railgauge.schedulers.scheduler import Batch, Scheduler
from railgauge.store.database_url import connect as connect_database


@dataclass(frozen=True, slots=True)
class Submission:
    """What is requested of railgauge in a job, and of the scheduler for it.

    `sbatch_options` are more of sbatch's, whole; the script and the job's output go into `out`.
    """

    request: Request
    out: Path
    nodes: int | None
    nodelist: str | None
    time: str | None
    partition: str | None
    account: str | None
    sbatch_options: tuple[str, ...]

    def script(self) -> str:
        """Return the batch script."""
        scheduler, batch = self._batch()
        return scheduler.script(batch)

    def submit(self) -> str:
        """Write the script and submit it; return what to say of that.

        A database's URL may hold a password and stays out of the script.
        """
        (scheduler, batch), where = self._batch(), self.request.where
        script = batch.out / f"{batch.name}.{scheduler.name}.sh"
        try:
            batch.out.mkdir(parents=True, exist_ok=True)
            # A wrong --db is reported before the job waits for its turn.
            connect_database(where, create=True)[0].dispose()
            write_atomic(script, scheduler.script(batch).encode())
        except OSError as error:
            raise InputError(
                f"can't write {script}: {error.strerror}; name another folder by --out"
            ) from error
        job = scheduler.submit(script, {"RAILGAUGE_DB": where} if "://" in where else {})
        return f"submitted job {job}: {script}"

    def go_on(self, finished: Finished) -> str:
        """Submit the next job if this one's time was too short; return what to say, "" if not."""
        if not finished.out_of_time or finished.over_budget:
            return ""
        if finished.planned == finished.missing:
            return "nothing could be measured in this job's time: no next job is submitted"
        nodelist = preferred().current_nodelist() or self.nodelist
        try:
            with replace(self.request, plan=None, hosts=None, run=finished.run) as request:
                return replace(self, request=request, nodes=None, nodelist=nodelist).submit()
        except RailgaugeError as error:
            command = self.request.store.command(f"submit --resume {finished.run}")
            error.add_note(f"Go on with: {command}")
            raise

    def _batch(self) -> tuple[Scheduler, Batch]:
        """Return what to submit and to whom, after a look at the plan and the nodes it needs."""
        loaded, run = self._load(), self.request.run
        expand(loaded, allow_large=self.request.allow_large or run is not None)
        hosts = loaded.plan.hosts.values()
        scheduler = next((host.scheduler for host in hosts if host.scheduler), None) or preferred()
        inside = (host.node_name for host in hosts if host.scheduler is scheduler)
        plan_nodes = list(dict.fromkeys(inside))
        nodes, nodelist = self.nodes, self.nodelist
        if loaded.nodes is not None and run is None:
            if nodes is None and nodelist is None:
                raise InputError(
                    "the plan measures the nodes of its allocation: say how many by --nodes, or "
                    "which by --nodelist"
                )
        elif nodelist is None and plan_nodes:
            nodes, nodelist = max(nodes or 0, len(plan_nodes)), ",".join(plan_nodes)
        batch = Batch(
            loaded.plan.name if run is None else f"run-{run}",
            self._command(),
            Path.cwd(),
            self.out,
            nodes,
            nodelist,
            self.time,
            self.partition,
            self.account,
            self.sbatch_options,
        )
        return scheduler, batch

    def _load(self) -> LoadedPlan:
        """Return the plan, with any names in place of the nodes that only the job will know."""
        request = self.request
        if request.plan is not None:
            return load_plan(request.plan, self._node_names, request.hosts)
        assert request.run is not None
        new = request.stored_run.new
        return load_stored(request.run, new.plan_text, new.directory, new.files)

    def _node_names(self, scheduler: Scheduler) -> list[str]:
        """Return the job's nodes, with any names where only the job will know."""
        if self.nodelist is not None:
            return scheduler.node_names(self.nodelist)
        return [f"node{number}" for number in range(1, (self.nodes or 2) + 1)]

    def _command(self) -> list[str]:
        """Return the command line of the same submission in the job."""
        request = self.request
        command = [sys.executable, "-m", "railgauge", "submit", "--inside"]
        if request.plan is not None:
            command += [str(real_path(request.plan))]
            command += [f"--hosts={real_path(request.hosts)}"] if request.hosts else []
            command += [f"--label={key}={value}" for key, value in request.labels.items()]
        if "://" not in request.where:
            command += ["--db", request.where]
        values = {
            "--resume": request.run,
            "--out": self.out,
            "--margin": f"{request.margin:g}s",
            "--wait": f"{request.wait:g}s",
            "--nodes": self.nodes,
            "--nodelist": self.nodelist,
            "--time": self.time,
            "--partition": self.partition,
            "--account": self.account,
        }
        command += [f"{option}={value}" for option, value in values.items() if value is not None]
        command += [f"--sbatch-option={option}" for option in self.sbatch_options]
        command += ["--allow-large"] * request.allow_large
        return command + ["--keep-going"] * request.keep_going
