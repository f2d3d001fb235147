"""The lines of a text file, read one after the other; every mistake knows where it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from stat import S_ISREG

from railgauge.base.errors import FileProblems, InputError, Problem
from railgauge.exchange.hpcbench.file_layout import MISSING, pattern

# Hpcbench's largest have some hundred lines for each CPU.
_MOST_BYTES = 64 * 2**20
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?", re.ASCII)
_MOST_CHARACTERS = 60


class Lines:
    """A file's lines, and which one is next. InputError when the file can't be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = _read(path)
        # Of a number that was cut off in the middle, the rest would pass for it.
        self._may_be_cut = text[-1:].isdigit()
        self.lines = [line.rstrip() for line in text.split("\n")]
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        self.at = 0

    def peek(self) -> str | None:
        """Return the next line, or None at the end."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    def skip_blank(self) -> None:
        """Go past empty lines."""
        while self.peek() == "":
            self.at += 1

    def literal(self, *expected: str) -> None:
        """Go past these lines; empty ones may be missing and more of them may be there."""
        for line in expected:
            if line.strip():
                self.match(line)

    def match(self, template: str) -> Mapping[str, str]:
        """Go past a line made from `template`, and return what stands in its holes."""
        texts = self.try_match(template)
        if texts is None:
            self.skip_blank()
            raise self.unexpected(template)
        return texts

    def match_all(self, *templates: str) -> dict[str, str]:
        """Go past a line made from each template, and return what stands in their holes."""
        return {name: text for line in templates for name, text in self.match(line).items()}

    def try_match(self, template: str) -> Mapping[str, str] | None:
        """Return the same if the next line that isn't empty is one, else None, going nowhere."""
        start = self.at
        self.skip_blank()
        line = self.peek()
        match = None if line is None else pattern(template).fullmatch(line)
        if match is None:
            self.at = start
            return None
        self.at += 1
        return match.groupdict()

    def sees(self, template: str) -> bool:
        """Return whether the next line that isn't empty is made from `template`."""
        start = self.at
        texts = self.try_match(template)
        self.at = start
        return texts is not None

    def row(self, number: str, columns: Sequence[str]) -> list[Decimal | None]:
        """Go past a table's row with that number, and return its cells, None for a missing one."""
        self.skip_blank()
        expected = f"row {number} with {len(columns)} columns ({', '.join(columns)})"
        words = (self.peek() or "").split()
        if not words or words[0] != number or len(words) != len(columns) + 1:
            raise self.unexpected(expected)
        self.at += 1
        return [self.number(word, name) for word, name in zip(words[1:], columns, strict=True)]

    def number(self, text: str, name: str) -> Decimal | None:
        """Return a number from the line just passed, None where it is missing."""
        if text == MISSING:
            return None
        if not _NUMBER.fullmatch(text):
            raise self.problem(f"{name}: {text[:_MOST_CHARACTERS]!r} is not a number of 0 or more")
        return Decimal(text)

    def end(self) -> None:
        """Check that nothing follows, and nothing was to follow."""
        self.skip_blank()
        if self.peek() is not None:
            raise self.unexpected("the end of the file (each output needs a file of its own)")
        if self._may_be_cut:
            raise self.problem(
                "its last line doesn't end, so its number may have been cut off: copy the file "
                "again, or put a line break there if it is whole"
            )

    def problem(self, message: str) -> FileProblems:
        """Return the problem of the line just passed."""
        return self._problem(self.at, message)

    def unexpected(self, expected: str) -> FileProblems:
        """Return the problem of the next line not being what was expected."""
        line = self.peek()
        if line is None:
            text = "the file ends here; is it truncated?"
        else:
            text = (
                f"found {line[:_MOST_CHARACTERS]!r}{' …' if len(line) > _MOST_CHARACTERS else ''}"
            )
        return self._problem(self.at + 1, f"expected {expected}: {text}")

    def _problem(self, line: int, message: str) -> FileProblems:
        return FileProblems([Problem(str(self.path), max(1, line), 1, message)])


def _read(path: Path) -> str:
    try:
        if not S_ISREG(path.stat().st_mode):
            raise InputError(f"{path} is not a file: name a file that Hpcbench wrote")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: name a file that Hpcbench wrote") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read: {reason}") from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES} bytes: it is no file of Hpcbench's")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8: this is no text of Hpcbench's"
        raise FileProblems([Problem(str(path), line, 1, message)]) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        message = "a NUL character: this is no text file"
        raise FileProblems([Problem(str(path), line, 1, message)])
    return text
