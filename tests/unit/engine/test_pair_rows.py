"""The rows of a launch that measures all pairs of a group: whole, or no number at all."""

from __future__ import annotations

import json

import pytest

from railgauge.engine.command_lines import Terms
from railgauge.engine.deploy_mpi import MpiInstallation
from railgauge.engine.measure import EquippedHost, measure
from railgauge.engine.outcome import Outcome
from railgauge.engine.running_programs import RunningPrograms
from railgauge.hosts.transport.fake import FakeTransport
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import EngineInfo, MetricDescription

ENGINE = EngineInfo(
    name="mpi",
    version="1",
    summary="",
    roles=("rank",),
    parameters={},
    metrics={
        "throughput": MetricDescription("throughput", "bit/s", "higher", modes=("matrix",)),
        "latency": MetricDescription("latency", "s", "lower", modes=("matrix",)),
    },
    group_modes=("matrix",),
    pair_modes=("matrix",),
)
MEMBERS = ("a", "b", "c")
CASE = Case("k", "mpi", "a→b", "a", "b", {"mode": "matrix"}, MEMBERS)


def row(source: int, replication: int = 1, **changed: object) -> str:
    def numbers(unit: float) -> list[float | None]:
        return [None if other == source else unit * (10 * source + other) for other in range(3)]

    metrics = {"throughput": numbers(1e9), "latency": numbers(1e-6)}
    event = {"event": "row", "replication": replication, "from": source, "metrics": metrics}
    return json.dumps(event | changed)


def replication(number: int = 1) -> str:
    return json.dumps(
        {
            "event": "replication",
            "replication": number,
            "warmup": number == 0,
            "started_at": 5.0,
            "metrics": {},
        }
    )


DONE = '{"event":"done","replications":1}'


def play(*lines: str, case: Case = CASE) -> tuple[list[Outcome], FakeTransport]:
    def script(argv):  # type: ignore[no-untyped-def]
        yield from lines

    hosts = [FakeTransport(name, {"sh": script}) for name in MEMBERS]
    sites = [
        EquippedHost(host, "/engines", MpiInstallation("/engines/rail-mpi", "/opt/mpi/bin"))
        for host in hosts
    ]
    terms = Terms(at=("10.0.0.1", "10.0.0.2", "10.0.0.3"), names=MEMBERS)
    outcomes = measure(ENGINE, case, (1,), sites, terms=terms, programs=RunningPrograms())
    return [outcome for outcome, _ in outcomes], hosts[0]


def test_each_ordered_pair_gets_what_its_row_says() -> None:
    (outcome,), _ = play(row(0), row(2), row(1), replication(), DONE)
    assert outcome.status == "ok"
    assert outcome.metrics == {}
    assert set(outcome.pairs) == {
        (first, second) for first in MEMBERS for second in MEMBERS if first != second
    }
    assert outcome.pairs["c", "b"] == {"throughput": 21e9, "latency": 21e-6}
    assert outcome.pairs["b", "c"] == {"throughput": 12e9, "latency": 12e-6}


def test_a_warm_ups_rows_are_not_the_first_replications() -> None:
    warmup, first = play(
        *(row(rank, 0) for rank in range(3)),
        replication(0),
        *map(row, range(3)),
        replication(),
        DONE,
    )[0]
    assert (warmup.warmup, first.warmup, first.replication) == (True, False, 1)
    assert warmup.pairs.keys() == first.pairs.keys()


@pytest.mark.parametrize(
    "lines",
    [
        [row(0), row(1), replication()],
        [replication()],
        [row(0), row(0), row(1), row(2), replication()],
        [row(0), row(1), row(3), replication()],
        [row(0), row(1), row(2, 2), replication()],
        [row(0), row(1), row(2, metrics={"throughput": [1, 2, None]}), replication()],
        [row(0), row(1), row(2, metrics={"throughput": [1, None], "latency": [1, None]})],
        [row(0), row(1), row(2, metrics={"throughput": [1, None, 2], "latency": [1, 2, None]})],
        [row(0), row(1), row(2, metrics={"speed": [1, 2, None]}), replication()],
        [row(0), row(1), row(2, metrics={"throughput": [1, "2", None]}), replication()],
        [row(-1)],
        [row(0, metrics={})],
    ],
)
def test_rows_that_are_not_whole_give_no_number(lines: list[str]) -> None:
    (outcome,), _ = play(*lines, DONE)
    assert (outcome.status, outcome.error_code, outcome.pairs) == ("failed", "contract", {})


def test_a_row_where_none_is_due_is_refused() -> None:
    other = Case("k", "mpi", "all", "a", None, {"mode": "barrier"}, MEMBERS)
    (outcome,), _ = play(row(0), replication(), DONE, case=other)
    assert outcome.error_code == "contract"


def test_the_job_is_started_on_the_first_host_for_all_of_them() -> None:
    _, first = play(*map(row, range(3)), replication(), DONE)
    (job,) = first.started
    assert "/opt/mpi/bin/mpirun" in job.argv
    assert job.argv[job.argv.index("--host") + 1] == "a:1,b:1,c:1"
    assert job.argv[job.argv.index("-n") + 1] == "3"
    assert "--rank-addresses=10.0.0.1,10.0.0.2,10.0.0.3" in job.argv
    assert "--mode=matrix" in job.argv
