"""Reads one file that somebody else's program wrote: its cases, and what was measured of each."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from railgauge.base.errors import EngineError, FileProblems, InputError, Problem
from railgauge.exchange.importing.value_text import imported_value
from railgauge.plan.catalogue import EngineInfo, ParameterInfo, Value
from railgauge.plan.catalogue.imported import Imported, ImportedParameter
from railgauge.plan.catalogue.output import ProgramOutput, ValueSource
from railgauge.plan.catalogue.program import Program

# OSU's and netperf's texts have some hundred lines, fio's JSON a few thousand.
_MOST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class FileMeasurement:
    """A measurement in a file, in base units; what the file doesn't say is "" or None.

    `same` is what has to be alike among the replications of a case.
    """

    path: Path
    engine: EngineInfo
    parameters: Mapping[str, Value]
    metrics: Mapping[str, float]
    started_at: float | None
    client: str
    server: str
    same: Mapping[str, str]


def read_file(path: Path, engines: Sequence[EngineInfo]) -> list[FileMeasurement]:
    """Return what was measured in the file, which one of `engines` wrote.

    FileProblems where something is missing or can't be determined, InputError for a file that
    can't be read at all.
    """
    text = _text(path)
    for engine in engines:
        if len(engines) == 1 or _is_of(engine, ProgramOutput(text)):
            break
    else:
        names = " or ".join(engine.name for engine in engines)
        raise FileProblems([Problem(str(path), 1, 1, f"this is no output of {names}")])
    assert engine.program is not None
    assert engine.program.imported is not None
    try:
        return list(_Reader(path, text, engine, engine.program, engine.program.imported).read())
    except (EngineError, ValueError) as error:
        raise FileProblems([Problem(str(path), 1, 1, str(error))]) from error


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise InputError(f"{path} has more than {_MOST_BYTES} bytes: it is something else")
        return data.decode().replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is no text in UTF-8: name files that the program wrote"
        ) from error


def _is_of(engine: EngineInfo, output: ProgramOutput) -> bool:
    """Return whether the file shows a mode of this engine; any does where the engine has none."""
    assert engine.program is not None
    assert engine.program.imported is not None
    mode = engine.program.imported.parameters.get("mode")
    if mode is None:
        return True
    try:
        texts = [text for source in mode.sources if (text := output.text(source)) is not None]
    except EngineError:
        return False
    return any(text in mode.values for text in texts)


class _Reader:
    def __init__(
        self, path: Path, text: str, engine: EngineInfo, program: Program, imported: Imported
    ) -> None:
        self.path = path
        self.text = text
        self.whole = ProgramOutput(text)
        self.engine = engine
        self.imported = imported
        self._everywhere: dict[str, set[str | None]] = {}
        # What rail-exec measures stands in no file.
        files = {
            name: {
                mode: source for mode, source in by_mode.items() if isinstance(source, ValueSource)
            }
            for name, by_mode in program.metric_sources.items()
        }
        self.program = replace(
            program, metric_sources={name: files[name] for name in files if files[name]}
        )

    def read(self) -> Iterator[FileMeasurement]:
        if self._is_json():
            _check_alone(self.text)
        elif self.text and not self.text.endswith("\n"):
            # Of a number that was cut off in the middle, the rest would pass for it.
            raise ValueError(
                "its last line doesn't end, so it may have been cut off: write it again, or put a "
                "line break there if it is whole"
            )
        parts = [self.whole]
        if self.imported.cases is not None:
            parts = self.whole.parts(self.imported.cases)
            if not parts:
                raise self.whole.missing("a measurement", self.imported.cases)
        self._check_apart(parts)
        for part in parts:
            yield self._measurement(part)

    def _is_json(self) -> bool:
        sources = [
            source
            for by_mode in self.program.metric_sources.values()
            for source in by_mode.values()
        ]
        return any(isinstance(source, ValueSource) and source.path for source in sources)

    def _check_apart(self, parts: Sequence[ProgramOutput]) -> None:
        """Refuse figures of what ran side by side: each is but a share of what was measured."""
        if self.imported.together is None:
            return
        groups = [part.text(self.imported.together) for part in parts]
        if len(set(groups)) < len(groups):
            raise ValueError(
                "several of its measurements ran at the same time, and each has but its own share: "
                "let the program report such as one (fio: --group_reporting)"
            )

    def _measurement(self, part: ProgramOutput) -> FileMeasurement:
        if words := self.program.failure(part):
            raise ValueError(f"the program says that it failed ({words}): leave this file out")
        for name, source in self.imported.refused.items():
            if (text := self._at(part, source)) is not None:
                raise ValueError(f"{name} is {text}, which no case of {self.engine.name} can hold")
        parameters = self._parameters(part)
        self._check_zero(part, parameters.get("mode"))
        optional = frozenset(info.name for info in self.engine.metrics.values() if info.optional)
        same = {name: self._at(part, source) or "" for name, source in self.imported.same.items()}
        return FileMeasurement(
            path=self.path,
            engine=self.engine,
            parameters=parameters,
            metrics=self.program.read({}, part, parameters.get("mode"), optional),
            started_at=self._started_at(part),
            client=self._host(part, self.imported.client),
            server=self._host(part, self.imported.server),
            same=same,
        )

    def _check_zero(self, part: ProgramOutput, mode: Value | None) -> None:
        """Refuse figures of something beside what a case can hold."""
        for name, by_mode in self.imported.zero.items():
            source = by_mode.get("", by_mode.get(str(mode)))
            if source is not None and (number := part.number(source)):
                raise ValueError(
                    f"{name} is {number:g}, which is 0 in each case of {self.engine.name}: leave "
                    "this file out, or measure without"
                )

    def _parameters(self, part: ProgramOutput) -> dict[str, Value]:
        """Return the parameters; one that has no effect in the file's mode has its default."""
        descriptions = self.imported.parameters
        modes = []
        if "mode" in descriptions:
            modes = [self._parameter(part, self.engine.parameters["mode"], descriptions["mode"])]
        values = {}
        for name, description in descriptions.items():
            info = self.engine.parameters[name]
            if info.applies(modes):
                values[name] = self._parameter(part, info, description)
            elif info.default is not None:
                values[name] = info.default
        return values

    def _parameter(
        self, part: ProgramOutput, info: ParameterInfo, description: ImportedParameter
    ) -> Value:
        for source in description.sources:
            if (text := self._at(part, source)) is not None:
                try:
                    return imported_value(info, description, text)
                except ValueError as error:
                    raise ValueError(f"{info.name}: {error}") from None
        if description.absent is None:
            raise part.missing(info.name, description.sources[0])
        return description.absent

    def _at(self, part: ProgramOutput, source: ValueSource) -> str | None:
        """Return what stands in the part or, where it has nothing, in all the file alike."""
        if (text := part.text(source)) is not None or part is self.whole or source.path:
            return text
        texts = self._everywhere.get(source.regex)
        if texts is None:  # Looked up once: a file may have thousands of parts.
            texts = {part.text(source) for part in self.whole.parts(source)}
            self._everywhere[source.regex] = texts
        if len(texts) > 1:
            raise ValueError(
                f"it has {' and '.join(sorted(map(repr, texts)))}, so that it is unclear which of "
                "its measurements are of which: give each a file of its own"
            )
        return next(iter(texts), None)

    def _started_at(self, part: ProgramOutput) -> float | None:
        if self.imported.started_at is None:
            return None
        # A file may say it once for all its measurements.
        seconds = part.number(self.imported.started_at)
        if seconds is None:
            seconds = self.whole.number(self.imported.started_at)
        if seconds is not None and not (math.isfinite(seconds) and 0 < seconds < 2**35):
            raise ValueError(f"{seconds} is no time in seconds since 1970")
        return seconds

    def _host(self, part: ProgramOutput, source: ValueSource | None) -> str:
        text = "" if source is None else self._at(part, source) or ""
        if not text.isprintable():
            raise ValueError(f"{text!r} is no host's name")
        return text


def _check_alone(text: str) -> None:
    """Refuse a second JSON document in a file, which would otherwise be passed over."""
    begin = re.search(r"(?m)^\s*[{\[]", text)
    if begin is None:
        return
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin.end() - 1)
    except (ValueError, RecursionError):
        return
    if text[end:].strip():
        line = text.count("\n", 0, end) + 1
        raise ValueError(f"after line {line} there is more than one JSON document: split the file")
