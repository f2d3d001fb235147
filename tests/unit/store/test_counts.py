"""What `railgauge list` shows of a run is stored when it's over, and is what the run has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    RUN,
    case,
    failed,
    measured,
    planned,
    warmup,
)

from railgauge.base.errors import StoreError
from railgauge.store import Store
from railgauge.store.copy import copy
from railgauge.store.counts import COUNT_COLUMNS
from railgauge.store.thinning import thin

SIZES = [case(size) for size in (64, 1460)]


def stored(store: Store) -> list[tuple[int | None, ...]]:
    """Return cases, skipped, asked, measured and failed of each run, as its row has them."""
    with store.reading() as connection:
        query = text(f"SELECT {', '.join(COUNT_COLUMNS)} FROM run ORDER BY id")
        return [tuple(row) for row in connection.execute(query)]


def counted(store: Store) -> list[tuple[int, ...]]:
    return [(run.cases, run.skipped, run.asked, run.measured, run.failed) for run in store.runs()]


def begun(store: Store) -> int:
    """Return a run of which a replication is measured and one failed."""
    run = store.begin_run(RUN, planned(*SIZES), METRICS)
    for outcome in (warmup(), measured(1, 8.0), failed(2)):
        store.add(run, "stream", SIZES[0].key, outcome, LAUNCH)
    return run


def test_a_run_has_its_counts_while_it_is_over_only(store: Store) -> None:
    run = begun(store)
    assert (stored(store), counted(store)) == ([(None,) * 5], [(2, 0, 6, 1, 1)])
    store.finish_run(run, "interrupted")
    assert stored(store) == counted(store) == [(2, 0, 6, 1, 1)]
    store.reopen_run(run)
    store.add(run, "stream", SIZES[0].key, measured(3, 8.0), LAUNCH)
    assert (stored(store), counted(store)) == ([(None,) * 5], [(2, 0, 6, 2, 1)])
    store.skip_cases(run, {("stream", SIZES[1].key): "no iperf3"})
    store.finish_run(run, "complete")
    assert stored(store) == counted(store) == [(2, 1, 3, 2, 1)]
    assert store.miscounted_runs() == []


def test_what_comes_to_a_run_that_was_over_is_counted(store: Store, where: str) -> None:
    run = begun(store)
    store.finish_run(run, "complete")
    with Store.open(where) as late:
        late.end_cases(run, {("stream", SIZES[1].key): "budget"})
        assert counted(late) == [(2, 0, 3, 1, 1)]
    store.add(run, "stream", SIZES[1].key, measured(1, 8.0), LAUNCH)
    assert (stored(store), counted(store)) == ([(None,) * 5], [(2, 0, 4, 2, 1)])


def test_an_imported_and_a_thinned_run_have_their_counts(store: Store) -> None:
    results = [("stream", SIZES[0].key, measured(1, 8.0)), ("stream", SIZES[0].key, failed(2))]
    imported = store.import_run(replace(RUN, origin="imported"), planned(*SIZES), METRICS, results)
    assert stored(store) == counted(store) == [(2, 0, 6, 1, 1)]
    thin(store, [imported])
    assert store.miscounted_runs() == []


def test_a_copy_counts_what_it_brought(store: Store, tmp_path: Path) -> None:
    run = begun(store)
    store.finish_run(run, "interrupted")
    with Store.open(str(tmp_path / "copy.db")) as target:
        copy(store, target)
        assert stored(target) == stored(store)
        store.reopen_run(run)
        store.add(run, "stream", SIZES[1].key, measured(1, 8.0), LAUNCH)
        copy(store, target)
        # The copy is over, as its source was, and has more now.
        assert counted(target) == counted(store) == [(2, 0, 6, 2, 1)]
        store.finish_run(run, "complete")
        copied = copy(store, target)
        assert copied.differences == []
        assert stored(target) == stored(store) == [(2, 0, 6, 2, 1)]
        assert target.miscounted_runs() == []


def test_the_list_reads_what_is_stored_and_a_wrong_count_shows(store: Store) -> None:
    run = begun(store)
    store.finish_run(run, "complete")
    with store.writing() as connection:
        connection.execute(text("UPDATE run SET measured_count = 7"))
    assert counted(store) == [(2, 0, 6, 7, 1)]
    assert store.miscounted_runs() == [run]


def test_cases_that_an_index_lost_are_missed(store: Store) -> None:
    run = begun(store)
    store.finish_run(run, "complete")
    assert len(store.series([run], ["throughput"])) == 2
    with store.writing() as connection:
        connection.execute(text("DELETE FROM run_case WHERE id = (SELECT max(id) FROM run_case)"))
    with pytest.raises(StoreError, match=r"run 1 has 2 cases and 1 of them are found: .*damaged"):
        store.series([run])
