"""docs/other-tools.md: its examples run, on real databases, and come to railgauge's own numbers."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import duckdb
import numpy as np
import pytest
from tests.support import ROOT
from tests.support.results import csv_rows
from tests.support.store_samples import (
    LAUNCH,
    METRICS,
    MOMENT,
    RUN,
    case,
    failed,
    measured,
    planned,
    suspect,
)

from railgauge.exchange.exporting.export import export
from railgauge.store import Store
from railgauge.store.records import MetricInfo

DOCS = ROOT / "docs"
EXAMPLES = DOCS / "examples"
RATES = {(1460, 10240): 1e9, (1460, 20480): 2e9, (512, 10240): 3e9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `railgauge.db` and what `railgauge export` makes of it."""
    folder = tmp_path_factory.mktemp("tools")
    with Store.open(str(folder / "railgauge.db")) as store:
        cases = [case(datagram, sockbuf=buffer) for datagram, buffer in RATES]
        disk = replace(
            case(), engine="disk", link="gw1", server=None, key="feed", parameters={"block": 4096}
        )
        metrics = {**METRICS, "disk": {"throughput": MetricInfo("B/s", "higher")}}
        plans = [*planned(*cases), *planned(disk, test="disk")]
        run = store.begin_run(RUN, plans, metrics)
        for datagram_case, rate in zip(cases, RATES.values(), strict=True):
            launch = replace(LAUNCH)
            for number, factor in enumerate((1.5, 1.0, 0.9, 0.8), 1):
                store.add(run, "stream", datagram_case.key, measured(number, rate * factor), launch)
            store.add(run, "stream", datagram_case.key, failed(6), launch)
        store.add(run, "stream", cases[0].key, suspect(5), replace(LAUNCH))
        alone = replace(measured(1), metrics={"throughput": 7e8})
        store.add(run, "disk", disk.key, alone, replace(LAUNCH))
        store.finish_run(run, "complete")
        for form in ("csv", "json", "parquet"):
            export(store, [], folder / f"measurements.{form}", form)
    return folder


@pytest.fixture(scope="module")
def medians(folder: Path) -> dict[str, float]:
    """Case key -> the median of its throughput, as railgauge has it."""
    with Store.open(str(folder / "railgauge.db"), create=False) as store:
        series = store.series([1], ["throughput"])
    return {case_series.case.key: float(np.median(case_series.values)) for case_series in series}


def test_duckdb_tells_each_cases_median(folder: Path, medians: dict[str, float]) -> None:
    rows = _example("duckdb_medians").medians(str(folder / "measurements.parquet")).fetchall()
    assert {row[-1]: row[4] for row in rows} == pytest.approx(medians)
    assert sorted((row[2], row[3], row[7], row[8]) for row in rows) == [
        ("gw1", None, 1, 0),
        ("gw→hh", 512, 4, 0),
        ("gw→hh", 1460, 4, 0),
        ("gw→hh", 1460, 5, 1),
    ]


def test_pandas_tells_each_cases_median(folder: Path, medians: dict[str, float]) -> None:
    example = _example("pandas_medians")
    rows = example.measurements(str(folder / "railgauge.db"), 1)
    assert str(rows["started_at"].dtype).startswith("datetime64")
    assert "UTC" in str(rows["started_at"].dtype)
    table = example.medians(rows, "datagram")
    values = [value for value in table.to_numpy().ravel() if value == value]
    assert sorted(values) == pytest.approx(sorted(medians.values()))
    assert list(table.columns) == ["—", 1460, 512]
    rows_of = table.xs("gw→hh", level="link").xs(10240, level="set.sockbuf")
    assert rows_of[[1460, 512]].to_numpy().tolist() == [[1e9, 2.85e9]]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_duckdb_reads_every_format_alike(folder: Path, form: str) -> None:
    read = {"csv": "read_csv", "json": "read_json", "parquet": "read_parquet"}[form]
    query = f"""SELECT count(*), count(value), sum(value), max(replication),
                epoch_us(min(started_at))
                FROM {read}($file)"""
    file = str(folder / f"measurements.{form}")
    (aggregates,) = duckdb.sql(query, params={"file": file}).fetchall()
    rows = csv_rows(folder / "measurements.csv")
    values = [float(row["value"]) for row in rows if row["value"]]
    assert aggregates[:4] == (len(rows), len(values), pytest.approx(sum(values)), 6)
    assert aggregates[4] == (MOMENT + 1) * 1e6


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("duckdb_medians", ["measurements.parquet"]), ("pandas_medians", ["railgauge.db", "1"])],
)
def test_an_example_is_called_as_its_first_lines_say(
    folder: Path, name: str, arguments: list[str]
) -> None:
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    usage = re.search(rf"^python {name}\.py (.*)$", text, re.MULTILINE)
    assert usage is not None
    assert usage[1].replace("RUN", "1").startswith(" ".join(arguments))
    completed = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert completed.returncode == 0, completed.stderr
    assert "gw→hh" in completed.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "expected_text"),
    [
        (["1", "loss_rate"], 0, "set.datagram"),
        (["1", "throughput", "sockbuf"], 0, "set.sockbuf"),
        (["1", "throughput", "colour"], 1, "run 1 has no throughput with a parameter colour"),
        (["7"], 1, "run 7 has no throughput with a parameter datagram"),
    ],
)
def test_the_pandas_example_takes_a_metric_and_a_parameter(
    folder: Path, arguments: list[str], code: int, expected_text: str
) -> None:
    completed = subprocess.run(
        [sys.executable, str(EXAMPLES / "pandas_medians.py"), "railgauge.db", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert completed.returncode == code, completed.stderr
    assert expected_text in completed.stdout + completed.stderr
    assert "Traceback" not in completed.stderr


def _example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
