"""Notifying somebody: a command of the user's choice gets the summary on its standard input."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Sequence

import click

from railgauge.base.characters import visible
from railgauge.base.errors import InputError

# What takes longer hangs: a mail is handed over in a second.
SECONDS = 60.0
_SHOWN = 300


def command_line(text: str) -> list[str]:
    """Return the words of a command as a shell would part them; InputError where it can't."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"--notify {text}: {error}") from error
    if not words:
        raise InputError("--notify needs a command: --notify 'mail -s railgauge me@example.org'")
    return words


def notify(command: Sequence[str], summary: str, exit_code: int, seconds: float = SECONDS) -> None:
    """Run the command, no shell in between, with the summary on its standard input.

    RAILGAUGE_EXIT gives it our exit code. It has `seconds`; what goes wrong is reported, and
    changes nothing else.
    """
    if problem := _failure(command, summary, exit_code, seconds):
        click.echo(f"railgauge: --notify {visible(command[0])}: {problem}", err=True)


def _failure(command: Sequence[str], summary: str, exit_code: int, seconds: float) -> str:
    """Return what went wrong; empty if nothing did."""
    with contextlib.ExitStack() as cleanup:
        try:
            # A file, as what it leaves in the background, a mailer, may keep a pipe open for long.
            output = cleanup.enter_context(tempfile.TemporaryFile())
            # In memory, as the disk may be full. A pipe that is full would be waited for, whatever
            # signal comes.
            summary_file = cleanup.enter_context(os.fdopen(os.memfd_create("summary"), "w+b"))
            summary_file.write(summary.encode(errors="replace"))
            summary_file.seek(0)
            process = subprocess.Popen(
                command,
                stdin=summary_file,
                stdout=output,
                stderr=output,
                env={**os.environ, "RAILGAUGE_EXIT": str(exit_code)},
                # So that what it started can be ended with it.
                start_new_session=True,
            )
        except OSError as error:
            return f"can't be started: {error.strerror}"
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return f"not done after {seconds:g} s, ended"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode == 0:
            return ""
        output.seek(max(0, output.seek(0, os.SEEK_END) - _SHOWN))
        last = visible(output.read().decode(errors="replace").strip())
    return f"ended with {process.returncode}{f': {last}' if last else ''}"
