"""Compiles LaTeX for tests, and says what its pages show."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

_NEEDS = re.compile(r"% Needs (\\usepackage\{[a-z0-9,]+\})\.\n")


def typeset(folder: Path, name: str) -> str:
    """Return what pdflatex says as it makes the pages of `name`.tex, which has to succeed."""
    return run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name], folder)


def pages_of(folder: Path, name: str) -> str:
    """Return the text of the pages that pdflatex makes of `name`.tex."""
    typeset(folder, name)
    return run(["pdftotext", "-layout", f"{name}.pdf", "-"], folder)


def printed_pages_of(folder: Path, name: str) -> str:
    """Return the text of the pages that latex makes by way of PostScript."""
    run(["latex", "-interaction=nonstopmode", "-halt-on-error", name], folder)
    run(["dvips", "-q", f"{name}.dvi"], folder)
    run(["ps2pdf", f"{name}.ps"], folder)
    return run(["pdftotext", "-layout", f"{name}.pdf", "-"], folder)


def alone(folder: Path, fragment: str, preamble: str = "") -> str:
    """Write a document of `fragment` alone with what that says it needs; return its name."""
    text = (folder / f"{fragment}.tex").read_text(encoding="utf-8")
    needs = _NEEDS.match(text)
    assert needs is not None, text[:100]
    document = (
        f"\\documentclass{{article}}\n{needs[1]}\n{preamble}\n"
        f"\\begin{{document}}\n\\input{{{fragment}}}\n\\end{{document}}\n"
    )
    (folder / f"alone-{fragment}.tex").write_text(document, encoding="utf-8")
    return f"alone-{fragment}"


def run(command: Sequence[str], folder: Path) -> str:
    """Return what a program says, which must succeed."""
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    stdout = result.stdout.decode(errors="replace")
    assert result.returncode == 0, stdout[-2000:] + result.stderr.decode(errors="replace")[-500:]
    return stdout
