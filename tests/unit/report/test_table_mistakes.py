"""What may be wrong with a table's comparisons, order and footnotes, and where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.report_data import definition_problems

from railgauge.plan.catalogue import load_catalogue
from railgauge.report.checks.spec import load_spec

_GOOD = """\
railgauge_report: 1
name: report
title: A report
tables:
  - name: first
    title: The first
    select: {engine: udp, mode: stream}
    rows: [datagram, link]
    columns: [sockbuf]
    cells:
      - {metric: throughput, label: Rate}
      - {metric: throughput, label: Gain, against: {sockbuf: 10KiB}, as: change}
    sort: {by: Rate, column: {sockbuf: 1MiB}, descending: true}
    group: datagram
    footnotes:
      - {where: {datagram: 1460}, cell: Gain, text: A frame each}
"""


def test_the_good_definition_is_good(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(_GOOD, encoding="utf-8")
    cell = load_spec(path, load_catalogue()).tables[0].cells[1]
    assert (cell.against, cell.compared) == ({"sockbuf": "10KiB"}, "change")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{sockbuf: 10KiB}", "{sokbuf: 10KiB}", "12:53: axis 'sokbuf' is not in rows, columns,"),
        ("{sockbuf: 10KiB}", "{tos: 1}", "12:53: axis 'tos' is not in rows, columns, select: th"),
        ("{sockbuf: 10KiB}", "{sockbuf: 10Kib}", "12:62: axis 'sockbuf': unknown unit 'Kib'"),
        ("{sockbuf: 10KiB}", "{sockbuf: [1]}", "12:62: 'sockbuf': a list can't be a value"),
        ("{sockbuf: 10KiB}", "10KiB", "12:52: 'against' is the text '10KiB', but a mapping is"),
        ("as: change", "as: chnge", "12:74: 'as' is the text 'chnge', but 'ratio', 'difference'"),
        ("as: change", "unit: Mbit/s", "12:76: 'Mbit/s' can't show a ratio: use one of"),
        ("as: change", "statistic: n", "12:81: the n is compared with nothing: drop 'against'"),
        ("as: change", "relative_to: network", "12:70: a cell is compared with one thing: drop"),
        ("label: Rate", "label: Rate, as: ratio", "11:43: 'as' says how a cell is compared with"),
        ("metric: throughput, label: Gain,", "peak: network,", "12:25: a cell with 'peak' shows"),
        ("by: Rate", "by: Rat", "13:16: no cell is called 'Rat': did you mean 'Rate'?"),
        ("label: Gain,", "label: Rate,", "13:16: 2 cells are called 'Rate': give each a 'label'"),
        ("{sockbuf: 1MiB}", "{datagram: 1}", "13:31: axis 'datagram' is not in columns: there are"),
        ("{sockbuf: 1MiB}", "{datagram: 1}", "13:30: there are several columns to sort by: name"),
        (", column: {sockbuf: 1MiB}", "", "13:11: there are several columns to sort by: name one,"),
        ("{sockbuf: 1MiB}", "{sockbuf: 1Mib}", "13:40: axis 'sockbuf': unknown unit 'Mib'"),
        ("descending: true", "descending: yes", "13:59: 'descending' is the text 'yes', but true"),
        ("group: datagram", "group: datagramm", "14:12: 'datagramm' is no axis of the rows: did"),
        ("group: datagram", "group: parameters", "14:12: 'parameters' is no axis of the rows"),
        ("rows: [datagram, link]", "rows: [parameters]", "8:11: 'parameters' may stand for none:"),
        ("columns: [sockbuf]", "columns: [parameters]", "9:15: unknown axis 'parameters'"),
        ("group: datagram", "group: link", "14:12: each row would be a group: 'link' is the last"),
        ("{datagram: 1460}", "{datagrm: 1}", "16:18: axis 'datagrm' is not in rows, columns: did"),
        ("{datagram: 1460}", "{datagram: x}", "16:28: axis 'datagram': "),
        ("cell: Gain,", "cell: Gan,", "16:41: no cell is called 'Gan': did you mean 'Gain'?"),
        ("where: {datagram: 1460}, cell: Gain, ", "", "16:9: the footnote names no place: add"),
        ("text: A frame each", 'text: " "', "16:53: 'text': there is no word in it: write some"),
        ("text: A frame each", "txt: A", "16:47: unknown key 'txt': did you mean 'text'?"),
    ],
)
def test_a_mistake_is_told_where_it_stands(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in _GOOD
    problems = definition_problems(tmp_path, _GOOD.replace(old, new))
    assert any(line.startswith(problem) for line in problems), problems


def test_the_one_cell_of_columns_has_no_heading_to_mark(tmp_path: Path) -> None:
    text = _GOOD.replace("      - {metric: throughput, label: Rate}\n", "")
    text = text.replace("by: Rate", "by: Gain").replace("where: {datagram: 1460}, ", "")
    (problem,) = definition_problems(tmp_path, text)
    assert problem.startswith("15:16: the only cell has no heading to mark: name rows or columns")
