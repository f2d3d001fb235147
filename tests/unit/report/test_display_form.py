"""What people see of a table: constants above it, no column of dashes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.support.report_data import series, table_spec

from railgauge.report.document.render import render_latex, render_text
from railgauge.report.formats.csvfile import render_csv
from railgauge.report.tables.display_form import display_form
from railgauge.report.tables.pivot import build
from railgauge.report.tables.table import Table
from railgauge.store.records import Series

_SIZES = (64, 1024)


def _table(points: list[Series], *cells: dict[str, Any], **more: Any) -> Table:
    spec = table_spec(*cells, **{"rows": ["link", "datagram"], **more})
    return build(spec, points, level="short")


def _measured(**more: Any) -> list[Series]:
    return [series([1e6 * size], {"datagram": size}, **more) for size in _SIZES]


def _skipped(reason: str) -> list[Series]:
    return [
        replace(series([], {"datagram": size}, metric="jitter", unit="s"), skipped=reason)
        for size in _SIZES
    ]


_BOTH: tuple[dict[str, Any], ...] = (
    {"metric": "throughput", "unit": "Mbit/s", "label": "Ours"},
    {"metric": "jitter", "unit": "ms", "label": "Theirs"},
)


def test_what_all_rows_share_stands_once_above_and_in_each_line_of_the_csv() -> None:
    table = _table(_measured())
    lines = render_text(table).splitlines()
    assert lines[:2] == ["T", "Link: gw→hh"]
    assert sum("gw→hh" in line for line in lines) == 1
    assert (display_form(table).stub, display_form(table).row_axes) == (
        ("Datagram",),
        ("datagram",),
    )
    assert r"\caption{T. Link: gw" in render_latex(table)
    assert all("gw→hh" in line for line in render_csv(table).splitlines()[1:])


def test_a_caption_follows_the_title_and_in_latex_is_no_part_of_a_list_of_tables() -> None:
    table = _table(_measured(), caption="Links & more.")
    assert render_text(table).splitlines()[:3] == ["T", "Links & more.", "Link: gw→hh"]
    latex = render_latex(table)
    assert r"\caption[T]{T. Link: gw" in latex
    assert r"hh. Links \& more.}" in latex
    assert r"\caption[" not in render_latex(_table(_measured()))


@pytest.mark.parametrize("sizes", [(64,), (64, 1024)])
def test_a_single_row_has_its_labels_and_a_footnote_its_mark(sizes: tuple[int, ...]) -> None:
    note = {"where": {"link": "gw→hh"}, "text": "over the old cable"}
    notes = [note] if len(sizes) > 1 else []
    table = _table(_measured()[: len(sizes)], footnotes=notes)
    assert display_form(table).stub == ("Link", "Datagram")
    assert display_form(table).constants == ()


def test_groups_are_those_of_the_first_axis_that_is_left() -> None:
    points = [
        series([1e6], {"datagram": size, "sockbuf": buffer}) for size in _SIZES for buffer in (1, 2)
    ]
    table = display_form(_table(points, rows=["link", "datagram", "sockbuf"]))
    assert [len(group) for group in table.groups] == [2, 2]


def test_a_column_of_which_every_cell_is_skipped_is_one_sentence() -> None:
    table = _table([*_measured(), *_skipped("theirs isn't on gw1")], *_BOTH)
    text = " ".join(render_text(table).split())
    assert "Not shown: Theirs: skipped: theirs isn't on gw1." in text
    assert ("---" in text, "a)" in text, "(ms)" in text) == (False, False, False)
    assert [heading.text for heading in display_form(table).header[-1]] == ["Ours"]
    assert render_csv(table).count("skipped: theirs isn't on gw1") == 2


def test_a_table_of_which_every_cell_is_skipped_is_the_reason() -> None:
    table = _table(_skipped("theirs isn't on gw1"), _BOTH[1])
    text = render_text(table)
    assert "Skipped: theirs isn't on gw1." in text.splitlines()
    assert ("---" in text, "─" in text) == (False, False)
    assert "tabular" not in render_latex(table)
    assert "skipped" in render_csv(table)


@pytest.mark.parametrize(
    ("valueless", "spans"),
    [
        ((0,), [("a", 1), ("b", 2), ("b", 0)]),
        ((1,), [("a", 1), ("b", 2), ("b", 0)]),
        ((1, 2), [("a", 1), ("b", 1)]),
        ((0, 3), [("a", 1), ("b", 1)]),
    ],
)
def test_a_label_is_as_high_as_the_rows_with_a_value_that_share_it(
    valueless: tuple[int, ...], spans: list[tuple[str, int]]
) -> None:
    table = _table([point for link in "ab" for point in _measured(link=link)])
    rows = display_form(replace(table, valueless_rows=valueless)).rows
    assert [row.labels[0][:2] for row in rows] == spans


def test_a_group_without_a_row_with_a_value_is_not_there() -> None:
    table = _table([point for link in "ab" for point in _measured(link=link)])
    without_a = display_form(replace(table, valueless_rows=(0, 1)))
    assert without_a.constants == ("Link: b",)
    assert [row.labels[0].text for row in without_a.rows] == ["64", "1024"]


def test_cells_skipped_for_several_reasons_have_their_column() -> None:
    first, second = _skipped("one"), _skipped("another")
    table = _table([*_measured(), first[0], second[1]], *_BOTH)
    assert display_form(table).valueless == ()
    assert "---" in render_text(table)


def test_a_share_without_a_unit_is_in_percent() -> None:
    lost = [series([0.25], {"datagram": size}, metric="loss_rate", unit="1") for size in _SIZES]
    table = _table(lost, {"metric": "loss_rate", "label": "Loss"})
    assert table.header[-1][0].unit == "%"
    assert [row.cells[0].text for row in table.rows] == ["25.00", "25.00"]


def test_how_many_values_a_share_has_is_no_percentage() -> None:
    lost = [series([0.25], {"datagram": size}, metric="loss_rate", unit="1") for size in _SIZES]
    table = _table(lost, {"metric": "loss_rate", "statistic": "n"})
    assert [row.cells[0].text for row in table.rows] == ["1", "1"]
