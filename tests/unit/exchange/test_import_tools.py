"""Files of iperf3, fio, netperf and OSU go in as what they are, or are refused with the reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support import FIXTURES
from tests.support.problems import in_one_file

from railgauge.base.errors import FileProblems, InputError
from railgauge.cli import cli
from railgauge.exchange.importing.import_tool import ImportNames, import_tool
from railgauge.exchange.importing.result import ImportResult
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.store import Store

TOOLS = FIXTURES / "tools"


class Imports:
    """Imports files of tools into a store."""

    def __init__(self, store: Store, catalogue: Catalogue) -> None:
        self.store = store
        self._catalogue = catalogue

    def __call__(self, tool: str, files: Sequence[Path], **names: str) -> ImportResult:
        import_names = ImportNames(**names)
        return import_tool(self.store, tool, files, catalogue=self._catalogue, names=import_names)

    def values(self, result: ImportResult, metric: str) -> dict[str, list[float]]:
        """Return a metric's values by engine, link and what its parameters are."""
        measurements = {}
        for series in self.store.series([result.run], [metric]):
            parameters = " ".join(f"{k}={v}" for k, v in sorted(series.case.parameters.items()))
            if series.values.size:
                name = f"{series.case.engine} {series.case.link} {parameters}"
                measurements[name] = list(np.asarray(series.values))
        return measurements


@pytest.fixture
def imports(store: Store, catalogue: Catalogue) -> Imports:
    return Imports(store, catalogue)


def test_iperf3_files_tell_their_link_and_parameters(tmp_path: Path, imports: Imports) -> None:
    files = [TOOLS / f"iperf3-3.12-{name}.json" for name in ("tcp", "udp", "reverse")]
    again = files[0].parent.parent / "tools" / "." / files[0].name
    link = tmp_path / "link.json"
    link.symlink_to(files[1])
    result = imports("iperf3", [*files, again, link])
    assert (result.files, result.cases, result.replications) == (3, 3, 3)
    assert imports.values(result, "throughput") == {
        "iperf3 10.0.0.1→10.0.0.2 congestion=bbr datagram=0 duration=1.0 message=131072 mode=tcp "
        "rate=0.0 reverse=False sockbuf=0 threads=1": [50565286252.3484],
        "iperf3 10.0.0.1→10.0.0.2 congestion= datagram=60000 duration=1.0 message=0 mode=udp "
        "rate=0.0 reverse=False sockbuf=40960 threads=3": [65794586856.42194],
        "iperf3 10.0.0.1→10.0.0.2 congestion=bbr datagram=0 duration=1.0 message=131072 mode=tcp "
        "rate=0.0 reverse=True sockbuf=0 threads=2": [49946770355.0522],
    }
    assert imports.store.run(result.run).new.origin == "imported"


def test_a_file_may_be_longer_than_what_is_kept_of_an_output_in_a_run(
    tmp_path: Path, imports: Imports
) -> None:
    document = json.loads((TOOLS / "iperf3-3.12-tcp.json").read_text())
    # A report a second of an hour and more.
    document["intervals"] = [document["end"]["streams"][0]] * 4000
    (tmp_path / "long.json").write_text(json.dumps(document))
    assert (tmp_path / "long.json").stat().st_size > 1 << 20
    result = imports("iperf3", [tmp_path / "long.json"])
    assert [*imports.values(result, "throughput").values()] == [[50565286252.3484]]


def test_udp_of_which_nothing_arrived_is_no_measurement_without_losses(
    tmp_path: Path, imports: Imports
) -> None:
    document = json.loads((TOOLS / "iperf3-3.12-udp.json").read_text())
    # What iperf3 3.12 writes where all datagrams are dropped on their way.
    zeros = dict.fromkeys(
        ("bytes", "bits_per_second", "lost_packets", "packets", "lost_percent"), 0
    )
    document["end"]["sum_received"] |= zeros
    (tmp_path / "nothing.json").write_text(json.dumps(document))
    with pytest.raises(FileProblems, match=r"end.sum_received.bytes is 0: nothing was measured"):
        imports("iperf3", [tmp_path / "nothing.json"])


@pytest.mark.parametrize("rate", [0, 50_000_000])
def test_a_limit_of_iperf3_that_is_no_parameter_is_refused(
    tmp_path: Path, imports: Imports, rate: int
) -> None:
    document = json.loads((TOOLS / "iperf3-3.12-tcp.json").read_text())
    document["start"]["test_start"]["fqrate"] = rate
    (tmp_path / "paced.json").write_text(json.dumps(document))
    if rate:
        with pytest.raises(FileProblems, match=r"fq_rate is 5e\+07, which is 0"):
            imports("iperf3", [tmp_path / "paced.json"])
    else:
        assert imports("iperf3", [tmp_path / "paced.json"]).cases == 1


def test_files_of_the_same_parameters_are_replications(tmp_path: Path, imports: Imports) -> None:
    document = json.loads((TOOLS / "iperf3-3.12-tcp.json").read_text())
    document["end"]["sum_received"]["bits_per_second"] = 4.5e10
    (tmp_path / "again.json").write_text(json.dumps(document))
    files = [TOOLS / "iperf3-3.12-tcp.json", tmp_path / "again.json"]
    result = imports("iperf3", files, link="gw→hh", test="evening")
    assert (result.cases, result.replications) == (1, 2)
    ((name, throughputs),) = imports.values(result, "throughput").items()
    assert name.startswith("iperf3 gw→hh ")
    assert throughputs == [50565286252.3484, 4.5e10]
    (case,) = imports.store.run(result.run).cases
    assert (case.test, case.case.client, case.case.server) == ("evening", "10.0.0.1", "10.0.0.2")


def test_replications_are_in_the_order_of_their_start(tmp_path: Path, imports: Imports) -> None:
    document = json.loads((TOOLS / "iperf3-3.12-tcp.json").read_text())
    # A shell names 10 before 2.
    files = [tmp_path / f"{number}.json" for number in (1, 10, 2)]
    for file in files:
        document["start"]["timestamp"]["timesecs"] = 1795274310 + int(file.stem)
        document["end"]["sum_received"]["bits_per_second"] = int(file.stem) * 1e9
        file.write_text(json.dumps(document))
    result = imports("iperf3", files)
    assert [*imports.values(result, "throughput").values()] == [[1e9, 2e9, 10e9]]


def test_replications_that_differ_in_what_no_parameter_holds_are_refused(
    tmp_path: Path, imports: Imports
) -> None:
    document = json.loads((TOOLS / "iperf3-3.12-tcp.json").read_text())
    document["start"]["test_start"]["tos"] = 184
    (tmp_path / "tos.json").write_text(json.dumps(document))
    files = [TOOLS / "iperf3-3.12-tcp.json", tmp_path / "tos.json"]
    with pytest.raises(InputError, match=r"not of the same type of service \(0, 184\)"):
        imports("iperf3", files)
    assert imports.store.runs() == []


def test_fios_jobs_are_cases_with_fios_own_defaults(imports: Imports) -> None:
    files = [TOOLS / "fio-3.33-jobfile.json", TOOLS / "fio-3.33-randread.json"]
    result = imports("fio", files, link="disk1")
    assert (result.files, result.cases, result.replications) == (2, 3, 3)
    # "bs=64KiB" is 64000 bytes to fio, as its own count of bytes shows.
    assert imports.values(result, "iops") == {
        "fio disk1 block=16384 depth=1 direct=False duration=0.0 fsync=none io=psync mode=read "
        "size=4194304 threads=1": [64000.0],
        "fio disk1 block=16384 depth=1 direct=False duration=0.0 fsync=none io=psync mode=write "
        "size=4194304 threads=1": [128000.0],
        "fio disk1 block=64000 depth=4 direct=True duration=1.0 fsync=none io=io_uring "
        "mode=random_read size=64000000 threads=2": [28066.933067],
    }
    assert 1798080000 / 28095 == 64000


def test_netperfs_tables_and_keys_are_read_alike(imports: Imports) -> None:
    names = ("tcp_stream", "udp_stream", "tcp_rr", "k-tcp_rr", "k-udp_stream")
    files = [TOOLS / f"netperf-2.7.0-{name}.txt" for name in names]
    result = imports("netperf", files[:3], link="lan")
    assert imports.values(result, "throughput") == {
        "netperf lan message=16384 mode=tcp_stream": [30043.11e6],
        # what arrived, of the table's second row
        "netperf lan message=60000 mode=udp_stream": [64899.81e6],
    }
    rates = {"netperf_rr lan mode=tcp_rr request=1 response=1": [50923.28]}
    assert imports.values(result, "transaction_rate") == rates
    result = imports("netperf", files[3:], link="lan")
    assert imports.values(result, "throughput") == {
        "netperf lan message=60000 mode=udp_stream": [12127.31e6],
    }
    rates = {"netperf_rr lan mode=tcp_rr request=1 response=1": [222174.231]}
    assert imports.values(result, "transaction_rate") == rates


BANNER = "MIGRATED {} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n"


def test_netperfs_keys_are_read_below_its_banner(tmp_path: Path, imports: Imports) -> None:
    # Without -P 0.
    text = (TOOLS / "netperf-2.7.0-k-tcp_rr.txt").read_text()
    (tmp_path / "banner.txt").write_text((BANNER.format("TCP REQUEST/RESPONSE") + text) * 2)
    result = imports("netperf", [tmp_path / "banner.txt"], link="lan")
    rates = {"netperf_rr lan mode=tcp_rr request=1 response=1": [222174.231] * 2}
    assert imports.values(result, "transaction_rate") == rates


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("netperf-2.7.0-k-tcp_rr.txt", "TCP Connect/Request/Response"),
        ("netperf-2.7.0-k-tcp_stream.txt", "TCP SENDFILE"),
    ],
)
def test_keys_of_another_test_of_netperf_are_refused(
    tmp_path: Path, imports: Imports, name: str, test: str
) -> None:
    (tmp_path / "other.txt").write_text(BANNER.format(test) + (TOOLS / name).read_text())
    with pytest.raises(FileProblems, match="no output of netperf or netperf_rr"):
        imports("netperf", [tmp_path / "other.txt"], link="lan")


def test_several_outputs_of_netperf_in_a_file_are_all_read(
    tmp_path: Path, imports: Imports
) -> None:
    text = (TOOLS / "netperf-2.7.0-tcp_rr.txt").read_text()
    file = tmp_path / "loop.txt"
    file.write_text(text + text.replace("50923.28", "50000.00") + text.replace("50923.28", "7.00"))
    result = imports("netperf", [file], link="lan")
    ((_, rates),) = imports.values(result, "transaction_rate").items()
    assert rates == [50923.28, 50000.0, 7.0]


def test_osus_rows_are_cases_in_its_units(imports: Imports) -> None:
    names = ("7.2-latency", "5.6.3-bw", "5.6.3-bibw", "5.6.3-allreduce")
    files = [TOOLS / f"osu-{name}.txt" for name in names]
    result = imports("osu", files, link="ib0")
    assert imports.values(result, "latency")["osu ib0 mode=latency size=1024"] == [2.31e-6]
    rates = {name: rate for name, (rate,) in imports.values(result, "throughput").items()}
    assert rates == pytest.approx(
        {
            "osu ib0 mode=bw size=1": 3.51e6 * 8,
            "osu ib0 mode=bw size=4096": 4120.44e6 * 8,
            "osu ib0 mode=bw size=1048576": 11893.07e6 * 8,
        }
    )
    totals = imports.values(result, "total_throughput")
    assert totals["osu ib0 mode=bibw size=1048576"] == pytest.approx([21530.90e6 * 8])
    slowest = imports.values(result, "time_max")
    assert slowest["osu_collective ib0 mode=allreduce size=4"] == pytest.approx([3.71e-6])
    assert slowest["osu_collective ib0 mode=allreduce size=8192"] == pytest.approx([19.11e-6])


def test_two_tests_of_osu_in_a_file_are_not_taken_for_one(tmp_path: Path, imports: Imports) -> None:
    texts = [(TOOLS / f"osu-{name}.txt").read_text() for name in ("7.2-latency", "5.6.3-bw")]
    (tmp_path / "both.txt").write_text("".join(texts))
    with pytest.raises(FileProblems, match="give each a file of its own"):
        imports("osu", [tmp_path / "both.txt"], link="ib0")


OSU_VALIDATED = """\

# OSU MPI Latency Test v7.2
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation
1                       1.52              Pass
2                       1.50              Pass
"""


def test_rows_of_osu_that_were_validated_are_measurements(tmp_path: Path, imports: Imports) -> None:
    (tmp_path / "osu.txt").write_text(OSU_VALIDATED)
    result = imports("osu", [tmp_path / "osu.txt"], link="ib0")
    latencies = imports.values(result, "latency")
    assert latencies["osu ib0 mode=latency size=2"] == pytest.approx([1.5e-6])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        # Received was something else than what was sent.
        ("1.50              Pass", "1.50              Fail", r"failed \(2 +1.50 +Fail\)"),
        # Of a derived datatype less is sent than the size says.
        ("Validation\n", "Validation     Transmit Size\n", "transmit_size is"),
        # Two tables, of an option -T.
        ("\n2 ", "\n# Datatype: MPI_INT.\n2 ", "'MPI_CHAR' and 'MPI_INT'"),
    ],
)
@pytest.mark.parametrize("name", ["Latency", "Allreduce Latency"])
def test_figures_of_osu_that_are_of_no_case_are_refused(
    tmp_path: Path, imports: Imports, name: str, old: str, new: str, words: str
) -> None:
    text = OSU_VALIDATED.replace("Latency Test", f"{name} Test")
    assert old in text
    (tmp_path / "osu.txt").write_text(text.replace(old, new))
    with pytest.raises(FileProblems, match=words):
        imports("osu", [tmp_path / "osu.txt"], link="ib0")
    assert imports.store.runs() == []


def test_percentiles_of_osu_are_not_taken_for_the_quickest_and_slowest_rank(
    tmp_path: Path, imports: Imports
) -> None:
    (tmp_path / "osu.txt").write_text("""\

# OSU MPI Allreduce Latency Test v7.2
# Datatype: MPI_INT.
# Size       Avg Latency(us)   P50 Tail Lat(us)   P90 Tail Lat(us)   P99 Tail Lat(us)
4                       3.44               3.20               3.71               9.85
""")
    result = imports("osu", [tmp_path / "osu.txt"], link="ib0")
    means = imports.values(result, "time_mean")
    assert means["osu_collective ib0 mode=allreduce size=4"] == pytest.approx([3.44e-6])
    assert imports.values(result, "time_min") == imports.values(result, "time_max") == {}


def test_osus_tables_of_other_datatypes_are_no_replications(
    tmp_path: Path, imports: Imports
) -> None:
    text = OSU_VALIDATED.replace("Latency Test", "Allreduce Latency Test")
    (tmp_path / "char.txt").write_text(text)
    (tmp_path / "float.txt").write_text(text.replace("MPI_CHAR", "MPI_FLOAT"))
    with pytest.raises(InputError, match=r"not of the same datatype \(MPI_CHAR, MPI_FLOAT\)"):
        imports("osu", [tmp_path / "char.txt", tmp_path / "float.txt"], link="ib0")


@pytest.mark.parametrize(
    ("tool", "name", "words"),
    [
        ("iperf3", "iperf3-3.12-refused.json", "failed .*Connection refused"),
        ("iperf3", "osu-7.2-latency.txt", "it is no JSON"),
        ("iperf3", "iperf3-3.12-bidir.json", "throughput_the_other_way is"),
        ("iperf3", "iperf3-3.12-server.json", "client_of_this_server is 10.0.0.1"),
        ("fio", "fio-3.33-two-jobs.json", "--group_reporting"),
        ("fio", "fio-3.33-fsync.json", "fsync is 1, which no case of fio can hold"),
        ("fio", "iperf3-3.12-tcp.json", "jobs"),
        ("netperf", "netperf-2.7.0-maerts.txt", "no output of netperf or netperf_rr"),
        ("netperf", "netperf-2.7.0-tcp_stream-megabytes.txt", "message is not where it should"),
        ("netperf", "osu-7.2-latency.txt", "no output of netperf or netperf_rr"),
        ("osu", "netperf-2.7.0-tcp_rr.txt", "no output of osu or osu_collective"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_file(
    imports: Imports, tool: str, name: str, words: str
) -> None:
    with pytest.raises(FileProblems, match=words) as caught:
        imports(tool, [TOOLS / name], link="here")
    assert name in str(caught.value)
    assert imports.store.runs() == []


@pytest.mark.parametrize("name", ["netperf-2.7.0-tcp_rr.txt", "netperf-2.7.0-k-tcp_rr.txt"])
def test_a_text_that_was_cut_off_gives_no_other_figures(
    tmp_path: Path, imports: Imports, name: str
) -> None:
    text = (TOOLS / name).read_text()
    whole = imports("netperf", [TOOLS / name], link="lan")
    ((_, expected),) = imports.values(whole, "transaction_rate").items()
    cut = tmp_path / "cut.txt"
    refused = 0
    for length in range(1, len(text)):
        cut.write_text(text[:length])
        try:
            result = imports("netperf", [cut], link="lan")
        except FileProblems:
            refused += 1
        else:
            assert [*imports.values(result, "transaction_rate").values()] == [expected]
    assert refused > len(text) / 2


def test_a_file_of_several_json_documents_is_refused(tmp_path: Path, imports: Imports) -> None:
    text = (TOOLS / "iperf3-3.12-tcp.json").read_text()
    (tmp_path / "two.json").write_text(text + text)
    with pytest.raises(FileProblems, match="more than one JSON document"):
        imports("iperf3", [tmp_path / "two.json"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"bs": "16k"', '"bs": "16k,4k"', "block: '16k,4k' is no number with a suffix"),
        ('"bs": "16k"', '"bssplit": "4k/50:8k/50"', "bssplit_of_all is"),
        ('"bs": "16k"', '"bs": "16k", "rate": "1m"', "rate_of_all is 1m"),
        ('"bs": "16k"', '"bs": "16k", "buffered": "0"', "buffered_of_all is 0"),
        ('"bs": "16k"', '"bs": "16k", "kb_base": "1000"', "kb_base_of_all is 1000"),
        ('"rw": "write"', '"rw": "randrw"', "mode: 'randrw' is not known here"),
        ('"size": "4M"', '"size": "50%"', "size: '50%' is no number"),
        ('"ioengine": "psync"', '"ioengine": "spdk"', "io: 'spdk' is not one of"),
        # The number of what went wrong: no space was left.
        ('"error": 0', '"error": 28', r"says that it failed \(28\)"),
        ('"total_ios": 0', '"total_ios": 128', "writes_beside is 128, which is 0 in"),
        ('"total_ios": 256', '"total_ios": null', "operations is not where|which is no number"),
    ],
)
def test_a_setting_of_fio_that_a_case_cannot_hold_is_refused(
    tmp_path: Path, imports: Imports, old: str, new: str, words: str
) -> None:
    text = (TOOLS / "fio-3.33-jobfile.json").read_text()
    assert old in text
    (tmp_path / "changed.json").write_text(text.replace(old, new))
    with pytest.raises(FileProblems, match=words):
        imports("fio", [tmp_path / "changed.json"], link="disk1")


def test_mistakes_in_a_description_of_files_are_told_with_their_line(tmp_path: Path) -> None:
    description = """\
railgauge_engine: 1
name: toy
summary: A toy
parameters: {size: {type: size, default: 1}, deep: {type: bool, default: false}}
command: [toy, "{size}", "{deep}"]
metrics: {speed: {unit: B/s, better: higher, json: speed}}
import:
  parameters:
    sice: {json: size}
    size: {json: size, unit: s}
    deep: {json: deep, values: {"1": yes please}}
"""
    (tmp_path / "toy.yaml").write_text(description)
    messages = in_one_file(load_catalogue, [tmp_path / "toy.yaml"])
    assert messages[0].startswith("9:5: 'sice' is no parameter of this engine")
    assert "did you mean 'size'" in messages[0]
    assert messages[1] == "10:30: 's' is no unit of a size"
    assert "'yes please' is not true or false" in messages[2]


def test_who_measured_has_to_be_known(imports: Imports) -> None:
    with pytest.raises(InputError, match="say --link"):
        imports("osu", [TOOLS / "osu-7.2-latency.txt"])


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path, imports: Imports) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\0")
    for name, words in (("none", "can't be read: No such file"), ("binary", "no text in UTF-8")):
        with pytest.raises(InputError, match=words):
            imports("fio", [tmp_path / name], link="disk1")


def test_a_file_without_end_is_refused(imports: Imports) -> None:
    with pytest.raises(InputError, match="/dev/zero has more than 67108864 bytes"):
        imports("fio", [Path("/dev/zero")], link="disk1")


def test_the_command_says_what_came_in(tmp_path: Path) -> None:
    database = str(tmp_path / "railgauge.db")
    files = [str(TOOLS / f"osu-{name}.txt") for name in ("7.2-latency", "5.6.3-bw")]
    command = ["import", "osu", "--db", database, "--link", "ib0", "--plan", "fabric", *files]
    result = CliRunner().invoke(cli, command)
    assert result.stdout == "run 1: 7 replications of 7 cases from 2 files\n"
    assert result.exit_code == 0
    with Store.open(database) as store:
        assert store.run(1).new.plan == "fabric"


def test_netperfs_outputs_with_other_socket_buffers_are_no_replications(
    tmp_path: Path, imports: Imports
) -> None:
    text = (TOOLS / "netperf-2.7.0-tcp_stream.txt").read_text()
    (tmp_path / "loop.txt").write_text(text + text.replace("131072  16384", "425984 212992"))
    with pytest.raises(
        InputError, match=r"not of the same socket buffers \(131072  16384, 425984 212992\)"
    ):
        imports("netperf", [tmp_path / "loop.txt"], link="lan")
