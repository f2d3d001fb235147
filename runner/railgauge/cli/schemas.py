"""`railgauge schema`: the JSON Schemas of the files that people and programs write."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from railgauge.base.assets import folder
from railgauge.base.errors import InputError
from railgauge.base.suggestion import suggest_or_list

_SUFFIX = ".schema.json"


def _names() -> list[str]:
    files = folder("schema").glob(f"*{_SUFFIX}")
    return sorted(file.name.removesuffix(_SUFFIX) for file in files)


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in _names() if name.startswith(incomplete)]


@click.command()
@click.argument("name", required=False, shell_complete=_complete)
def schema(name: str | None) -> None:
    """Print the JSON Schema NAME, such as plan or hosts; without a name list them."""
    names = _names()
    if name is None:
        click.echo("\n".join(names))
        return
    if name not in names:
        raise InputError(f"there is no schema {name!r}{suggest_or_list(name, names)}")
    click.echo((folder("schema") / f"{name}{_SUFFIX}").read_text(encoding="utf-8"), nl=False)
