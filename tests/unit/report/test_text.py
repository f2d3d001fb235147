"""Tables on a terminal: columns align, also with wide and combining characters and with marks."""

from __future__ import annotations

from tests.support.report_data import series, table_spec

from railgauge.base.characters import width
from railgauge.report.document.render import render_text
from railgauge.report.tables.pivot import build


def test_a_table_is_aligned_and_grouped() -> None:
    points = [
        series(
            [value * 1e6] * 2, {"datagram": datagram, "sockbuf": sockbuf}, link=link, total=count
        )
        for datagram, link, sockbuf, value, count in (
            (1460, "gw→gw", 10240, 177.75, 2),
            (1460, "gw→gw", 102400, 1557.43, 3),
            (1460, "北→南", 10240, 9.68, 2),
            (4096, "gw→gw", 10240, 147.64, 2),
        )
    ]
    spec = table_spec(title="UDP throughput", rows=["datagram", "link"], columns=["sockbuf"])
    assert render_text(build(spec, points)).splitlines() == [
        "UDP throughput",
        "─" * 35,
        "                      Sockbuf",
        "Datagram  Link    10240      102400",
        "─" * 35,
        "1460      gw→gw  177.75  1557.43 a)",
        "          北→南    9.68      ---",
        "",
        "4096      gw→gw  147.64      ---",
        "─" * 35,
        "a) 2 of 3 replications; 1 not measured",
        "Throughput in Mbit/s: median of 2 replications per cell; coefficient of",
        "variation at most 0.0 %; too few for a 95 % interval of the median, which takes",
        "6.",
        "Run 1 of plan fabric, on hosts gw1 and hh1.",
    ]


def test_a_heading_wider_than_its_columns_makes_them_wider() -> None:
    points = [series([1e6], {"datagram": 1, "tos": tos}) for tos in (0, 8)]
    axes = {"tos": {"title": "Type of service (old name)"}}
    spec = table_spec(rows=["datagram"], columns=["tos"], axes=axes)
    lines = render_text(build(spec, points)).splitlines()
    assert lines[2] == "          Type of service (old name)"
    assert lines[5] == "1                 1.00          1.00"


def test_width_counts_columns_not_characters() -> None:
    assert width("gw→gw") == 5
    assert width("北京") == 4
    assert width("e\u0301") == 1
