"""Rows sorted by a cell and kept in groups, and the author's own footnotes, in every form."""

from __future__ import annotations

import re

import pytest
from tests.support.report_data import series, table_spec

from railgauge.base.errors import InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.definition.definition_model import TableSpec
from railgauge.report.document.render import render_html, render_latex, render_text
from railgauge.report.pages.contents import Details, ReportPart
from railgauge.report.pages.page import Page
from railgauge.report.tables.pivot import build
from railgauge.report.tables.table import Table
from railgauge.store.records import Series

_RATE = {"metric": "throughput", "unit": "Mbit/s", "label": "Rate"}
_LOSS = {"metric": "loss_rate", "statistic": "median", "unit": "%", "label": "Loss"}


def _spec(**more: object) -> TableSpec:
    return table_spec(**{"rows": ["link"], "cells": [_RATE, _LOSS], **more})


def _points(*rates: tuple[str, int, float | None]) -> list[Series]:
    points = []
    for link, datagram, rate in rates:
        values = [] if rate is None else [rate * 1e6] * 6
        parameters = {"datagram": datagram}
        points.append(series(values, parameters, link=link, total=6))
        loss = [value / 1e9 for value in values]
        points.append(
            series(loss, parameters, link=link, metric="loss_rate", unit="", better="lower")
        )
    return points


def _build(spec: TableSpec, points: list[Series]) -> Table:
    return build(spec, points, catalogue=load_catalogue())


def _labels(table: Table) -> list[list[str]]:
    return [[label.text for label in row.labels if label.span] for row in table.rows]


def _html(table: Table) -> str:
    page = Page("r", "R", (), Details("Runs", (), ()), (), ())
    return render_html(page, [ReportPart(table=table)])


_LINKS = _points(("a", 1, 5), ("b", 1, 9), ("c", 1, None), ("d", 1, 5), ("e", 1, 7))


def test_rows_are_sorted_by_a_cells_number_and_those_without_one_come_last() -> None:
    ascending = _build(_spec(sort={"by": "Rate"}), _LINKS)
    assert _labels(ascending) == [["a"], ["d"], ["e"], ["b"], ["c"]]
    descending = _build(_spec(sort={"by": "Loss", "descending": True}), _LINKS)
    assert _labels(descending) == [["b"], ["e"], ["a"], ["d"], ["c"]]


def test_numbers_that_read_alike_are_sorted_by_what_they_are() -> None:
    points = _points(("a", 1, 5.0004), ("b", 1, 5.0001))
    table = _build(_spec(sort={"by": "Rate"}), points)
    assert {row.cells[0].text for row in table.rows} == {"5.00"}
    assert _labels(table) == [["b"], ["a"]]


def test_a_column_to_sort_by_is_one_of_several() -> None:
    points = _points(("a", 1, 5), ("a", 2, 9), ("b", 1, 6), ("b", 2, 3), ("c", 1, 1))
    spec = _spec(columns=["datagram"], cells=[_RATE])
    by_second = spec.model_copy(
        update={"sort": _spec(sort={"by": "Rate", "column": {"datagram": 2}}).sort}
    )
    assert _labels(_build(by_second, points)) == [["b"], ["a"], ["c"]]
    nowhere = _spec(
        columns=["datagram"], cells=[_RATE], sort={"by": "Rate", "column": {"datagram": 3}}
    )
    with pytest.raises(InputError, match="there is no Rate at datagram 3 to sort by"):
        _build(nowhere, points)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"sort": {"by": "Delay"}}, "table 't', 'sort': no cell is called 'Delay': name one"),
        ({"cells": [_RATE, _RATE], "sort": {"by": "Rate"}}, "2 cells are called 'Rate': give each"),
        (
            {"columns": ["datagram"], "cells": [_RATE], "sort": {"by": "Rate"}},
            "table 't', 'sort': there are several columns of Rate to sort by: name one, column: {d",
        ),
        (
            {"footnotes": [{"cell": "Delay", "text": "slow"}]},
            "table 't', a footnote's 'cell': no cell is called 'Delay': name one that there is, R",
        ),
    ],
)
def test_a_cell_that_is_not_there_is_named_with_what_to_do(
    parts: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        _build(_spec(**parts), _LINKS)


def test_sorting_stays_within_a_group() -> None:
    points = _points(("a", 1, 5), ("b", 1, 3), ("a", 2, 2), ("b", 2, 8), ("c", 2, 1))
    rows = {"rows": ["datagram", "link"], "sort": {"by": "Rate"}}
    grouped = _build(_spec(**rows, group="datagram"), points)
    assert _labels(grouped) == [["1", "b"], ["a"], ["2", "c"], ["a"], ["b"]]
    assert [len(group) for group in grouped.groups] == [2, 3]
    whole = _build(_spec(**rows), points)
    assert [row.labels[1].text for row in whole.rows] == ["c", "a", "b", "a", "b"]
    assert [len(group) for group in whole.groups] == [5]


def test_sorted_rows_share_no_label_but_their_groups() -> None:
    points = _points(("a", 1, 1), ("a", 2, 2), ("b", 1, 4), ("b", 2, 3))
    table = _build(_spec(rows=["link", "datagram"], sort={"by": "Rate"}), points)
    assert _labels(table) == [["a", "1"], ["a", "2"], ["b", "2"], ["b", "1"]]
    grouped = _spec(rows=["link", "datagram"], sort={"by": "Rate"}, group="link")
    assert _labels(_build(grouped, points)) == [["a", "1"], ["2"], ["b", "2"], ["1"]]


def test_footnotes_are_lettered_in_the_order_of_the_sorted_rows() -> None:
    points = _points(("a", 1, 9), ("b", 1, 3))
    marked = {"name": "t", "cells": [_RATE], "sort": {"by": "Rate"}}
    notes = [
        {"where": {"link": "a"}, "cell": "Rate", "text": "of a"},
        {"where": {"link": "b"}, "cell": "Rate", "text": "of b"},
    ]
    table = _build(_spec(**marked, footnotes=notes), points)
    assert [row.cells[0].mark for row in table.rows] == ["a", "b"]
    assert [footnote.text for footnote in table.footnotes] == ["of b", "of a"]


def test_the_axis_of_the_groups_may_be_any_but_the_last() -> None:
    points = [
        series([1e6], {"mode": mode, "datagram": datagram}, link=link)
        for mode in ("stream", "rtt")
        for datagram in (1, 2)
        for link in ("a", "b")
    ]
    rows = ["mode", "datagram", "link"]
    table = _build(_spec(rows=rows, cells=[_RATE], group="datagram"), points)
    assert [len(group) for group in table.groups] == [2, 2, 2, 2]
    assert render_latex(table).count(r"\addlinespace") == 3
    section = _html(table).split('id="t"')[1].split("</table>")[0]
    assert section.count("<tbody>") == 4
    assert [len(group) for group in _build(_spec(rows=rows, cells=[_RATE]), points).groups] == [
        4,
        4,
    ]


_NOTED = [
    {"where": {"link": "b"}, "text": "the old cable."},
    {"cell": "Loss", "text": "counted by the receiver"},
    {"where": {"link": "a"}, "cell": "Rate", "text": "with <b>50 %</b> of a_b"},
]


def test_an_authors_footnotes_stand_at_labels_headings_and_cells() -> None:
    table = _build(_spec(footnotes=_NOTED), _points(("a", 1, 5), ("b", 1, 9)))
    assert [heading.mark for heading in table.header[-1]] == ["", "a"]
    assert [row.labels[0].mark for row in table.rows] == ["", "b"]
    assert [[cell.mark for cell in row.cells] for row in table.rows] == [["c", ""], ["", ""]]
    assert [(footnote.mark, footnote.text) for footnote in table.footnotes] == [
        ("a", "counted by the receiver"),
        ("b", "the old cable"),
        ("c", "with <b>50 %</b> of a_b"),
    ]


def test_an_authors_footnotes_show_in_every_form() -> None:
    table = _build(_spec(footnotes=_NOTED), _points(("a", 1, 5), ("b", 1, 9)))
    lines = render_text(table).splitlines()
    assert lines[2].split() == ["Link", "Rate", "(Mbit/s)", "Loss", "(%)", "a)"]
    assert [line.split() for line in lines[4:6]] == [
        ["a", "5.00", "c)", "0.50"],
        ["b", "b)", "9.00", "0.90"],
    ]
    assert "c) with <b>50 %</b> of a_b" in lines
    latex = render_latex(table)
    assert r"{Loss\textsuperscript{a}}" in latex
    assert r"b\textsuperscript{b}" in latex
    assert r"\textsuperscript{b}~the old cable.\par" in latex
    html = _html(table)
    assert 'Loss<sup><a href="#t-a">a</a></sup> <span class="unit">(%)</span>' in html
    assert re.search(r'>b<sup><a href="#t-b">b</a></sup></th>', html)
    assert "with &lt;b&gt;50 %&lt;/b&gt; of a_b" in html


def test_a_footnote_may_be_of_a_column_or_of_one_cell_in_it() -> None:
    points = _points(("a", 1, 5), ("a", 2, 9), ("b", 1, 6), ("b", 2, 3))
    notes = [
        {"where": {"datagram": 2}, "text": "in jumbo frames"},
        {"where": {"datagram": 1, "link": "b"}, "text": "again"},
    ]
    table = _build(_spec(columns=["datagram"], cells=[_RATE], footnotes=notes), points)
    assert [heading.mark for heading in table.header[1]] == ["", "a"]
    assert [[cell.mark for cell in row.cells] for row in table.rows] == [["", ""], ["b", ""]]


def test_a_footnote_of_what_these_runs_lack_is_left_out() -> None:
    notes = [{"where": {"link": "z"}, "text": "gone"}]
    assert _build(_spec(footnotes=notes), _points(("a", 1, 5))).footnotes == ()


@pytest.mark.parametrize("cells", [[_RATE], [_RATE, _LOSS]])
def test_what_is_said_of_an_optional_cell_that_is_not_there_is_left_out(
    cells: list[dict[str, object]],
) -> None:
    linpack = {**_RATE, "label": "Linpack", "select": {"engine": "hpl"}, "optional": True}
    where = {"link": "a", "datagram": 1}
    spec = _spec(
        columns=["datagram"],
        cells=[*cells, linpack],
        footnotes=[{"where": where, "cell": "Linpack", "text": "of HPL"}],
        sort={"by": "Linpack", "column": {"datagram": 1}},
    )
    table = _build(spec, _points(("b", 1, 9), ("a", 1, 5)))
    assert _labels(table) == [["b"], ["a"]]
    assert {cell.mark for row in table.rows for cell in row.cells} == {""}
    assert table.footnotes == ()


def test_a_label_of_several_rows_is_marked_once() -> None:
    points = _points(("a", 1, 5), ("b", 1, 3), ("a", 2, 2))
    notes = [{"where": {"datagram": 1}, "text": "small"}, {"where": {"link": "a"}, "text": "near"}]
    table = _build(_spec(rows=["datagram", "link"], footnotes=notes), points)
    assert [[label.mark for label in row.labels] for row in table.rows] == [
        ["a", "b"],
        ["", ""],
        ["", "b"],
    ]


def test_parameters_in_rows_are_those_that_the_other_axes_lack() -> None:
    points = [
        series([1e6], {"mode": mode, "datagram": size, "duration": 1.0}, test=test)
        for test, mode, sizes in (("one", "stream", (64,)), ("many", "latency", (64, 1024)))
        for size in sizes
    ]
    spec = _spec(rows=["test", "parameters", "link"], cells=[_RATE])
    table = _build(spec, points)
    assert table.row_axes == ("test", "datagram", "link")
    assert [row.key for row in table.rows] == [
        ("one", 64, "gw→hh"),
        ("many", 64, "gw→hh"),
        ("many", 1024, "gw→hh"),
    ]
    assert _build(spec, points[:2]).row_axes == ("test", "link")
