"""The last nights of a plan: how its cases did in each, where they are slow, and since when."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import NamedTuple

from railgauge.base.number import plural
from railgauge.plan.catalogue.headlines import headlines
from railgauge.report.site.drawings import BandNight, band
from railgauge.report.site.run_data import DataCase, MetricKind, MetricRow, RunData
from railgauge.report.site.site_pages import CasePlace, case_file, run_file
from railgauge.report.verdicts.history.history_words import day
from railgauge.stats.digits import percent_text
from railgauge.stats.series_changes import BETTER
from railgauge.store.heads import RunHead

# Nights of a plan that are shown, and of its cases those that a table of nights has.
SHOWN_NIGHTS, MOST_CASES = 30, 20
_FEW_CASES = 12
_WORDS = {
    "slower": "slower",
    "once": "slower, not again",
    "part": "not all measured",
    "none": "not measured",
}
_GLYPHS = {"slower": "▼", "once": "▽", "part": "–", "none": "–", "same": ""}

# A case's test, as it is called now, and key.
_Name = tuple[str, str]


class NightCell(NamedTuple):
    """A case in a night: `kind` is same, once (slower, but not again), slower, none (no value).

    Of what has several metrics, or is several cases, part is without a value that it had.
    """

    kind: str
    glyph: str
    words: str


class NightColumn(NamedTuple):
    """A night: the run's page, the day of the month, and both in words."""

    href: str
    day: str
    words: str


class NightRow(NamedTuple):
    """A case, or what several together are called, and its nights."""

    name: str
    href: str
    cells: tuple[NightCell, ...]


class NightChanges(NamedTuple):
    """What facts and settings changed in a night."""

    href: str
    when: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class PlanNights:
    """The last nights of a plan, oldest first, each with its run's data.

    `data` has those of the runs that the newest is compared with, too; `places` are where the
    plan's cases are measured, by key.
    """

    heads: Sequence[RunHead]
    data: Mapping[int, RunData]
    places: Mapping[str, Sequence[CasePlace]]

    @property
    def newest(self) -> RunData:
        """The newest night's data."""
        return self.data[self.heads[-1].id]

    @cached_property
    def columns(self) -> tuple[NightColumn, ...]:
        """The nights."""
        return tuple(
            NightColumn(run_file(head.id), day(head)[8:], f"run {head.id}, {day(head)}")
            for head in self.heads
        )

    @cached_property
    def rows(self) -> tuple[NightRow, ...]:
        """A row for each case that wasn't always as it should be, the worst first, and the rest."""
        names = list(self._statuses)
        if len(names) > _FEW_CASES:
            names = [name for name in names if any(self._badness(name))]
        names = sorted(names, key=self._badness, reverse=True)[:MOST_CASES]
        rows = [
            NightRow(self._cases[name].name, case_file(name[1]), self._cells(name))
            for name in names
        ]
        rest = [name for name in self._statuses if name not in set(names)]
        return (*rows, *([self._together(rest)] if rest else []))

    @cached_property
    def changes(self) -> tuple[NightChanges, ...]:
        """The nights in which facts or settings changed, the newest first."""
        nights = [
            NightChanges(column.href, column.words, self.data[head.id].beside)
            for head, column in reversed([*zip(self.heads, self.columns, strict=True)])
        ]
        return tuple(night for night in nights if night.lines)

    @cached_property
    def where(self) -> str:
        """Where all that is slower in the newest night is, and since when; empty where unknown."""
        slower = [name for name, nights in self._statuses.items() if nights[-1] == "slower"]
        words = []
        hosts = [_hosts(self._cases[name]) for name in slower]
        common = set.intersection(*hosts) if len(slower) > 1 else set()
        if common:
            everywhere = set.intersection(*filter(None, map(_hosts, self._cases.values())))
            common -= everywhere
        if common:
            words.append(f"all at {', '.join(sorted(common))}")
        starts = {self._start(self._statuses[name]) for name in slower}
        if starts and (first := min(starts)) < len(self.heads) - 1:
            article = "" if len(starts) == 1 else "the first "
            # What was before the first of these nights, they don't show.
            earlier = "" if first else " or before"
            words.append(f"{article}since {day(self.heads[first])}{earlier}")
        return ", ".join(words)

    @cached_property
    def band(self) -> str:
        """The nights as a picture, empty where there is nothing to show them against."""
        nights = [self._night(head) for head in self.heads]
        if not any(nights):
            return ""
        last = nights[-1]
        label = f"{plural(len(nights), 'night')}. " + (last.title if last else "")
        return band(label, nights)

    def _night(self, head: RunHead) -> BandNight | None:
        primary: list[float] = []
        slower: dict[float, str] = {}
        for case, metric, row in self.data[head.id].measured():
            ratio = self._ratio(case, metric, row)
            if ratio is None:
                continue
            if self._primary.get(self._name(case)) == metric:
                primary.append(ratio)
            if row.change == "slower":
                slower[ratio] = case.name
        if not primary:
            return None
        primary.sort()
        # Of a few cases none is a tenth.
        beyond = len(primary) // 10
        low, middle, high = primary[beyond], median(primary), primary[-1 - beyond]
        title = f"run {head.id}, {day(head)}: {percent_text(middle - 1)}"
        if len(primary) > 1:
            cases = "all cases but the slowest and the fastest tenth" if beyond else "all cases"
            title = f"run {head.id}, {day(head)}: median {percent_text(middle - 1)}, {cases} from"
            title += f" {percent_text(low - 1)} to {percent_text(high - 1)}"
        slowest = min(slower, default=None)
        if slowest is not None:
            title += f"; slowest {percent_text(slowest - 1)}, {slower[slowest]}"
        return BandNight(title, low, middle, high, slowest)

    def _ratio(self, case: DataCase, metric: MetricKind, row: MetricRow) -> float | None:
        """Return how many times as good a value is as what the newest night is compared with."""
        reference = self._references.get((self._name(case), metric))
        if reference is None or row.median is None or row.median <= 0:
            return None
        return row.median / reference if metric.better == "higher" else reference / row.median

    @cached_property
    def _references(self) -> dict[tuple[_Name, MetricKind], float]:
        values: dict[tuple[_Name, MetricKind], list[float]] = {}
        for run in self.newest.against:
            for case, metric, row in self.data[run].measured():
                if row.median is not None and row.median > 0 and metric.better in BETTER:
                    values.setdefault((self._name(case), metric), []).append(row.median)
        return {name: median(of_name) for name, of_name in values.items()}

    @cached_property
    def _primary(self) -> dict[_Name, MetricKind]:
        """The first headline metric of each case."""
        order = {name: place for place, name in enumerate(headlines())}
        kinds: dict[_Name, list[MetricKind]] = {}
        for name, metric in self._references:
            kinds.setdefault(name, []).append(metric)
        return {
            name: min(of_case, key=lambda kind: (order.get(kind.name, len(order)), kind))
            for name, of_case in kinds.items()
        }

    @cached_property
    def _cases(self) -> dict[_Name, DataCase]:
        """The cases of all the nights, as the last one that has them names them."""
        return {self._name(case): case for head in self.heads for case in self.data[head.id].cases}

    @cached_property
    def _statuses(self) -> dict[_Name, list[str]]:
        """What became of each case of the newest night, night by night."""
        names = [self._name(case) for case in self.newest.cases]
        statuses: dict[_Name, list[str]] = {name: [] for name in names}
        for head in self.heads:
            night: dict[_Name, set[str]] = {}
            for case, _, row in self.data[head.id].measured():
                kinds = night.setdefault(self._name(case), set())
                if row.change == "slower":
                    kinds.add("slower")
                elif row.change == "lost":
                    kinds.add("none")
                elif row.median is not None:
                    kinds.add("same")
            for name, nights in statuses.items():
                nights.append(_worst(night.get(name, ())))
        # Compared with the night before, what is slower for good is so only once.
        by_baseline = [self.data[head.id].baseline for head in self.heads]
        for nights in statuses.values():
            for place in range(1, len(nights) - 1):
                around = slice(place - 1, place + 2)
                if nights[around] == ["same", "slower", "same"] and all(by_baseline[around]):
                    nights[place] = "once"
        return statuses

    def _badness(self, name: _Name) -> tuple[bool, int, int]:
        nights = self._statuses[name]
        return (
            nights[-1] in ("slower", "part", "none"),
            nights.count("slower") + nights.count("once"),
            len(nights) if nights[-1] == "none" else 0,
        )

    def _start(self, nights: Sequence[str]) -> int:
        """Return the first night of those at the end that are slower."""
        place = len(nights)
        while place and nights[place - 1] == "slower":
            place -= 1
        return place

    def _cells(self, name: _Name) -> tuple[NightCell, ...]:
        return tuple(map(_cell, self._statuses[name], self.columns))

    def _together(self, names: Sequence[_Name]) -> NightRow:
        """Return one row for cases: of each night the worst of those that were measured by then."""
        measured_cases: set[_Name] = set()
        kinds = []
        for night in range(len(self.heads)):
            measured_cases |= {name for name in names if self._statuses[name][night] != "none"}
            kinds.append(_worst({self._statuses[name][night] for name in measured_cases}))
        other = "other " if len(names) < len(self._statuses) else ""
        number = plural(len(names), f"{other}case")
        return NightRow(number, "", tuple(map(_cell, kinds, self.columns)))

    def _name(self, case: DataCase) -> _Name:
        for place in self.places.get(case.key, ()):
            if case.test in place.tests:
                return place.tests[0], case.key
        return case.test, case.key


def _hosts(case: DataCase) -> set[str]:
    return {case.client, case.server} - {""}


def _worst(kinds: Collection[str]) -> str:
    if "none" in kinds and "same" in kinds:
        kinds = {*kinds, "part"}
    return next((kind for kind in ("slower", "once", "part", "same") if kind in kinds), "none")


def _cell(kind: str, column: NightColumn) -> NightCell:
    words = f"{column.words}: {_WORDS[kind]}" if kind in _WORDS else ""
    return NightCell(kind, _GLYPHS[kind], words)
