"""Outside results go in exactly, and every mistake in a file is told where it stands."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.support import FIXTURES

from railgauge.base.errors import FileProblems, InputError
from railgauge.exchange.importing.csv_import import import_csv
from railgauge.exchange.importing.csv_mapping import (
    Binding,
    CsvMapping,
    parse_binding,
    parse_setting,
)
from railgauge.exchange.importing.imported_hosts import read_imported_hosts
from railgauge.exchange.importing.result import ImportResult
from railgauge.plan.catalogue import Catalogue
from railgauge.store import Store
from railgauge.store.records import PublishedValue

MAPPING = CsvMapping(
    engine="udp",
    metrics=[Binding("throughput", "mbps:Mbit/s")],
    parameters=[Binding("datagram", "bytes:B")],
    fixed={"mode": "stream"},
    link="link",
)


class Importer:
    """Imports text as a file of its own."""

    def __init__(self, store: Store, catalogue: Catalogue, path: Path) -> None:
        self.store, self.catalogue, self.path = store, catalogue, path

    def __call__(self, content: str | bytes, mapping: CsvMapping = MAPPING) -> ImportResult:
        self.path.write_bytes(content.encode() if isinstance(content, str) else content)
        (result,) = import_csv(self.store, self.path, mapping, catalogue=self.catalogue)
        return result

    def problems(self, content: str | bytes, mapping: CsvMapping = MAPPING) -> list[str]:
        """Return what is wrong, without the file's name; nothing may have been stored."""
        with pytest.raises(FileProblems) as caught:
            self(content, mapping)
        assert self.store.runs() == []
        return [
            f"{problem.line}:{problem.column}: {problem.message}"
            for problem in caught.value.problems
            if problem.file == str(self.path)
        ]

    def values(self, run: int, metric: str = "throughput") -> list[list[float]]:
        return [series.values.tolist() for series in self.store.series([run], [metric])]


@pytest.fixture
def importer(store: Store, catalogue: Catalogue, tmp_path: Path) -> Importer:
    return Importer(store, catalogue, tmp_path / "results.csv")


@pytest.mark.parametrize(
    ("name", "engine", "size", "cells"),
    [
        ("sharcnet_table1_udp.csv", "udp", "datagram", 35),
        ("sharcnet_table2_tcp.csv", "tcp", "message", 36),
    ],
)
def test_the_papers_tables_come_back_digit_for_digit(
    store: Store, catalogue: Catalogue, name: str, engine: str, size: str, cells: int
) -> None:
    mapping = CsvMapping(
        engine=engine,
        metrics=[parse_binding("throughput=throughput_mbps:Mbit/s")],
        parameters=[
            parse_binding(f"{size}={size}_bytes:B"),
            parse_binding("sockbuf=sockbuf_bytes:B"),
        ],
        fixed=dict([parse_setting("mode=stream")]),
        link="link",
        test="table",
    )
    (result,) = import_csv(store, FIXTURES / name, mapping, catalogue=catalogue)
    with (FIXTURES / name).open(newline="") as file:
        rows = {
            (int(row[f"{size}_bytes"]), row["link"], int(row["sockbuf_bytes"])): row
            for row in csv.DictReader(file)
        }
    throughputs = {}
    for series in store.series([result.run]):
        parameters = series.case.parameters
        assert set(parameters) == {"mode", size, "sockbuf"}
        assert (series.test, series.unit, series.planned) == ("table", "bit/s", 1)
        (value,) = series.values
        throughputs[parameters[size], series.case.link, parameters["sockbuf"]] = (
            f"{value / 1e6:.2f}"
        )
    assert throughputs == {
        key: row["throughput_mbps"]
        for key, row in rows.items()
        if row["throughput_mbps"] not in ("", "---")
    }
    assert len(throughputs) == cells
    assert result.rows == len(rows)
    assert (result.replications, result.values) == (cells, cells)
    assert result.blanks == len(rows) - cells


def test_an_import_is_a_run_of_its_own(importer: Importer, store: Store) -> None:
    result = importer("bytes,link,mbps\n1024,gw→hh,1\n1024,gw→hh,2\n64,gw→hh,3\n")
    assert result == ImportResult(run=1, cases=2, rows=3, replications=3, values=3, blanks=0)
    stored = store.run(result.run)
    assert (stored.new.plan, stored.new.origin, stored.state) == ("results", "imported", "complete")
    case = stored.cases[0].case
    assert (case.link, case.client, case.server) == ("gw→hh", "gw→hh", None)
    assert case.parameters == {"mode": "stream", "datagram": 1024}
    assert [planned_case.replications for planned_case in stored.cases] == [2, 1]
    assert importer.values(result.run) == [[1e6, 2e6], [3e6]]


def test_the_same_row_is_the_same_case_in_every_import(importer: Importer, store: Store) -> None:
    content = "bytes,link,mbps\n1024,a,1\n"
    runs = [importer(content).run, importer(content).run]
    first, second = (store.run(run).cases[0].case.key for run in runs)
    assert first == second


def test_plan_test_and_link_can_be_named(importer: Importer, store: Store) -> None:
    mapping = replace(MAPPING, link="", link_name="wan", plan="paper", test="table1")
    stored = store.run(importer("bytes,mbps\n1024,1\n", mapping).run)
    assert (stored.new.plan, stored.cases[0].test) == ("paper", "table1")
    assert stored.cases[0].case.link == "wan"


def test_blank_cells_are_no_measurement(importer: Importer) -> None:
    mapping = replace(MAPPING, metrics=[*MAPPING.metrics, Binding("loss_rate", "loss:%")])
    result = importer(
        "bytes,link,mbps,loss\n1,a,,\n1024,a,---,0.5\n1024,a,7, \n1024,a,8,25\n".replace(
            "1,a,,\n", "64,a,,\n"
        ),
        mapping,
    )
    assert (result.rows, result.replications, result.values, result.blanks) == (4, 3, 4, 4)
    assert importer.values(result.run) == [[7e6, 8e6]]
    assert importer.values(result.run, "loss_rate") == [[0.005, 0.25]]


def test_a_file_of_blanks_is_not_imported(importer: Importer, store: Store) -> None:
    with pytest.raises(InputError, match="holds no measurement"):
        importer("bytes,link,mbps\n1024,a,---\n")
    assert store.runs() == []


def test_quotes_byte_order_marks_and_line_ends_are_read(importer: Importer, store: Store) -> None:
    content = '\ufeffbytes,"link","mb""ps"\r\n\r\n 1024 ,"a, ""b""", 1.5e2 \r64,c,+2'
    mapping = replace(MAPPING, metrics=[Binding("throughput", 'mb"ps:Mbit/s')])
    run = importer(content, mapping).run
    assert [planned_case.case.link for planned_case in store.run(run).cases] == ['a, "b"', "c"]
    assert importer.values(run) == [[1.5e8], [2e6]]


def test_nothing_may_be_written_with_any_exponent(importer: Importer) -> None:
    assert importer.values(importer("bytes,link,mbps\n1024,a,0e400\n").run) == [[0.0]]


def test_values_may_carry_their_own_units(importer: Importer, store: Store) -> None:
    mapping = replace(
        MAPPING, parameters=[Binding("datagram", "size"), Binding("duration", "duration")]
    )
    run = importer("size,duration,link,mbps\n4KiB,500ms,a,1\n", mapping).run
    parameters = store.run(run).cases[0].case.parameters
    assert parameters == {"mode": "stream", "datagram": 4096, "duration": 0.5}


def test_two_decimals_in_are_the_same_two_decimals_out(importer: Importer) -> None:
    dice = Random(1)
    numbers = [f"{dice.randrange(10 ** dice.randint(1, 7))}.{n % 100:02}" for n in range(5000)]
    run = importer("bytes,link,mbps\n" + "".join(f"1024,a,{number}\n" for number in numbers)).run
    (values,) = importer.values(run)
    assert [f"{value / 1e6:.2f}" for value in values] == numbers


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "1:1: the file is empty: it has no header"),
        ("\n\n", "1:1: the file is empty: it has no header"),
        ("bytes,mbps\n1024,1\n", "1:1: there is no column 'link': the columns are bytes, mbps"),
        ("bytes,lnik,mbps\n", "1:1: there is no column 'link': did you mean 'lnik'?"),
        ("bytes,link,mbps,bytes\n", "1:17: another column is called 'bytes' too"),
        ("bytes,,mbps\n", "1:7: this column has no name"),
        ("bytes,link,mbps\n1024,a\n", "2:6: this row has 2 cells, the header has 3"),
        ("bytes,link,mbps\n1024,a,1,5\n", "2:10: this row has 4 cells, the header has 3"),
        ("bytes,link,mbps\n1024,a,fast\n", "2:8: 'throughput': 'fast' is not a number"),
        ('bytes,link,mbps\n1024,a,"1,5"\n', "2:8: 'throughput': '1,5' is not a number"),
        ("bytes,link,mbps\n1024,a,nan\n", "2:8: 'throughput': 'nan' is not a number"),
        ("bytes,link,mbps\n1024,a,1e999\n", "2:8: 'throughput': '1e999' is beyond"),
        ("bytes,link,mbps\n1024,a,٣\n", "2:8: 'throughput': '٣' is not a number"),
        ("bytes,link,mbps\n1024.5,a,1\n", "2:1: 'datagram': '1024.5B' is not a whole number"),
        ("bytes,link,mbps\n4k,a,1\n", "2:1: 'datagram': '4k' has a unit already"),
        ("bytes,link,mbps\n,a,1\n", "2:1: 'datagram': the cell is empty"),
        ("bytes,link,mbps\n70000,a,1\n", "2:1: 'datagram': 70000 is out of range"),
        ("bytes,link,mbps\n1024,,1\n", "2:6: a link's name is wanted here"),
        ('bytes,link,mbps\n1024,"a,1\n', "2:6: a stray or missing quote"),
        ('bytes,link,mbps\n1024,a"b,1\n', "2:6: a stray or missing quote"),
        ('bytes,link,mbps\n1024,"a"b,1\n', "2:6: a stray or missing quote"),
        (b"bytes,link,mbps\n1024,\xe9,1\n", "2:6: the byte 0xe9 is not UTF-8"),
        (b"bytes,link,mbps\n1024,\0,1\n", "2:6: a NUL character"),
        ("bytes,link,mbps\n".encode("utf-16"), "1:1: this is UTF-16"),
    ],
)
def test_a_mistake_is_told_at_its_line_and_column(
    importer: Importer, content: str | bytes, expected: str
) -> None:
    (problem,) = importer.problems(content)
    assert problem.startswith(expected)


def test_a_column_is_found_after_cells_of_several_lines(importer: Importer) -> None:
    content = 'bytes,"li\nnk",link,mbps\n1024,"x\r\ny",a,fast\n'
    assert [problem.split(" ")[0] for problem in importer.problems(content)] == ["4:6:"]


def test_all_mistakes_are_told_at_once(importer: Importer) -> None:
    problems = importer.problems("bytes,link,mbps\nx,a,1\n1024,,y\n1024,a,z\n")
    assert [problem.split(" ")[0] for problem in problems] == ["2:1:", "3:6:", "3:7:", "4:8:"]


def test_a_file_full_of_mistakes_tells_the_first_fifty(importer: Importer) -> None:
    assert len(importer.problems("bytes,link,mbps\n" + "1024,a,x\n" * 5000)) == 50


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"engine": "upd"}, "no engine 'upd': did you mean 'udp'"),
        ({"metrics": []}, "no column is named as a metric"),
        (
            {"metrics": [Binding("thruput", "mbps:Mbit/s")]},
            "unknown metric 'thruput'",
        ),
        ({"metrics": [Binding("throughput", "mbps")]}, "Mbit/s.*which has to be said"),
        ({"metrics": [Binding("throughput", "mbps:MB")]}, "not 'MB'"),
        ({"metrics": [Binding("throughput", "mbps:furlong")]}, "not 'furlong'"),
        ({"metrics": MAPPING.metrics * 2}, "metric 'throughput' is given twice"),
        ({"parameters": [Binding("dtagram", "bytes")]}, "did you mean 'datagram'"),
        ({"parameters": [Binding("mode", "bytes")]}, "parameter 'mode' is given twice"),
        ({"parameters": [Binding("count", "bytes:B")]}, "'count' has no unit: leave ':B' out"),
        ({"fixed": {"mode": "steam"}}, "for all rows: 'steam' is not one of"),
        ({"fixed": {"colour": "red"}}, "unknown parameter 'colour' of engine udp"),
        ({"link": ""}, "say which column names the link"),
        ({"link_name": "wan"}, "say which column names the link"),
    ],
)
def test_a_wrong_mapping_is_the_users_mistake(
    importer: Importer, store: Store, changes: dict[str, Sequence[Binding]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        importer("bytes,link,mbps\n1024,a,1\n", replace(MAPPING, **changes))
    assert store.runs() == []


def test_a_file_that_is_not_there_is_told(
    store: Store, catalogue: Catalogue, tmp_path: Path
) -> None:
    for path, message in ((tmp_path / "no.csv", "does not exist"), (tmp_path, "is not a file")):
        with pytest.raises(InputError, match=message):
            import_csv(store, path, MAPPING, catalogue=catalogue)


def test_bindings_are_read_from_the_command_line() -> None:
    assert parse_binding("throughput=mbps:Mbit/s") == Binding("throughput", "mbps:Mbit/s")
    assert parse_binding("throughput = a=b") == Binding("throughput", "a=b")
    assert parse_binding("datagram") == Binding("datagram", "datagram")
    assert parse_setting("mode=a=b") == ("mode", "a=b")


@pytest.mark.parametrize("text", ["", "=", "=x", "x=", " = "])
def test_a_binding_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="NAME=COLUMN:UNIT"):
        parse_binding(text)


@pytest.mark.parametrize("text", ["", "mode", "=stream"])
def test_a_setting_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="NAME=VALUE"):
        parse_setting(text)


MEANS = replace(MAPPING, mean_of="10", stdev=[Binding("throughput", "sd:Mbit/s")])


def test_a_published_mean_says_of_how_many_it_is(importer: Importer) -> None:
    result = importer("bytes,link,mbps,sd\n64,a,10.5,0.25\n1460,a,20.5,\n9000,a,lost,\n", MEANS)
    with_deviation, bare, lost = importer.store.series([result.run], ["throughput"])
    assert with_deviation.values.tolist() == [10.5e6]
    assert with_deviation.published == PublishedValue(10, 0.25e6)
    assert bare.published == PublishedValue(10)
    assert lost.values.tolist() == []
    assert lost.published == PublishedValue(absence="lost")
    assert (result.replications, result.values, result.blanks) == (2, 2, 1)


def test_a_column_may_say_of_how_many(importer: Importer) -> None:
    mapping = replace(MAPPING, mean_of="n")
    result = importer("bytes,link,mbps,n\n64,a,1,3\n1460,a,2,---\n", mapping)
    series = importer.store.series([result.run], ["throughput"])
    assert [metric_series.published for metric_series in series] == [PublishedValue(3), None]


def test_what_a_row_lacks_beside_others_says_why(importer: Importer) -> None:
    mapping = replace(MAPPING, metrics=[*MAPPING.metrics, Binding("lost_packets", "lost")])
    result = importer("bytes,link,mbps,lost\n64,a,1,not measured\n", mapping)
    rate, lost = importer.store.series([result.run], ["throughput", "lost_packets"])
    assert (rate.values.tolist(), rate.published) == ([1e6], None)
    assert lost.published == PublishedValue(absence="not measured")


def test_each_replication_may_lack_the_same_metric(importer: Importer) -> None:
    mapping = replace(MAPPING, metrics=[*MAPPING.metrics, Binding("lost_packets", "lost")])
    result = importer("bytes,link,mbps,lost\n64,a,1,not measured\n64,a,2,not measured\n", mapping)
    rate, lost = importer.store.series([result.run], ["throughput", "lost_packets"])
    assert (rate.values.tolist(), rate.published) == ([1e6, 2e6], None)
    assert (lost.values.tolist(), lost.published) == ([], PublishedValue(absence="not measured"))


@pytest.mark.parametrize("rows", ["1,5\n64,a,2,lost", "lost,lost\n64,a,1,5\n64,a,2,---"])
def test_a_number_stays_beside_replications_that_lack_it(importer: Importer, rows: str) -> None:
    mapping = replace(MAPPING, metrics=[*MAPPING.metrics, Binding("lost_packets", "lost")])
    result = importer(f"bytes,link,mbps,lost\n64,a,{rows}\n", mapping)
    rate, lost = importer.store.series([result.run], ["throughput", "lost_packets"])
    assert (rate.values.tolist(), rate.published) == ([1e6, 2e6], None)
    assert (lost.values.tolist(), lost.published) == ([5.0], None)
    (history,) = importer.store.history(lost.case.key, "lost_packets")
    assert (history.values.tolist(), history.published) == ([5.0], None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("bytes,link,mbps,sd\n64,a,1,-1\n", "2:8: a standard deviation is 0 or more"),
        ("bytes,link,mbps,sd\n64,a,1,x\n", "2:8: 'stdev of throughput': 'x' is not a number"),
        (
            "bytes,link,mbps,sd\n64,a,1,\n64,a,2,\n",
            "3:1: line 2 has this case already: a mean has one row",
        ),
    ],
)
def test_mistakes_in_means_are_told(importer: Importer, content: str, message: str) -> None:
    (problem,) = importer.problems(content, MEANS)
    assert problem.startswith(message)


SPREAD = replace(
    MAPPING,
    mean_of="10",
    minimum=[Binding("throughput", "least:Mbit/s")],
    maximum=[Binding("throughput", "most:kbit/s")],
)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ("10.5,10.7,11000", "2:11: the least value is above the mean"),
        ("10.5,10.4,10400", "2:16: the greatest value is below the mean"),
    ],
)
def test_a_mean_outside_its_own_values_is_refused(
    importer: Importer, numbers: str, message: str
) -> None:
    (problem,) = importer.problems(f"bytes,link,mbps,least,most\n64,a,{numbers}\n", SPREAD)
    assert problem.startswith(message)


@pytest.mark.parametrize("numbers", ["10.5,10.5,10500", "10.5,10.53,10460", "10,10.4,---"])
def test_a_mean_may_be_rounded_beyond_its_own_values(importer: Importer, numbers: str) -> None:
    result = importer(f"bytes,link,mbps,least,most\n64,a,{numbers}\n", SPREAD)
    assert result.values == 1


@pytest.mark.parametrize("rows", ["1,3\n64,a,2,", "2,\n64,a,1,3", "lost,\n64,a,1,3"])
def test_a_mean_stands_beside_no_replication(importer: Importer, rows: str) -> None:
    content = f"bytes,link,mbps,n\n64,a,---,\n64,a,{rows}\n"
    (problem,) = importer.problems(content, replace(MAPPING, mean_of="n"))
    assert problem.startswith("4:1: line 3 has this case already: a mean has one row")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (replace(MEANS, mean_of=""), "the stdev is that of a mean"),
        (replace(MEANS, stdev=[Binding("jitter", "sd:s")]), "no column is named as the metric"),
        (replace(MAPPING, logged=[Binding("stat/interrupts", "n")]), "is not what a system log"),
    ],
)
def test_a_mapping_of_means_that_is_wrong_is_told(
    importer: Importer, mapping: CsvMapping, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        importer("bytes,link,mbps,sd,n\n64,a,1,1,1\n", mapping)


HOSTS = """\
hosts:
  n1: {address: 10.0.0.1, ssh: n1.example.org, peaks: {network: 1Gbit/s}}
  n2: {address: 10.0.0.2, ssh: n2.example.org}
links:
  there: {from: n1, to: n2, rate: 100Mbit/s}
"""


def test_a_hosts_file_says_whose_links_and_peaks_they_are(
    importer: Importer, tmp_path: Path
) -> None:
    (tmp_path / "hosts.yaml").write_text(HOSTS, encoding="utf-8")
    hosts = read_imported_hosts(tmp_path / "hosts.yaml")
    counted = [Binding("server/stat/interrupts/s", "ints")]
    importer.path.write_text("bytes,link,mbps,ints\n64,there,1,4395\n", encoding="utf-8")
    mapping = replace(MAPPING, logged=counted)
    (result,) = import_csv(
        importer.store, importer.path, mapping, catalogue=importer.catalogue, hosts=hosts
    )
    run = result.run
    (case,) = importer.store.run(run).cases
    assert (case.case.client, case.case.server) == ("n1", "n2")
    peaks = {(peak.host, peak.resource): peak.value for peak in importer.store.peaks(run)}
    assert peaks == {("n1", "network"): 1e9, ("there", "rate"): 1e8}
    (log,) = importer.store.logs(run)
    assert (log.log.host, log.log.elapsed) == ("n2", 1.0)
    assert log.log.counts == {"stat/interrupts": 4395}
    importer.path.write_text("bytes,link,mbps,ints\n64,elsewhere,1,1\n", encoding="utf-8")
    with pytest.raises(FileProblems, match="no link and no host 'elsewhere'"):
        import_csv(
            importer.store, importer.path, mapping, catalogue=importer.catalogue, hosts=hosts
        )


@pytest.mark.parametrize("count", [0, 12_500_000_000])
def test_a_count_may_be_0_or_that_of_100_gbit_s(importer: Importer, count: int) -> None:
    counted = [Binding("client/interface/eth0/rx_bytes/s", "bytes_s")]
    content = f"bytes,link,mbps,bytes_s\n64,a,1,{count}\n"
    result = importer(content, replace(MAPPING, logged=counted))
    (log,) = importer.store.logs(result.run)
    assert log.log.counts == {"interface/eth0/rx_bytes": count}


def test_what_a_server_counted_needs_to_know_the_server(importer: Importer) -> None:
    counted = [Binding("server/stat/interrupts/s", "ints")]
    content = "bytes,link,mbps,ints\n64,a,1,---\n1460,a,1,4395\n"
    (problem,) = importer.problems(content, replace(MAPPING, logged=counted))
    assert problem.startswith("3:10: nothing says which host is the server of 'a'")


def test_a_column_of_times_makes_a_run_of_each_night(importer: Importer, store: Store) -> None:
    rows = [
        f"1024,a,{100 * night + number},2026-11-{night:02}T{hour}:00:00Z\n"
        for night in range(12, 0, -1)
        for number, hour in enumerate(("01", "05"))
    ]
    importer.path.write_text("bytes,link,mbps,at\n" + "".join(rows))
    results = import_csv(
        store, importer.path, replace(MAPPING, started_at="at"), catalogue=importer.catalogue
    )
    assert [result.replications for result in results] == [2] * 12
    assert [run.started_at[:13] for run in store.runs()] == [
        f"2026-11-{night:02}T01" for night in range(1, 13)
    ]
    assert importer.values(results[2].run) == [[300e6, 301e6]]
    (together,) = import_csv(
        store,
        importer.path,
        replace(MAPPING, started_at="at", apart=24 * 3600.0),
        catalogue=importer.catalogue,
    )
    assert together.replications == 24


@pytest.mark.parametrize(
    ("first", "expected"), [("2026-11-01T01:00:00Z", [1e6, 2e6, 3e6]), ("", [3e6, 2e6, 1e6])]
)
def test_replications_are_in_the_order_of_their_times_where_each_has_one(
    importer: Importer, first: str, expected: list[float]
) -> None:
    content = (
        "bytes,link,mbps,at\n"
        "64,a,3,2026-11-01T03:00:00Z\n"
        "64,a,2,2026-11-01T02:00:00Z\n"
        f"64,a,1,{first}\n"
    )
    result = importer(content, replace(MAPPING, started_at="at"))
    assert importer.values(result.run) == [expected]


NIGHTLY_MEANS = replace(MAPPING, mean_of="10", started_at="at")


def test_a_mean_a_night_is_one_of_each_run(importer: Importer, store: Store) -> None:
    importer.path.write_text(
        "bytes,link,mbps,at\n1024,a,100,2026-11-01T01:00:00Z\n1024,a,200,2026-11-02T01:00:00Z\n"
    )
    results = import_csv(store, importer.path, NIGHTLY_MEANS, catalogue=importer.catalogue)
    assert [importer.values(result.run) for result in results] == [[[100e6]], [[200e6]]]
    published = [series.published for result in results for series in store.series([result.run])]
    assert published == [PublishedValue(10), PublishedValue(10)]


def test_a_second_mean_of_a_night_is_told(importer: Importer) -> None:
    (problem,) = importer.problems(
        "bytes,link,mbps,at\n"
        "1024,a,100,2026-11-01T01:00:00Z\n"
        "1024,a,200,2026-11-02T01:00:00Z\n"
        "1024,a,101,2026-11-01T01:30:00Z\n",
        NIGHTLY_MEANS,
    )
    assert problem.startswith("4:1: line 2 has this case already: a mean has one row")
