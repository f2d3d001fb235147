"""`railgauge engines`: what can be measured, with which parameters and metrics."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict

import click

from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest
from railgauge.cli.argument_types import complete_engines
from railgauge.cli.options import as_json
from railgauge.plan.catalogue import EngineInfo, ParameterInfo, load_catalogue


@click.command()
@click.argument("name", required=False, shell_complete=complete_engines)
@as_json
def engines(name: str | None, as_json: bool) -> None:
    """List the engines, or the parameters and metrics of the engine NAME."""
    available = load_catalogue().engines
    if name is not None and name not in available:
        raise InputError(
            f"no engine {name!r}{suggest(name, available)}; "
            f"there are {', '.join(sorted(available))}"
        )
    chosen = list(available.values()) if name is None else [available[name]]
    if as_json:
        click.echo(json.dumps([asdict(engine) for engine in chosen], indent=2))
    elif name is None:
        width = max(len(engine.name) for engine in chosen)
        for engine in chosen:
            click.echo(f"{engine.name:<{width}} {engine.summary}{_runs(engine)}")
    else:
        click.echo("\n".join(describe(chosen[0])))


def describe(engine: EngineInfo) -> Iterator[str]:
    """Yield lines on what an engine takes, what it reports, and what its modes need."""
    yield f"{engine.name} {engine.version}: {engine.summary}"
    yield from _about_program(engine)
    yield "\nparameters"
    for parameter in engine.parameters.values():
        yield f"  {parameter.name} ({_about(parameter)}): {parameter.help}"
    yield "\nmetrics"
    for metric in engine.metrics.values():
        better = "" if metric.better == "neither" else f", {metric.better} is better"
        optional = ", where it can be measured" if metric.optional else ""
        source = f" [{metric.source}]" if metric.source else ""
        yield f"  {metric.name} ({metric.unit}{better}{optional}): {metric.help}{source}"
    if engine.series or engine.solo_modes or engine.group_modes:
        yield "\nmodes"
    for series in engine.series:
        info = engine.parameters[series.parameter]
        first, second = info.format(series.first), info.format(2 * series.first)
        yield (
            f"  {series.mode}: in a plan, cases of mode {series.becomes} whose {series.parameter} "
            f"is {first}, {second} … up to what is set for it"
        )
    for mode in engine.solo_modes:
        yield f"  {mode}: needs no server; the link's other host is only the target"
    for mode in engine.group_modes:
        pairs = ", a case for each ordered pair of hosts" if mode in engine.pair_modes else ""
        yield f"  {mode}: on groups of hosts{pairs}"


def _runs(engine: EngineInfo) -> str:
    """Return which program it needs on a host, if it is somebody else's."""
    needs = engine.program.needs if engine.program else ()
    return f" (needs {', '.join(needs)})" if needs else ""


def _about_program(engine: EngineInfo) -> Iterator[str]:
    """Yield how somebody else's program is run."""
    program = engine.program
    if program is None:
        return
    yield "\nprogram"
    yield f"  measures {engine.measures(None)}{', as an MPI job' if program.mpi else ''}"
    if program.needs:
        yield f"  needs {', '.join(program.needs)}: without, its cases are skipped"
    if program.requires:
        yield f"  requires that this succeeds: {shlex.join(program.requires)}"
    for role, items in (("server", program.server), ("command", program.command)):
        if items:
            words = (item if isinstance(item, str) else f"[{shlex.join(item)}]" for item in items)
            yield f"  {role}: {' '.join(words)}"
    if program.files or program.output:
        read = f", reads {program.output}" if program.output else ""
        yield f"  in a working folder: writes {', '.join(program.files) or 'nothing'}{read}"


def _about(parameter: ParameterInfo) -> str:
    """Return a parameter's type, default, choices and where it has to be set."""
    words = [parameter.type]
    if parameter.default is None:
        words.append("required")
    else:
        words.append(f"default {parameter.format(parameter.default) or '(empty)'}")
    if parameter.choices:
        words.append(f"one of {', '.join(parameter.choices)}")
    if parameter.modes:
        words.append(f"in mode {', '.join(parameter.modes)}")
    if parameter.required_in:
        words.append(f"required in mode {', '.join(parameter.required_in)}")
    return ", ".join(words)
