"""`railgauge submit`: a plan or a run in a Slurm job, and in the next one, until it is done."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from railgauge.base.errors import InputError, RailgaugeError
from railgauge.cli.options import allow_large, database, hosts, keep_going, margin, wait
from railgauge.cli.running import print_outcome
from railgauge.plan.cases import expand
from railgauge.plan.load import LoadedPlan, load_plan, load_plan_text
from railgauge.plan.texts import allocated_nodes, hosts_override
from railgauge.run.job import Request
from railgauge.run.pipeline import execute
from railgauge.run.progress import observer_for
from railgauge.schedulers import preferred
from railgauge.schedulers.scheduler import Batch, Scheduler
from railgauge.store import Store


@dataclass(frozen=True, slots=True)
class _Choices:
    """What the command line says."""

    plan: Path | None
    hosts: Path | None
    run: int | None
    where: str
    margin: float
    allow_large: bool
    wait: float
    keep_going: bool
    out: Path
    nodes: int | None
    nodelist: str | None
    time: str | None
    partition: str | None
    account: str | None
    sbatch_options: tuple[str, ...]

    def node_names(self, scheduler: Scheduler) -> list[str]:
        """Return the job's nodes, with any names where only the job will know."""
        if self.nodelist is not None:
            return scheduler.node_names(self.nodelist)
        return [f"node{number}" for number in range(1, (self.nodes or 2) + 1)]


@click.command()
@click.argument("plan", type=click.Path(path_type=Path), required=False)
@hosts
@click.option("--resume", "run", type=int, metavar="RUN", help="Go on with this run.")
@click.option("--nodes", type=click.IntRange(1), help="How many nodes.")
@click.option("--nodelist", help="Which nodes, as Slurm writes it: node[1-4],node9.")
@click.option("--time", help="The job's time limit, as Slurm writes it: 02:00:00.")
@click.option("--partition", help="Slurm's partition.")
@click.option("--account", help="Slurm's account.")
@click.option(
    "--sbatch-option", "sbatch_options", multiple=True, help="Another of sbatch's: --qos=high."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the script and the job's output go.  [default: the database's folder]",
)
@click.option("--dry-run", is_flag=True, help="Print the script and submit nothing.")
@click.option("--inside", is_flag=True, hidden=True, help="We are in the job: run.")
@database
@margin
@allow_large
@wait
@keep_going
def submit(where: str, out: Path | None, dry_run: bool, inside: bool, **options: Any) -> int:
    """Run PLAN in a Slurm job; where its time is too short, go on in the next one, on its nodes.

    The plan is checked first. The job runs this very railgauge, on nodes that it shares with
    nobody. No next job follows one that could measure nothing.
    """
    if "://" not in where:
        where = str(Path(where).resolve())
    folder = Path.cwd() if "://" in where else Path(where).parent
    choices = _Choices(where=where, out=(out or folder).resolve(), **options)
    if (choices.plan is None) == (choices.run is None):
        raise click.UsageError("name a plan, or a run by --resume RUN")
    if inside:
        return _work(choices)
    scheduler, batch = _batch(choices)
    if dry_run:
        click.echo(scheduler.script(batch), nl=False)
    else:
        _submit(scheduler, batch, where)
    return 0


def _work(choices: _Choices) -> int:
    """Run or go on, in a job; submit the next one if this one's time was too short."""
    with contextlib.ExitStack() as cleanup:
        request = Request(
            choices.where,
            observer_for(),
            cleanup,
            plan=choices.plan,
            hosts=choices.hosts,
            run=choices.run,
            allow_large=choices.allow_large,
            margin=choices.margin,
            wait=choices.wait,
            keep_going=choices.keep_going,
        )
        finished = execute(request)
        code = print_outcome(request, finished)
    if not finished.out_of_time or finished.over_budget:
        return code
    if finished.planned == finished.missing:
        click.echo("nothing could be measured in this job's time: no next job is submitted")
        return code
    nodelist = preferred().current_nodelist() or choices.nodelist
    following = replace(
        choices, plan=None, hosts=None, run=finished.run, nodes=None, nodelist=nodelist
    )
    try:
        _submit(*_batch(following), choices.where)
    except RailgaugeError as error:
        error.add_note(f"Go on with: railgauge submit --resume {finished.run}")
        raise
    return code


def _submit(scheduler: Scheduler, batch: Batch, where: str) -> None:
    """Write the script and submit it; a database's URL may hold a password and stays out of it."""
    script = batch.out / f"{batch.name}.{scheduler.name}.sh"
    try:
        batch.out.mkdir(parents=True, exist_ok=True)
        script.write_text(scheduler.script(batch))
    except OSError as error:
        raise InputError(
            f"can't write {script}: {error.strerror}; name another folder by --out"
        ) from error
    job = scheduler.submit(script, {"RAILGAUGE_DB": where} if "://" in where else {})
    click.echo(f"submitted job {job}: {script}")


def _batch(choices: _Choices) -> tuple[Scheduler, Batch]:
    """Return what to submit and to whom, after a look at the plan and at the nodes it needs."""
    loaded = _loaded(choices)
    expand(loaded, allow_large=choices.allow_large or choices.run is not None)
    hosts = loaded.plan.hosts.values()
    scheduler = next((host.scheduler for host in hosts if host.scheduler), None) or preferred()
    inside = (host.node_name for host in hosts if host.scheduler is scheduler)
    plan_nodes = list(dict.fromkeys(inside))
    nodes, nodelist = choices.nodes, choices.nodelist
    if loaded.nodes is not None and choices.run is None:
        if nodes is None and nodelist is None:
            raise InputError(
                "the plan measures the nodes of its allocation: say how many by --nodes, or which "
                "by --nodelist"
            )
    elif nodelist is None and plan_nodes:
        nodes, nodelist = max(nodes or 0, len(plan_nodes)), ",".join(plan_nodes)
    name = loaded.plan.name if choices.run is None else f"run-{choices.run}"
    batch = Batch(
        name,
        _command(choices),
        Path.cwd(),
        choices.out,
        nodes,
        nodelist,
        choices.time,
        choices.partition,
        choices.account,
        choices.sbatch_options,
    )
    return scheduler, batch


def _loaded(choices: _Choices) -> LoadedPlan:
    """Return the plan, with any names in place of the nodes that only the job will know."""
    if choices.plan is not None:
        return load_plan(choices.plan, choices.node_names, choices.hosts)
    assert choices.run is not None
    with Store.open(choices.where, create=False) as store:
        new = store.run(choices.run).new
    name = f"plan of run {choices.run}"
    return load_plan_text(
        new.plan_text,
        name,
        Path(new.directory),
        allocated_nodes(new.files),
        hosts_override(new.files),
    )


def _command(choices: _Choices) -> list[str]:
    """Return the command line of the same submission in the job."""
    command = [sys.executable, "-m", "railgauge", "submit", "--inside"]
    if choices.plan is not None:
        command += [str(choices.plan.resolve())]
    if "://" not in choices.where:
        command += ["--db", choices.where]
    values = {
        "--hosts": None if choices.hosts is None else choices.hosts.resolve(),
        "--resume": choices.run,
        "--out": choices.out,
        "--margin": f"{choices.margin:g}s",
        "--wait": f"{choices.wait:g}s",
        "--nodes": choices.nodes,
        "--nodelist": choices.nodelist,
        "--time": choices.time,
        "--partition": choices.partition,
        "--account": choices.account,
    }
    command += [f"{option}={value}" for option, value in values.items() if value is not None]
    command += [f"--sbatch-option={option}" for option in choices.sbatch_options]
    command += ["--allow-large"] * choices.allow_large
    return command + ["--keep-going"] * choices.keep_going
