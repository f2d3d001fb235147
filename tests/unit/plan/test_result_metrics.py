"""Which metrics results of an engine may have, and what the tables that ship say they are."""

from __future__ import annotations

import pytest

from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.catalogue.result_metrics import result_metrics, shipped_kind

ENGINES = load_catalogue().engines


def test_results_have_what_the_engine_reports_then_what_logs_add() -> None:
    udp, cpu = result_metrics(ENGINES["udp"]), result_metrics(ENGINES["cpu"])
    added = [name for name in udp if name not in ENGINES["udp"].metrics]
    assert [*udp] == [*ENGINES["udp"].metrics, *added]
    assert added == [
        f"{side}_{name}"
        for side in ("client", "server")
        for name in ("cpu_load", "cpu_load_soak", "cpu_per_gigabyte")
    ]
    # It measures on one host.
    assert [name for name in cpu if name.startswith("server")] == []


def test_all_of_them_say_what_they_are_or_have_a_unit_that_does() -> None:
    assert [
        f"{engine.name}: {name}"
        for engine in ENGINES.values()
        for name, metric in result_metrics(engine).items()
        if not metric.kind and metric.unit in ("", "1")
    ] == []


@pytest.mark.parametrize(
    ("engine", "metric", "unit", "kind"),
    [
        ("udp", "lost_packets", "", "count"),
        ("udp", "lost_packets", "1", "count"),
        ("udp", "loss_rate", "1", "share"),
        ("udp", "sequence_last", "", "label"),
        ("udp", "total_local_throughput", "bit/s", "rate"),
        ("cpu", "operations_per_cycle", "", "ratio"),
        ("tcp", "server_cpu_load", "", "share"),
        ("disk", "cpu_per_io", "s", "cost"),
        ("dgemm", "products", "", "count"),
        # Kept in another unit, it may be something else.
        ("udp", "lost_packets", "s", ""),
        ("udp", "runs", "", ""),
        ("nowhere", "lost_packets", "", ""),
    ],
)
def test_the_tables_that_ship_tell_the_kind(engine: str, metric: str, unit: str, kind: str) -> None:
    assert shipped_kind(engine, metric, unit) == kind
