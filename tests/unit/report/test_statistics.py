"""Which mean a table shows, how sure its numbers are, and what it says of odd values."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.report_data import series, table_spec

from railgauge.cli.runs import statistics_of
from railgauge.report.definition.definition_model import CellSpec, SlowNodesSpec
from railgauge.report.definition.figure_model import FigureSpec, XSpec, YSpec
from railgauge.report.definition.statistic import value_of
from railgauge.report.document.render import render_html, render_latex, render_text
from railgauge.report.figures.kinds.bars import KIND as BARS
from railgauge.report.figures.kinds.cells import KIND as CELLS
from railgauge.report.figures.kinds.heatmap import KIND
from railgauge.report.figures.kinds.kind import FigureLine
from railgauge.report.figures.kinds.valued import shown_statistic
from railgauge.report.formats.csvfile import render_csv
from railgauge.report.formats.tooltip import tooltip
from railgauge.report.pages.contents import Details, ReportPart
from railgauge.report.pages.page import Page
from railgauge.report.tables.default import default_spec
from railgauge.report.tables.pivot import build
from railgauge.report.tables.selection import make_axes
from railgauge.report.tables.slow_nodes import build_listings
from railgauge.report.tables.table import Table
from railgauge.stats.interval import median_interval
from railgauge.stats.summary import summarise
from railgauge.store import Store
from railgauge.store.records import PublishedValue, Series

_RULE = "ci95(median) <= 1% of throughput"
_TEN = [float(10 + place) for place in (3, 0, 8, 5, 1, 9, 2, 7, 4, 6)]


def _table(points: list[Series], *cells: Mapping[str, object], **more: object) -> Table:
    return build(table_spec(*cells, **{"rows": ["datagram"], **more}), points)


def _texts(table: Table) -> list[list[str]]:
    return [[f"{cell.text}{cell.mark}" for cell in row.cells] for row in table.rows]


def _notes(table: Table) -> list[str]:
    return [footnote.text for footnote in table.footnotes]


@pytest.mark.parametrize(
    ("metric", "unit", "text", "statistic"),
    [
        ("throughput", "bit/s", "1.50", "harmonic_mean"),
        ("clock", "Hz", "1.50", "harmonic_mean"),
        ("rtt_p50", "s", "2.00", "arithmetic_mean"),
        ("sent_bytes", "B", "2.00", "arithmetic_mean"),
        ("lost_packets", "", "2.00", "arithmetic_mean"),
        ("loss_rate", "", "n/aa", "mean"),
        ("operations_per_cycle", "", "n/aa", "mean"),
        ("client_cpu", "1", "n/aa", "mean"),
    ],
)
def test_costs_have_the_arithmetic_rates_the_harmonic_and_ratios_no_mean(
    metric: str, unit: str, text: str, statistic: str
) -> None:
    points = [series([1.0, 3.0], {"datagram": 1}, metric=metric, unit=unit)]
    table = _table(points, {"metric": metric, "statistic": "mean"})
    assert _texts(table) == [[text]]
    assert table.columns[0].statistic == statistic
    if statistic == "mean":
        assert _notes(table) == ["no mean: ratios are not averaged; the median stands for them"]
    else:
        assert f"{statistic.replace('_', ' ').capitalize()} of 2 replications" in table.notes[0]


def test_what_a_metric_is_tells_its_mean_and_not_what_it_is_called() -> None:
    for metric, kind, statistic in (
        ("laps", "count", "arithmetic_mean"),
        ("speedup_of_runs", "ratio", "mean"),
        ("messages", "share", "mean"),
        # Nobody says what it is: without a unit it may be a ratio.
        ("packets", "", "mean"),
    ):
        point = series([1.0, 3.0], {"datagram": 1}, metric=metric, unit="", kind=kind)
        table = _table([point], {"metric": metric, "statistic": "mean"})
        assert table.columns[0].statistic == statistic, metric
        (row,) = csv.DictReader(io.StringIO(render_csv(table)))
        (summary,) = statistics_of([point])
        average = "arithmetic" if kind == "count" else "none"
        assert row["mean_kind"] == summary["mean_kind"] == average, metric
        assert summary["kind"] == kind
        assert ("arithmetic mean 2" in tooltip(table.rows[0].cells[0], table.columns[0])) == (
            kind == "count"
        )


def test_runs_that_say_different_things_of_a_metric_have_no_mean_together() -> None:
    of_runs = [
        series([1.0, 3.0], {"datagram": 1}, metric="laps", unit="", kind=kind, run=run)
        for run, kind in ((1, "count"), (2, ""))
    ]
    table = _table(of_runs, {"metric": "laps", "statistic": "mean"}, rows=["run"])
    assert _texts(table) == [["n/a"], ["n/a"]]
    assert table.valueless == (0,)
    assert table.columns[0].average == "none"
    figure = FigureSpec(name="f", title="F", kind="bars", y=YSpec(metric="laps", statistic="mean"))
    assert shown_statistic(figure, of_runs) == "median"
    assert shown_statistic(figure, of_runs[:1]) == "arithmetic_mean"


def test_rates_over_the_same_time_each_have_the_arithmetic_mean() -> None:
    # 1 Mbit and 3 Mbit, a second each: 4 Mbit in 2 s.
    def means(*parameters: Mapping[str, object]) -> list[list[str]]:
        points = [
            series([1e6, 3e6], {"datagram": place, **more})  # type: ignore[dict-item]
            for place, more in enumerate(parameters)
        ]
        cells = [
            {"metric": "throughput", "statistic": name, "unit": "Mbit/s", "label": name}
            for name in ("mean", "harmonic_mean")
        ]
        for point in points:
            (summary,) = statistics_of([point])
            assert summary["mean"] == (2e6 if point.timed else 1.5e6)
        return _texts(_table(points, *cells))

    assert means({"duration": 1.0}) == [["2.00", "1.50"]]
    assert means({"duration": 1.0, "count": 100}) == [["1.50", "1.50"]]
    assert means({"duration": 0}) == [["1.50", "1.50"]]
    # One heading stands above all: what is true of some only is not said of any.
    assert means({"duration": 1.0}, {"count": 100}) == [["1.50", "1.50"]] * 2


def test_either_mean_can_be_asked_for_by_name() -> None:
    points = [series([1e6, 3e6], {"datagram": 1})]
    cells = [
        {"metric": "throughput", "unit": "Mbit/s", "statistic": f"{kind}_mean", "label": kind}
        for kind in ("arithmetic", "harmonic")
    ]
    table = _table(points, *cells, {"metric": "throughput", "statistic": "n", "label": "n"})
    assert _texts(table) == [["2.00", "1.50", "2"]]
    assert table.notes[1] == "Means are arithmetic of arithmetic; harmonic of harmonic."


def test_a_single_value_is_its_own_mean_even_of_a_ratio() -> None:
    points = [series([0.25], {"datagram": 1}, metric="loss_rate", unit="")]
    assert _texts(_table(points, {"metric": "loss_rate", "unit": "%"})) == [["25.00"]]


def test_rates_that_were_0_have_no_harmonic_mean_and_a_footnote_says_so() -> None:
    cell = {"metric": "throughput", "statistic": "mean"}
    table = _table([series([0.0, 1e6], {"datagram": 1})], cell)
    assert _texts(table) == [["n/aa"]]
    assert _notes(table) == ["no harmonic mean: not all values are above 0"]


def test_the_interval_is_of_the_median_and_there_is_none_of_fewer_than_six() -> None:
    points = [series(_TEN, {"datagram": 1}), series(_TEN[:5], {"datagram": 2})]
    cells = [
        {"metric": "throughput", "statistic": statistic, "label": statistic, "digits": 1}
        for statistic in ("median", "interval", "interval_low", "interval_high")
    ]
    table = _table(points, *cells)
    # Of ten values the second and the ninth, exactly: 1 - 2 * 11 / 1024 = 97.9 %.
    assert _texts(table) == [
        ["14.5", "[11.0, 18.0]", "11.0", "18.0"],
        ["13.0", "n/aa", "n/aa", "n/aa"],
    ]
    assert _notes(table) == ["fewer than 6 values: no 95 % interval of the median"]
    # 3.5 of 14.5, rounded up.
    assert "95 % interval of the median at most 24.2 % to either side" in table.notes[0]
    assert "1 of 2 cells has too few for one (6)." in table.notes[0]
    assert r"{{[}\num{11.0}, \num{18.0}{]}}" in render_latex(table)


def test_no_share_bounds_how_far_values_spread_around_0() -> None:
    cell = {"metric": "untimed_bytes"}
    steady = series([100.0, 110.0] * 5, {"datagram": 1}, metric="untimed_bytes", unit="B")
    for values, bounded in (([0.0] * 10, True), ([0.0] * 6 + [8.0] * 4, False)):
        around_0 = series(values, {"datagram": 2}, metric="untimed_bytes", unit="B")
        note = _table([steady, around_0], cell).notes[0]
        assert ("95 % interval of the median at most 4.8 % to either side" in note) == bounded
    opposed = series([-1.0, 1.0] * 5, {"datagram": 2}, metric="untimed_bytes", unit="B")
    assert "coefficient of variation" not in _table([steady, opposed], cell).notes[0]


def test_statistics_of_one_metric_share_its_heading() -> None:
    cells = [
        {"metric": "throughput", "statistic": statistic, "unit": unit}
        for statistic, unit in (("n", ""), ("median", "Mbit/s"), ("cv", "%"))
    ]
    table = _table([series([1e6, 3e6, 2e6], {"datagram": 1}, failed=1)], *cells)
    assert [
        [(heading.text, heading.unit, heading.span) for heading in line] for line in table.header
    ] == [
        [("Throughput", "Mbit/s", 3)],
        [("n", "", 1), ("Median", "", 1), ("CV", "%", 1)],
    ]
    # What is to be said of the case stands beside its number of replications, and only there.
    assert _texts(table) == [["3a", "2.00", "50.00"]]


def test_the_default_tables_have_all_statistics_of_each_headline_metric() -> None:
    points = [
        series([value * 1e6 for value in _TEN], {"datagram": 1}),
        series([0.01] * 10, {"datagram": 1}, metric="loss_rate", unit=""),
    ]
    first, *tables = [build(spec, points) for spec in default_spec(points, statistics=9).tables]
    assert _texts(first) == [["14.5 [11.0, 18.0]", "1.00 [1.00, 1.00]"]]
    assert first.notes[0].startswith("Median of 10 replications per cell; ")
    assert [(table.name, table.title) for table in tables] == [
        ("stream-throughput", "stream: throughput"),
        ("stream-loss-rate", "stream: loss rate"),
    ]
    assert [heading.text for heading in tables[0].header[1]] == [
        *("n", "Median", "95 % interval", "Harmonic mean", "sd", "Mean abs. deviation", "CV"),
        *("Minimum", "Maximum"),
    ]
    assert _texts(tables[0]) == [
        ["10", "14.5", "[11.0, 18.0]", "13.9", "3.0", "2.5", "20.88", "10.0", "19.0"]
    ]
    assert _texts(tables[1])[0][3:4] == ["n/aa"]


def test_a_metric_of_more_rows_than_asked_has_no_table_of_its_own() -> None:
    points = [series([1e6] * 10, {"datagram": size}) for size in range(3)]
    names = [[table.name for table in default_spec(points, statistics=n).tables] for n in (0, 2, 3)]
    assert names == [["stream"], ["stream"], ["stream", "stream-throughput"]]
    for n, notes in ((2, ["all: stream.csv"]), (3, ["", ""])):
        tables = default_spec(points, statistics=n, beyond="all: {name}.csv").tables
        assert [table.notes for table in tables] == notes


def test_outliers_are_flagged_and_stay_part_of_the_number() -> None:
    values = [*(100.0 + place * 7 % 11 / 10 for place in range(11)), 300.0]
    cell = {"metric": "throughput", "statistic": "mean", "digits": 1}
    table = _table([series(values, {"datagram": 1})], cell)
    mean = len(values) / sum(1 / value for value in values)
    assert _texts(table) == [[f"{mean:.1f}a"]]
    assert _notes(table) == [
        "1 of 12 values is an outlier, more than 3 interquartile ranges beyond the quartiles"
        " (included)"
    ]


def test_replications_that_follow_one_another_are_flagged() -> None:
    waves = [100.0 + place for place in (*range(8), *range(8, 0, -1), *range(8))]
    table = _table([series(waves, {"datagram": 1})], {"metric": "throughput"})
    assert _notes(table)[0].startswith("each replication resembles the one before (autocorrelation")
    assert _notes(table)[0].endswith("the 95 % interval is too narrow")
    early = replace(_adaptive(1, 24, "narrow"), values=np.array(waves))
    (note,) = _notes(_table([early], {"metric": "throughput"}))
    assert note.endswith("the 99 % interval is too narrow")


def test_replications_that_rise_from_first_to_last_are_flagged_as_a_trend() -> None:
    drifting = [100.0 + place for place in range(20)]
    table = _table([series(drifting, {"datagram": 1})], {"metric": "throughput"})
    (note,) = _notes(table)
    assert note.startswith("values rise from replication to replication (rank correlation with")
    (summary,) = statistics_of([series(drifting[::-1], {"datagram": 1})])
    assert summary["trend"] == -1


def test_cases_tell_together_that_replications_depend_on_each_other() -> None:
    random = np.random.default_rng(1)
    points = []
    for datagram in range(20):
        value, values = random.normal(0, 1), []
        for _ in range(10):
            value = 0.5 * value + np.sqrt(0.75) * random.normal(0, 1)
            values.append(1e9 + 1e6 * value)
        points.append(series(values, {"datagram": datagram}))
    (note,) = [
        note
        for note in _table(points, {"metric": "throughput"}).notes
        if note.startswith("Each replication resembles the one before, so that 95 % intervals")
    ]
    assert re.search(r"throughput of run 1 \(autocorrelation 0\.[3-7]\d over 20 cases;", note)
    alone = _table(points[:1], {"metric": "throughput"}).notes
    assert not any(line.startswith("Each replication") for line in alone)


def _adaptive(datagram: int, n: int, ended: str, **more: object) -> Series:
    values = np.random.default_rng(n).normal(1e9, 1e6, n).tolist()
    point = series(values, {"datagram": datagram}, total=50, **more)
    return replace(point, least=6, rule=_RULE, ended=ended)


def test_a_case_that_never_got_narrow_enough_is_told_loudly() -> None:
    points = [
        _adaptive(1, 8, "narrow"),
        _adaptive(2, 50, "most"),
        _adaptive(3, 9, "budget"),
        _adaptive(4, 3, "budget"),
        _adaptive(5, 7, ""),
    ]
    table = _table(points, {"metric": "throughput", "statistic": "median", "unit": "Gbit/s"})
    assert table.alarms == (f"Not narrow enough: 3 of 5 cases never got to {_RULE}.",)
    assert _notes(table) == [
        f"never got to {_RULE}: it had the most replications that the plan allows",
        f"never got to {_RULE}: its time was used up",
        "3 of 6 to 50 replications; 3 not measured",
        "7 of 6 to 50 replications; not ended yet",
    ]
    assert f"!! {table.alarms[0]}" in re.sub(r"\n +", " ", render_text(table))
    assert r"\textbf{Not narrow enough: 3 of 5 cases" in render_latex(table)
    page = Page("r", "R", (), Details("Runs", (), ()), (), ())
    assert '<p class="alarm"><strong>Not narrow enough: 3 of 5' in render_html(
        page, [ReportPart(table=table)]
    )
    (spec,) = default_spec(points).tables
    assert spec.cells[-1] == CellSpec(metric="throughput", statistic="n", label="Replications")
    assert [row.cells[-1].text for row in build(spec, points).rows] == ["8", "50", "9", "3", "7"]


def test_lists_of_slow_hosts_and_heat_maps_tell_of_it_too(tmp_path: Path) -> None:
    hosts = ("a", "b", "c")
    points = [
        replace(
            series(
                [1e9, 1.1e9], {"size": 1}, link=f"{client}→{server}", client=client, server=server
            ),
            least=6,
            rule=_RULE,
            ended="most",
        )
        for client in hosts
        for server in hosts
        if client != server
    ]
    spec = SlowNodesSpec(name="slow", title="Slow", metric="throughput")
    (listing,) = build_listings(spec, points)
    assert listing.table.alarms == (f"Not narrow enough: 6 of 6 cases never got to {_RULE}.",)
    figure = FigureSpec(name="f", title="F", kind="heatmap", y=YSpec(metric="throughput"))
    axes = make_axes(["client_host", "server_host"], {}, ["udp"], None)
    with Store.open(str(tmp_path / "r.db")) as store:
        content = KIND.draw(figure, store, [FigureLine("", points)], axes.__getitem__)
    assert content.notes[-1:] == listing.table.alarms


def test_a_case_that_ended_narrow_lacks_nothing() -> None:
    table = _table([_adaptive(1, 8, "narrow")], {"metric": "throughput", "statistic": "median"})
    assert table.alarms == table.footnotes == ()


def test_of_a_case_that_a_narrow_interval_ended_early_the_interval_is_that_of_99_percent() -> None:
    cells = [{"metric": metric, "statistic": "interval"} for metric in ("throughput", "rtt_p50")]
    early, judged = _adaptive(1, 20, "narrow"), "throughput"
    full = replace(early, planned=20)
    for point, metric, covers in (
        (early, judged, 0.99),
        (full, judged, 0.95),
        (replace(early, metric="rtt_p50"), "rtt_p50", 0.95),
        (replace(early, ended="most"), judged, 0.95),
    ):
        interval = median_interval(point.values, covers)
        (summary,) = statistics_of([point])
        assert interval is not None
        assert (summary["interval_low"], summary["interval_high"]) == interval[:2]
        (cell,) = [cell for cell in cells if cell["metric"] == metric]
        table = _table([point], cell)
        assert any("the 99 % interval is shown" in note for note in table.notes) == (covers == 0.99)
        pointed = tooltip(table.rows[0].cells[0], table.columns[0])
        assert f", {100 * covers:.0f} % interval " in pointed


def test_csv_tooltip_and_json_carry_everything() -> None:
    point = series(_TEN, {"datagram": 1}, metric="rtt_p50", unit="s", suspect=[2])
    table = _table([point], {"metric": "rtt_p50", "digits": 1})
    (row,) = csv.DictReader(io.StringIO(render_csv(table), newline=""))
    numbers = {
        "n": 10,
        "mean": 14.5,
        "median": 14.5,
        "interval_low": 11.0,
        "interval_high": 18.0,
        "minimum": 10.0,
        "lower_quartile": 12.25,
        "upper_quartile": 16.75,
        "maximum": 19.0,
        "mean_absolute_deviation": 2.5,
        "outliers": 0,
        "arithmetic_mean": 14.5,
    }
    assert {name: float(row[name]) for name in numbers} == numbers
    assert (row["mean_kind"], row["statistic"]) == ("arithmetic", "median")
    assert float(row["interval_level"]) == pytest.approx(1 - 2 * 11 / 1024)
    (summary,) = statistics_of([point, series([], {"datagram": 2})])
    assert {name: summary[name] for name in numbers} == numbers
    assert [summary[name] for name in ("case_key", "suspect", "asked", "two_groups")] == [
        point.case.key,
        1,
        10,
        None,
    ]
    assert tooltip(table.rows[0].cells[0], table.columns[0]) == (
        "n = 10: median 14.50, 95 % interval 11.00 to 18.00, arithmetic mean 14.50, sd 3.03, mean"
        " absolute deviation 2.50, CV 20.88 %, min 10.00, max 19.00 (s)"
    )


def test_a_single_value_is_its_own_mean_of_any_kind() -> None:
    for value in (0.0, 5.0):
        for mean in ("mean", "harmonic_mean", "arithmetic_mean"):
            assert value_of(summarise([value]), mean) == value
    assert value_of(summarise([0.0, 1.0]), "harmonic_mean") is None


def test_json_has_of_a_published_mean_what_tables_have() -> None:
    mean = replace(series([5e8]), published=PublishedValue(10, stdev=1e7))
    (summary,) = statistics_of([mean])
    table = _table([mean], {"metric": "throughput"})
    (row,) = csv.DictReader(io.StringIO(render_csv(table), newline=""))
    expected = {"n": 10, "arithmetic_mean": 5e8, "stdev": 1e7, "median": None, "maximum": None}
    for name, value in expected.items():
        assert summary[name] == value
        assert row[name] == ("" if value is None else str(value))


@pytest.mark.parametrize("statistic", ["median", "arithmetic_mean", "stdev", "interval_low"])
def test_a_map_shows_of_each_case_what_its_csv_file_has(tmp_path: Path, statistic: str) -> None:
    points = [
        replace(series([5e8], {"datagram": 0}), published=PublishedValue(10, stdev=1e7)),
        _adaptive(1, 20, "narrow"),
    ]
    y_axis = YSpec(axis="link", metric="throughput", statistic=statistic, unit="bit/s")
    x_axis = XSpec(axis="datagram")
    axes = make_axes(["datagram", "link", "client_host", "server_host"], {}, ["udp"], None)
    # A map of pairs of hosts has a case a pair.
    for kind, members in ((CELLS, points), (KIND, points[1:])):
        figure = FigureSpec(name="f", title="F", kind="heatmap", x=x_axis, y=y_axis)
        with Store.open(str(tmp_path / "r.db")) as store:
            content = kind.draw(figure, store, [FigureLine("", members)], axes.__getitem__)
        assert content.grid is not None
        drawn = content.grid.cells[:, 2].tolist()
        column = content.header.index(statistic)
        assert drawn == [row[column] for row in content.records if row[column] is not None]


def test_pointing_at_a_number_shows_no_less_of_it_than_the_table() -> None:
    trips = series([1e-7 * trip for trip in range(130, 140)], metric="rtt_p50", unit="s")
    table = _table([trips], {"metric": "rtt_p50", "beside": "interval"})
    assert table.rows[0].cells[0].text == "0.00001345 [0.00001310, 0.00001380]"
    expected = "n = 10: median 0.000013450, 95 % interval 0.000013100 to 0.000013800,"
    assert tooltip(table.rows[0].cells[0], table.columns[0]).startswith(expected)


@pytest.mark.parametrize("ended", ["narrow", "most"])
def test_an_interval_of_99_percent_is_called_so_in_short_notes_and_below_figures(
    tmp_path: Path, ended: str
) -> None:
    points = [_adaptive(1, 20, ended), _adaptive(2, 50, "most")]
    cells = [{"metric": "throughput", "beside": "interval"}]
    spec = table_spec(*cells, rows=["link", "datagram"])
    table = build(spec, points, level="short")
    y_axis, x_axis = YSpec(metric="throughput"), XSpec(axis="datagram")
    figure = FigureSpec(name="f", title="F", kind="bars", x=x_axis, y=y_axis, errors="interval")
    axes = make_axes(["datagram"], {}, ["udp"], None)
    with Store.open(str(tmp_path / "r.db")) as store:
        content = BARS.draw(figure, store, [FigureLine("", points)], axes.__getitem__)
    for notes in (table.notes, content.notes):
        assert ("the 99 % interval is shown" in " ".join(notes)) == (ended == "narrow")
    assert len(table.notes) <= 3
