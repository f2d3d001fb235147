r"""How gnuplot draws the pictures that LaTeX inputs: by which terminal, and what that leaves.

Each makes a `NAME-picture.tex` for \input, whichever it is; most a graphic beside it, too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from railgauge.base.errors import EnvironmentFailedError
from railgauge.report.figures.gnuplot import run_for_bytes, terminals

Pictures = Literal["auto", "cairolatex", "pdfcairo", "epslatex", "pict2e", "pdflatex"]
PICTURES: tuple[str, ...] = get_args(Pictures)
# When a PDF was made. Cairo before 1.17.6 takes the clock's, whatever SOURCE_DATE_EPOCH says.
_CREATED = re.compile(rb"(?<=/CreationDate \(D:)\d{14}")
_EPOCH = b"19700101000000"
_FILLED, _TINY = 7, 0
_PICT2E = ("pict2e", "color", "siunitx", "graphicx")
# What a whole graphic ends with.
_ENDS = {"pdf": "%%EOF", "eps": "%%Trailer"}
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


@dataclass(frozen=True, slots=True)
class Terminal:
    """One of gnuplot's terminals, and what becomes of its picture.

    `setting` is what follows `set terminal`; `suffix` that of the file that gnuplot is to write,
    `graphic` that of the one that LaTeX includes ("" for none); `packages` what LaTeX needs for it.
    `tex` says whether texts are LaTeX; `dot` is the point type of the smallest point. What is
    `compiled` becomes a PDF file by pdflatex, with the packages `compiled`.
    """

    name: str
    setting: str
    suffix: str
    graphic: str
    packages: tuple[str, ...]
    tex: bool = True
    dot: int = _FILLED
    compiled: tuple[str, ...] = ()

    @property
    def gnuplots(self) -> str:
        """Its name in gnuplot."""
        return self.setting.split()[0]

    def needs(self) -> str:
        """Return the packages as a document names them."""
        return ",".join(self.packages)


_TERMINALS = {
    terminal.name: terminal
    for terminal in (
        Terminal(
            "cairolatex",
            "cairolatex pdf linewidth 2",
            "tex",
            "pdf",
            ("graphicx", "color", "siunitx"),
        ),
        Terminal(
            "pdfcairo", "pdfcairo noenhanced linewidth 2", "pdf", "pdf", ("graphicx",), tex=False
        ),
        Terminal(
            "epslatex",
            "epslatex color linewidth 2 pointscale 1.8",
            "tex",
            "eps",
            ("graphicx", "color", "siunitx"),
        ),
        Terminal("pict2e", "pict2e", "tex", "", _PICT2E, dot=_TINY),
        Terminal("pdflatex", "pict2e", "tex", "", ("graphicx",), dot=_TINY, compiled=_PICT2E),
    )
}


def choose(program: str, name: Pictures = "auto") -> Terminal:
    """Return the terminal `name`, for "auto" the finest that the gnuplot at `program` has.

    EnvironmentFailedError when it lacks that one.
    """
    available = terminals(program)
    if name == "auto":
        return _TERMINALS["cairolatex" if "cairolatex" in available else "pict2e"]
    if _TERMINALS[name].gnuplots not in available:
        usable = ", ".join(key for key, other in _TERMINALS.items() if other.gnuplots in available)
        raise EnvironmentFailedError(
            f"{program} can't make {name} pictures: it has {usable or 'no such terminal'};"
            " choose one by --pictures, or name another gnuplot (Debian: gnuplot-nox has all)"
            " by RAILGAUGE_GNUPLOT"
        )
    return _TERMINALS[name]


def draw_both(
    program: str, terminal: Terminal, name: str, files: Mapping[str, str]
) -> tuple[str, dict[str, str | bytes]]:
    """Return the SVG that the script of `files` makes, and the files of its picture for LaTeX."""
    outputs = {f"{name}.svg": "</svg>"}
    if terminal.tex:
        outputs[f"{name}-picture.tex"] = r"\endgroup" if terminal.graphic else r"\end{picture}"
    if terminal.graphic:
        outputs[f"{name}-picture.{terminal.graphic}"] = _ENDS[terminal.graphic]
    contents = dict(zip(outputs, run_for_bytes(program, files, outputs), strict=True))
    svg = contents.pop(f"{name}.svg").decode("utf-8", errors="replace")
    picture: dict[str, str | bytes] = {}
    if not terminal.tex:
        picture[f"{name}-picture.tex"] = f"\\includegraphics{{{name}-picture}}\n"
    if terminal.compiled:
        (tex,) = contents.values()
        picture[f"{name}-picture.pdf"] = picture_pdf(tex.decode("utf-8"), terminal.compiled)
        contents = {f"{name}-picture.tex": f"\\includegraphics{{{name}-picture}}\n".encode()}
    for file, content in contents.items():
        picture[file] = _undated(content) if file.endswith(".pdf") else content.decode("utf-8")
    return svg, picture


def _undated(pdf: bytes) -> bytes:
    """Return a PDF as of the epoch: offsets in it stay true, as dates are as long."""
    return _CREATED.sub(_EPOCH, pdf)


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
