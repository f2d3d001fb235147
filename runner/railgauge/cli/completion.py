"""`railgauge completion`: what to source for completion in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL: `source <(railgauge completion bash)`."""
    from railgauge.cli import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "railgauge", "_RAILGAUGE_COMPLETE").source())
