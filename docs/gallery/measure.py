"""Measures anew what the gallery shows: gallery.sql, the paper's and Hpcbench's numbers beside.

Runs the shipped plans, shortened, on network namespaces of this machine (root, some minutes). What
names the machine is left out of what is kept, and so is what no report shows. With PLANs only
these are measured, and added to what is there: pages show the last run of a plan.

    python -m docs.gallery.measure [PLAN...]
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from docs.gallery.make import load
from tests.support.zc_samples import store_zc, store_zc_chunks

from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.store import Store
from railgauge.store.models import Base

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
# Hosts of three sites, a rack of which one is slow, and a link for large frames.
TESTBED = """\
railgauge_testbed: 1
name: {name}
hosts: [gw1, gw2, dp1, hh1, jumbo, n1, n2, n3, n4]
links:
  - {{name: gw→gw, between: [gw1, gw2], rate: 1Gbit/s, rtt: 0.1ms}}
  - {{name: gw→dp, between: [gw1, dp1], rate: 1Gbit/s, rtt: 0.2ms}}
  - {{name: gw→hh, between: [gw1, hh1], rate: 1Gbit/s, rtt: 2.9ms}}
  - {{name: jumbo, between: [gw1, jumbo], rate: 2Gbit/s, mtu: 9000}}
switches:
  rack: {{hosts: [n1, n2, n3, n4], rate: 400Mbit/s, ports: {{n4: {{rate: 100Mbit/s}}}}}}
"""
Change = Callable[[dict[str, Any]], None]


def _sites(plan: dict[str, Any]) -> None:
    for test in plan["tests"]:
        test |= {"links": ["gw→gw", "gw→dp", "gw→hh"], "replications": 6}
        test["set"]["duration"] = "300ms"
        test.pop("exclude", None)
        for size, values in (("message", ["100KiB", "1MiB"]), ("datagram", [1460])):
            if size in test["grid"]:
                test["grid"][size] = values


def _udpmon(plan: dict[str, Any]) -> None:
    arrival, delay, sweep, latency = plan["tests"]
    for test in (arrival, delay, latency):
        test |= {"links": ["gw→gw"], "replications": 1}
    # Each point of a picture takes 60 bytes.
    for test, count in ((arrival, 350), (delay, 300), (latency, 80)):
        test["set"] |= {"trace": count, "count": count}
    sweep |= {"links": ["gw→gw"], "replications": 3}
    sweep["set"] |= {"trace": 400, "count": 1000}


def _jumbo(plan: dict[str, Any]) -> None:
    plan["tests"][0]["links"] = ["jumbo"]
    plan["tests"][0]["set"]["duration"] = "200ms"


def _matrix(plan: dict[str, Any]) -> None:
    plan["groups"] = {"rack": ["n1", "n2", "n3", "n4"]}
    for test in plan["tests"]:
        test |= {"groups": ["rack"], "replications": 6 if test["name"] == "matrix" else 2}
        if "grid" in test:
            test["grid"]["size"] = [8, "256KiB"]
        test["set"]["duration" if "duration" in test["set"] else "pair_time"] = "100ms"


def _osu(plan: dict[str, Any]) -> None:
    plan["groups"] = {"pair": ["n1", "n2"]}  # a CPU each, or what overlaps is the scheduler's
    for test in plan["tests"]:
        test |= {"links": ["gw→gw"]} if "links" in test else {"groups": ["pair"]}
        test["replications"] = 2
        test["set"] |= {"duration": "100ms", "yield": True}
        for name, values in (("size", [8, "64KiB"]), ("ranks_per_host", [1, 2])):
            if name in test.get("grid", {}):
                test["grid"][name] = values


def _settings(plan: dict[str, Any]) -> None:
    plan["groups"] = {"gw→gw": ["gw1", "gw2"], "gw→hh": ["gw1", "hh1"]}
    for test in plan["tests"]:
        where = "groups" if "groups" in test else "links"
        test |= {where: [*plan["groups"]], "replications": 1 if where == "groups" else 3}
        test["grid"]["sockbuf"] = [0, "1MiB"]
        if "duration" in test["set"]:
            test["set"]["duration"] = "300ms"
        else:
            test["set"]["n"] = 500


def _quick(plan: dict[str, Any]) -> None:
    for test in plan["tests"]:
        if "trace" in test["set"]:
            test["set"]["trace"] = 80


def _machine(plan: dict[str, Any]) -> None:
    for test in plan["tests"]:
        test["replications"] = 3
        settings, grid = test.setdefault("set", {}), test.get("grid", {})
        if test["engine"] in ("cpu", "mem", "tcp", "udp", "disk"):
            settings["duration"] = "100ms"
        for name, values in (("threads", [1, 2, 4, 8]), ("area", []), ("block", [])):
            if name in grid:
                grid[name] = [one for one in grid[name] if one != "512MiB"]
                if name == "threads":
                    grid[name] = [one for one in grid[name] if one in values][:3]
        if settings.get("block") == "512MiB":
            settings["block"] = "64MiB"
        if settings.get("size") == "256MiB":
            settings["size"] = "32MiB"


PLANS: Mapping[str, Change] = {
    "quickstart": _quick,
    "sharcnet-udp": _sites,
    "sharcnet-tcp": _sites,
    "udpmon": _udpmon,
    "jumbo-sweep": _jumbo,
    "mpi-matrix": _matrix,
    "mpi-osu": _osu,
    "compute-vs-network": _settings,
    "machine-cpu": _machine,
    "machine-memory": _machine,
    "machine-disk": _machine,
    "machine-network": _machine,
}
_THROUGHPUT = ["--link", "link", "--metric", "throughput=throughput_mbps:Mbit/s"]
_BUFFER = ["--parameter", "sockbuf=sockbuf_bytes:B", "--set", "mode=stream", *_THROUGHPUT]
_DATAGRAM = ["--engine", "udp", "--parameter", "datagram=datagram_bytes:B", *_BUFFER]
_MESSAGE = ["--engine", "tcp", "--parameter", "message=message_bytes:B", *_BUFFER]
IMPORTS = (
    ["csv", "sharcnet_table1_udp.csv", *_DATAGRAM],
    ["csv", "sharcnet_table2_tcp.csv", *_MESSAGE],
    ["hpcbench", "hpcbench/stream.txt"],
    ["hpcbench", "hpcbench/bidirectional.txt"],
    ["hpcbench", "hpcbench/exponential.txt"],
    ["hpcbench", "hpcbench/latency.txt"],
    ["hpcbench", "hpcbench/system_log/output"],
)
# What is kept of a machine: nothing that names it.
_FACTS = ("os", "cpu", "cpus", "memory", "virtual_machine")
# Tables that grow with what no report of the gallery shows.
_PRUNED = (
    "DELETE FROM host_fact WHERE name NOT IN ({facts})",
    "CREATE TEMP TABLE kept (run_id, metric_id, PRIMARY KEY (run_id, metric_id))",
    "INSERT INTO kept SELECT run.id, metric.id FROM run, metric"
    " WHERE run.origin = 'imported' OR metric.name IN ({metrics})",
    "DELETE FROM value WHERE NOT EXISTS (SELECT 1 FROM run_case, kept"
    " WHERE run_case.id = value.run_case_id AND kept.run_id = run_case.run_id"
    " AND kept.metric_id = value.metric_id)",
    "DELETE FROM run_metric WHERE (run_id, metric_id) NOT IN (SELECT run_id, metric_id FROM kept)",
    # Of ours the clocks' offsets, which delays are shown with; those of Hpcbench's outputs stand
    # above its tables.
    "UPDATE launch SET server = '{{}}', client = CASE client WHEN '{{}}' THEN client ELSE"
    " json_object('clock_offset', json_extract(client, '$.clock_offset'),"
    " 'clock_offset_error', json_extract(client, '$.clock_offset_error')) END"
    " WHERE run_case_id NOT IN (SELECT run_case.id"
    " FROM run_case JOIN run ON run.id = run_case.run_id WHERE run.origin = 'imported')",
    # Values are gone that they were made of.
    "UPDATE replication SET checksum = NULL",
    "UPDATE run SET controller = 'gallery', directory = '/'",
)
_OLD_RUNS = (
    "SELECT old.id FROM run AS old JOIN run AS new ON new.plan = old.plan AND new.id > old.id"
    " WHERE old.origin <> 'imported'"
)
_ROWS_OF = {
    "run_id": "",
    "run_case_id": "SELECT id FROM run_case WHERE run_id IN ",
    "launch_id": "SELECT launch.id FROM launch JOIN run_case ON run_case.id = run_case_id"
    " WHERE run_id IN ",
    "log_id": "SELECT id FROM log WHERE run_id IN ",
}


def railgauge(*words: str) -> None:
    """Run the command; what it prints is shown."""
    # Its numpy is that of this Python: an engine of others asks for the BLAS in it.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    command = [sys.executable, "-m", "railgauge", *words]
    subprocess.run(command, cwd=ROOT, env=environment, check=False)


def shortened(name: str, hosts: Path, folder: Path) -> Path:
    """Write the shipped plan of that name to `folder`, changed, and return it."""
    plan = yaml.safe_load((ROOT / "plans" / f"{name}.yaml").read_text(encoding="utf-8"))
    PLANS[name](plan)
    for test in plan["tests"]:
        test["system_log"] = False  # as most of what is kept would be of it
    if "hosts" not in plan:
        this_machine = plan["hosts_file"] == "hosts/this-machine.yaml" and name not in (
            "udpmon",
            "jumbo-sweep",
        )
        plan["hosts_file"] = str(ROOT / "plans/hosts/this-machine.yaml" if this_machine else hosts)
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(plan, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path


def shown_metrics() -> set[str]:
    """Return the metrics that some report of a measured run shows."""
    catalogue = load_catalogue()
    found: set[str] = set()
    for path in [*(ROOT / "reports").glob("*.yaml"), *HERE.glob("*.yaml")]:
        if path.stem.startswith("hpcbench-"):
            continue
        spec = load_spec(path, catalogue)
        found |= {cell.metric for table in spec.tables for cell in table.cells}
        found |= {one.metric for one in spec.slow_nodes} | {one.metric for one in spec.figures}
    return found


def _together(statements: Iterable[str]) -> Iterator[str]:
    """Put neighbouring rows of a table into one statement, which takes half the bytes."""
    for head, some in groupby(statements, lambda one: one.partition(" VALUES(")[0]):
        rows = list(some)
        if not head.startswith("INSERT INTO"):
            yield from rows
            continue
        values = [row.removeprefix(f"{head} VALUES").removesuffix(";") for row in rows]
        yield f"{head} VALUES\n" + ",\n".join(values) + ";"


def _drop_old_runs(connection: sqlite3.Connection) -> None:
    """Delete the runs of plans that were measured again."""
    runs = ", ".join(str(number) for (number,) in connection.execute(_OLD_RUNS))
    for table in reversed(Base.metadata.sorted_tables):
        column = next((name for name in _ROWS_OF if name in table.columns), None)
        if column is not None:
            # Names of our own tables, and numbers.
            rows = f"{column} IN ({_ROWS_OF[column]}({runs}))"
            connection.execute(f"DELETE FROM {table.name} WHERE {rows}")  # noqa: S608
    connection.execute(f"DELETE FROM run WHERE id IN ({runs})")  # noqa: S608
    connection.execute("DELETE FROM bench_case WHERE id NOT IN (SELECT case_id FROM run_case)")


def keep(database: Path, names: Mapping[str, str]) -> str:
    """Return the database as SQL, without what names the machine; `names` replace others."""
    with sqlite3.connect(database) as connection:
        quoted = {
            "facts": ", ".join(repr(name) for name in _FACTS),
            "metrics": ", ".join(repr(name) for name in sorted(shown_metrics())),
        }
        _drop_old_runs(connection)
        for statement in _PRUNED:
            connection.execute(statement.format(**quoted))
        connection.commit()
        connection.execute("VACUUM")
        text = "\n".join(_together(connection.iterdump())) + "\n"
    connection.close()
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def _import(database: Path) -> None:
    for kind, file, *words in IMPORTS:
        railgauge("import", kind, str(FIXTURES / file), *words, "--db", str(database))
    with Store.open(str(database)) as store:
        store_zc(store)
        store_zc_chunks(store)


def main() -> None:
    """Measure, import, and write gallery.sql."""
    name = f"g{os.getpid()}"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        database, hosts, testbed = folder / "g.db", folder / "hosts.yaml", folder / "testbed.yaml"
        testbed.write_text(TESTBED.format(name=name), encoding="utf-8")
        if sys.argv[1:]:
            load(database)
        else:
            _import(database)
        try:
            railgauge("testbed", "up", str(testbed), "--hosts-out", str(hosts))
            for plan in sys.argv[1:] or PLANS:
                railgauge("run", "--db", str(database), str(shortened(plan, hosts, folder)))
        finally:
            railgauge("testbed", "down", name)
        names = {f"rg-{name}-": "rg-gallery-", name: "gallery", str(folder): "/", str(ROOT): "/"}
        (HERE / "gallery.sql").write_text(keep(database, names), encoding="utf-8")


if __name__ == "__main__":
    main()
