"""Options that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from railgauge.base.units import parse_time
from railgauge.cli.settings import setting, settings
from railgauge.schedulers.scheduler import MARGIN
from railgauge.store.records import USUAL_DATABASE

_F = TypeVar("_F", bound=Callable[..., Any])


def _expanded(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Return a path with the home folder for its `~`, which shells leave in `--db=~/runs.db`.

    The usual database, given where a file names another, is absolute: what is to be typed next
    names it then.
    """
    is_given = context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    if value == USUAL_DATABASE and is_given and settings().get("db"):
        return str(Path(value).absolute())
    return os.path.expanduser(value)  # noqa: PTH111 - pathlib fails where there is no such user.


database = click.option(
    "--db",
    "where",
    is_eager=True,  # Where `latest` is looked up.
    envvar="RAILGAUGE_DB",
    default=setting("db", USUAL_DATABASE),
    show_default=USUAL_DATABASE,
    metavar="PATH-or-URL",
    callback=_expanded,
    help="The database (also RAILGAUGE_DB): an SQLite file or an SQLAlchemy URL.",
)


def refuse_given(*parameters: str, reason: str) -> None:
    """UsageError where the command line has one of these options, which would change nothing.

    Environment variables and settings in files are for other calls, too.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in parameters and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} {reason}")


def seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Return the time that an option gives, in seconds; click's BadParameter where it is none."""
    try:
        return parse_time(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


wait = click.option(
    "--wait",
    envvar="RAILGAUGE_WAIT",
    default=setting("wait", "0s"),
    show_default="0s",
    metavar="TIME",
    callback=seconds,
    help="Where another run has a host (also RAILGAUGE_WAIT): wait so long for its end.",
)


def _labels(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    labels: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", key, re.ASCII):
            raise click.BadParameter(
                f"{text!r} is no KEY=VALUE: write such as kernel=6.12, a key of letters, digits,"
                " '_', '.' and '-'"
            )
        if not value.strip() or not value.isprintable():
            raise click.BadParameter(f"the label {key!r} has no value: write {key}=VALUE")
        if labels.setdefault(key, value) != value:
            raise click.BadParameter(f"the label {key!r} is given twice: give it once")
    return labels


def label_option(help_text: str) -> Callable[[_F], _F]:
    """Return the option --label KEY=VALUE, which may be given several times."""
    return click.option(
        "--label",
        "labels",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_labels,
        help=f"{help_text}; repeatable.",
    )


labels = label_option("What to call the run by, such as kernel=6.12")
metrics = click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Judge by this metric, and by no other but those named so; repeatable.",
)
keep_going = click.option(
    "--keep-going",
    is_flag=True,
    help="Leave out what needs a host that can't be reached, and measure the rest.",
)
margin = click.option(
    "--margin",
    envvar="RAILGAUGE_MARGIN",
    default=setting("margin", f"{MARGIN:g}s"),
    show_default=f"{MARGIN:g}s",
    metavar="TIME",
    callback=seconds,
    help="In a Slurm job (also RAILGAUGE_MARGIN): end this long before its time is over.",
)
hosts = click.option(
    "--hosts",
    type=click.Path(path_type=Path),
    default=setting("hosts"),
    metavar="FILE",
    help="A hosts file in place of the plan's own hosts or hosts file.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON (see docs/cli.md).")
allow_large = click.option(
    "--allow-large", is_flag=True, help="Accept a grid of more than 100,000 cases."
)
