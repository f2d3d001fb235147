"""The numbers of ZC's first two tables, as imported runs with the counts behind them."""

from __future__ import annotations

from pathlib import Path

from tests.support.results import csv_rows

from railgauge.base.systemlog import SystemLog
from railgauge.plan.cases import Case, case_key
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, Outcome, PlannedCase

ZC = Path(__file__).parents[1] / "fixtures" / "zc_cpu.csv"
ZC_CHUNK = ZC.with_name("zc_chunk.csv")


def store_zc(store: Store) -> list[int]:
    """Store ZC's numbers: a run for each kernel, with the counts of ten seconds."""
    rows = csv_rows(ZC)
    runs = []
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        planned, outcomes = [], []
        for row in (record for record in rows if record["kernel"] == kernel):
            does, link = row["does"], row["card"]
            parameters = {"mode": "stream", "cork": False}
            if does != "receive":
                parameters["send"] = does
            key = case_key("tcp", link, "pc", "peer", parameters)
            planned.append(
                PlannedCase("method", Case(key, "tcp", link, "pc", "peer", parameters), 1)
            )
            side, host = ("server", "peer") if does == "receive" else ("client", "pc")
            load = float(row["cpu_percent"]) / 100
            logs = (_ten_seconds(host, row),) if row["interrupts_per_s"] else ()
            outcome = Outcome(1, 1.0, {f"{side}_cpu_load_soak": load}, logs=logs)
            outcomes.append(("method", key, outcome))
        metrics = {
            f"{side}_cpu_load_soak": MetricInfo("", "lower") for side in ("client", "server")
        }
        run = NewRun(kernel, "", "/", "", False, 0, "", "", "", {}, origin="imported")
        runs.append(store.import_run(run, planned, {"tcp": metrics}, outcomes))
    return runs


def store_zc_chunks(store: Store) -> list[int]:
    """Store ZC's CPU load by transfer buffer: a run for each setting of the kernel."""
    rows = csv_rows(ZC_CHUNK)
    metrics = {"tcp": {"client_cpu_load_soak": MetricInfo("", "lower")}}
    runs = []
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        planned, outcomes = [], []
        for row in (record for record in rows if record["kernel"] == kernel):
            parameters = {"mode": "stream", "send": "send", "write": int(row["chunk"])}
            key = case_key("tcp", "3c905C", "pc", "peer", parameters)
            case = Case(key, "tcp", "3c905C", "pc", "peer", parameters)
            planned.append(PlannedCase("chunk", case, 1))
            load = float(row["cpu_percent"]) / 100
            outcomes.append(("chunk", key, Outcome(1, 1.0, {"client_cpu_load_soak": load})))
        run = NewRun(kernel, "", "/", "", False, 0, "", "", "", {}, origin="imported")
        runs.append(store.import_run(run, planned, metrics, outcomes))
    return runs


def _ten_seconds(host: str, row: dict[str, str]) -> SystemLog:
    counts = {"stat/interrupts": int(row["interrupts_per_s"]) * 10}
    for way in ("rx", "tx"):
        if row[f"{way}_packets_per_s"]:
            packets = int(row[f"{way}_packets_per_s"]) * 10
            counts |= {f"interface/eth0/{way}_packets": packets, f"interface/eth0/{way}_bytes": 1}
    return SystemLog(host, "replication", 1.0, 10.0, 100, counts, {})
