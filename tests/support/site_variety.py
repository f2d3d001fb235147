"""A database with runs of all kinds, and a reader of a site's tables, for the tests of sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path

from tests.support.matrix_data import rates, store_matrix
from tests.support.store_samples import LAUNCH, RUN, SUSPICIONS, failed, measured
from tests.support.verdict_samples import add_run, lane, noisy

from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.partial import only_texts
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, Outcome, PlannedCase

NIGHT = replace(RUN, plan="night")
CONFIRMING = replace(NIGHT, files=only_texts({("stream", lane(1).key)}))
UNKNOWN = replace(RUN, plan="unknown engine", engines_hash="beef")


def outcomes(values: Sequence[float], suspects: int = 0, fails: int = 0) -> list[Outcome]:
    """Return replications of these values, the first `suspects` suspect; the last ones failed."""
    replications = [measured(number, value) for number, value in enumerate(values, 1)]
    for place in range(suspects):
        replications[place] = replace(
            replications[place], status="suspect", suspicions=SUSPICIONS[:1]
        )
    return replications + [failed(len(replications) + number) for number in range(1, fails + 1)]


def odd(number: int = 1) -> Case:
    """Return a case of an engine that no catalogue knows."""
    parameters: dict[str, Value] = {"depth": number, "café": "<b>"}
    key = case_key("gone", "gw→hh", "gw1", "hh1", parameters)
    return Case(key, "gone", "gw→hh", "gw1", "hh1", parameters)


def add_cases(
    database: Path,
    new: NewRun,
    cases: Mapping[tuple[str, int], Sequence[Outcome] | str],
    metrics: Mapping[str, MetricInfo],
    *,
    finish: bool = True,
) -> int:
    """Store a run of cases by test and number: their outcomes, or why one is skipped."""
    make = odd if new.plan == UNKNOWN.plan else lane
    planned = [
        PlannedCase(
            test,
            make(number),
            10,
            outcomes_or_reason if isinstance(outcomes_or_reason, str) else "",
        )
        for (test, number), outcomes_or_reason in cases.items()
    ]
    engine = planned[0].case.engine if planned else "udp"
    with Store.open(str(database), check=False) as store:
        run = store.begin_run(new, planned, {engine: metrics})
        with store.together():
            for planned_case, outcomes_or_reason in zip(planned, cases.values(), strict=True):
                for outcome in () if isinstance(outcomes_or_reason, str) else outcomes_or_reason:
                    store.add(run, planned_case.test, planned_case.case.key, outcome, LAUNCH)
        store.add_facts(run, "gw1", {"kernel": f"6.{run}"})
        if finish:
            store.finish_run(run, "complete")
    return run


AGAINST = {2: "1", **dict.fromkeys(range(3, 8), "night"), 9: "fabric", 12: "11", 13: "12", 14: "13"}
RATE = {"throughput": MetricInfo("bit/s", "higher"), "loss_rate": MetricInfo("1", "lower")}


def store_variety(database: Path) -> None:
    """Store plans, baselines, failures, skips, imports, confirming runs, all kinds of metrics.

    AGAINST says what each of the runs is to be held against.
    """
    _nights(database)
    for seed in (1, 2):
        with Store.open(str(database)) as store:
            values = rates(4, seed=seed)
            values[0, 1] = float("nan")
            pairs = store_matrix(store, values, replications=6)
    add_run(database, {1: noisy()}, new=replace(RUN, plan="once"))
    _unknown(database)
    with Store.open(str(database)) as store:
        store.set_baseline("night", [1, 2])
        store.set_baseline("other", [2])
        store.set_baseline("fabric", [pairs - 1])
        store.begin_run(replace(RUN, plan="empty"), [], {})


def _nights(database: Path) -> None:
    for seed in (1, 2):
        usual = {("stream", n): outcomes(noisy(n * 1e9, seed=9 * n + seed)) for n in (1, 2, 3)}
        usual["long", 4] = outcomes(noisy(4e9, n=3, seed=seed))
        add_cases(database, NIGHT, {**usual, ("stream", 5): "no huge pages"}, RATE)
    cases: dict[tuple[str, int], Sequence[Outcome] | str] = {
        ("stream", 1): outcomes(noisy(0.9e9), suspects=2),
        ("stream", 2): outcomes([], fails=3),
        ("stream", 3): "hh1 has no such device",
        ("stream", 5): "no huge pages",
        ("long", 4): outcomes([], fails=2),
        ("new", 6): outcomes(noisy(6e9), fails=1),
    }
    add_cases(database, NIGHT, cases, RATE)
    add_cases(database, CONFIRMING, {("stream", 1): outcomes(noisy(0.9e9, seed=5))}, RATE)
    # All of it failed; then it was imported; then the test was renamed and is at work.
    add_cases(database, NIGHT, {("stream", n): outcomes([], fails=2) for n in (1, 2)}, RATE)
    new = replace(NIGHT, origin="imported", files={})
    add_cases(database, new, {("stream", 1): outcomes(noisy(1.1e9))}, RATE)
    renamed = {("flow", 1): outcomes(noisy(1.2e9, n=4)), ("flow", 2): []}
    add_cases(database, NIGHT, renamed, RATE, finish=False)


def _unknown(database: Path) -> None:
    """Store runs of an unknown engine: other metrics each time, in one test without a direction."""

    def of(metrics: Mapping[str, float], n: int = 6) -> list[Outcome]:
        return [
            replace(measured(number), metrics={name: v + number for name, v in metrics.items()})
            for number in range(1, n + 1)
        ]

    speed, size = MetricInfo("1/s", "higher"), MetricInfo("B", "neither")
    infos = {"speed": speed, "size": size, "latency": MetricInfo("s", "lower")}
    add_cases(database, UNKNOWN, {("a", 1): of({"speed": 10}), ("b", 2): of({"size": 7})}, infos)
    speed_and_latency = {"speed": 20.0, "latency": 5.0}
    add_cases(
        database, UNKNOWN, {("a", 1): of(speed_and_latency), ("b", 2): of({"size": 8})}, infos
    )
    add_cases(database, UNKNOWN, {("a", 1): of({"latency": 9}), ("b", 2): of({"size": 8})}, infos)
    add_cases(database, UNKNOWN, {("a", 1): [], ("b", 2): of({"size": 1})}, infos)


@dataclass
class Shown:
    """A cell of a page's table, as it is read: `value` is what it sorts by."""

    text: str = ""
    value: float | None = None
    href: str = ""


class Tables(HTMLParser):
    """Reads a page's tables: by the id of each, its rows without the first, cell by cell."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[Shown]]] = {}
        self._rows: list[list[Shown]] | None = None
        self._cell: Shown | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "table":
            self._rows = self.tables.setdefault(attributes.get("id", ""), [])
        elif self._rows is None:
            return
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            value = attributes.get("data-value")
            self._cell = Shown(value=float(value) if value else None)
            self._rows[-1].append(self._cell)
        elif tag == "a" and self._cell is not None:
            self._cell.href = attributes["href"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None
        elif tag in ("td", "th"):
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.text += data


def table(page: Path, name: str) -> list[dict[str, Shown]]:
    """Return the rows of a page's table, each by the headings of its columns."""
    rows = Tables(page.read_text(encoding="utf-8")).tables.get(name, [])
    if not rows:
        return []
    heads = [cell.text.strip() for cell in rows[0]]
    # Each metric of a case's page has an interval: the heading before it tells of which.
    names = [
        f"{heads[at - 1]}: {head}" if head == "95 % interval" else head
        for at, head in enumerate(heads)
    ]
    return [dict(zip(names, row, strict=True)) for row in rows[1:]]
