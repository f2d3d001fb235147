"""Makes a database with a million measurements; what reports over it cost is timed beside it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from railgauge.plan.cases import Case, case_key
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, PlannedCase

_NUMBERS = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < :count)"
_REPLICATIONS = f"""{_NUMBERS}
INSERT INTO replication (run_case_id, number, status, started_at)
SELECT id, n, CASE (id * 31 + n) % 1000 WHEN 0 THEN 'suspect' ELSE 'ok' END,
       '2026-11-21T01:02:03.456789Z'
FROM run_case, n WHERE run_id = :run"""
_VALUES = f"""{_NUMBERS}
INSERT INTO value (run_case_id, metric_id, number, value)
SELECT run_case.id, metric_id, n, 1e9 + (run_case.id * 7919 + n * 104729) % 1000000
FROM run_case JOIN run_metric USING (run_id), n WHERE run_id = :run"""


def build(path: Path, *, cases: int, replications: int, metrics: int) -> int:
    """Store a run of cases x replications x metrics values at `path` and return its id."""
    names = ["throughput", *(f"extra_{number}" for number in range(1, metrics))]
    with Store.open(str(path)) as store:
        run_id = store.begin_run(
            NewRun("million", "", "/", "", False, 1, "benchmark", "0", "", {}),
            [PlannedCase("stream", _case(number), replications) for number in range(cases)],
            {"udp": {name: MetricInfo("bit/s", "higher") for name in names}},
        )
    # By SQL, as a million commits of one replication each would take five minutes.
    connection = sqlite3.connect(path)
    with connection:
        for statement in (_REPLICATIONS, _VALUES):
            connection.execute(statement, {"count": replications, "run": run_id})
    connection.close()
    with Store.open(str(path)) as store:
        store.finish_run(run_id, "complete")
    return run_id


def _case(number: int) -> Case:
    # Rows and columns of a table, as wide as the grid of a real plan, on several links.
    link, cell = divmod(number, 10_000)
    parameters: dict[str, int | float | str] = {
        "mode": "stream",
        "duration": 5.0,
        "datagram": 64 * (cell // 100 + 1),
        "sockbuf": 4096 * (cell % 100 + 1),
        "tos": 0,
    }
    name, client, server = f"gw→n{link}", "gw", f"n{link}"
    key = case_key("udp", name, client, server, parameters)
    return Case(key, "udp", name, client, server, parameters)
