"""Checks where a description says that values stand: paths, expressions, units and factors."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from railgauge.base import units
from railgauge.base.suggestion import suggest, suggest_or_list
from railgauge.plan.catalogue.external_model import ExternalMetric, ExternalSource
from railgauge.plan.catalogue.info import MetricDescription
from railgauge.plan.catalogue.output import Match, ValueSource, split_path
from railgauge.plan.validation import Reporter


class SourceReader:
    """Reads sources; `modes` are the choices of the engine's parameter `mode`."""

    def __init__(
        self,
        report: Reporter,
        modes: Collection[str],
        executor: Mapping[str, MetricDescription],
    ) -> None:
        self._report = report
        self._modes = modes
        self._executor = executor

    def metric(self, name: str, written: ExternalMetric) -> dict[str, ValueSource | str]:
        """Return the sources of a metric by mode, "" standing for all of them."""
        loc = ("metrics", name)
        if written.source is not None:
            for key in ("json", "regex", "match", "times", "optional", "positive"):
                if key in _written_keys(written):
                    self._report(f"{key!r} and 'from' exclude each other: drop one", *loc, key)
            self._check_measured(name, written)
            return {"": written.source}
        self._check_unit(written.unit, *loc, "unit")
        times = written.times or {"": 1.0}
        for unit, factor in times.items():
            if not (math.isfinite(factor) and factor > 0):
                self._report(f"{factor} is no factor: write a number above 0", *loc, "times")
            if unit == "" and len(times) > 1:
                self._report("one of these units has no name: name it", *loc, "times")
        sources = self.sources(written, *loc, times=times, by_mode=True)
        return {
            mode: replace(source, positive=written.positive) for mode, source in sources.items()
        }

    def source(self, written: ExternalSource | None, *loc: str | int) -> ValueSource | None:
        """Return a source that is the same in all modes; None if there is none, or it is wrong."""
        return None if written is None else self.sources(written, *loc, text=True).get("")

    def sources(
        self,
        written: ExternalSource,
        *loc: str | int,
        times: Mapping[str, float] | None = None,
        by_mode: bool = False,
        text: bool = False,
    ) -> dict[str, ValueSource]:
        """Return the sources by mode; of a `text` an expression needs no group."""
        if (written.path is None) == (written.regex is None):
            keys = "'json', 'regex' or 'from'" if by_mode else "'json' or 'regex'"
            self._report(f"say where this stands, once: with {keys}", *loc)
            return {}
        key = "json" if written.path is not None else "regex"
        sources: dict[str, ValueSource] = {}
        for mode, place in (written.path or written.regex or {}).items():
            value_loc = (*loc, key) if mode == "" else (*loc, key, mode)
            if mode and (not by_mode or mode not in self._modes):
                hint = suggest(mode, self._modes) if by_mode else ": write one text"
                self._report(f"{mode!r} is no mode of this engine{hint}", *value_loc, key=True)
                continue
            try:
                factors = times or {"": 1.0}
                sources[mode] = self._source(key, place, written.match, factors, text=text)
            except ValueError as error:
                self._report(str(error), *value_loc)
        return sources

    def _source(
        self, key: str, place: str, match: Match | None, times: Mapping[str, float], *, text: bool
    ) -> ValueSource:
        if key == "json":
            path = split_path(place)
            if "" not in times:
                raise ValueError("'times' by unit is for 'regex': write one number")
            if match is not None and "*" not in path:
                raise ValueError("'match' is for several values: this path has no '*'")
            return ValueSource(path, match=match or "sum" if "*" in path else "first", times=times)
        try:
            groups = re.compile(place).groups
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"{place!r} is no regular expression ({error})") from None
        expected = 1 if "" in times else 2
        if groups != expected and not (text and groups == 0):
            contents = "its number" if expected == 1 else "its number and its unit"
            raise ValueError(
                f"{place!r} has {groups} groups: put {contents} in ( ), and (?: ) around what is "
                "none"
            )
        return ValueSource(regex=place, match=match or "first", times=times)

    def _check_unit(self, unit: str, *loc: str | int) -> None:
        base, scale = units.DISPLAY.get(unit, (unit, 1.0))
        if base != unit:
            self._report(
                f"values are kept in base units: write 'unit: {base}' and 'times: {scale:g}'", *loc
            )

    def _check_measured(self, name: str, written: ExternalMetric) -> None:
        assert written.source is not None
        measured = self._executor.get(written.source)
        if measured is None:
            hint = suggest_or_list(written.source, self._executor)
            message = f"{written.source!r} is nothing that rail-exec measures{hint}"
            self._report(message, "metrics", name, "from")
        elif written.unit != measured.unit:
            message = f"{written.source} comes in the unit {measured.unit!r}: write that"
            self._report(message, "metrics", name, "unit")


def _written_keys(written: ExternalMetric) -> set[str]:
    fields = ExternalMetric.model_fields
    return {fields[name].alias or name for name in written.model_fields_set}
