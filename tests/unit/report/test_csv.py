"""CSV: every number at full precision, and no field that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

import pytest
from tests.support.report_data import series, table_spec

from railgauge.report.definition.definition_model import CellSpec
from railgauge.report.formats.csvfile import render_csv
from railgauge.report.tables.pivot import build


def _csv(points: list, **more: object) -> str:
    defaults = {"rows": ["datagram", "link"], "columns": ["sockbuf"]}
    return render_csv(build(table_spec(**{**defaults, **more}), points))


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_name_begins_a_formula(start: str) -> None:
    point = series([1e6], {"datagram": f"{start}1+1", "sockbuf": 10240})
    assert _rows(_csv([point]))[0]["datagram"] == f"'{start}1+1"


def test_a_benchmarks_own_unit_is_no_formula_and_keeps_to_its_line() -> None:
    point = series([1.0], {"datagram": 1, "sockbuf": 10240}, engine="own", unit="=op\n/s")
    cells = [CellSpec(metric="throughput"), CellSpec(metric="throughput", statistic="median")]
    (row, _) = _rows(_csv([point], cells=cells))
    assert (row["unit"], row["shown_unit"]) == ("'=op\n/s", "'=op\n/s")
    for columns in (["sockbuf"], []):
        lines = build(table_spec(*cells, rows=["link"], columns=columns), [point]).header
        assert {heading.unit for line in lines for heading in line} == {"", "=op\\n/s"}


def test_each_cell_is_a_line_with_its_axes_and_its_whole_summary() -> None:
    point = series([165.11e6, 165.13e6], {"datagram": 1024, "sockbuf": 10240}, failed=1)
    other = series([0.1], {"datagram": 1024, "sockbuf": 20480})
    rows = _rows(_csv([point, other]))
    assert rows[0] == {
        "datagram": "1024",
        "link": "gw→hh",
        "sockbuf": "10240",
        "metric": "throughput",
        "statistic": "median",
        "shown": "165.12",
        "shown_unit": "Mbit/s",
        "n": "2",
        "mean": repr(2 / (1 / 165.11e6 + 1 / 165.13e6)),
        "mean_kind": "harmonic",
        "median": "165120000.0",
        "stdev": repr(2e8**0.5),
        "minimum": "165110000.0",
        "maximum": "165130000.0",
        "mean_absolute_deviation": "10000.0",
        "cv": repr(2e8**0.5 / 165120000.0),
        "interval_low": "",
        "interval_high": "",
        "interval_level": "",
        "lower_quartile": "165115000.0",
        "upper_quartile": "165125000.0",
        "outliers": "0",
        "arithmetic_mean": "165120000.0",
        "unit": "bit/s",
        "run": "1",
        "test": "stream",
        "case_key": point.case.key,
        "asked": "3",
        "failed": "1",
        "suspect": "0",
        "peak": "",
        "peak_source": "",
        "note": "2 of 3 replications; 1 failed",
        "label": "Throughput",
    }
    assert (rows[1]["mean"], rows[1]["stdev"], rows[1]["shown"]) == ("0.1", "", "0.00")


def test_a_missing_cell_has_no_numbers() -> None:
    points = [series([1e6], {"datagram": datagram, "sockbuf": datagram}) for datagram in (1, 2)]
    row = _rows(_csv(points))[1]
    assert (row["datagram"], row["sockbuf"], row["shown"]) == ("1", "2", "---")
    assert {row[name] for name in ("n", "mean", "run", "case_key", "asked")} == {""}


def test_a_missing_reference_is_told_from_what_it_would_stand_beside() -> None:
    cells = [
        {"metric": "throughput", "label": label, "select": {"engine": engine}}
        for label, engine in (("Ours", "udp"), ("Theirs", "iperf3"))
    ]
    rows = _rows(render_csv(build(table_spec(*cells, rows=["datagram"]), [series([1e6])])))
    assert [(row["label"], row["shown"]) for row in rows] == [
        ("Ours", "1000000.00"),
        ("Theirs", "---"),
    ]


def test_a_case_that_only_failed_says_so() -> None:
    row = _rows(_csv([series([], {"datagram": 1, "sockbuf": 1}, failed=4)]))[0]
    assert (row["shown"], row["n"], row["asked"], row["failed"]) == ("---", "", "4", "4")


def test_an_axis_called_like_a_column_stands_there_once() -> None:
    text = _csv([series([1e6], {"datagram": 1, "sockbuf": 1}, run=7)], rows=["run", "test"])
    header = text.split("\r\n")[0].split(",")
    assert len(header) == len(set(header))
    assert _rows(text)[0]["run"] == "7"


def test_a_parameter_called_like_a_column_keeps_its_values_beside_it() -> None:
    names = {"n": 1000, "mean": 2, "case_key": "k", "failed": 3, "label": "l", "value": 4}
    more = {"unit": "u", "shown": "s", "note": "x", "metric": "m", "parameter_n": 5}
    points = [series([1e6, 2e6], {**names, **more, "n": n}) for n in (1000, 2000)]
    for compared in ({}, {"against": {"n": 1000}, "as": "ratio"}):
        cells = [{"metric": "throughput", **compared}]
        text = _csv(points, rows=["n", *[*names][1:], *more], columns=[], cells=cells)
        header = text.split("\r\n")[0].split(",")
        assert len(header) == len(set(header))
        row = _rows(text)[1]
        assert (row["parameter_n"], row["n"], row["parameter_parameter_n"]) == ("2000", "2", "5")
        assert (row["parameter_case_key"], row["case_key"]) == ("k", points[1].case.key)
        assert (row["parameter_failed"], row["failed"]) == ("3", "0")
        assert row["parameter_value"] == "4"
        assert ("value" in row) == bool(compared)


@pytest.mark.parametrize("axes", [["run", "test"], ["link", "engine"]])
def test_each_columns_name_stands_once_whatever_the_axes_are(axes: list[str]) -> None:
    (header,) = csv.reader([_csv([series([1e6])], rows=axes, columns=[]).split("\r\n")[0]])
    assert len(header) == len(set(header))


def test_lines_end_as_rfc_4180_says_and_quotes_are_doubled() -> None:
    text = _csv([series([1e6], {"datagram": 1, "sockbuf": 1}, link='a,"b"\nc')])
    assert text.endswith("\r\n")
    assert '1,"a,""b""\nc",1,' in text


@pytest.mark.parametrize("link", ["=1+1", "+cmd", "-x", "@sum", "\t=1", "\r=1"])
def test_text_that_a_spreadsheet_would_run_is_quoted(link: str) -> None:
    rows = _rows(_csv([series([1e6], {"datagram": 1, "sockbuf": 1}, link=link)]))
    assert rows[0]["link"] == f"'{link}"


def test_negative_numbers_stay_numbers() -> None:
    cells = [CellSpec(metric="throughput", statistic="median", unit="Mbit/s")]
    (row,) = _rows(_csv([series([-2e6], {"datagram": -1, "sockbuf": 1})], cells=cells))
    assert (row["datagram"], row["shown"], row["median"]) == ("-1", "-2.00", "-2000000.0")
