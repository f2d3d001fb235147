"""A picture of LaTeX's own drawing commands as a PDF file of its size, by pdflatex."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError

_SECONDS = 120
_OPTIONS = ("-interaction=batchmode", "-halt-on-error", "-no-shell-escape")
# Neither dates nor file names in it: the same picture makes the same bytes.
_DOCUMENT = r"""\documentclass{article}
\usepackage{PACKAGES}
\IfFileExists{lmodern.sty}{\usepackage[T1]{fontenc}\usepackage{lmodern}}{}
\sisetup{per-mode=symbol}
\pdfinfoomitdate=1 \pdftrailerid{} \pdfsuppressptexinfo=-1
\hoffset=-1in \voffset=-1in
\begin{document}
\setbox0=\hbox{\input{picture}}
\pdfpagewidth=\wd0 \pdfpageheight=\dimexpr\ht0+\dp0\relax
\shipout\box0
\end{document}
"""


def picture_pdf(picture: str, packages: Sequence[str]) -> bytes:
    """Return the PDF of a `picture` environment that needs `packages`.

    EnvironmentFailedError when there is no pdflatex, or it fails.
    """
    program = shutil.which("pdflatex")
    if program is None:
        raise EnvironmentFailedError(
            "there is no pdflatex, which makes pictures' PDF files: install it (Debian:"
            " texlive-latex-extra, texlive-science), or choose others by --pictures"
        )
    with tempfile.TemporaryDirectory(prefix="railgauge-") as path:
        folder = Path(path)
        (folder / "picture.tex").write_text(picture, encoding="utf-8")
        document = _DOCUMENT.replace("PACKAGES", ",".join(packages))
        (folder / "document.tex").write_text(document, encoding="utf-8")
        try:
            completed = subprocess.run(
                [program, *_OPTIONS, "document.tex"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise EnvironmentFailedError(
                f"{program} did not finish a picture within {_SECONDS} s: try again when the"
                " machine is less busy"
            ) from error
        pdf = folder / "document.pdf"
        if completed.returncode or not pdf.is_file():
            raise EnvironmentFailedError(
                f"{program} failed on a picture: {_mistake(folder / 'document.log')}: has it"
                f" the packages {', '.join(packages)}?"
            )
        return pdf.read_bytes()


def _mistake(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    return next(
        (line[2:].rstrip(".") for line in lines if line.startswith("! ")), "it says nothing"
    )
