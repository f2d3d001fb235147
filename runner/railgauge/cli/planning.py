"""`railgauge check`: what a plan would do, or everything that is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from railgauge.cases import expand
from railgauge.cli.options import allow_large, as_json, hosts
from railgauge.plan.load import load_plan
from railgauge.schedule import estimate, schedule


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@hosts
@allow_large
@as_json
def check(plan: Path, hosts: Path | None, allow_large: bool, as_json: bool) -> None:
    """Validate PLAN and say what it would run and how long that takes.

    Every mistake is told at once, as file:line:column: what is wrong and what to write instead.
    Nothing is started on any host.
    """
    loaded = load_plan(plan, hosts=hosts)
    tests = expand(loaded, allow_large=allow_large)
    machines = {name: host.machine for name, host in loaded.plan.hosts.items()}
    rounds = schedule(
        tests,
        machines=machines,
        concurrency=loaded.plan.concurrency,
        seed=loaded.plan.seed or 0,
    )
    guess = estimate(rounds, loaded.catalogue)
    cases = sum(len(each.cases) for each in tests)
    replications = sum(len(each.cases) * each.test.replications for each in tests)
    if as_json:
        answer = {
            "plan": loaded.plan.name,
            "tests": [
                {
                    "name": each.test.name,
                    "engine": each.test.engine,
                    "cases": len(each.cases),
                    "replications": each.test.replications,
                    "order": each.test.order,
                }
                for each in tests
            ],
            "cases": cases,
            "replications": replications,
            "rounds": len(rounds),
            "seconds": guess.seconds,
            "unknown_launches": guess.unknown,
        }
        click.echo(json.dumps(answer, indent=2))
        return
    click.echo(f"{loaded.plan.name}: valid")
    for each in tests:
        click.echo(
            f"  {each.test.name} ({each.test.engine}): {len(each.cases)} cases "
            f"× {each.test.replications} replications, {each.test.order}"
        )
    click.echo(f"{cases} cases, {replications} replications, {len(rounds)} rounds")
    click.echo(f"about {_span(guess.seconds)}{_beside(guess.unknown)}")


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _beside(unknown: int) -> str:
    return f", beside {unknown} launches whose length only the measurement tells" if unknown else ""
