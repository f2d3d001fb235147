"""Several controllers, processes of their own, write to one database at once."""

from __future__ import annotations

from tests.support.copy_samples import METRICS, contents, run_contents, stored_links
from tests.support.store_samples import case, script

from railgauge.store import Store
from railgauge.store.copy import copy

CONTROLLERS = 4
REPLICATIONS = 30

_MEASURE = """
import sys
from tests.support.store_samples import *
from railgauge.store import Store
where, own, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
# All make the database, its cases, metrics, counters and labels at once.
with Store.open(where) as store:
    run = store.begin_run(RUN, planned(case(), case(64), replications=count), METRICS)
    with store.claim(run):
        for number in range(1, count + 1):
            for size in (1460, 64):
                logs = [system_log(counts={**COUNTS, f"new/{number}": own + 1})]
                outcome = replace(measured(number, own * 1000.0 + number), logs=tuple(logs))
                store.add(run, "stream", case(size).key, outcome, Launch(MOMENT + number))
        store.add_facts(run, "gw1", {"controller": str(own)})
        store.finish_run(run, "complete")
    store.set_baseline("good", [run], replace=True)
    print(run, flush=True)
"""


def test_controllers_at_once_store_all_they_measured(where: str) -> None:
    processes = [script(_MEASURE, where, own, REPLICATIONS) for own in range(CONTROLLERS)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    runs = {own: int(process.communicate()[0]) for own, process in enumerate(processes)}
    assert {process.returncode for process in processes} == {0}
    assert sorted(runs.values()) == list(range(1, CONTROLLERS + 1))
    with Store.open(where) as store:
        assert {run.state for run in store.runs()} == {"complete"}
        assert len({store.run(run).uid for run in runs.values()}) == CONTROLLERS
        for own, run in runs.items():
            assert store.run(run).facts == {"gw1": {"controller": str(own)}}
            for series in store.series([run], ["throughput"]):
                expected = [own * 1000.0 + number for number in range(1, REPLICATIONS + 1)]
                assert series.values.tolist() == expected
            logs = store.logs(run, test="stream", case_key=case(64).key, series=True)
            assert [entry.log.counts[f"new/{entry.replication}"] for entry in logs] == [
                own + 1
            ] * REPLICATIONS
        assert len(store.history(case().key, "throughput")) == CONTROLLERS
        assert len(store.baseline("good").runs) == 1


_COPY = """
import sys
from railgauge.store import Store
from railgauge.store.copy import copy
print("ready", flush=True)
sys.stdin.readline()
with Store.open(sys.argv[1], create=False) as source, Store.open(sys.argv[2]) as target:
    print(copy(source, target).new, flush=True)
"""


def test_databases_of_several_controllers_are_merged_at_once(where: str, tmp_path: object) -> None:
    names = [f"{tmp_path}/{number}.db" for number in range(3)]
    for name in names:
        with Store.open(name) as store:
            for _ in range(2):
                stored_links(store) if not store.runs() else store.begin_run(
                    store.run(1).new, store.run(1).cases, METRICS
                )
    processes = [script(_COPY, name, where) for name in names]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate()[0] for process in processes] == ["2\n"] * 3
    with Store.open(where) as target:
        merged = {target.run(run.id).uid: run_contents(target, run.id) for run in target.runs()}
        expected = {}
        for name in names:
            with Store.open(name) as store:
                expected |= {
                    store.run(run.id).uid: run_contents(store, run.id) for run in store.runs()
                }
                assert copy(store, target).new == 0
        assert merged == expected
        assert len(contents(target)["bench_case"]) == 3
