"""Finds values in what an external program wrote: by a path in JSON, or a regular expression.

Nothing is guessed: what is missing, no number or not finite is an EngineError `output`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from railgauge.base.errors import EngineError

if TYPE_CHECKING:
    import regex

Match = Literal["first", "last", "sum", "product", "share", "mean", "max", "min"]

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_STEP = re.compile(r"(?:[^.\\]|\\.)+")
_SHOWN = 300
# Some expressions take for ever on some texts; none that ships takes a millisecond.
_SECONDS = 2.0
# What rail-exec keeps of an output; one as long as that has lost its end.
_LIMIT = 1 << 20
_CHOOSE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "sum": math.fsum,
    "product": math.prod,
    # Where the rest wasn't found it isn't the whole.
    "share": lambda values: values[-1] / math.fsum(values) if values[1:] else math.nan,
    "mean": lambda values: math.fsum(values) / len(values),
    "max": max,
    "min": min,
}


def split_path(text: str) -> tuple[str, ...]:
    r"""Return the steps of a path such as `end.streams.*.sender.bps`; `\.` is a dot in a name.

    ValueError where a step is empty.
    """
    steps = _STEP.findall(text)
    if ".".join(steps) != text or not steps:
        raise ValueError(
            f"{text!r} is no path: write names and numbers with dots between, as in end.streams.0"
        )
    return tuple(re.sub(r"\\(.)", r"\1", step) for step in steps)


@dataclass(frozen=True, slots=True)
class ValueSource:
    """Where a value stands: at a `path` of JSON or, where that is empty, by a `regex`.

    Of several values one is chosen or made by `match`. A number is multiplied by `times`: by the
    one under "", or by the one that the expression's second group names. Where it has to be
    `positive`, 0 says that nothing was measured.
    """

    path: tuple[str, ...] = ()
    regex: str = ""
    match: Match = "first"
    times: Mapping[str, float] = field(default_factory=lambda: {"": 1.0})
    positive: bool = False

    def __str__(self) -> str:
        """Return how a sentence names it."""
        if self.path:
            return f"JSON {'.'.join(step.replace('.', chr(92) + '.') for step in self.path)}"
        return f"regex {self.regex}"


class ProgramOutput:
    """What a program wrote."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._document: Any = None
        self._decoded = False

    def number(self, source: ValueSource) -> float | None:
        """Return the value at `source` times its factor, None if nothing stands there."""
        numbers = self._numbers_of_json(source) if source.path else self._numbers_of_text(source)
        if not numbers:
            return None
        try:
            value = _CHOOSE[source.match](numbers)
        # fsum's, of numbers that have no sum, and a share of nothing.
        except (OverflowError, ValueError, ZeroDivisionError):
            value = math.nan
        if not math.isfinite(value):
            raise self._unusable(f"{source} comes to {value}, which is no measurement")
        if source.positive and value <= 0:
            raise self._unusable(f"{source} is {value:g}: nothing was measured")
        return value

    def text(self, source: ValueSource) -> str | None:
        """Return the text or number at `source` as it stands there, None if there is none."""
        if source.path:
            values = self._at(source.path)
            texts = [_plain(value) for value in values if value not in (None, "")]
        else:
            texts = [match[min(match.re.groups, 1)] or "" for match in self._matches(source)]
        return (texts[-1] if source.match == "last" else texts[0]) if texts else None

    def parts(self, source: ValueSource) -> list[ProgramOutput]:
        """Return the output of each case where a file has several: a list's items, or matches.

        Of JSON each part is the whole with the list shortened to one item, so that a path leads to
        the same place in it as in a run's output.
        """
        if not source.path:
            return [ProgramOutput(match[0]) for match in self._matches(source)]
        (items,) = self._at(source.path) or [None]
        if not isinstance(items, list):
            raise self._unusable(f"{source} is no list")
        return [ProgramOutput(json.dumps(_replaced(self._json(), source.path, [i]))) for i in items]

    def check_whole(self) -> None:
        """EngineError `output` if rail-exec kept only the beginning: the figures may be missing."""
        if len(self._text.encode(errors="replace")) >= _LIMIT:
            raise self._unusable("it is longer than 1 MiB, of which the rest is lost")

    def missing(self, name: str, source: ValueSource) -> EngineError:
        """Return the error for a value that had to be there."""
        return self._unusable(f"{name} is not where it should stand ({source})")

    def _numbers_of_json(self, source: ValueSource) -> list[float]:
        return [self._float(value, source) * source.times[""] for value in self._at(source.path)]

    def _numbers_of_text(self, source: ValueSource) -> list[float]:
        numbers = []
        # Of the others nothing is used: they may have any unit.
        chosen = {"first": slice(1), "last": slice(-1, None)}.get(source.match, slice(None))
        for match in self._matches(source)[chosen]:
            unit = "" if "" in source.times else (match[2] or "")
            if unit not in source.times:
                units = ", ".join(source.times)
                raise self._unusable(f"{source} found the unit {unit!r}: known are {units}")
            numbers.append(self._float(match[1], source) * source.times[unit])
        return numbers

    def _float(self, value: Any, source: ValueSource) -> float:
        if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._unusable(f"{source} is {_plain(value)!r}, which is no number")
        try:
            return float(value)
        except OverflowError:
            raise self._unusable(f"{source} is beyond what can be measured") from None

    def _matches(self, source: ValueSource) -> list[regex.Match[str]]:
        # It understands what Python's `re` does and can be given a time limit, but compiles slowly:
        # descriptions are validated by `re`.
        import regex

        try:
            return list(regex.finditer(source.regex, self._text, timeout=_SECONDS))
        except regex.error as error:
            raise self._unusable(f"{source} is no regular expression ({error})") from None
        except TimeoutError:
            raise self._unusable(
                f"{source} is still looking after {_SECONDS:g} s: write the expression without a "
                "repetition inside a repetition"
            ) from None

    def _at(self, path: Sequence[str]) -> list[Any]:
        """Return all that stands at `path`; nothing where a step leads nowhere."""
        values = [self._json()]
        for step in path:
            values = [inner for value in values for inner in _inside(value, step)]
        return values

    def _json(self) -> Any:
        """Return the JSON document of the output, from the first line that begins like one.

        Some programs say a word of warning before it.
        """
        if not self._decoded:
            begin = re.search(r"(?m)^\s*[{\[]", self._text)
            try:
                decoder = json.JSONDecoder(parse_constant=_refuse)
                start = begin.end() - 1 if begin else 0
                self._document, _ = decoder.raw_decode(self._text, start)
            except (ValueError, RecursionError) as error:
                raise self._unusable(f"it is no JSON ({error})") from error
            self._decoded = True
        return self._document

    def _unusable(self, reason: str) -> EngineError:
        text = self._text.strip()
        excerpt = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        beginning = f"it begins: {excerpt!r}" if excerpt else "it is empty"
        return EngineError("output", f"the program's output can't be used: {reason}; {beginning}")


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a measurement")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _inside(value: Any, step: str) -> list[Any]:
    if isinstance(value, dict):
        return [value[step]] if step in value else []
    if not isinstance(value, list):
        return []
    if step == "*":
        return value
    return [value[int(step)]] if step.isdecimal() and int(step) < len(value) else []


def _replaced(value: Any, path: Sequence[str], replacement: Any) -> Any:
    """Return `value` with `replacement` at `path`, which leads to one place in it."""
    if not path:
        return replacement
    step, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, step: _replaced(value[step], rest, replacement)}
    index = int(step)
    return [*value[:index], _replaced(value[index], rest, replacement), *value[index + 1 :]]
