r"""Plain text to LaTeX: everything escaped, whatever a name or a description holds.

The result compiles with pdflatex in both the OT1 and the T1 font encoding. What neither can show is
written as its code point, `U+4E2D`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise


class Tex(str):
    """Text that is LaTeX already and must not be escaped."""

    __slots__ = ()


_SYMBOLS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Bare ones would be taken for an argument after the \\ of the row before.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "\u00a0": "~",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "…": r"\dots{}",
    "•": r"\textbullet{}",
    "°": r"\textdegree{}",
    "µ": r"\textmu{}",
    "€": r"\texteuro{}",
    "£": r"\pounds{}",
    "¥": r"\textyen{}",
    "¡": r"\textexclamdown{}",
    "¿": r"\textquestiondown{}",
    "§": r"\S{}",
    "©": r"\textcopyright{}",
    "®": r"\textregistered{}",
    "™": r"\texttrademark{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
}
_MATHS = {
    "→": r"\rightarrow",
    "←": r"\leftarrow",
    "↔": r"\leftrightarrow",
    "⇒": r"\Rightarrow",
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "≈": r"\approx",
    "±": r"\pm",
    "×": r"\times",
    "÷": r"\div",
    "·": r"\cdot",
    "−": "-",
    "∞": r"\infty",
    "¹": "^1",
    "²": "^2",
    "³": "^3",
    # Unicode's names of the letters are LaTeX's, but for one.
    **{
        letter: "\\" + unicodedata.name(letter).rpartition(" ")[2].lower()
        for letter in "αβγδεζηθικμνξπρστυφχψω"
    },
    **{
        letter: "\\" + unicodedata.name(letter).rpartition(" ")[2].capitalize()
        for letter in "ΓΔΘΞΠΣΥΦΨΩ"
    },
    "Λ": r"\Lambda",
    "λ": r"\lambda",
}
_DECIMAL = {"": "", "k": r"\kilo", "M": r"\mega", "G": r"\giga", "T": r"\tera"}
_BINARY = {"Ki": r"\kibi", "Mi": r"\mebi", "Gi": r"\gibi", "Ti": r"\tebi"}
_UNITS = {
    **{f"{prefix}bit/s": rf"{macro}\bit\per\second" for prefix, macro in _DECIMAL.items()},
    **{f"{prefix}B": rf"{macro}\byte" for prefix, macro in (_DECIMAL | _BINARY).items()},
    **{
        f"{prefix}B/s": rf"{macro}\byte\per\second"
        for prefix, macro in (_DECIMAL | _BINARY).items()
    },
    **{f"{prefix}Hz": rf"{_DECIMAL[prefix]}\hertz" for prefix in ("", "k", "M", "G")},
    "ns": r"\nano\second",
    "us": r"\micro\second",
    "µs": r"\micro\second",
    "ms": r"\milli\second",
    "s": r"\second",
    "min": r"\minute",
    "h": r"\hour",
    "%": r"\percent",
    "1/s": r"\per\second",
}
# Combining character -> the accent's command.
_ACCENTS = {
    "\u0300": r"\`",
    "\u0301": r"\'",
    "\u0302": r"\^",
    "\u0303": r"\~",
    "\u0304": r"\=",
    "\u0306": r"\u",
    "\u0307": r"\.",
    "\u0308": r"\"",
    "\u030a": r"\r",
    "\u030b": r"\H",
    "\u030c": r"\v",
    "\u0327": r"\c",
}
# Pairs that TeX's fonts would join: `--` to a dash, `''` to a quotation mark.
_LIGATURES = re.compile(r"([-,'])(?=\1)")
_WORD = re.compile(r"\S+")
# Words that every line has room for are not broken. Longer ones are after what joins their parts,
# but in no number, and a part without joints after some characters.
_SHORT_WORD = 20
_UNBROKEN = 8
_JOINTS = re.compile(r"(?<=[_/=-])(?=\S)|(?<=[.,])(?=[^\s\d])")
_SPECIAL = re.compile(r"[^A-Za-z0-9 .:;,'()/=+!?@-]")


def escape(text: object) -> Tex:
    """Return `text` as LaTeX that shows exactly it; a Tex stays as it is."""
    return text if isinstance(text, Tex) else _escaped(str(text))


@lru_cache(maxsize=4096)  # A table shows the same labels over and over.
def _escaped(text: str) -> Tex:
    if text.isalnum() and text.isascii():
        return Tex(text)
    # Split first: the braces that keep letters apart must not be escaped themselves.
    # A percent sign stays on its number's line.
    text = unicodedata.normalize("NFC", text).replace("\0", "").replace(" %", "\u00a0%")
    parts = _LIGATURES.sub("\\1\0", text).split("\0")
    return Tex("{}".join(_SPECIAL.sub(_character, part) for part in parts))


def breakable(text: object) -> Tex:
    """Return `text` as LaTeX whose long words may be broken."""
    if isinstance(text, Tex):
        return text
    plain = str(text)
    cuts = [0]
    for word in _WORD.finditer(plain):
        if len(word[0]) > _SHORT_WORD or not word[0].isascii():
            cuts += _cuts(word[0], word.start())
    pieces = (plain[start:end] for start, end in pairwise([*cuts, len(plain)]))
    return Tex(r"\allowbreak{}".join(map(escape, pieces)))


def _cuts(word: str, start: int) -> list[int]:
    """Return where `word`, which begins at `start`, may be broken; nowhere in a short one."""
    widths = [6 if escape(character).startswith("U+") else 1 for character in word]
    if sum(widths) <= _SHORT_WORD:
        return []
    joints = {match.start() for match in _JOINTS.finditer(word)}
    cuts = []
    so_far = 0
    for place, wide in enumerate(widths):
        if place in joints or so_far >= _UNBROKEN:
            cuts.append(start + place)
            so_far = 0
        so_far += wide
    return cuts


def unit(name: str) -> Tex:
    """Return a display unit as siunitx writes it; a unit it doesn't know, as text."""
    macros = _UNITS.get(name)
    return escape(name) if macros is None else Tex(rf"\unit{{{macros}}}")


def _character(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SYMBOLS:
        return _SYMBOLS[character]
    if character in _MATHS:
        return rf"\ensuremath{{{_MATHS[character]}}}"
    decomposed = unicodedata.normalize("NFD", character)
    letter, accent = decomposed[0], decomposed[1:]
    if letter.isascii() and letter.isalpha() and accent in _ACCENTS:
        return f"{_ACCENTS[accent]}{{{letter}}}"
    return f"U+{ord(character):04X}"
