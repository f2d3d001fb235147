"""Baselines: names for runs, in both kinds of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.store_samples import METRICS, RUN, case, planned

from railgauge.base.errors import InputError
from railgauge.store import Store


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    with Store.open(where) as store:
        for _ in range(3):
            store.begin_run(RUN, planned(case()), METRICS)
        yield store


def test_a_baseline_names_runs_oldest_first(store: Store) -> None:
    store.set_baseline("good", [3, 1, 3], "before the update")
    good = store.baseline("good")
    assert (good.name, good.description, good.runs) == ("good", "before the update", (1, 3))
    assert good.created_at.endswith("Z")
    store.set_baseline("all", [1, 2, 3])
    assert [baseline.name for baseline in store.baselines()] == ["all", "good"]
    assert store.baselines()[1] == good


def test_a_baseline_is_replaced_only_when_that_is_asked_for(store: Store) -> None:
    store.set_baseline("good", [1], "once")
    with pytest.raises(InputError, match=r"is a baseline 'good' already: .*--replace"):
        store.set_baseline("good", [2])
    assert store.baseline("good").runs == (1,)
    store.set_baseline("good", [2, 3], replace=True)
    assert (store.baseline("good").runs, store.baseline("good").description) == ((2, 3), "")
    assert len(store.baselines()) == 1


def test_a_dropped_baseline_leaves_its_runs(store: Store) -> None:
    store.set_baseline("good", [1])
    store.set_baseline("better", [1, 2])
    store.drop_baseline("good")
    assert [baseline.name for baseline in store.baselines()] == ["better"]
    assert store.run(1).id == 1
    with pytest.raises(InputError, match=r"no baseline 'good': there are better; .* makes one"):
        store.drop_baseline("good")
    store.drop_baseline("better")
    with pytest.raises(InputError, match="no baseline 'bet\\\\x00ter': there is none at all"):
        store.baseline("bet\0ter")


def test_a_baseline_needs_runs_that_there_are(store: Store) -> None:
    with pytest.raises(InputError, match="'good' needs a run"):
        store.set_baseline("good", [])
    with pytest.raises(InputError, match="no run 9 in this database"):
        store.set_baseline("good", [1, 9])
    assert store.baselines() == []


@pytest.mark.parametrize(
    "name", ["", " good", "a\nb", "a\0b", "12", "latest", "2026-11-20", "c0ffee1", "c0ffee1" * 5]
)
def test_a_name_that_means_something_else_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InputError, match="can't be a baseline's name"):
        store.set_baseline(name, [1])


@pytest.mark.parametrize("name", ["gut vor dem Umbau", "нулевой", "v1.2", "faded", "nodes"])
def test_any_other_name_will_do(store: Store, name: str) -> None:
    store.set_baseline(name, [1])
    assert store.baseline(name).runs == (1,)
