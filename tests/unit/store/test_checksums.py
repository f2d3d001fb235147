"""Replications that changed since they were stored are refused, listed and left out."""

from __future__ import annotations

import math
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.copy_samples import fill
from tests.support.series_samples import tcp_series
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    RUN,
    case,
    lossy,
    measured,
    planned,
    system_log,
)

from railgauge.base.errors import StoreError
from railgauge.base.intervals import encode
from railgauge.store import Store
from railgauge.store.checksums import BESIDE, checksum
from railgauge.store.copy import copy
from railgauge.store.copy_tables import owned

_REFUSED = r"has (1 replication that is|[2-9] replications that are) not what was stored, such as"
CHANGES = {
    "a value": "UPDATE value SET value = value * 1.0000000000000002 WHERE number = 2",
    "a sign": "UPDATE value SET value = -value WHERE number = 2 AND value > 1",
    "a value that moved": "UPDATE value SET number = 9 WHERE number = 2",
    "a value that is gone": "DELETE FROM value WHERE number = 2 AND value < 1",
    "a status": "UPDATE replication SET status = 'suspect' WHERE number = 2",
    "a moment": "UPDATE replication SET started_at = '2020' || substr(started_at, 5)"
    " WHERE number = 2",
    "a unit": "UPDATE metric SET unit = 'B/s' WHERE unit = 'bit/s'",
    "a metric's name": "UPDATE metric SET name = 'goodput' WHERE name = 'throughput'",
}


# Of the second replication, which has a trace, and the third, which has a series.
TRACE_CHANGES = {
    "a trace's byte": ("trace", 2, "UPDATE trace SET data = flipped(data)"),
    "a trace's count": ("trace", 2, "UPDATE trace SET arrived = arrived - 1"),
    "a loss run": ("trace", 2, "UPDATE loss_run SET lost = lost + 1 WHERE place = 1"),
    "a series' byte": ("series", 3, "UPDATE series SET data = flipped(data)"),
    "a series' count": ("series", 3, "UPDATE series SET sent = sent + 1"),
}


# Of the second replication, which has a trace and, as the first, a log.
BESIDE_CHANGES = {
    "a deleted trace": ({2}, "DELETE FROM loss_run; DELETE FROM trace"),
    "a moved trace": (
        {1, 2},
        "PRAGMA defer_foreign_keys = 1; UPDATE trace SET number = 1;"
        " UPDATE loss_run SET number = 1",
    ),
    "a deleted series": ({3}, "DELETE FROM series"),
    "a moved series": ({1, 3}, "UPDATE series SET number = 1"),
    "a deleted log": (
        {2},
        "; ".join(f"DELETE FROM {table.name} WHERE log_id = 2" for table in owned("log"))
        + "; DELETE FROM log WHERE id = 2",
    ),
    "a moved log": ({2, 3}, "UPDATE log SET number = 3 WHERE id = 2"),
    "a log's time": ({1}, "UPDATE log SET elapsed = elapsed * 2 WHERE id = 1"),
    "swapped logs": ({1, 2}, "UPDATE log SET number = -number; UPDATE log SET number = 3 + number"),
}


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.create_function("flipped", 1, flipped)
    connection.executescript(f"BEGIN; {statement}; COMMIT")
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "source.db"
    with Store.open(str(path)) as store:
        run = store.begin_run(RUN, planned(case(), replications=3), METRICS)
        for number, trace in ((1, b""), (2, lossy(2).trace), (3, encode(tcp_series()))):
            outcome = replace(measured(number, 1e9 / 3 * number), trace=trace)
            if number < 3:
                outcome = replace(outcome, logs=(system_log("n1", elapsed=float(number)),))
            store.add(run, "stream", case().key, outcome, LAUNCH)
    return path


@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_in_place_is_refused(path: Path, name: str) -> None:
    change(path, CHANGES[name])
    with pytest.raises(StoreError, match=_REFUSED):
        Store.open(str(path))
    with Store.open(str(path), check=False) as store:
        changed = {replication.number for replication in store.checksums().changed}
        assert 2 in changed
        assert changed == {2} or name in ("a unit", "a metric's name")
        with pytest.raises(StoreError, match=r"not what was stored|of no row of replication"):
            store.check()


def test_a_copy_leaves_out_what_changed(path: Path, where: str) -> None:
    change(path, CHANGES["a value"])
    with Store.open(str(path), check=False) as source, Store.open(where) as target:
        copied = copy(source, target)
        assert copied.replications == 2
        (difference,) = copied.differences
        assert difference.endswith("replication 2 isn't what was stored, and is left out")
        assert target.replication_numbers(1) == {("stream", case().key): {1, 3}}
        assert target.checksums().changed == ()


def test_a_copy_of_a_restored_backup_brings_what_was_left_out(path: Path, where: str) -> None:
    with Store.open(str(path)) as store:
        store.finish_run(1, "complete")
    whole = path.with_name("backup.db")
    shutil.copy(path, whole)
    change(path, CHANGES["a value"])
    with Store.open(where) as target:
        for source_path in (path, whole):
            with Store.open(str(source_path), check=False) as source:
                copied = copy(source, target)
        assert (copied.more, copied.replications, copied.differences) == (1, 1, [])
        assert target.replication_numbers(1) == {("stream", case().key): {1, 2, 3}}
        assert target.runs()[0].measured == 3


@pytest.mark.parametrize("name", TRACE_CHANGES)
def test_a_trace_or_series_that_changed_is_named_and_its_replication_stays(
    path: Path, tmp_path: Path, name: str
) -> None:
    table, number, statement = TRACE_CHANGES[name]
    change(path, statement)
    with (
        Store.open(str(path)) as source,
        Store.open(str(tmp_path / "target.db")) as target,
    ):
        (changed,) = source.checksums().changed
        assert str(changed).endswith(f"replication {number}, its {table}")
        with pytest.raises(StoreError, match=f"replication {number}, its {table}: "):
            source.check()
        copied = copy(source, target)
        assert copied.differences == [f"{changed} isn't what was stored, and is left out"]
        assert target.replication_numbers(1) == {("stream", case().key): {1, 2, 3}}
        assert (len(target.traces([1])), len(target.interval_series([1]))) == (
            (0, 1) if table == "trace" else (1, 0)
        )
        assert target.checksums().changed == ()


@pytest.mark.parametrize("name", BESIDE_CHANGES)
def test_what_stands_beside_the_values_is_named_and_they_stay(
    path: Path, tmp_path: Path, name: str
) -> None:
    numbers, statement = BESIDE_CHANGES[name]
    change(path, statement)
    with (
        Store.open(str(path)) as source,
        Store.open(str(tmp_path / "target.db")) as target,
    ):
        changed = source.checksums().changed
        assert {replication.number for replication in changed} == numbers
        assert {replication.table for replication in changed} == {BESIDE}
        with pytest.raises(StoreError, match=f"its {BESIDE}: "):
            source.check()
        copied = copy(source, target)
        assert copied.differences == [
            f"{replication} isn't what was stored, and is left out" for replication in changed
        ]
        assert copied.replications == 3
        assert target.checksums().changed == ()


def test_an_older_checksum_is_of_the_values_alone(path: Path) -> None:
    with Store.open(str(path)) as store:
        assert store.checksums().uncovered == 0
    connection = sqlite3.connect(path)
    for number, started_at in connection.execute(
        "SELECT number, started_at FROM replication"
    ).fetchall():
        values = [
            (name, unit, stored)
            for name, unit, stored in connection.execute(
                "SELECT name, unit, value FROM value JOIN metric ON metric_id = metric.id"
                " WHERE number = ?",
                (number,),
            )
        ]
        old = checksum(number, "ok", started_at, (None, None), values)
        connection.execute("UPDATE replication SET checksum = ? WHERE number = ?", (old, number))
    connection.commit()
    connection.close()
    change(path, BESIDE_CHANGES["a deleted trace"][1])
    with Store.open(str(path)) as store:
        report = store.checksums()
        assert (report.without, report.changed, report.uncovered) == (0, (), 3)
    change(path, CHANGES["a value"])
    with Store.open(str(path), check=False) as store:
        assert [replication.number for replication in store.checksums().changed] == [2]


def test_each_database_has_the_same_checksums(tmp_path: Path, where: str) -> None:
    with Store.open(str(tmp_path / "source.db")) as source, Store.open(where) as target:
        fill(source)
        copy(source, target)
        for store in (source, target):
            report = store.checksums()
            assert (report.replications, report.without, report.changed) == (19, 0, ())


def test_what_an_older_railgauge_stored_has_no_checksum(path: Path) -> None:
    change(path, "UPDATE replication SET checksum = NULL WHERE number < 3")
    change(path, CHANGES["a value"])
    with Store.open(str(path)) as store:
        report = store.checksums()
    assert (report.replications, report.without, report.changed) == (3, 2, ())


def test_neither_the_order_of_values_nor_the_sign_of_zero_counts() -> None:
    values = [("a", "s", 0.0), ("b", "s", math.pi)]
    again = [("b", "s", math.pi), ("a", "s", -0.0)]
    sums = {checksum(1, "ok", None, (None, None), rows) for rows in (values, again)}
    assert len(sums) == 1
    assert -(2**63) <= sums.pop() < 2**63


def test_texts_that_run_together_differ() -> None:
    sums = {checksum(1, "ok", None, error, ()) for error in (("ab", ""), ("a", "b"), ("ab", None))}
    assert len(sums) == 3
