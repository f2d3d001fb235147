"""Cells held against others: ratio, difference and change, each with an honest interval."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.support.report_data import series, table_spec

from railgauge.base.errors import InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.definition.definition_model import TableSpec
from railgauge.report.document.render import render_latex, render_text
from railgauge.report.formats.csvfile import render_csv
from railgauge.report.formats.tooltip import tooltip
from railgauge.report.tables.display_form import display_form
from railgauge.report.tables.pivot import build
from railgauge.report.tables.table import Table
from railgauge.stats.hodges_lehmann import difference_interval, ratio_interval
from railgauge.store.records import PublishedValue, Series

_PLAIN = {"metric": "throughput", "statistic": "mean", "unit": "Mbit/s", "label": "Rate"}


def _against_cell(**more: object) -> dict[str, object]:
    cell = {"against": {"sockbuf": "10KiB"}, "label": "Gain"}
    return {"metric": "throughput", "statistic": "mean", **cell, **more}


def _spec(*cells: dict[str, object], **more: object) -> TableSpec:
    return table_spec(*cells, **{"rows": ["datagram"], "columns": ["sockbuf"], **more})


def _point(sockbuf: int, *rates: float, datagram: int = 1460, **more: object) -> Series:
    parameters = {"mode": "stream", "datagram": datagram, "sockbuf": sockbuf}
    return series([rate * 1e6 for rate in rates], parameters, **more)


def _build(spec: TableSpec, points: Sequence[Series]) -> Table:
    return build(spec, points, catalogue=load_catalogue())


def _texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in table.rows]


_POINTS = (_point(10240, 100, 100), _point(102400, 150, 150), _point(1048576, 50, 50))


def test_a_ratio_is_to_the_same_row_in_the_chosen_column_which_has_none_itself() -> None:
    other = (_point(10240, 10, datagram=64), _point(102400, 30, datagram=64))
    table = _build(_spec(_PLAIN, _against_cell()), [*_POINTS, *other])
    assert [heading.text for heading in table.header[-1]] == [
        *["Rate", "Rate", "Gain", "Rate", "Gain"],
    ]
    assert [heading.span for heading in table.header[1]] == [1, 2, 2]
    assert _texts(table) == [
        ["10.00", "30.00", "3.00", "---", "---"],
        ["100.00", "150.00", "1.50", "50.00", "0.50"],
    ]
    assert table.header[-1][2].unit == "×"


def test_changes_are_in_percent_and_differences_in_the_metrics_unit() -> None:
    change = _against_cell(**{"as": "change", "digits": 1})
    difference = _against_cell(**{"as": "difference", "unit": "Mbit/s", "label": "More"})
    table = _build(_spec(change, difference), _POINTS)
    assert _texts(table) == [["50.0", "50.00", "-50.0", "-50.00"]]
    assert [heading.unit for heading in table.header[-1]] == ["%", "Mbit/s", "%", "Mbit/s"]
    assert "Gain: change from what stands at Sockbuf 10KiB" in " ".join(table.notes)


def test_a_difference_of_shares_is_in_percentage_points() -> None:
    points = [
        series([share] * 2, {"datagram": 1, "sockbuf": size}, metric="loss_rate", unit="1")
        for size, share in ((10240, 0.02), (102400, 0.05))
    ]
    cell = {
        "metric": "loss_rate",
        "statistic": "median",
        "unit": "%",
        "against": {"sockbuf": 10240},
    }
    table = _build(_spec({**cell, "as": "difference"}), points)
    assert _texts(table) == [["3.00"]]
    assert "in percentage points" in table.notes[0]


def test_ratios_of_rates_are_those_of_their_harmonic_means_and_are_never_averaged() -> None:
    table = _build(
        _spec(_against_cell(digits=4)), [_point(10240, 100, 100), _point(102400, 50, 200)]
    )
    assert _texts(table) == [["0.8000"]]


def test_the_reference_need_not_be_shown() -> None:
    table = _build(_spec(_PLAIN, _against_cell(), select={"sockbuf": ["100KiB"]}), _POINTS)
    assert _texts(table) == [["150.00", "1.50"]]


def test_an_axis_of_the_rows_shows_one_for_the_row_that_others_are_held_against() -> None:
    points = [_point(10240, 100, link="a"), _point(10240, 80, link="b")]
    cell = {"metric": "throughput", "against": {"link": "a"}}
    change = {**cell, "as": "change", "label": "Change"}
    table = _build(_spec(cell, change, rows=["link"], columns=[]), points)
    assert _texts(table) == [["1.00", "0.00"], ["0.80", "-20.00"]]
    assert table.header[-1][0].text == "Ratio of throughput"


def test_what_a_cell_selects_may_be_what_the_other_has_otherwise() -> None:
    cpu = series([60e9] * 2, {"threads": 2}, engine="cpu", server=None, unit="op/s")
    hpl = series([80e9] * 2, {"threads": 2}, engine="hpl", server=None, unit="op/s")
    cell = {"metric": "throughput", "select": {"engine": "cpu"}, "against": {"engine": "hpl"}}
    table = build(_spec(cell, rows=["threads"], columns=[]), [cpu, hpl])
    assert _texts(table) == [["0.75"]]
    assert "ratio to what stands at Engine hpl" in " ".join(table.notes)


def test_settings_in_which_another_engine_differs_that_is_only_held_against_are_told() -> None:
    cpu = series([6e9] * 2, {"threads": 2, "duration": 0.1}, engine="cpu", server=None)
    dgemm = series([8e9] * 2, {"threads": 2, "duration": 1.0}, engine="dgemm", server=None)
    cell = {"metric": "throughput", "select": {"engine": "cpu"}, "against": {"engine": "dgemm"}}
    notes = _build(_spec(cell, rows=["threads"], columns=[]), [cpu, dgemm]).notes
    assert "Engines beside one another differ in duration (cpu 100ms, dgemm 1s)." in notes


def test_values_in_different_units_are_not_held_against_one_another() -> None:
    cpu = series([60e9] * 2, {"threads": 2}, engine="cpu", server=None, unit="op/s")
    hpl = series([80.0] * 2, {"threads": 2}, engine="hpl", server=None, unit="B/s")
    cell = {"metric": "throughput", "select": {"engine": "cpu"}, "against": {"engine": "hpl"}}
    with pytest.raises(InputError, match=r"in 'op/s' here and in 'B/s' at Engine hpl"):
        build(_spec(cell, rows=["threads"], columns=[]), [cpu, hpl])


NOTHING_THERE = "nothing was measured at Sockbuf 10KiB, all else being equal, to compare it with"


def test_nothing_to_hold_against_is_a_missing_cell_that_says_why() -> None:
    points = [*_POINTS, _point(102400, 2, 2, datagram=9)]
    table = _build(_spec(_PLAIN, _against_cell()), points)
    assert [row[1:3] for row in _texts(table)] == [["2.00", "---"], ["150.00", "1.50"]]
    (footnote,) = [note for note in table.footnotes if note.mark == table.rows[0].cells[2].mark]
    assert footnote.text == NOTHING_THERE


def test_rows_that_compare_nothing_are_a_sentence_and_stay_in_the_csv_file() -> None:
    never = _point(10240, datagram=64, total=3)
    points = [*_POINTS, never, _point(102400, 1, datagram=64), _point(102400, 2, datagram=9)]
    spec = _spec(_against_cell(), rows=["link", "datagram"])
    for level in ("all", "short"):
        table = build(spec, points, catalogue=load_catalogue(), level=level)
        assert _texts(display_form(table)) == [["1.50", "0.50"]]
        assert f"Not shown: 9 and 64: {NOTHING_THERE}." in "\n".join(table.notes)
        assert not table.footnotes
        rows = list(csv.DictReader(io.StringIO(render_csv(table))))
        assert [row["datagram"] for row in rows if NOTHING_THERE in row["note"]] == ["9", "64"]
    silent = build(spec, points, catalogue=load_catalogue(), level="none")
    assert len(display_form(silent).rows) == 3


def test_a_row_whose_own_measurement_failed_stays() -> None:
    failed = [_point(10240, 1, datagram=64), _point(102400, datagram=64, total=3)]
    table = display_form(_build(_spec(_against_cell()), [*_POINTS, *failed]))
    assert _texts(table) == [["---", "---"], ["1.50", "0.50"]]


def test_a_table_that_compares_nothing_keeps_its_rows() -> None:
    points = [_point(102400, 1, datagram=64), _point(102400, 2, datagram=9)]
    table = _build(_spec(_against_cell()), points)
    assert len(table.rows) == 2
    assert table.valueless_rows == ()
    assert f"N{NOTHING_THERE[1:]}." in table.notes


def test_there_is_no_ratio_to_nothing_but_a_difference() -> None:
    points = [_point(10240, 0, 0), _point(102400, 5, 5)]
    median = {"statistic": "median"}
    table = _build(
        _spec(
            _against_cell(**median),
            _against_cell(**median, **{"as": "difference", "unit": "Mbit/s"}),
        ),
        points,
    )
    assert _texts(table) == [["n/a", "5.00"]]
    assert table.footnotes[0].text == "no ratio: it would be 5000000 to 0"


def test_an_interval_is_that_of_the_ratio_itself() -> None:
    sample, baseline = [150.0, 153.0, 156.0, 149.0, 151.0], [100.0, 101.0, 99.0, 102.0, 98.0]
    points = [_point(10240, *baseline), _point(102400, *sample)]
    table = _build(_spec(_against_cell(statistic="interval", digits=3)), points)
    interval = ratio_interval(np.array(baseline), np.array(sample))
    assert interval is not None
    assert _texts(table) == [[f"[{interval.low:.3f}, {interval.high:.3f}]"]]
    assert interval.low < 1.5 < interval.high
    assert table.rows[0].cells[0].value == pytest.approx(interval.low)
    assert "Hodges and Lehmann" in " ".join(table.notes)


def test_too_few_values_have_no_interval_and_say_so() -> None:
    table = _build(_spec(_against_cell(statistic="interval")), _POINTS)
    assert _texts(table) == [["n/a", "n/a"]]
    assert "too few values" in table.footnotes[0].text


def test_what_is_odd_about_a_reference_that_is_not_shown_is_told_with_what_it_is_of() -> None:
    points = [_point(10240, 100, total=3, failed=2), _point(102400, 150)]
    table = _build(_spec(_against_cell(), select={"sockbuf": ["100KiB"]}), points)
    assert table.footnotes[0].text == "Sockbuf 10KiB: 1 of 3 replications; 2 failed"
    with_plain = _build(_spec(_PLAIN, _against_cell()), points)
    assert [footnote.text for footnote in with_plain.footnotes] == ["1 of 3 replications; 2 failed"]


def test_a_reference_whose_own_column_falls_out_is_not_shown_either() -> None:
    points = [_point(10240, 100, total=3, failed=2), _point(102400, 150)]
    table = _build(_spec(_against_cell()), points)
    assert [footnote.text for footnote in table.footnotes] == [
        "Sockbuf 10KiB: 1 of 3 replications; 2 failed"
    ]


def test_of_how_many_values_an_unseen_reference_is_is_told_where_it_has_another_number() -> None:
    points = [_point(10240, 100), _point(102400, 150, 150), _point(102400, 9, datagram=64)]
    table = _build(
        _spec(_against_cell(), select={"sockbuf": ["100KiB"]}),
        [*points, _point(10240, 9, datagram=64)],
    )
    assert [row.cells[0].note for row in table.rows] == ["", "Sockbuf 10KiB: n = 1"]


def test_how_far_values_spread_is_not_said_of_what_they_are_held_against_others_as() -> None:
    points = [_point(10240, *range(10, 90, 10)), _point(102400, *[7] * 8)]
    (note, *_) = _build(
        _spec(_against_cell(**{"as": "difference", "unit": "Mbit/s"})), points
    ).notes
    assert note == "Throughput, difference in Mbit/s: harmonic mean of 8 replications per cell."
    lost = [
        series([share] * 8, {"datagram": 1460, "sockbuf": size}, metric="loss_rate", unit="1")
        for size, share in ((10240, 0.02), (102400, 0.05))
    ]
    plain = {"metric": "loss_rate", "statistic": "median", "label": "Loss"}
    (note, *_) = _build(_spec(_against_cell(), plain), [*points, *lost]).notes
    assert "; standard deviation at most 0.00 percentage points (Loss); 95 % interval" in note


def test_several_cases_to_hold_against_are_refused() -> None:
    points = [
        series([1e6], {"sockbuf": 10240, "datagram": 1, "tos": tos}, test="a") for tos in (0, 8)
    ] + [series([1e6], {"sockbuf": 102400, "datagram": 1, "tos": 0})]
    spec = _spec(_against_cell(), select={"sockbuf": "100KiB"})
    with pytest.raises(InputError, match=r"compared with several cases, which differ in tos"):
        _build(spec, points)


def test_only_what_it_would_be_held_against_is_refused() -> None:
    with pytest.raises(InputError, match="nothing is there but what it is to be compared with"):
        _build(_spec(_against_cell()), [_point(10240, 1)])


def test_the_csv_file_has_both_numbers_at_full_precision() -> None:
    points = [_point(10240, 30), _point(102400, 10)]
    rows = list(
        csv.DictReader(io.StringIO(render_csv(_build(_spec(_PLAIN, _against_cell()), points))))
    )
    gain = next(row for row in rows if row["label"] == "Gain")
    assert (gain["shown"], gain["compared"], gain["against"]) == ("0.33", "ratio", "Sockbuf 10KiB")
    assert float(gain["value"]) == 1 / 3
    assert (gain["against_value"], gain["against_run"]) == ("30000000.0", "1")
    assert gain["against_case_key"] == points[0].case.key
    rate = next(row for row in rows if row["label"] == "Rate")
    assert (rate["value"], rate["against_value"]) == ("30000000.0", "")


def test_pointed_at_a_cell_tells_the_other_value_and_how_sure_the_ratio_is() -> None:
    baseline, sample = [100.0, 101.0, 99.0, 102.0, 98.0], [150.0, 153.0, 156.0, 149.0, 151.0]
    table = _build(_spec(_against_cell()), [_point(10240, *baseline), _point(102400, *sample)])
    text = tooltip(table.rows[0].cells[0], table.columns[0])
    assert "; Sockbuf 10KiB: 99.98 Mbit/s (run 1); 95 % interval of the median ratio of all" in text
    few = _build(_spec(_against_cell()), _POINTS)
    assert tooltip(few.rows[0].cells[0], few.columns[0]).endswith("Mbit/s (run 1)")


def test_pointed_at_a_difference_of_shares_tells_both_as_its_column_does() -> None:
    points = [
        series([share] * 8, {"datagram": 1, "sockbuf": size}, metric="loss_rate", unit="1")
        for size, share in ((10240, 0.02), (102400, 0.05))
    ]
    cell = {"metric": "loss_rate", "statistic": "median", "against": {"sockbuf": 10240}}
    table = _build(_spec({**cell, "as": "difference", "unit": "%", "digits": 1}), points)
    assert tooltip(table.rows[0].cells[0], table.columns[0]).endswith(
        "Sockbuf 10KiB: 2.00 % (run 1); 95 % interval of the median difference of all pairs 3.00 to"
        " 3.00 percentage points"
    )


def test_pointed_at_a_difference_from_a_published_number_tells_of_which_interval_it_is() -> None:
    published = replace(_point(10240, 100), published=PublishedValue(10))
    full = replace(_point(102400, *range(140, 160)), rule="ci95(median) <= 1% of throughput")
    early = replace(full, ended="narrow", planned=50)
    for point, percent in ((full, 95), (early, 99)):
        cell = _against_cell(statistic="arithmetic_mean", **{"as": "difference"})
        table = _build(_spec(cell), [published, point])
        text = tooltip(table.rows[0].cells[0], table.columns[0])
        assert f"; {percent} % interval of the difference from the published number" in text


def test_what_does_not_tell_where_values_lie_has_no_interval_of_its_ratio() -> None:
    points = [_point(10240, *range(100, 108)), _point(102400, *range(200, 240, 5))]
    for statistic in ("stdev", "minimum", "upper_quartile"):
        table = _build(_spec(_against_cell(statistic=statistic)), points)
        reference = table.rows[0].cells[0].reference
        assert reference is not None
        assert (reference.low, reference.high) == (None, None)
        assert (
            "interval" not in tooltip(table.rows[0].cells[0], table.columns[0]).split("Sockbuf")[1]
        )


def test_what_the_other_has_no_such_statistic_of_is_not_told_as_its_median() -> None:
    points = [_point(10240, 100), _point(102400, 150, 160)]
    table = _build(_spec(_against_cell(statistic="stdev")), points)
    assert _texts(table) == [["n/a"]]
    assert "a single value: no standard deviation" in [
        footnote.text for footnote in table.footnotes
    ]
    (row,) = csv.DictReader(io.StringIO(render_csv(table)))
    assert row["against_value"] == ""
    assert "Sockbuf 10KiB: n/a" in tooltip(table.rows[0].cells[0], table.columns[0])


def test_text_and_latex_show_them_too() -> None:
    table = _build(_spec(_PLAIN, _against_cell(**{"as": "change", "digits": 1})), _POINTS)
    assert "Gain (%)" in render_text(table)
    assert "-50.0" in render_latex(table)


def test_intervals_of_pairs_cover_what_they_say() -> None:
    random = np.random.default_rng(8)
    hits = 0
    for _ in range(1000):
        baseline, sample = random.lognormal(0.0, 0.1, 6), 1.25 * random.lognormal(0.0, 0.1, 5)
        interval = ratio_interval(baseline, sample)
        assert interval is not None
        hits += interval.low <= 1.25 <= interval.high
    assert 940 <= hits <= 985
    # 3 and 4 leave 2 of 35 arrangements, more than 5 %.
    assert difference_interval(np.arange(3.0), np.arange(4.0)) is None
    assert ratio_interval(np.arange(9.0), np.arange(1.0, 9.0)) is None
    # No double is as much as these ratios.
    assert ratio_interval(np.full(6, 1e-320), np.full(6, 1e308)) is None
