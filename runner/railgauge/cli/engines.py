"""`railgauge engines`: what can be measured, with which parameters and metrics."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from railgauge.catalogue import EngineInfo, load_catalogue
from railgauge.cli.options import as_json
from railgauge.errors import InputError
from railgauge.validation import suggest


@click.command()
@click.argument("name", required=False)
@as_json
def engines(name: str | None, as_json: bool) -> None:
    """List the engines, or the parameters and metrics of the engine NAME."""
    known = load_catalogue().engines
    if name is not None and name not in known:
        raise InputError(
            f"no engine {name!r}{suggest(name, known)}; there are {', '.join(sorted(known))}"
        )
    chosen = list(known.values()) if name is None else [known[name]]
    if as_json:
        click.echo(json.dumps([asdict(engine) for engine in chosen], indent=2))
    elif name is None:
        for engine in chosen:
            click.echo(f"{engine.name:<10} {engine.summary}")
    else:
        _describe(chosen[0])


def _describe(engine: EngineInfo) -> None:
    click.echo(f"{engine.name} {engine.version}: {engine.summary}\n\nparameters")
    for parameter in engine.parameters.values():
        if parameter.default is None:
            default = "required"
        else:
            default = f"default {parameter.format(parameter.default) or '(empty)'}"
        choices = f", one of {', '.join(parameter.choices)}" if parameter.choices else ""
        click.echo(f"  {parameter.name} ({parameter.type}, {default}{choices}): {parameter.help}")
    click.echo("\nmetrics")
    for metric in engine.metrics.values():
        better = "" if metric.better == "neither" else f", {metric.better} is better"
        click.echo(f"  {metric.name} ({metric.unit}{better}): {metric.help}")
