"""The command line: one small module a command group, imported only when it is called.

Only here is anything printed and an exit code chosen: 0 fine, 1 measured but fell short,
2 the input is wrong, 3 the environment failed, 130 stopped by the user.
"""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import click

from railgauge import __version__
from railgauge.base.errors import (
    EnvironmentFailedError,
    FileProblems,
    InputError,
    InterruptedRunError,
    RailgaugeError,
)
from railgauge.base.stop_signals import calling_on_signal, end_by_signals, raise_keyboard_interrupt

# command -> (module below railgauge.cli, function): what `railgauge --help` needs without imports.
_COMMANDS = {
    "init": ("starting", "init", "Write a first plan and hosts file."),
    "plans": ("starting", "list_plans", "List the plans that ship, or copy one."),
    "reports": ("starting", "list_reports", "List the reports that ship, or copy one."),
    "check": ("planning", "check", "Validate a plan and say what it would run."),
    "run": ("running", "run", "Run a plan and print its table."),
    "resume": ("running", "resume", "Go on with a run that was stopped."),
    "submit": ("submitting", "submit", "Run a plan, or go on with a run, in a Slurm job."),
    "list": ("listing", "list_runs", "List the runs in the database."),
    "show": ("runs", "show", "Show a run: its cases, failures and tables."),
    "compare": ("comparing", "compare", "Show which cases are faster, the same or slower."),
    "gate": ("gating", "gate", "Run a plan, compare with its baseline, fail if it is slower."),
    "diff": ("diffing", "diff", "Show what changed between two runs: facts, settings, results."),
    "history": ("history", "history", "Show since when cases are faster or slower."),
    "report": ("reporting", "report", "Render runs to text, HTML, LaTeX and CSV."),
    "paper": ("papers", "paper", "Make a paper's tables again, measured beside published."),
    "site": ("site", "site", "Make a static web page of all runs, cases and changes."),
    "import": ("importing", "import_group", "Put other people's results into the database."),
    "export": ("exporting", "export_group", "Write runs in the formats of other programs."),
    "baseline": ("baseline", "baseline", "Name runs that others are compared with."),
    "db": ("databases", "db_group", "Copy, check, back up and thin databases."),
    "calibrate": ("calibrating", "calibrate", "Check the instrument against known truths."),
    "doctor": ("doctor", "doctor", "Check whether hosts and the links between them are ready."),
    "testbed": ("testbeds", "testbed", "Build and remove clusters of network namespaces."),
    "engines": ("engines", "engines", "List the engines, or the parameters and metrics of one."),
    "schema": ("schemas", "schema", "Print a JSON Schema, such as a plan's."),
    "completion": ("completion", "completion", "Print a shell's completion script."),
}


class _LazyGroup(click.Group):
    """Knows its commands' names and one-line helps; imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, function, _ = _COMMANDS[cmd_name]
        command = getattr(importlib.import_module(f"railgauge.cli.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from railgauge.base.suggestion import suggest

            raise click.UsageError(f"no command {args[0]!r}{suggest(args[0], _COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="To begin with: `railgauge run quickstart` measures this machine alone, `railgauge init`"
    " writes a plan for hosts of yours.",
)
@click.version_option(__version__, "-V", "--version", prog_name="railgauge")
def cli() -> None:
    """Measure how fast a cluster's machines talk to one another, from plans kept in git."""


class _Output(io.FileIO):
    """An output whose reader may go (`railgauge list | head`): what it doesn't read is lost.

    That is no failure, and doesn't change what the command does and how it ends.
    """

    def write(self, data: Any, /) -> int:
        """See `io.RawIOBase`."""
        try:
            return super().write(data)
        except OSError as error:
            # What is left of it would fail again at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if not isinstance(error, BrokenPipeError):
                error.filename = "the output"
                raise
            return super().write(data)


def _lenient(stream: Any) -> Any:
    """Return the stream, so that neither a lost reader nor a name it can't show is a failure."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(stream.fileno(), "w", closefd=False)),
        stream.encoding,
        "replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def main() -> NoReturn:
    """Run the command line and exit."""
    try:
        raise_keyboard_interrupt()
        for name in ("stdout", "stderr"):
            setattr(sys, name, _lenient(getattr(sys, name)))
        # A large plan is hundreds of thousands of objects without cycles: walking them again and
        # again for garbage took 40 % of `railgauge check`'s time.
        gc.set_threshold(200_000, 20, 100)
        status = _run()
    except (click.Abort, KeyboardInterrupt) as error:
        status = _print_stop(error)
    # All is said and done: a signal ends Python's own tidying up without a traceback.
    end_by_signals()
    # What is left goes with the process: to look through all of it for cycles takes a fifth of
    # `railgauge list`. But an error's frames may hold a connection, which is to be closed.
    if status == 0:
        gc.freeze()
    sys.exit(status)


def _run() -> int:
    try:
        result: Any = cli(prog_name="railgauge", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        raise
    except FileProblems as error:
        click.echo(_printable(str(error)), err=True)
        return error.exit_code
    except RailgaugeError as error:
        return _print_error(str(error), error.exit_code, error)
    except Exception as error:  # noqa: BLE001 - the one place that may not let a traceback out
        if failure := _failure_of_files(error):
            return _print_error(str(failure), failure.exit_code)
        if os.environ.get("RAILGAUGE_DEBUG"):
            traceback.print_exc()
        return _print_error(
            f"internal error, a bug of railgauge: {type(error).__name__}: {error}. "
            "Set RAILGAUGE_DEBUG=1 for the details and report them with the plan.",
            RailgaugeError.exit_code,
        )
    return result if isinstance(result, int) else 0


def _print_stop(error: BaseException) -> int:
    # CPython remembers a KeyboardInterrupt that came out of evaluating a text, and would end by the
    # signal instead of our exit code; evaluating another one makes it forget.
    exec("")  # noqa: S102
    # click aborts where it meets a KeyboardInterrupt.
    cause = error.__cause__ or error
    ended = _interrupted_run(cause)
    return _print_error(str(ended or "stopped"), InterruptedRunError.exit_code, ended or cause)


def _interrupted_run(error: BaseException | None) -> InterruptedRunError | None:
    """Return how the run had ended that was tidied up when the user stopped that, if one was."""
    while error is not None and not isinstance(error, InterruptedRunError):
        error = error.__context__
    return error


def _failure_of_files(error: Exception) -> RailgaugeError | None:
    """Return what a refusal of the system says of a file's name or folder; None: it's no such."""
    if not isinstance(error, OSError):
        return None
    if isinstance(error.filename, str):
        kind = InputError if error.errno == errno.ENAMETOOLONG else EnvironmentFailedError
        return kind(f"{error.filename}: {error.strerror}: check its name, permissions and room")
    try:
        Path.cwd()
    except OSError as lost:
        reason = f"the folder where you are can't be read: {lost.strerror}: change to another one"
        return EnvironmentFailedError(reason)
    return None


def _print_error(message: str, code: int, error: BaseException | None = None) -> int:
    notes = getattr(error, "__notes__", ())
    # What ended is said, whoever signals meanwhile.
    with calling_on_signal(lambda: None):
        click.echo(_printable("\n".join([f"railgauge: {message}", *notes])), err=True)
    return code


def _printable(message: str) -> str:
    """Return the message; names in it, which may be any, do nothing to a terminal."""
    from railgauge.base.characters import visible

    return "\n".join(map(visible, message.split("\n")))
