"""`railgauge init`, `plans` and `reports`: what to begin with."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from railgauge.base.assets import shipped
from railgauge.base.errors import EnvironmentFailedError, FileProblems, InputError
from railgauge.base.number import plural
from railgauge.cli.argument_types import ShippedFile
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, refuse_given
from railgauge.cli.planning import span
from railgauge.plan.cases import expand
from railgauge.plan.catalogue import Catalogue
from railgauge.plan.load import LoadedPlan, load_plan
from railgauge.plan.starting_plans import HOSTS, KINDS, PLAN, starting_files
from railgauge.plan.yamlfile import load
from railgauge.run.amount import amounts

_FOLDER = click.Path(path_type=Path, file_okay=False)
_COPY_HELP = "Copy this one, to go on editing it."
_copy_to = click.option(
    "--out", type=_FOLDER, metavar="DIR", help="Where the copy goes.  [default: plans or reports]"
)


@click.command()
@click.argument("kind", metavar="[KIND]", type=click.Choice(list(KINDS)), required=False)
@click.option("--hosts", metavar="HOSTLIST", help="The hosts, as n[1-4] or gw1,gw2.")
@click.option(
    "--addresses",
    default="",
    metavar="HOSTLIST",
    help="Their addresses for test traffic, as 10.1.0.[1-4].  [default: their names]",
)
@click.option(
    "--ssh",
    default="",
    metavar="HOSTLIST",
    help="Their ssh destinations, as me@n[1-4].  [default: their names]",
)
@click.option("--out", type=_FOLDER, default=Path(), help="The folder for the two files.")
def init(kind: str | None, hosts: str | None, addresses: str, ssh: str, out: Path) -> None:
    """Write a first plan and hosts file; ask for what isn't given.

    KIND: pairs (each host to the next), all-pairs, or machine (each host alone). No file is
    overwritten.
    """
    if kind is None:
        for name, (description, *_) in KINDS.items():
            click.echo(f"{name:10} {description}")
        kind = _ask("What to measure", type=click.Choice(list(KINDS)))
    if hosts is None:
        alone = kind == "machine"
        question = "Hosts, as n[1-4]" + (" (none: this machine)" if alone else "")
        hosts = _ask(question, default="" if alone else None, show_default=False)
    files = starting_files(kind, hosts.strip(), addresses, ssh)
    with _written({out / name: text.encode() for name, text in files.items()}):
        try:
            load_plan(out / PLAN)
        except FileProblems as error:
            # Nobody can look up a place in a file that is gone.
            raise InputError("; ".join(problem.message for problem in error.problems)) from error
    for name in files:
        click.echo(out / name)
    click.echo(
        f"next: railgauge doctor {out / HOSTS}; railgauge check {out / PLAN}; "
        f"railgauge run {out / PLAN}"
    )


def _ask(question: str, **options: Any) -> str:
    try:
        return str(click.prompt(question, **options))
    except click.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise
        raise click.UsageError("nobody answers: name the KIND, and hosts by --hosts") from error


@click.command("plans")
@click.option("--copy", "file", type=ShippedFile("plans"), metavar="NAME", help=_COPY_HELP)
@_copy_to
@as_json
def list_plans(file: Path | None, out: Path | None, as_json: bool) -> None:
    """List the plans that ship: what each measures, how long that takes, what it needs."""
    _refuse_without_effect(file)
    if file is not None:
        _copy_plan(file, out or Path("plans"))
        return
    described = [_plan_line(key, load_plan(file)) for key, file in shipped("plans").items()]
    _print(described, as_json)


@click.command("reports")
@click.option("--copy", "file", type=ShippedFile("reports"), metavar="NAME", help=_COPY_HELP)
@_copy_to
@as_json
def list_reports(file: Path | None, out: Path | None, as_json: bool) -> None:
    """List the reports that ship, for `railgauge report --spec NAME`."""
    _refuse_without_effect(file)
    if file is not None:
        _copy_files({(out or Path("reports")) / file.name: file})
        return
    described = [
        {"name": key, "shows": load(file).data["title"]} for key, file in shipped("reports").items()
    ]
    _print(described, as_json)


def _refuse_without_effect(file: Path | None) -> None:
    if file is None:
        refuse_given("out", reason="is for --copy: name what to copy")
    else:
        refuse_given("as_json", reason="is for the list: leave --copy out")


def _plan_line(name: str, loaded: LoadedPlan) -> dict[str, str | float | list[str]]:
    least, _ = amounts(loaded, expand(loaded))
    return {
        "name": name,
        "measures": loaded.plan.description,
        "seconds": least.seconds,
        "needs": list(dict.fromkeys(_needs(loaded, loaded.catalogue))),
    }


def _needs(loaded: LoadedPlan, catalogue: Catalogue) -> Iterator[str]:
    hosts = loaded.plan.hosts.values()
    if any(host.transport_name != "local" for host in hosts):
        yield plural(len(hosts), "host")
    for test in loaded.plan.tests:
        engine = catalogue.engines[test.engine]
        if engine.parallel:
            yield "MPI"
        if engine.program:
            # A program that a case names is known by its engine.
            yield from (engine.name if "{" in name else name for name in engine.program.needs)


def _print(described: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        click.echo(json_text(described))
        return
    width = max(len(entry["name"]) for entry in described)
    for entry in described:
        words = [entry.get("measures") or entry["shows"]]
        if "seconds" in entry:
            words.append(f"about {span(entry['seconds'])}")
            words += [f"needs {', '.join(entry['needs'])}"] if entry["needs"] else []
        click.echo(f"{entry['name']:{width}}  {'; '.join(words)}")


def _copy_plan(file: Path, folder: Path) -> None:
    """Copy a plan with the files that it names, which keep their places beside it."""
    loaded = load_plan(file)
    named = [part for part in (loaded.plan.hosts_file, *loaded.plan.engines) if part]
    _copy_files({folder / part: file.parent / part for part in (file.name, *named)})


def _copy_files(sources: Mapping[Path, Path]) -> None:
    # A hosts file that several plans name is there after the first of them.
    files = {target: source.read_bytes() for target, source in sources.items()}
    new = {
        target: content
        for target, content in files.items()
        if not target.is_file() or target.read_bytes() != content
    }
    with _written(new):
        pass
    for target in files:
        click.echo(target)


@contextlib.contextmanager
def _written(files: Mapping[Path, bytes]) -> Iterator[None]:
    """Write files that aren't there yet; they and their new folders go again if anything fails.

    InputError, with nothing written, where one is there.
    """
    if existing := next((file for file in files if file.exists()), None):
        raise InputError(f"{existing} is there already: move it, or choose a folder by --out")
    with contextlib.ExitStack() as undo:
        for file, content in files.items():
            try:
                for folder in reversed(file.parents):
                    if not folder.exists():
                        folder.mkdir()
                        undo.callback(folder.rmdir)
                with file.open("xb") as stream:
                    undo.callback(file.unlink)
                    stream.write(content)
            except OSError as error:
                raise EnvironmentFailedError(
                    f"can't write {file}: {error.strerror}: check its folder, permissions and room"
                ) from error
        yield
        undo.pop_all()
