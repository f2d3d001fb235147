"""A few nights in a store, and the site that is built of them, for the tests of sites."""

from __future__ import annotations

import sqlite3
import time
from contextlib import nullcontext
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from tests.support.store_samples import LAUNCH, RUN
from tests.support.verdict_samples import add_run, lane, noisy

from railgauge.engine.outcome import PublishedValue
from railgauge.report.site.site_builder import Built, build_site
from railgauge.report.site.site_pages import case_file
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome, PlannedCase

PLAN = "sharcnet-udp"
CASES = tuple(case_file(lane(number).key) for number in (1, 2))


def nights(database: Path | str, count: int = 3, slower: int | None = None) -> list[int]:
    """Store so many runs of two cases; the first one is 10 % slower in run `slower`."""
    with Store.open(str(database)) as store:
        return [
            add_run(
                store,
                {
                    1: noisy(0.9e9 if number == slower else 1e9, seed=number),
                    2: noisy(2e9, seed=100 + number),
                },
                facts={"gw1": {"kernel": "6.1"}, "hh1": {"kernel": "6.2"}},
            )
            for number in range(1, count + 1)
        ]


def ended_early(database: Path | str) -> int:
    """Store a run of a case that a narrow interval ended after 12 of 30 replications."""
    with Store.open(str(database)) as store:
        rule = "ci95 <= 1% of throughput"
        info = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
        run = store.begin_run(RUN, [PlannedCase("stream", lane(), 30, least=5, rule=rule)], info)
        for number, value in enumerate(noisy(n=12), 1):
            store.add(
                run, "stream", lane().key, Outcome(number, 1.0, {"throughput": value}), LAUNCH
            )
        store.end_cases(run, {("stream", lane().key): "narrow"})
        store.finish_run(run, "complete")
    return run


def published(database: Store | Path | str, mean: float = 1e9) -> int:
    """Store a run whose only value was published, as a mean of ten replications."""
    statement = {"throughput": PublishedValue(10, 5e6)}
    outcome = Outcome(1, time.time(), {"throughput": mean}, published=statement)
    info = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
    planned = [PlannedCase("stream", lane(), 1)]
    opened = nullcontext(database) if isinstance(database, Store) else Store.open(str(database))
    with opened as store:
        new = replace(RUN, origin="imported")
        return store.import_run(new, planned, info, [("stream", lane().key, outcome)])


def build(database: Path | str, out: Path, **options: object) -> Built:
    return build_site(str(database), out, **options)  # type: ignore[arg-type]


def build_pages(database: Path, out: Path, **options: object) -> set[str]:
    """Build the site and return which pages were made."""
    return set(build(database, out, **options).pages)


def files(out: Path) -> dict[str, bytes]:
    """Return all files of the folder but the one that builds take turns by."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }


def change(database: Path, statement: str, *values: object) -> None:
    """Change the database behind the store's back."""
    connection = sqlite3.connect(database)
    with connection:
        assert connection.execute(statement, values).rowcount > 0
        connection.execute("UPDATE replication SET checksum = NULL")
    connection.close()


class Links(HTMLParser):
    """Collects where a page's links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hrefs += [value or "" for name, value in attrs if tag == "a" and name == "href"]
