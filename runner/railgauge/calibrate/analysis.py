"""Truths about what comes after the engines: digits of reports, and verdicts of comparisons.

Known numbers are stored as any measurement is, and shown or compared as any others are. What has to
come out follows from closed forms in exact arithmetic, and shares no code with the analysis.
"""

from __future__ import annotations

import csv
import io
import math
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from railgauge import __version__
from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.rig import Fault
from railgauge.calibrate.truth import LocalTruth
from railgauge.calibrate.uncertainty import counted
from railgauge.compare.verdict import verdict_between
from railgauge.engine.deploy import bundle
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.report.definition.definition_model import Spec
from railgauge.report.document.write_report import write_report
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

_ENGINE, _METRIC, _TEST, _PLAN = "udp", "throughput", "known", "known"
_DIGITS = 4
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
# What a printed unit stands for, in bit/s.
_UNITS = {"Gbit/s": 10**9, r"\giga\bit\per\second": 10**9, "Mbit/s": 10**6}
# By the statistic: the table that has it. An interval decides on the decimals of its table.
_TABLES = {
    "median": ("values", ("median", "arithmetic_mean")),
    "arithmetic_mean": ("values", ("median", "arithmetic_mean")),
    "interval": ("intervals", ("interval_low", "interval_high")),
}
# What becomes of the second run's values, and which verdict that is: higher is better.
_VERDICTS = {
    1: (Fraction(9, 10), -1),
    2: (Fraction(1), 0),
    3: (Fraction(11, 10), 1),
    4: (Fraction(19, 20), -1),
    5: (Fraction(1), 0),
}
_DIRECTIONS = {"slower": -1, "same": 0, "faster": 1}
_BASELINE_RUNS = 3
# When all of them were measured, in seconds since 1970: any moment.
_MOMENT = 1.7e9
# Of a table: a number's text and its unit, by column.
Row = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class KnownSeries:
    """`n` values `base` + `step` k², k = 0 … n − 1, in bit/s: the mean isn't the median."""

    number: int
    n: int
    base: int
    step: int

    @property
    def values(self) -> list[int]:
        """The values in the order of measurement, which isn't that of their ranks."""
        # 13 has no factor in common with any n.
        return [self.base + self.step * (13 * k % self.n) ** 2 for k in range(self.n)]

    @property
    def ends(self) -> tuple[int, int]:
        """The values between which the median lies with 95 % at least: by exact binomials."""
        rank, below = 0, 0
        while 2 * 100 * (below := below + math.comb(self.n, rank)) <= 5 * 2**self.n:
            rank += 1
        return self._ranked(rank), self._ranked(self.n + 1 - rank)

    @property
    def statistics(self) -> Mapping[str, Fraction]:
        """What each statistic is."""
        low, high = self.ends
        middle = Fraction(self._ranked((self.n + 1) // 2) + self._ranked(self.n // 2 + 1), 2)
        squares = Fraction((self.n - 1) * (2 * self.n - 1), 6)
        mean = self.base + self.step * squares
        return {
            "median": middle,
            "arithmetic_mean": mean,
            "interval_low": Fraction(low),
            "interval_high": Fraction(high),
        }

    def _ranked(self, rank: int) -> int:
        return self.base + self.step * (rank - 1) ** 2


# No two have values in common ranges; no statistic ends in a digit 5 to be rounded.
KNOWN_SERIES = (
    KnownSeries(1, 11, 1_123_456_789, 1_234_567),
    KnownSeries(2, 10, 2_987_654_321, 3_141_593),
    KnownSeries(3, 7, 5_550_123_457, 12_345_677),
    KnownSeries(4, 30, 8_765_432_123, 1_414_214),
    # So narrow that five significant digits are the most.
    KnownSeries(5, 10, 444_412_345_679, 314_159),
)


def analysis_truths() -> Iterator[LocalTruth]:
    """Yield the truths about reports and verdicts."""
    for words, statistic in (
        ("medians", "median"),
        ("means", "arithmetic_mean"),
        ("intervals", "interval"),
    ):
        check = CertificateCheck(f"report {words}", "report", "", 0.0, relative=False)
        yield LocalTruth(check, partial(_printed, statistic=statistic))
    check = CertificateCheck("compare verdicts", "compare", "", 0.0, relative=False)
    yield LocalTruth(check, _judged)


def one_rank_more(number: float) -> float:
    """Return the next greater one of the known values of the series that `number` is of."""
    return float(min(v for series in KNOWN_SERIES for v in series.values if v > number + 1e5))


def _printed(check: CertificateCheck, fault: Fault | None, *, statistic: str) -> CertificateCheck:
    """Count the numbers of a report, in each format, that are right to the last digit."""
    table, statistics = _TABLES[statistic]
    with tempfile.TemporaryDirectory(prefix="railgauge-calibrate-") as name:
        folder = Path(name)
        with Store.open(str(folder / "known.db")) as store:
            catalogue = load_catalogue()
            run = _store_run(store, catalogue, {series.number: 1 for series in KNOWN_SERIES})
            write_report(store, [run], _definition(), folder, catalogue=catalogue)
        tables = [read_cells(folder, table) for read_cells in READERS]
    chosen_columns = [column for column in statistics if statistic in ("interval", column)]
    right = sum(
        is_right(cell, series, column, fault)
        for rows in tables
        for series, row in zip(KNOWN_SERIES, rows, strict=False)
        for cell, column in zip(row, statistics, strict=False)
        if column in chosen_columns
    )
    # What a table lacks isn't right.
    return counted(check, [right], len(READERS) * len(KNOWN_SERIES) * len(chosen_columns))


def is_right(
    cell: tuple[str, str], series: KnownSeries, statistic: str, fault: Fault | None = None
) -> bool:
    """Return whether the text of a cell, a number and its unit, is the statistic, rounded."""
    text, unit = cell
    if _NUMBER.fullmatch(text) is None:
        return False
    decimals = _DIGITS
    if statistic.startswith("interval"):
        # Two significant digits of half the interval's width, five of its greater end at most.
        low, high = series.ends
        half_width, end = (math.floor(math.log10(n)) for n in ((high - low) / 2e9, high / 1e9))
        decimals = min(_DIGITS, 1 - half_width, 4 - end)
    number = Fraction(text) * _UNITS.get(unit, 0)
    if fault is not None:
        number = Fraction(fault.change(float(number)))
    truth = round(series.statistics[statistic] / 10**9, decimals) * 10**9
    return number == truth and len(text.partition(".")[2]) == decimals


def _store_run(store: Store, catalogue: Catalogue, factors: Mapping[int, Fraction | int]) -> int:
    """Store a run of the known series, by number times a factor, as a run stores its own."""
    cases = {series.number: _case(series.number) for series in KNOWN_SERIES}
    metrics = {_METRIC: MetricInfo.of(catalogue.engine(_ENGINE).metrics[_METRIC])}
    new = NewRun(_PLAN, "", "/", "", False, 1, "", __version__, bundle().digest, {})
    planned = [PlannedCase(_TEST, cases[series.number], series.n) for series in KNOWN_SERIES]
    run = store.begin_run(new, planned, {_ENGINE: metrics})
    with store.together():
        for series in KNOWN_SERIES:
            if series.number not in factors:
                continue
            launch = Launch(_MOMENT)
            for replication, value in enumerate(series.values, 1):
                metric = {_METRIC: float(value * factors[series.number])}
                outcome = Outcome(replication, _MOMENT, metric)
                store.add(run, _TEST, cases[series.number].key, outcome, launch)
    store.finish_run(run, "complete")
    return run


def _case(number: int) -> Case:
    parameters = {"datagram": number, "duration": 1.0}
    return Case(f"{number:016x}", _ENGINE, "a→b", "a", "b", parameters)


def _definition() -> Spec:
    tables = [
        {
            "name": name,
            "title": name,
            "rows": ["datagram"],
            "cells": [
                {"metric": _METRIC, "statistic": s, "unit": "Gbit/s", "digits": _DIGITS, "label": s}
                for s in statistics
            ],
        }
        for name, statistics in dict.fromkeys(_TABLES.values())
    ]
    return Spec.model_validate(
        {"railgauge_report": 1, "name": "known", "title": "Known", "tables": tables}
    )


def _html(folder: Path, table: str) -> list[Row]:
    text = (folder / "index.html").read_text(encoding="utf-8")
    section = text.partition(f'<section id="{table}">')[2].partition("</section>")[0]
    units = re.findall(r'class="unit">\(([^)]*)\)', section)
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in section.split("<tr>")]
    return [list(zip(row, units, strict=False)) for row in rows if row]


def _csv(folder: Path, table: str) -> list[Row]:
    text = (folder / f"{table}.csv").read_text(encoding="utf-8")
    lines = csv.DictReader(io.StringIO(text))
    cells = [(line.get("shown", ""), line.get("shown_unit", "")) for line in lines]
    # A line a cell, two cells a row.
    return [cells[first : first + 2] for first in range(0, len(cells), 2)]


def _latex(folder: Path, table: str) -> list[Row]:
    text = (folder / f"{table}.tex").read_text(encoding="utf-8")
    units = re.findall(r"\\unit\{([^}]*)\}", text)
    rows = re.findall(r"^ *[0-9]+ & (\S+) & (\S+) \\\\", text, re.MULTILINE)
    return [list(zip(row, units, strict=False)) for row in rows]


READERS = (_html, _csv, _latex)


def _judged(check: CertificateCheck, fault: Fault | None) -> CertificateCheck:
    """Count the right verdicts of a comparison with a baseline of three runs."""
    with (
        tempfile.TemporaryDirectory(prefix="railgauge-calibrate-") as name,
        Store.open(str(Path(name) / "known.db")) as store,
    ):
        catalogue = load_catalogue()
        # Runs of a baseline differ by little.
        baseline = [
            _store_run(store, catalogue, _all(1 + Fraction(run, 5000)))
            for run in range(_BASELINE_RUNS)
        ]
        store.set_baseline(_PLAN, baseline, "")
        factors = {number: factor for number, (factor, _) in _VERDICTS.items()}
        after = _store_run(store, catalogue, factors)
        verdict = verdict_between(store, _PLAN, str(after), plan="")
    directions = {
        int(str(result.case.parameters["datagram"])): _DIRECTIONS.get(result.judged.change)
        for result in verdict.comparison.results
    }
    if fault is not None:
        directions = {
            number: None if direction is None else int(fault.change(direction))
            for number, direction in directions.items()
        }
    right = sum(directions.get(number) == truth for number, (_, truth) in _VERDICTS.items())
    return counted(check, [right], len(_VERDICTS))


def _all(factor: Fraction) -> Mapping[int, Fraction]:
    return {series.number: factor for series in KNOWN_SERIES}
