"""The plans and reports that ship together: each report's tables meet its plan's own cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.report_data import series

from railgauge.base.assets import folder
from railgauge.base.derived import derived_metrics
from railgauge.hosts.peaks.host_peaks import host_peaks
from railgauge.hosts.peaks.peak import Peak
from railgauge.plan.cases import Case, expand
from railgauge.plan.catalogue import EngineInfo, load_catalogue
from railgauge.plan.declared_peaks import RESOURCES
from railgauge.plan.load import load_plan
from railgauge.report.checks.spec import load_spec
from railgauge.report.tables.pivot import build
from railgauge.report.tables.run_context import RunContext
from railgauge.report.tables.table import Table
from railgauge.store.records import Series

# What both a plan and a report are called.
_PAIRS = sorted(
    {path.stem for path in folder("plans").glob("*.yaml")}
    & {path.stem for path in folder("reports").glob("*.yaml")}
)
_HYPERION = folder("plans") / "hosts" / "hyperion.yaml"
_MACHINE = {"machine-cpu", "machine-memory", "machine-disk", "machine-network"}


def _measured(engine: EngineInfo, test: str, case: Case) -> Iterator[Series]:
    """Yield a series for each metric that the engine has for this case."""
    mode = case.parameters.get("mode")
    logged = derived_metrics(two_sided=engine.two_sided, soak=True)
    own = {
        name: metric
        for name, metric in engine.metrics.items()
        if not metric.modes or mode in metric.modes
    }
    for name, metric in {**logged, **own}.items():
        yield series(
            [1.0] * 3,
            case.parameters,
            metric=name,
            unit=metric.unit,
            better=metric.better,
            kind=metric.kind,
            engine=case.engine,
            link=case.link,
            client=case.client,
            server=case.server,
            members=case.members,
            test=test,
        )


def _tables(name: str, hosts: Path | None = None) -> list[Table]:
    """Return the tables with peaks of 1, or with those that the hosts file declares."""
    loaded = load_plan(folder("plans") / f"{name}.yaml", hosts=hosts)
    spec = load_spec(folder("reports") / f"{name}.yaml", load_catalogue())
    points = [
        point
        for expanded_test in expand(loaded)
        for case in expanded_test.cases
        for point in _measured(loaded.catalogue.engine(case.engine), expanded_test.test.name, case)
    ]
    if hosts is None:
        peaks = [
            Peak(host, resource, 1.0, unit, "declared: hosts file")
            for host in loaded.plan.hosts
            for resource, unit in RESOURCES.items()
        ]
    else:
        declared = loaded.plan.hosts.items()
        peaks = [peak for name, host in declared for peak in host_peaks(name, host.peaks, {})]
    context = RunContext(peaks={1: peaks})
    return [
        build(table, points, catalogue=loaded.catalogue, context=context) for table in spec.tables
    ]


def test_there_are_those_of_a_whole_machine() -> None:
    assert set(_PAIRS) >= {*_MACHINE, "compute-vs-network"}


@pytest.mark.parametrize("name", _PAIRS)
def test_a_report_shows_its_plan_in_every_column(name: str) -> None:
    for table in _tables(name):
        for i, column in enumerate(table.columns):
            assert any(row.cells[i].number for row in table.rows), (table.name, column)


@pytest.mark.parametrize("name", _PAIRS)
def test_other_tools_stand_in_rows_of_ours(name: str) -> None:
    for table in _tables(name):
        for row in table.rows:
            assert row.cells[0].number or row.cells[1].number, (table.name, row.key)
        for i in range(len(table.columns)):
            beside = [row for row in table.rows if row.cells[0].number and row.cells[i].number]
            assert beside, (table.name, table.columns[i])


@pytest.mark.parametrize("name", sorted(_MACHINE))
def test_each_table_of_a_machine_tells_what_it_could_do_at_most(name: str) -> None:
    for table in _tables(name):
        assert any(column.theoretical for column in table.columns), table.name
        assert any(column.relative_to for column in table.columns), table.name
        assert not table.footnotes, table.footnotes


@pytest.mark.parametrize("name", sorted(_MACHINE))
def test_a_plan_on_several_hosts_has_them_all_in_its_report(name: str, tmp_path: Path) -> None:
    hosts_file = tmp_path / "several.yaml"
    hosts_file.write_text(
        "hosts:\n"
        "  a: {address: 10.0.0.1, ssh: a, peaks: {memory: 1GB/s, cpu_double: 1GFLOP/s}}\n"
        "  b: {address: 10.0.0.2, ssh: b, peaks: {memory: 2GB/s, cpu_double: 2GFLOP/s}}\n"
        "links:\n  a→b: {from: a, to: b}\n  b→a: {from: b, to: a, rate: 1Gbit/s}\n",
        encoding="utf-8",
    )
    for table in _tables(name, hosts_file):
        names = {row.labels[-1].text for row in table.rows}
        assert names in ({"a", "b"}, {"a→b", "b→a"}), table.name


def _theoretical(name: str, table: str, row: str) -> str:
    """Return the theoretical value in the row that begins with this label."""
    (matching_table,) = (
        candidate for candidate in _tables(name, _HYPERION) if candidate.name == table
    )
    (place,) = (i for i, column in enumerate(matching_table.columns) if column.theoretical)
    return next(
        table_row.cells[place].text
        for table_row in matching_table.rows
        if table_row.labels[0].text == row
    )


def test_declared_peaks_of_a_node_stand_in_its_tables() -> None:
    rows = ("8-bit integer", "16-bit integer", "SP", "DP")
    peaks = [_theoretical("machine-cpu", "operations", row) for row in rows]
    assert peaks == ["588.8", "294.4", "147.2", "73.6"]
    peaks = [_theoretical("machine-disk", "throughput", row) for row in ("RS", "WS", "RR", "WR")]
    assert peaks == ["372.0", "172.0", "540.0", "410.0"]
    assert _theoretical("machine-memory", "access", "RWR") == "68.3"
    assert _theoretical("machine-network", "udp", "8") == "10000"
    assert _theoretical("machine-network", "tcp-latency", "64") == "1.40"
