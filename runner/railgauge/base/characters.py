"""Characters on a terminal and in a page: how wide they are, how they sort, which must not act."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

# Control, format (bidirectional marks, zero-width), surrogate and line or paragraph separators.
_ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# XML has no place for them, however they are written.
_NO_CHARACTERS = "\ufffe\uffff"


def visible(text: str) -> str:
    r"""Return `text` with every character that acts instead of showing written out: `\n`."""
    # None of what acts counts as printable.
    if text.isprintable():
        return text
    return "".join(_escaped(c) if acts(c) else c for c in text)


def acts(character: str) -> bool:
    """Return whether a character does something instead of showing."""
    return unicodedata.category(character) in _ACTING or character in _NO_CHARACTERS


@lru_cache(maxsize=4096)  # A table shows the same labels over and over.
def width(text: str) -> int:
    """Return how many columns of a terminal `text` takes (Unicode Standard Annex 11)."""
    if text.isascii():
        return len(text)
    return sum(_width(c) for c in text)


def left(text: str, columns: int) -> str:
    """Return `text` with spaces after it up to `columns`."""
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """Return `text` with spaces before it up to `columns`."""
    return " " * (columns - width(text)) + text


def shortened(text: str, most: int) -> str:
    """Return `text` or, of one that is longer than `most`, its beginning and `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def in_columns(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> Iterator[str]:
    """Yield a line for each row; the columns at `numbers` stand to the right."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        yield "  ".join(
            (right if column in numbers else left)(text, wide) for column, (text, wide) in cells
        ).rstrip()


def centre(text: str, columns: int) -> str:
    """Return `text` in the middle of `columns`, the odd space after it, no spaces at the end."""
    return " " * ((columns - width(text)) // 2) + text


def capitalised(text: str) -> str:
    """Return the text with a capital first letter; str.capitalize makes the others small."""
    return text[:1].upper() + text[1:]


def file_stem(text: str) -> str:
    """Return what is left of `text` in a file's name: a-z, 0-9 and `-`, at most 50 of them."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:50]


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return a key to sort names with numbers in them by."""
    parts: list[str] = [""]
    for letter in name:
        if parts[-1] and letter.isdecimal() != parts[-1][-1].isdecimal():
            parts.append("")
        parts[-1] += letter
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
