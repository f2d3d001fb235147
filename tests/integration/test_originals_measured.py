"""The definitions of Hpcbench's tables on what our engines measure, logs and all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from tests.support import command_line
from tests.support.results import csv_rows

from railgauge.base.assets import folder


def _railgauge(where: Path, *words: str) -> str:
    completed = command_line.railgauge(*words, cwd=where)
    assert completed.returncode == 0, completed.stderr + completed.stdout
    return completed.stdout


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of all of plans/hpcbench-udp.yaml, but short and twice only."""
    where = tmp_path_factory.mktemp("hpcbench")
    plan = yaml.safe_load((folder("plans") / "hpcbench-udp.yaml").read_text(encoding="utf-8"))
    plan["hosts_file"] = str(folder("plans") / plan["hosts_file"])
    for test in plan["tests"]:
        test["set"]["duration"] = "200ms"
        test["replications"] = 2
    (where / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    _railgauge(where, "run", "plan.yaml")
    return where


def _rows(where: Path, definition: str, table: str, axes: Sequence[str]) -> list[list[str]]:
    out = where / definition
    if not out.exists():
        spec = folder("reports") / f"{definition}.yaml"
        _railgauge(where, "report", "--spec", str(spec), "--out", str(out), "--cases", "0")
    rows: dict[tuple[str, ...], list[str]] = {}
    for line in csv_rows(out / f"{table}.csv"):
        rows.setdefault(tuple(line[axis] for axis in axes), []).append(line["shown"])
    return [[*key, *cells] for key, cells in rows.items()]


def test_each_replication_of_a_stream_has_its_row(where: Path) -> None:
    rows = _rows(where, "hpcbench-stream", "stream", ("test", "datagram", "replication"))
    assert [row[:3] for row in rows if row[0] == "unidirectional"] == [
        ["unidirectional", "1460", "1"],
        ["unidirectional", "1460", "2"],
    ]
    for row in rows:
        network, _, sent, sent_bytes, received, received_bytes, lost, _ = row[3:]
        assert float(network) > 0
        assert int(sent) - int(received) == int(lost)
        assert int(sent_bytes) == int(sent) * int(row[1])
        assert int(received_bytes) == int(received) * int(row[1])


def test_both_ways_have_all_that_hpcbench_printed(where: Path) -> None:
    rows = _rows(where, "hpcbench-bidirectional", "bidirectional", ("replication",))
    assert [row[0] for row in rows] == ["1", "2"]
    for row in rows:
        assert "---" not in row
    (averages,) = _rows(where, "hpcbench-bidirectional", "averages", ("test",))
    for column, first in ((2, 1), (1, 4)):
        values = [float(row[column]) for row in rows]
        statistics = [float(text) for text in averages[first : first + 3]]
        assert statistics == pytest.approx([sum(values) / 2, min(values), max(values)], abs=0.001)


def test_the_settings_of_both_ends_stand_above(where: Path) -> None:
    rows = _rows(where, "hpcbench-stream", "settings", ("test", "datagram"))
    by_test = {row[0]: row[1:] for row in rows}
    # A kernel grants twice what is asked, as long as its limits allow.
    assert by_test["socket-options"][0] == "8192"
    assert by_test["socket-options"][-3:] == ["8", "8", "2"]
    assert by_test["small-writes"] == ["500", *["10240"] * 4, "0", "0", "2"]


def test_sizes_and_round_trips_are_there(where: Path) -> None:
    sizes = _rows(where, "hpcbench-exponential", "sizes", ("test", "datagram"))
    datagrams = [str(2**power) for power in range(11)] + ["1460"]
    assert [row[1] for row in sizes if row[0] == "exponential"] == datagrams
    trips = _rows(where, "hpcbench-latency", "averages", ("datagram",))
    assert [(row[0], row[-1]) for row in trips] == [("64", "2"), ("1024", "2")]


def test_system_logs_are_tables_with_the_stretches_around(where: Path) -> None:
    by_case = ("test", "datagram", "replication")
    rows = _rows(where, "hpcbench-system-log", "client-system", by_case)
    cases = dict.fromkeys((row[0], row[1]) for row in rows)
    assert len(cases) == 20
    for case in cases:
        numbers = [row[2] for row in rows if (row[0], row[1]) == case]
        assert numbers == ["before", "1", "2", "after"], case
    assert all(0 <= float(share) <= 100 for row in rows for share in row[3:7])
    assert all(int(row[7]) > 0 and int(row[10]) > 0 for row in rows)
    axes = (*by_case, "interface")
    sent = _rows(where, "hpcbench-system-log", "client-interfaces", axes)
    over_loopback = {tuple(row[:3]): int(row[6]) for row in sent if row[3] == "lo"}
    for row in _rows(where, "hpcbench-stream", "stream", by_case):
        # Datagrams, and the control channel's last words; others may use the interface, too.
        assert over_loopback[tuple(row[:3])] >= int(row[5])
    cpus = _rows(where, "hpcbench-system-log", "client-cpus", (*by_case, "cpu"))
    for row in cpus:
        load, idle = float(row[4]), float(row[7])
        # What waits for disks is idle, too, but not in Idle.
        assert load + idle <= 100.2
