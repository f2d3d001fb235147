"""The view `granted_setting`, as any other program sees it, and the labels of runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import text
from tests.support.store_samples import METRICS, MOMENT, RUN, case, failed, measured, planned

from railgauge.engine.granted_settings import UNITS
from railgauge.store import Store
from railgauge.store.records import Launch

_CLIENT = {"sndbuf": 425984, "clock_offset": -1.5e-06, "congestion": "cubic", "nodelay": True}


def _rows(store: Store, query: str, **values: object) -> list[tuple[Any, ...]]:
    with store.reading() as connection:
        return [tuple(row) for row in connection.execute(text(query), values)]


def test_the_view_has_a_row_for_each_launch_end_and_setting(store: Store) -> None:
    run = store.begin_run(RUN, planned(case(), case(64)), METRICS)
    launch = Launch(MOMENT, _CLIENT, {"rcvbuf": 212992}, ())
    store.add(run, "stream", case().key, measured(1, 8.0), launch)
    store.add(run, "stream", case().key, failed(2), launch)
    store.add(run, "stream", case(64).key, measured(1, 8.0), Launch(MOMENT + 1))
    columns = "plan, test, engine, link, case_key, side, host, setting, value, unit, text"
    rows = _rows(store, f"SELECT {columns} FROM granted_setting WHERE run = :run", run=run)
    place = (RUN.plan, "stream", "udp", "gw→hh", case().key)
    assert sorted(rows, key=str) == sorted(
        [
            (*place, "client", "gw1", "sndbuf", 425984.0, "B", None),
            (*place, "client", "gw1", "clock_offset", -1.5e-06, "s", None),
            (*place, "client", "gw1", "congestion", None, "", "cubic"),
            (*place, "client", "gw1", "nodelay", None, "", "true"),
            (*place, "server", "hh1", "rcvbuf", 212992.0, "B", None),
        ],
        key=str,
    )


def test_a_text_that_no_database_holds_hides_no_setting(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    launch = Launch(MOMENT, {"device": "a\0b", "source": "a\udc80b", "mss": 1448})
    store.add(run, "stream", case().key, measured(1, 8.0), launch)
    assert dict(_rows(store, "SELECT setting, coalesce(text, 'none') FROM granted_setting")) == {
        "device": "a\ufffdb",
        "source": "a\\udc80b",
        "mss": "none",
    }


def test_the_view_knows_the_units_of_the_package(store: Store) -> None:
    run = store.begin_run(RUN, planned(case()), METRICS)
    launch = Launch(MOMENT, dict.fromkeys(UNITS, 1), {"ranks": 2}, ())
    store.add(run, "stream", case().key, measured(1, 8.0), launch)
    query = "SELECT setting, unit FROM granted_setting WHERE side = :side"
    assert dict(_rows(store, query, side="client")) == UNITS
    assert _rows(store, query, side="server") == [("ranks", "")]


def test_a_run_has_the_labels_that_it_began_with(store: Store) -> None:
    labels = {"night": "2", "kernel": "6.12 π"}
    run = store.begin_run(replace(RUN, labels=labels), planned(case()), METRICS)
    plain = store.begin_run(RUN, planned(case()), METRICS)
    assert store.run(run).new.labels == labels
    assert {summary.id: summary.labels for summary in store.runs()} == {run: labels, plain: {}}
