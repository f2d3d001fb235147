"""Settings of launches as a table's cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.hpcbench_samples import SAMPLES

from railgauge.exchange.hpcbench.import_hpcbench import import_hpcbench
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.tables.settings_series import is_setting, setting_series
from railgauge.store import Store
from railgauge.store.records import Series


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("client/settings/sndbuf", True),
        ("server/settings/tos", True),
        ("client/stat/interrupts", False),
        ("throughput", False),
    ],
)
def test_a_setting_is_told_from_what_was_counted(metric: str, expected: bool) -> None:
    assert is_setting(metric) is expected


@pytest.fixture
def series(tmp_path: Path):
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        sample = [SAMPLES / "socket_options.txt"]
        number = import_hpcbench(store, sample, catalogue=load_catalogue()).run
        run = store.run(number)
        (planned,) = run.cases
        first, *others = store.replications(number, planned.test, planned.case.key)
        replications = [replace(first, status="failed"), *others]

        def read(metric: str, *, by_replication: bool) -> list[Series]:
            return [
                *setting_series(run, planned, replications, metric, by_replication=by_replication)
            ]

        yield read


def test_a_case_has_the_settings_of_its_launches_but_of_failed_replications(series) -> None:
    (buffers,) = series("client/settings/sndbuf", by_replication=False)
    assert (buffers.unit, list(buffers.values)) == ("B", [262142] * 4)
    (tos,) = series("server/settings/tos", by_replication=False)
    assert (tos.unit, list(tos.values)) == ("", [8] * 4)


def test_each_replication_has_that_of_its_own(series) -> None:
    found = series("client/settings/rcvbuf", by_replication=True)
    numbers = [each.case.parameters["replication"] for each in found]
    assert (numbers, [list(each.values) for each in found]) == ([2, 3, 4, 5], [[262142]] * 4)


def test_a_setting_that_nobody_told_has_no_values(series) -> None:
    (missing,) = series("client/settings/mss", by_replication=False)
    assert list(missing.values) == []
