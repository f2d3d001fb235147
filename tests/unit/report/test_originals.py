"""Tables of the originals, made again of their own numbers: digit for digit, in their layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.support.hpcbench_samples import SAMPLES
from tests.support.latex_lab import typeset
from tests.support.report_data import store_traces, trace
from tests.support.results import csv_rows
from tests.support.zc_samples import ZC, ZC_CHUNK, store_zc, store_zc_chunks

from railgauge.base.assets import folder
from railgauge.exchange.hpcbench.import_hpcbench import import_hpcbench
from railgauge.plan.catalogue import Catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.store import Store


class Reported:
    """A report of one run in a folder; its tables as rows of what a reader sees."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def rows(self, table: str, *, labels: int) -> list[list[str]]:
        """Return each row: its first `labels` cells name it, the others are its numbers."""
        lines = csv_rows(self.folder / f"{table}.csv")
        axes = list(lines[0])[:labels]
        cells_by_key: dict[tuple[str, ...], list[str]] = {}
        for line in lines:
            cells_by_key.setdefault(tuple(line[axis] for axis in axes), []).append(line["shown"])
        return [[*key, *cells] for key, cells in cells_by_key.items()]


@pytest.fixture
def report(
    store: Store, tmp_path: Path, catalogue: Catalogue
) -> Callable[[str, Sequence[int]], Reported]:
    def write(definition: str, runs: Sequence[int]) -> Reported:
        spec = load_spec(folder("reports") / f"{definition}.yaml", catalogue)
        options = ReportOptions(most_cases=0)
        write_report(store, runs, spec, tmp_path / "out", catalogue=catalogue, options=options)
        return Reported(tmp_path / "out")

    return write


def _sample_rows(text: str, start: str) -> list[list[str]]:
    """Return the rows of the first table below the line that holds `start`, as words."""
    lines = text[text.index(start) :].splitlines()[1:]
    rows: list[list[str]] = []
    for line in lines:
        if re.match(r"#?\d", line):
            rows.append(line.removeprefix("#").split())
        elif rows:
            break
    return rows


def _numbered(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows with their number alone in front: test and hosts stand above a sample."""
    return [list(row[2:]) for row in rows]


def _printed_settings(text: str) -> list[str]:
    """Return what stands above a sample: each end's two buffers, their TOS, the repeats."""
    buffers = re.findall(r"SNDBUF: (\d+) RCVBUF: (\d+)", text)
    names = {"Default": "0", "IPTOS_Maximize_Throughput": "8"}
    tos = [names[name] for name in re.findall(r"IP TOS type: (\S+)", text)]
    return [*(size for end in buffers for size in end), *tos, *re.findall(r"repeat: (\d+)", text)]


@pytest.mark.parametrize("sample", ["stream", "socket_options", "small_buffers"])
def test_a_test_one_way_is_hpcbenchs_table(store, catalogue, report, sample):
    text = (SAMPLES / f"{sample}.txt").read_text()
    run = import_hpcbench(store, [SAMPLES / f"{sample}.txt"], catalogue=catalogue).run
    files = report("hpcbench-stream", [run])
    rows = [row[3:] for row in files.rows("stream", labels=4)]
    assert rows == _sample_rows(text, "Network(Mbps)")
    processes = [row[3:] for row in files.rows("processes", labels=4)]
    assert processes == _sample_rows(text, "Process information")
    (averages,) = files.rows("averages", labels=3)
    printed = re.findall(
        r"# (?:Local|Network) Average: (\S+)  Minimum: (\S+)  Maximum: (\S+)", text
    )
    assert averages[3:] == [number for line in printed for number in line]
    (settings,) = files.rows("settings", labels=3)
    assert settings[3:] == _printed_settings(text)


def test_a_test_both_ways_is_hpcbenchs_table(store, catalogue, report):
    text = (SAMPLES / "bidirectional.txt").read_text()
    run = import_hpcbench(store, [SAMPLES / "bidirectional.txt"], catalogue=catalogue).run
    files = report("hpcbench-bidirectional", [run])
    assert _numbered(files.rows("bidirectional", labels=3)) == _sample_rows(text, "loss-rate")
    assert _numbered(files.rows("processes", labels=3)) == _sample_rows(text, "Process information")
    (averages,) = files.rows("averages", labels=2)
    local = "1756.112012 1752.637614 1761.508608"
    assert " ".join(averages[2:]) == f"{local} 1614.919380 1601.171587 1626.004534"
    (settings,) = files.rows("settings", labels=3)
    assert settings[3:] == _printed_settings(text)


def test_a_test_by_size_is_hpcbenchs_table(store, catalogue, report):
    text = (SAMPLES / "exponential.txt").read_text()
    run = import_hpcbench(store, [SAMPLES / "exponential.txt"], catalogue=catalogue).run
    files = report("hpcbench-exponential", [run])
    # Theirs counts the sizes in front.
    printed = [row[1:] for row in _sample_rows(text, "(Byte)")]
    assert _numbered(files.rows("sizes", labels=3)) == printed
    processes = files.rows("processes", labels=3)
    assert [row[3:] for row in processes] == [
        row[1:] for row in _sample_rows(text, "Process information")
    ]


def test_round_trips_are_hpcbenchs_lines(store, catalogue, report):
    text = (SAMPLES / "latency.txt").read_text()
    run = import_hpcbench(store, [SAMPLES / "latency.txt"], catalogue=catalogue).run
    files = report("hpcbench-latency", [run])
    printed = re.findall(r"UDP Round Trip Time \((\d+)\) : (\S+) usec", text)
    (settings,) = files.rows("settings", labels=2)
    assert settings[2:] == ["65535", "65535", "5"]
    trials = files.rows("round-trips", labels=3)
    assert [row[2:] for row in trials] == [list(pair) for pair in printed]
    (averages,) = files.rows("averages", labels=2)
    summary = re.search(r"min/avg/max = (\S+)/(\S+)/(\S+) usec", text)
    assert summary is not None
    assert averages[2:] == [*summary.groups(), str(len(printed))]


def _counted(row: Sequence[str]) -> list[str]:
    """Return a sample's row with its first and last row as ours: before, 1, 2 … after."""
    return [{"0": "before", "6": "after"}.get(row[0], row[0]), *row[1:]]


@pytest.mark.parametrize(("side", "ending"), [("client", "c_log"), ("server", "s_log")])
def test_system_logs_are_hpcbenchs_tables(store, catalogue, report, side, ending):
    text = (SAMPLES / "system_log" / f"output.{ending}").read_text()
    run = import_hpcbench(store, [SAMPLES / "system_log" / "output"], catalogue=catalogue).run
    files = report("hpcbench-system-log", [run])
    interfaces = files.rows(f"{side}-interfaces", labels=4)
    interrupts = files.rows(f"{side}-interrupts", labels=4)
    names = re.findall(r"interface <(\w+)>", text)
    assert {row[2] for row in interfaces} == {name.replace("loop", "lo") for name in names}
    for name in names:
        printed = [_counted(row) for row in _sample_rows(text, f"interface <{name}>")]
        interface = name.replace("loop", "lo")
        counts = [row[3:] for row in interfaces if row[2] == interface]
        assert counts == [[row[0], *row[9:13]] for row in printed]
        by_cpu = [row[3:] for row in interrupts if row[2] == interface]
        assert by_cpu == [[row[0], *row[13:]] for row in printed]
        # Their shares are cut off, and stand with a decimal below.
        system = _numbered(files.rows(f"{side}-system", labels=3))
        assert [[row[0], *row[4:]] for row in system] == [[row[0], *row[4:9]] for row in printed]
    cpus = files.rows(f"{side}-cpus", labels=4)
    for cpu in range(4):
        printed = [_counted(row) for row in _sample_rows(text, f"CPU{cpu} workload")]
        assert [row[3:] for row in cpus if row[2] == str(cpu)] == [row[:5] for row in printed]
        assert [row[3:] for row in cpus if row[2] == "all"] == [
            [row[0], *row[5:]] for row in printed
        ]


@pytest.mark.parametrize("definition", ["hpcbench-stream", "hpcbench-system-log"])
@pytest.mark.usefixtures("latex")
def test_their_wide_tables_fit_a_page(store, catalogue, report, definition):
    run = import_hpcbench(store, [SAMPLES / "system_log" / "output"], catalogue=catalogue).run
    folder = report(definition, [run]).folder
    assert "Overfull" not in typeset(folder, definition)


def test_the_cpu_table_is_zcs(store, report):
    files = report("zc-cpu", [*store_zc(store), *store_zc_chunks(store)])
    by_chunk = [tuple(row.values()) for row in csv_rows(ZC_CHUNK)]
    cells = [
        (row["plan"], row["write"], row["shown"]) for row in csv_rows(files.folder / "chunk.csv")
    ]
    assert sorted(cells) == sorted(by_chunk)
    printed = csv_rows(ZC)
    for table, does in (("sending", ("sendfile", "send")), ("receiving", ("receive",))):
        lines = csv_rows(files.folder / f"{table}.csv")
        cells_by_place: dict[tuple[str, str, str], list[str]] = {}
        for line in lines:
            place = line["plan"], line["link"], line["send"] or "receive"
            cells_by_place.setdefault(place, []).append(line["shown"])
        numbers = {place: cells for place, cells in cells_by_place.items() if any(cells)}
        assert numbers == {
            (row["kernel"], row["card"], row["does"]): [*row.values()][3:]
            for row in printed
            if row["does"] in does
        }


def test_bandwidth_and_losses_of_streams_are_udpmons(store, report):
    # After which packet how many were lost, by the wait between packets; Mbit/s.
    losses = {
        0.0: {
            616: 172,
            1143: 209,
            1782: 227,
            2479: 187,
            3051: 179,
            3604: 186,
            4180: 172,
            4700: 217,
        },
        12e-6: {1139: 111, 1785: 153, 2694: 160, 3650: 125, 4376: 163},
        15e-6: {},
    }
    bandwidth = {0.0: 497.0, 12e-6: 507.0, 15e-6: 501.0}
    link = "gwgsara2→prusin"
    streams = {(link, wait): [trace(lost)] for wait, lost in losses.items()}
    metrics = {
        (link, wait): {
            "sequence_throughput": 1e6 * bandwidth[wait],
            "lost_packets": sum(lost.values()),
            "loss_runs": len(lost),
            "jitter": 0.0,
            "sequence_last": min(lost, default=4999),
        }
        for wait, lost in losses.items()
    }
    runs = [store_traces(store, streams, also=metrics)]
    runs.append(store_traces(store, streams, also=metrics, test="wait-sweep", datagram=1460))
    files = report("udpmon-arrival", runs)
    rows = [row for row in files.rows("streams", labels=3) if row[0] == "1000"]
    assert [row[3:7] for row in rows] == [
        ["497.00", "616", "1549.0", "8.0"],
        ["507.00", "1139", "712.0", "5.0"],
        ["501.00", "4999", "0.0", "0.0"],
    ]
    for number, lost in enumerate(losses.values(), 1):
        assert "<svg" in (files.folder / f"arrival-{number}.svg").read_text()
        table = files.folder / f"arrival-{number}-losses.tex"
        loss_rows = (
            re.findall(r"& (\d+) & (\d+) *\\\\", table.read_text()) if table.exists() else []
        )
        assert loss_rows == [(str(after), str(many)) for after, many in lost.items()]
    counted = sum(int(row["loss_runs"]) for row in csv_rows(files.folder / "loss-runs-1.csv"))
    assert counted == sum(len(lost) for lost in losses.values())
