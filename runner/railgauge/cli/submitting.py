"""`railgauge submit`: a plan or a run in a Slurm job, and in the next one, until it is done."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import yaml

from railgauge.base.errors import InputError, RailgaugeError
from railgauge.cli.options import allow_large, database, hosts, keep_going, margin, wait
from railgauge.cli.running import tell
from railgauge.plan.cases import expand
from railgauge.plan.load import LoadedPlan, load_plan, load_plan_text
from railgauge.plan.texts import NODES, hosts_override
from railgauge.run.job import Request
from railgauge.run.pipeline import execute
from railgauge.run.progress import observer_for
from railgauge.schedulers.slurm.allocation import ask
from railgauge.schedulers.slurm.batch import Batch
from railgauge.schedulers.slurm.batch import submit as submit_script
from railgauge.store import Store


@dataclass(frozen=True, slots=True)
class _Wish:
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
    options: tuple[str, ...]


@click.command()
@click.argument("plan", type=click.Path(path_type=Path), required=False)
@hosts
@click.option("--resume", "run", type=int, metavar="RUN", help="Go on with this run.")
@click.option("--nodes", type=click.IntRange(1), help="How many nodes.")
@click.option("--nodelist", help="Which nodes, as Slurm writes it: node[1-4],node9.")
@click.option("--time", help="The job's time limit, as Slurm writes it: 02:00:00.")
@click.option("--partition", help="Slurm's partition.")
@click.option("--account", help="Slurm's account.")
@click.option("--sbatch-option", "options", multiple=True, help="Another of sbatch's: --qos=high.")
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
def submit(where: str, out: Path | None, dry_run: bool, inside: bool, **asked: Any) -> int:
    """Run PLAN in a Slurm job; where its time is too short, go on in the next one, on its nodes.

    The plan is checked first. The job runs this very railgauge, on nodes that it shares with
    nobody. No next job follows one that could measure nothing.
    """
    if "://" not in where:
        where = str(Path(where).resolve())
    folder = Path.cwd() if "://" in where else Path(where).parent
    wish = _Wish(where=where, out=(out or folder).resolve(), **asked)
    if (wish.plan is None) == (wish.run is None):
        raise click.UsageError("name a plan, or a run by --resume RUN")
    if inside:
        return _work(wish)
    batch = _batch(wish)
    if dry_run:
        click.echo(batch.script(), nl=False)
    else:
        _submit(batch, where)
    return 0


def _work(wish: _Wish) -> int:
    """Run or go on, in a job; submit the next one if this one's time was too short."""
    with contextlib.ExitStack() as cleanup:
        request = Request(
            wish.where,
            observer_for(),
            cleanup,
            plan=wish.plan,
            hosts=wish.hosts,
            run=wish.run,
            allow_large=wish.allow_large,
            margin=wish.margin,
            wait=wish.wait,
            keep_going=wish.keep_going,
        )
        finished = execute(request)
        code = tell(request, finished)
    if not finished.out_of_time or finished.over_budget:
        return code
    if finished.asked == finished.missing:
        click.echo("nothing could be measured in this job's time: no next job is submitted")
        return code
    held = os.environ.get("SLURM_JOB_NODELIST") or wish.nodelist
    following = replace(wish, plan=None, hosts=None, run=finished.run, nodes=None, nodelist=held)
    try:
        _submit(_batch(following), wish.where)
    except RailgaugeError as error:
        error.add_note(f"Go on with: railgauge submit --resume {finished.run}")
        raise
    return code


def _submit(batch: Batch, where: str) -> None:
    """Write the script and submit it; a database's URL may hold a password and stays out of it."""
    script = batch.out / f"{batch.name}.slurm.sh"
    try:
        batch.out.mkdir(parents=True, exist_ok=True)
        script.write_text(batch.script())
    except OSError as error:
        raise InputError(
            f"can't write {script}: {error.strerror}; name another folder by --out"
        ) from error
    job = submit_script(script, {"RAILGAUGE_DB": where} if "://" in where else {})
    click.echo(f"submitted job {job}: {script}")


def _batch(wish: _Wish) -> Batch:
    """Return what to submit, after a look at the plan and at the nodes it needs."""
    loaded = _loaded(wish)
    expand(loaded, allow_large=wish.allow_large or wish.run is not None)
    hosts = [host for host in loaded.plan.hosts.values() if host.in_slurm]
    held = list(dict.fromkeys(host.node_name for host in hosts))
    nodes, nodelist = wish.nodes, wish.nodelist
    if loaded.nodes is not None and wish.run is None:
        if nodes is None and nodelist is None:
            raise InputError(
                "the plan measures the nodes of its allocation: say how many by --nodes, or which "
                "by --nodelist"
            )
    elif nodelist is None and held:
        nodes, nodelist = max(nodes or 0, len(held)), ",".join(held)
    name = loaded.plan.name if wish.run is None else f"run-{wish.run}"
    return Batch(
        name,
        _command(wish),
        Path.cwd(),
        wish.out,
        nodes,
        nodelist,
        wish.time,
        wish.partition,
        wish.account,
        wish.options,
    )


def _loaded(wish: _Wish) -> LoadedPlan:
    """Return the plan, with any names in place of the nodes that only the job will know."""
    if wish.plan is not None:
        if wish.nodelist is not None:
            names = ask(["scontrol", "show", "hostnames", wish.nodelist]).split()
        else:
            names = [f"node{number}" for number in range(1, (wish.nodes or 2) + 1)]
        unknown = {name: {"address": name, "transport": "slurm"} for name in names}
        return load_plan(wish.plan, yaml.safe_dump(unknown, sort_keys=False), wish.hosts)
    assert wish.run is not None
    with Store.open(wish.where, create=False) as store:
        began = store.run(wish.run).new
    name = f"plan of run {wish.run}"
    return load_plan_text(
        began.plan_text,
        name,
        Path(began.directory),
        began.files.get(NODES),
        hosts_override(began.files),
    )


def _command(wish: _Wish) -> list[str]:
    """Return the command line of the same wish in the job."""
    command = [sys.executable, "-m", "railgauge", "submit", "--inside"]
    if wish.plan is not None:
        command += [str(wish.plan.resolve())]
    if "://" not in wish.where:
        command += ["--db", wish.where]
    given = {
        "--hosts": None if wish.hosts is None else wish.hosts.resolve(),
        "--resume": wish.run,
        "--out": wish.out,
        "--margin": f"{wish.margin:g}s",
        "--wait": f"{wish.wait:g}s",
        "--nodes": wish.nodes,
        "--nodelist": wish.nodelist,
        "--time": wish.time,
        "--partition": wish.partition,
        "--account": wish.account,
    }
    command += [f"{option}={value}" for option, value in given.items() if value is not None]
    command += [f"--sbatch-option={option}" for option in wish.options]
    command += ["--allow-large"] * wish.allow_large
    return command + ["--keep-going"] * wish.keep_going
