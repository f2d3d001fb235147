"""Every shipped paper is made again of its numbers and of a run of each of its plans."""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.support.latex_lab import pages_of, typeset
from tests.support.paper_list import PAGE, with_list
from tests.support.plan_data import store_plan
from tests.support.results import csv_rows

from railgauge.base.assets import find_shipped, folder, shipped
from railgauge.base.errors import FileProblems, InputError
from railgauge.base.number import DISPLAY
from railgauge.exchange.importing.csv_import import import_csv
from railgauge.exchange.importing.csv_mapping import Binding, CsvMapping
from railgauge.plan.cases import expand
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.load import load_plan
from railgauge.report.document.write_report import ReportOptions
from railgauge.report.paper.make_paper import latest_runs, write_paper
from railgauge.report.paper.read_paper import LoadedPaper, load_paper
from railgauge.run.amount import amounts
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

PAPERS = shipped("reports/papers")
PAPER_PAGE = (PAGE.parent / "paper.md").read_text(encoding="utf-8")
_QUIET = ReportOptions(most_cases=0)


@cache
def definition(name: str) -> LoadedPaper:
    return load_paper(find_shipped("reports/papers", name), load_catalogue())


def make(name: str, store: Store | None, runs: Sequence[int], out: Path) -> list[Path]:
    catalogue = load_catalogue()
    return write_paper(definition(name), store, runs, out, catalogue=catalogue, options=_QUIET)


@dataclass(frozen=True, slots=True)
class Measured:
    """A paper that was made of a database with a run of each of its plans."""

    database: Path
    runs: list[int]
    files: list[Path]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the folder of a paper that was made without any run: the same one to all tests."""

    @cache
    def folder_of(name: str) -> Path:
        out = tmp_path_factory.mktemp(name) / "out"
        assert make(name, None, (), out)
        return out

    return folder_of


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Measured]:
    """Give a paper with a run of each of its plans: the same one to all tests."""

    @cache
    def paper(name: str) -> Measured:
        place = tmp_path_factory.mktemp(name)
        loaded = definition(name)
        with Store.open(str(place / "railgauge.db")) as store:
            for file in loaded.plan_files():
                store_plan(store, file)
            runs = latest_runs(store, [plan.plan.name for plan in loaded.plans()])
            files = make(name, store, runs, place / "out")
        return Measured(place / "railgauge.db", runs, files)

    return paper


@pytest.mark.usefixtures("latex")
@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_is_made_of_its_numbers_and_of_a_run_of_its_whole_plan(
    name: str, measured: Callable[[str], Measured], tmp_path: Path
) -> None:
    loaded = definition(name)
    paper = measured(name)
    assert len(paper.runs) == len(loaded.paper.plans)
    first = {path.name: path.read_bytes() for path in paper.files}
    with Store.open(str(paper.database)) as store:
        files = make(name, store, paper.runs, tmp_path / "out")
        assert [run.id for run in store.runs()] == paper.runs, "the user's database stays as it is"
    assert first == {path.name: path.read_bytes() for path in files}
    for file_name in ("index.html", f"{name}.txt", f"{name}.tex"):
        assert first[file_name]
    for item in loaded.paper.items:
        assert any(re.fullmatch(rf"{item.name}(-.*)?\.csv", file) for file in first), item.name
    assert "Overfull" not in typeset(tmp_path / "out", name)


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_says_what_it_publishes_without_any_run(
    name: str, published: Callable[[str], Path]
) -> None:
    loaded = definition(name)
    text = (published(name) / f"{name}.txt").read_text(encoding="utf-8")
    assert "Nothing was measured yet" in text
    # Neither a column that no run has, nor the value of an axis.
    for file in published(name).glob("*.csv"):
        texts_by_label: dict[str, set[str]] = {}
        for line in csv_rows(file):
            # A figure's has no labels.
            texts_by_label.setdefault(line.get("label", ""), set()).add(line.get("shown", "drawn"))
        assert all(texts - {"", "---"} for texts in texts_by_label.values()), file.name
    assert ": –\n" not in text
    for plan in loaded.plans():
        assert plan.plan.name in "".join(text.split())
    # A file beside the definition is none that 'railgauge run' finds by such a name.
    assert "railgauge run" not in text
    for entry in loaded.paper.left_out:
        assert entry.number in text


def test_the_list_of_the_papers_tables_is_what_make_papers_makes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_list(page) == page, "make papers"


@pytest.mark.parametrize("name", PAPERS)
def test_what_shows_a_papers_tables_is_there(name: str) -> None:
    loaded = definition(name)
    assert loaded.paper.minutes <= 20
    seconds = sum(amounts(plan, expand(plan))[1].seconds for plan in loaded.plans())
    assert loaded.paper.minutes == pytest.approx(seconds / 60, rel=0.25, abs=1.2)
    assert f"| `{name}` |" in PAPER_PAGE and f"| {loaded.paper.minutes} |" in next(
        line for line in PAPER_PAGE.splitlines() if line.startswith(f"| `{name}` |")
    )
    top = Path(__file__).parents[3]
    for item in loaded.paper.items:
        for test in item.tests:
            assert (top / test.partition("::")[0]).is_file(), test


def _sharcnet_run(
    store: Store,
    plan: str,
    value: Callable[[int], float],
    labels: Mapping[str, str] | None = None,
) -> int:
    """Store a run of ten replications of each case, `value` being that of each number."""
    loaded = load_plan(folder("plans") / f"{plan}.yaml")
    planned = [
        PlannedCase(expanded.test.name, case, 10)
        for expanded in expand(loaded)
        for case in expanded.cases
    ]
    engine = planned[0].case.engine
    new = NewRun(plan, loaded.text, "/plans", "", False, 7, "ctl", "0.1.0", "ab12", {})
    new = replace(new, labels=labels or {})
    metrics = {engine: {"throughput": MetricInfo("bit/s", "higher", "rate")}}
    run = store.begin_run(new, planned, metrics)
    launch = Launch(1.0)
    with store.together():
        for entry in planned:
            for number in range(1, 11):
                outcome = Outcome(number, 1.0, {"throughput": value(number)})
                store.add(run, entry.test, entry.case.key, outcome, launch)
    store.finish_run(run, "complete")
    return run


def test_sharcnets_differences_are_right_digit_by_digit(tmp_path: Path) -> None:
    # 600 Mbit/s more or less 1 to 5: a mean of 600, a standard deviation of 3.496 …
    offsets = [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5]
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        udp = _sharcnet_run(store, "sharcnet-udp", lambda i: (600 + offsets[i - 1]) * 1e6)
        tcp = _sharcnet_run(store, "sharcnet-tcp", lambda i: (600 + offsets[i - 1]) * 1e6)
        make("sharcnet", store, [udp, tcp], tmp_path / "out")
    deviation = float(np.std([600 + offset for offset in offsets], ddof=1))
    # Student's t for 9 degrees of freedom, 97.5 %: 2.262157.
    reach = 2.2621571628 * deviation / 10**0.5
    for table, size in (("table-1", "datagram"), ("table-2", "message")):
        lines = csv_rows(tmp_path / "out" / f"{table}-difference.csv")
        file = folder("reports") / "papers" / "sharcnet" / f"{table.replace('-', '')}.csv"
        printed = {
            (row[f"{size}_bytes"], row["link"], row["sockbuf_bytes"]): row["throughput_mbps"]
            for row in csv_rows(file)
        }
        checked = 0
        for line in lines:
            text = printed[line[size], line["link"], line["sockbuf"]]
            if not text[0].isdigit():
                assert line["shown"] == "---"
                if line["case_key"]:
                    assert f"Run published: {text}" in line["note"]
                continue
            difference = 600 - float(text)
            assert float(line["value"]) == pytest.approx(difference * 1e6, abs=1.0)
            assert float(line["compared_low"]) == pytest.approx(
                (difference - reach) * 1e6, rel=1e-6
            )
            assert float(line["compared_high"]) == pytest.approx(
                (difference + reach) * 1e6, rel=1e-6
            )
            # A spreadsheet shall not take it for a formula.
            rendered = line["shown"].removeprefix("'")
            exact = (600 - Decimal(text)).quantize(Decimal("0.1"), ROUND_HALF_EVEN)
            assert rendered.startswith(f"{exact} [{difference - reach:.1f}, ")
            checked += 1
        assert checked == sum(text[0].isdigit() for text in printed.values())
    text = (tmp_path / "out" / "sharcnet.txt").read_text(encoding="utf-8")
    assert "the published ones being taken for exact" in " ".join(text.split())


def test_zcs_local_networking_is_by_kernel_call_and_cpus(published: Callable[[str], Path]) -> None:
    out = published("zc")
    rates: dict[tuple[str, str, str], list[float]] = {}
    for line in csv_rows(out / "local-networking.csv"):
        if line["metric"] == "throughput":
            place = line["send"], line["client_cpu"], line["server_cpu"]
            rates.setdefault(place, []).append(float(line["median"]) / 8000)
    # kB/s of 2.4.1 and of 2.4.1-zc
    assert rates == {
        ("sendfile", "", ""): [66600, 208000],
        ("send", "", ""): [70000, 69000],
        ("sendfile", "0", "1"): [66700, 213047],
        ("send", "0", "1"): [68000, 66000],
        ("sendfile", "0", "0"): [56000, 176000],
        ("send", "0", "0"): [57000, 55000],
    }


def test_zcs_printed_local_networking_is_the_readmes() -> None:
    rows = csv_rows(folder("reports") / "papers" / "zc" / "local.csv")
    # The README names no kernel of the row "sems".
    kernels = ["2.4.1", "2.4.1-zc"]
    assert [row["kernel"] for row in rows] == [*kernels, "sems", *kernels, *kernels]


def test_zcs_calls_are_measured_with_the_chunks_of_its_readme() -> None:
    (method,) = [
        tested
        for tested in expand(load_plan(folder("plans") / "zerocopy.yaml"))
        if tested.test.name == "method"
    ]
    chunks = {
        case.parameters["send"]: (case.parameters["write"], case.parameters["read"])
        for case in method.cases
    }
    assert chunks["sendfile"] == (0, 16384), "a whole file at once"
    assert chunks["send"] == chunks["write"] == (65536, 16384)


def test_sharcnets_published_cells_are_the_papers_and_say_what_is_absent(
    published: Callable[[str], Path],
) -> None:
    out = published("sharcnet")
    cells = {
        (line["datagram"], line["link"], line["sockbuf"]): line
        for line in csv_rows(out / "table-1.csv")
    }
    assert cells["1460", "gw→hh", "10240"]["shown"] == "177.59"
    assert cells["1460", "gw→hh", "10240"]["n"] == "10"
    # A mean of ten has neither a median nor an interval.
    assert cells["1460", "gw→hh", "10240"]["median"] == ""
    assert cells["1460", "gw→hh", "10240"]["interval_low"] == ""
    assert cells["40960", "gw→gw", "10240"]["shown"] == "impossible"
    assert cells["1024", "gw→gw", "1048576"]["shown"] == "lost"
    text = " ".join((out / "sharcnet.txt").read_text(encoding="utf-8").split())
    assert "arithmetic mean of 10 published replications per cell" in text
    assert "Lost: printed in the paper, but lost in the copy at hand; impossible:" in text
    assert text.count("so that measured cases have twice the buffer") == 3
    readme = (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    table = readme.partition("cat paper/sharcnet.txt\n…\n")[2].partition("```")[0]
    assert table
    assert table in (out / "sharcnet.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([{}, {}], ["kernel 6.1.0", "kernel 6.12.0"]),
        ([{"nic": "old"}, {"nic": "new"}], ["nic old", "nic new"]),
    ],
    ids=["facts", "labels"],
)
def test_two_runs_stand_beside_the_paper_by_what_they_differ_in(
    tmp_path: Path, labels: list[dict[str, str]], names: list[str]
) -> None:
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        runs = [
            _sharcnet_run(store, "sharcnet-tcp", lambda i, level=level: (level + i) * 1e6, label)
            for level, label in zip((300, 900), labels, strict=True)
        ]
        for run, kernel in zip(runs, ("6.1.0", "6.12.0"), strict=True):
            store.add_facts(run, "gw1", {"kernel": f"Linux version {kernel} (someone)"})
        make("sharcnet", store, runs, tmp_path / "out")
    text = (tmp_path / "out" / "sharcnet.txt").read_text(encoding="utf-8")
    for name in ("published", *names):
        assert re.search(rf"gw→gw +{name} |^ +{name} ", text, re.MULTILINE), name
    lines = csv_rows(tmp_path / "out" / "table-2-difference.csv")
    assert {line["run"] for line in lines} == {str(run) for run in runs}


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_is_made_of_two_runs_of_each_of_its_plans(
    name: str, measured: Callable[[str], Measured], tmp_path: Path
) -> None:
    loaded = definition(name)
    paper = measured(name)
    database = shutil.copy(paper.database, tmp_path)
    with Store.open(str(database)) as store:
        runs = paper.runs + [store_plan(store, file)[0] for file in loaded.plan_files()]
        files = make(name, store, runs, tmp_path / "out")
    runs_shown = {line["run"] for file in files if file.suffix == ".csv" for line in csv_rows(file)}
    assert {str(run) for run in runs} <= runs_shown


def _definition(tmp_path: Path, **changed: object) -> Path:
    shipped = PAPERS["sharcnet"]
    described = yaml.safe_load(shipped.read_text(encoding="utf-8"))
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**described, **changed}, allow_unicode=True), encoding="utf-8")
    shutil.copytree(shipped.parent / "sharcnet", tmp_path / "sharcnet")
    return path


def test_a_run_of_another_plan_is_refused_with_the_plans_that_the_paper_takes(
    tmp_path: Path,
) -> None:
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        run, _ = store_plan(store, folder("plans") / "quickstart.yaml")
        message = (
            "run 1 is of plan 'quickstart', and paper 'sharcnet' takes runs of sharcnet-udp and"
            " sharcnet-tcp: leave it out"
        )
        with pytest.raises(InputError, match=message):
            make("sharcnet", store, [run], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_import_of_any_name_is_shown_and_one_without_the_papers_numbers_refused(
    tmp_path: Path,
) -> None:
    table = tmp_path / "ours.csv"
    table.write_text("link,size,mbps,lost\ngw→gw,1460,600,3\n", encoding="utf-8")
    mapping = CsvMapping(
        engine="udp",
        metrics=[Binding("throughput", "mbps:Mbit/s")],
        parameters=[Binding("datagram", "size:B")],
        fixed={"mode": "stream", "sockbuf": "1MiB"},
        link="link",
    )
    losses = replace(mapping, metrics=[Binding("lost_packets", "lost")])
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        run, without = (
            result.run
            for of_metric in (mapping, losses)
            for result in import_csv(store, table, of_metric, catalogue=load_catalogue())
        )
        make("sharcnet", store, [run], tmp_path / "out")
        with pytest.raises(InputError, match="run 2, an import called 'ours', has nothing that"):
            make("sharcnet", store, [run, without], tmp_path / "out")
    lines = csv_rows(tmp_path / "out" / "table-1.csv")
    assert str(run) in {line["run"] for line in lines}


def test_a_papers_mistakes_are_told_where_they_stand(tmp_path: Path) -> None:
    item = {"name": "one", "number": "1", "report": "sharcnet-table1", "tests": ["a"]}
    wrong = [{**item, "parts": ["table9"]}, {**item, "name": "two", "report": "nothing"}]
    with pytest.raises(FileProblems) as caught:
        load_paper(_definition(tmp_path, items=wrong, plans=["sharcnet-ucp"]), load_catalogue())
    messages = [str(problem) for problem in caught.value.problems]
    assert all(re.match(r".*mine\.yaml:\d+:\d+: ", message) for message in messages)
    assert any(
        "no table and no figure 'table9': did you mean 'table1'" in message for message in messages
    )
    assert any("the report 'nothing' does not exist" in message for message in messages)
    assert any("the plan 'sharcnet-ucp' does not exist" in message for message in messages)


def test_what_is_no_paper_is_told() -> None:
    with pytest.raises(InputError, match="no paper 'sharknet': did you mean 'sharcnet'"):
        find_shipped("reports/papers", "sharknet")


def _published_numbers(loaded: LoadedPaper) -> Iterator[tuple[str, float]]:
    """Yield each number of the paper's CSV files, in base units, with where it stands."""
    for source in loaded.paper.published:
        for row in csv_rows(loaded.file(source.file)) if source.file else ():
            for binding in (*source.metrics.values(), *source.logged.values()):
                column, _, unit = binding.partition(":")
                if row[column][:1].isdigit():
                    base, per_base = DISPLAY.get(unit, (unit, 1))
                    assert base is not None
                    yield f"{source.file} {row}", float(row[column]) * float(per_base)


@pytest.mark.parametrize("name", [name for name in PAPERS if name != "hpcbench"])
def test_each_published_number_is_in_a_table(name: str, published: Callable[[str], Path]) -> None:
    loaded = definition(name)
    numbers = Counter(
        float(f"{float(line['arithmetic_mean']):.7g}")
        for file in published(name).glob("*.csv")
        for line in csv_rows(file)
        if line.get("arithmetic_mean")
    )
    missing = []
    for place, number in _published_numbers(loaded):
        rounded = float(f"{number:.7g}")
        missing += [] if numbers[rounded] else [place]
        numbers[rounded] -= 1
    assert missing == []


@pytest.mark.parametrize("name", PAPERS)
def test_a_difference_is_of_something(name: str, measured: Callable[[str], Measured]) -> None:
    loaded = definition(name)
    paper = measured(name)
    differences = [
        file for file in paper.files if re.search(r"-difference(-\d+)?\.csv$", file.name)
    ]
    assert differences
    for file in differences:
        assert any(line["value"] for line in csv_rows(file)), file.name
    for item in loaded.paper.items:
        pattern = rf"{item.name}(-.*)?\.csv"
        tables = [file for file in paper.files if re.fullmatch(pattern, file.name)]
        of_runs = {line["run"] for file in tables for line in csv_rows(file)}
        assert of_runs & {str(run) for run in paper.runs}, f"{item.name}: nothing measured"


def test_hpcbenchs_output_beside_its_system_log_is_as_printed(
    published: Callable[[str], Path],
) -> None:
    out = published("hpcbench")
    lines = csv_rows(out / "system-log-test-stream.csv")
    lost = [line["shown"] for line in lines if line["metric"] == "lost_packets"]
    assert lost == ["4", "1", "0", "0", "0"]
    averages = csv_rows(out / "system-log-test-averages.csv")
    assert [line["shown"] for line in averages] == [
        *("955.131345", "953.902539", "956.520249"),
        *("954.936144", "953.696928", "956.277957"),
    ]


def test_hpcbenchs_traffic_is_as_its_screens_say(published: Callable[[str], Path]) -> None:
    out = published("hpcbench")
    numbers = {
        line["metric"]: float(line["arithmetic_mean"])
        for part in ("stream", "processes")
        for line in csv_rows(out / f"rate-{part}.csv")
        if line["arithmetic_mean"]
    }
    assert numbers == {
        "throughput": 149_971_889,
        "local_throughput": 149_973_565,
        "sent_packets": 128_404,
        "sent_bytes": 187_468_412,
        "received_packets": 128_404,
        "received_bytes": 187_468_412,
        "lost_packets": 0,
        "loss_rate": 0,
        "client_elapsed": 10.000211,
        "server_elapsed": 9.999856,
    }
    rows: dict[str, list[str]] = {}
    for line in csv_rows(out / "generator.csv"):
        rows.setdefault(line["link"], []).append(line["shown"])
    assert rows == {
        "mk1→mk2": ["10.00", "171248", "250022080", "200.001214"],
        "mk1→mk6": ["10.00", "171216", "249975360", "199.979788"],
    }


def test_udpmons_streams_are_measured_with_the_waits_and_sizes_of_its_page() -> None:
    (arrival,) = [
        tested
        for tested in expand(load_plan(folder("plans") / "udpmon.yaml"))
        if tested.test.name == "arrival"
    ]
    measured = {(case.parameters["datagram"], case.parameters["wait"]) for case in arrival.cases}
    by_size = {(size, 0) for size in (500, 1000, 1200, 1460)}
    assert measured == by_size | {(1000, 12e-6), (1000, 15e-6)}


def test_the_largest_packet_of_the_jumbo_sweep_fills_a_jumbo_frame_and_no_second_one() -> None:
    (tested,) = expand(load_plan(folder("plans") / "jumbo-sweep.yaml"))
    sizes = [case.parameters["datagram"] for case in tested.cases]
    # Headers of IPv4 and UDP are in the packet, too.
    assert sizes == [size - 28 for size in range(500, 9001, 500)]


def test_udpmons_bandwidths_are_up_to_the_numbers_that_it_prints(
    published: Callable[[str], Path],
) -> None:
    out = published("udpmon")
    cells = {
        (line["link"], line["datagram"]): line["shown"]
        for line in csv_rows(out / "streams.csv")
        if line["metric"] == "sequence_last" and line["wait"] == "0.0"
    }
    assert cells == {
        ("prusin→gwgsara2", "1000"): "not measured",
        ("gwgsara2→prusin", "1000"): "not measured",
        ("gwgsara2→gwgsara4", "1000"): "2040",
        ("gwgsara2→gwgsara3", "1000"): "2572",
        ("gwgsara4→gwgsara5 (hardware loop)", "1000"): "1900",
        ("gwgsara4→gwgsara5 (back-to-back)", "1000"): "4999",
        ("gwgsara4→gwgsara5 (back-to-back)", "1460"): "4999",
    }


def test_published_numbers_have_the_decimals_that_their_papers_print(
    published: Callable[[str], Path],
) -> None:
    udpmon = csv_rows(published("udpmon") / "streams.csv")
    texts = {
        metric: {line["shown"] for line in udpmon if line["metric"] == metric}
        for metric in ("sequence_throughput", "lost_packets")
    }
    assert texts == {
        "sequence_throughput": {"573", "497", "579", "581", "582", "507", "501", "834"},
        "lost_packets": {"0", "1549", "712", "not measured"},
    }
    # A 0 at the end is one of the paper's, too.
    zc = csv_rows(published("zc") / "chunk.csv")
    assert {"28.7", "29.0"} <= {line["shown"] for line in zc}
    sharcnet = published("sharcnet") / "index.html"
    assert "n = 10: arithmetic mean 177.59 (Mbit/s), as published" in sharcnet.read_text("utf-8")


def test_the_reports_network_is_its_authors_computers_not_hyperions(
    published: Callable[[str], Path],
) -> None:
    out = published("machine")
    text = " ".join((out / "machine.txt").read_text(encoding="utf-8").split())
    assert "Theoretical: network of own-computer 10 Gbit/s" in text
    assert "network of hyperion" not in text


def test_the_reports_linpack_stands_in_linpacks_column(published: Callable[[str], Path]) -> None:
    out = published("machine")
    cells = {
        line["shown"]: (line["precision"], line["threads"], line["label"])
        for line in csv_rows(out / "cpu-operations.csv")
    }
    for threads, value in (("1", "35.250"), ("2", "63.800"), ("4", "70.120")):
        assert cells[value] == ("double", threads, "Linpack (HPL)")


def test_printed_disk_efficiencies_are_of_as_many_disks_as_threads() -> None:
    folder_of = folder("reports") / "papers" / "machine"
    measured = {
        (row["mode"], row["threads"], row["block_bytes"]): float(row["mb_per_s"])
        for row in csv_rows(folder_of / "disk.csv")
    }
    modes = {"RS": "read", "WS": "write", "RR": "random_read", "WR": "random_write"}
    whole = {"RS": 372, "WS": 172, "RR": 540, "WR": 410}
    rows = csv_rows(folder_of / "iozone.csv")
    assert len(rows) == len(measured) == 36
    for row in rows:
        work, threads = row["work"], row["threads"]
        theoretical = float(row["theoretical MB/s"])
        assert theoretical == whole[work] * int(threads)
        own = measured[modes[work], threads, row["block_bytes"]]
        assert float(row["measured %"]) == pytest.approx(100 * own / theoretical, rel=1e-6)
        iozone = 100 * float(row["IOzone MB/s"]) / theoretical
        assert float(row["IOzone %"]) == pytest.approx(iozone, rel=1e-6)


def test_printed_cpu_efficiencies_of_linpack_are_what_linpack_leaves_of_it() -> None:
    folder_of = folder("reports") / "papers" / "machine"
    measured, linpack = (
        {(row["precision"], row["threads"]): float(row[unit]) for row in csv_rows(folder_of / name)}
        for name, unit in (("cpu.csv", "gops"), ("linpack.csv", "gflops"))
    )
    precisions = {"QP": "int8", "HP": "int16", "SP": "single", "DP": "double"}
    rows = csv_rows(folder_of / "cpu-efficiency.csv")
    assert len(rows) == len(measured) == 12
    for row in rows:
        place = precisions[row["precision"]], row["threads"]
        theoretical = float(row["theoretical Gop/s"])
        # With two digits, of which the report cuts off what follows.
        assert float(row["measured %"]) == pytest.approx(
            100 * measured[place] / theoretical, abs=0.01
        )
        if place not in linpack:
            assert row["Linpack %"] == "N/A"
        else:
            own = 100 * measured[place] / linpack[place]
            assert float(row["Linpack %"]) == pytest.approx(own, abs=0.01)


def test_a_disks_blocks_are_the_reports_bytes(published: Callable[[str], Path]) -> None:
    out = published("machine")
    text = (out / "machine.txt").read_text(encoding="utf-8")
    for block in ("1024000", "10240000", "102400000"):
        assert re.search(rf"^(RS +1| +) +{block} +\d+\.\d+ ", text, re.MULTILINE), block


@pytest.mark.usefixtures("latex")
@pytest.mark.parametrize("name", ["machine", "udpmon", "zc"])
def test_a_printed_table_stands_on_a_page_with_its_heading(
    name: str, published: Callable[[str], Path], tmp_path: Path
) -> None:
    loaded = definition(name)
    out = shutil.copytree(published(name), tmp_path / "out")
    pages = [" ".join(page.split()) for page in pages_of(out, name).split("\f")]
    for table in loaded.paper.printed:
        rows = list(csv.reader((PAPERS[name].parent / table.file).read_text().splitlines()))
        first, last = (" ".join(" ".join(row).split()) for row in (rows[1], rows[-1]))
        heading = " ".join(table.number.split())
        within = [page for page in pages if heading in page and "As printed" in page]
        assert any(first in page and last in page for page in within), table.name
