"""Hpcbench's texts are read strictly, and written as Hpcbench wrote them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from tests.support.hpcbench_samples import (
    LOGS,
    OUTPUTS,
    SAMPLES,
    SCREENS,
    latencies,
    log_files,
    tables,
)

from railgauge.base.errors import FileProblems, InputError, RailgaugeError
from railgauge.exchange.hpcbench.hpcbench_records import HpcbenchOutput, LogFile
from railgauge.exchange.hpcbench.output_read import read_output
from railgauge.exchange.hpcbench.output_write import output_text
from railgauge.exchange.hpcbench.read_log_file import read_log
from railgauge.exchange.hpcbench.write_log_file import log_text

property_test = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def named(paths: tuple[Path, ...]) -> Callable[..., object]:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.relative_to(SAMPLES))


@named(OUTPUTS)
def test_hpcbenchs_own_outputs_are_written_back_byte_for_byte(path):
    assert output_text(read_output(path)) == path.read_text()


@named(LOGS)
def test_hpcbenchs_own_system_logs_are_written_back_byte_for_byte(path):
    assert log_text(read_log(path)) == path.read_text()


def test_an_output_says_what_was_measured_where_and_when():
    output = read_output(SAMPLES / "stream.txt")
    assert (output.mode, output.client, output.server) == ("stream", "mk1", "mk4")
    assert output.moment == datetime(2004, 7, 13, 23, 2, 45, tzinfo=UTC)
    assert output.settings["client_sndbuf"] == 65535
    assert output.settings["message"] == 1048576
    assert output.settings["duration"] == 5.0
    third = output.rows[2]
    assert third["lost_packets"] == 266
    assert third["loss_rate"] == 266 / 409395
    assert third["client_system_time"] == 2.25
    assert third["throughput"] == pytest.approx(955.6103e6, abs=50)


def test_the_line_of_averages_tells_the_extremes_more_exactly_than_the_rows():
    rows = read_output(SAMPLES / "stream.txt").rows
    expected = [955.6103e6, 953.984917e6, 956.239700e6]
    assert [rows[index]["throughput"] for index in (2, 5, 4)] == pytest.approx(expected, abs=50)
    assert rows[5]["throughput"] == pytest.approx(953.984917e6, abs=0.5)
    assert rows[4]["throughput"] == pytest.approx(956.239700e6, abs=0.5)
    mean = sum(row["throughput"] for row in rows) / len(rows)
    assert mean == pytest.approx(955.265149e6, abs=0.5)


@pytest.mark.parametrize(
    ("name", "mode", "server", "first"),
    [
        ("stream", "stream", "mk4", {"throughput": 956128885.0, "loss_rate": 0.0}),
        ("bidirectional", "bidirectional", "mk4", {"total_throughput": 1601171587.0}),
        ("latency", "latency", "mk4", {"rtt_mean": 61.265e-6}),
        ("latency_1k", "latency", "mk4", {"rtt_mean": 111.552e-6}),
        ("verbose", "stream", "mk4", {"server_elapsed": 9.999856, "received_packets": 128404}),
        ("generator", "generator", "mk2", {"local_throughput": 200001214.0}),
        ("generator_port", "generator", "mk6", {"sent_packets": 171216}),
        ("system_log", "stream", "mk4", {"loss_rate": 0.00001}),
        ("socket_options", "stream", "mk4", {"throughput": 951931709.0}),
        ("small_buffers", "stream", "mk4", {"loss_rate": 0.000258}),
    ],
)
def test_what_a_screen_showed_is_read_with_the_command_above_it(name, mode, server, first):
    output = read_output(SAMPLES / "screen" / f"{name}.txt")
    assert (output.mode, output.client, output.server) == (mode, "mk1", server)
    assert output.moment is None
    assert output.rows[0] == pytest.approx(output.rows[0] | first, rel=1e-12)


def test_each_sample_of_a_screen_is_tried():
    assert len(SCREENS) == 10


def test_a_command_tells_sizes_in_1024_and_rates_in_1000():
    settings = read_output(SAMPLES / "screen" / "socket_options.txt").settings
    assert settings == {"sockbuf": 512000, "client_packet": 8192, "client_tos": 8}
    assert read_output(SAMPLES / "screen" / "verbose.txt").settings["rate"] == 150e6


@property_test
@given(output=tables())
def test_any_tables_are_read_back_as_they_were_written(tmp_path, output):
    check_output(tmp_path, output)


@property_test
@given(output=latencies())
def test_any_latencies_are_read_back_as_they_were_written(tmp_path, output):
    check_output(tmp_path, output)


@property_test
@given(log=log_files())
def test_any_system_log_is_read_back_as_it_was_written(tmp_path, log):
    path = tmp_path / "output.c_log"
    text = log_text(log)
    path.write_text(text)
    parsed_log = read_log(path)
    assert log_text(parsed_log) == text
    assert parsed_log.interfaces == log.interfaces
    check_log(parsed_log, log)


def check_output(folder: Path, output: HpcbenchOutput) -> None:
    path = folder / "output"
    text = output_text(output)
    path.write_text(text)
    parsed_output = read_output(path)
    assert output_text(parsed_output) == text
    assert parsed_output.settings == {
        name: value
        for name, value in output.settings.items()
        if output.mode != "exponential" or name not in ("client_data", "server_data", "message")
    }
    assert (parsed_output.client, parsed_output.server, parsed_output.moment) == (
        output.client,
        output.server,
        output.moment,
    )
    for parsed_row, row in zip(parsed_output.rows, output.rows, strict=True):
        for name, value in parsed_row.items():
            if name in row:
                assert value == pytest.approx(row[name], abs=allowed(name))
        assert not parsed_row.keys() - row.keys() - {"lost_packets"}


def allowed(name: str) -> float:
    """Return how far a number may be off that was printed rounded."""
    if "throughput" in name:
        return 1001.0
    return 1.01e-9 if name == "rtt_mean" else 0.0051


def check_log(parsed_log: LogFile, log: LogFile) -> None:
    for parsed_row, row in zip(parsed_log.rows, log.rows, strict=True):
        if row is None:
            assert parsed_row is None
            continue
        assert parsed_row is not None
        assert parsed_row.interfaces == row.interfaces
        for parsed_cpu, cpu in zip(
            (*parsed_row.cpus, parsed_row.all_cpus), (*row.cpus, row.all_cpus), strict=True
        ):
            assert (parsed_cpu is None) == (cpu is None)
            if parsed_cpu is not None and cpu is not None:
                assert parsed_cpu.user + parsed_cpu.system + parsed_cpu.idle == pytest.approx(
                    100, abs=1e-6
                )
                shares = (cpu.user, cpu.system, cpu.idle)
                assert (parsed_cpu.user, parsed_cpu.system, parsed_cpu.idle) == pytest.approx(
                    shares, abs=0.101
                )


@named((*OUTPUTS, *LOGS, *SCREENS))
def test_a_truncated_file_is_told_from_a_whole_one(tmp_path, path):
    lines = path.read_text().rstrip().split("\n")
    needed = len(lines)
    if path in SCREENS:
        # Of a list of throughputs nothing tells how long it is; other screens end with numbers.
        numbers = [at for at, line in enumerate(lines, 1) if re.search(r"[0-9](?: usec)?$", line)]
        needed = 2 if "Throughput:" in lines[1] else numbers[-1]
    cut = tmp_path / path.name
    for count in range(needed):
        left = "\n".join(lines[:count]).rstrip()
        cut.write_text(left)
        with pytest.raises(FileProblems) as caught:
            (read_log if path in LOGS else read_output)(cut)
        end = left.count("\n") + 2 if left else 1
        assert str(caught.value).startswith(f"{cut}:{end}:1: expected ")


@named((*OUTPUTS, *LOGS, *SCREENS))
def test_a_file_cut_off_in_its_last_number_is_told_from_a_whole_one(tmp_path, path):
    whole = path.read_text().rstrip()
    cut = tmp_path / path.name
    # Some end with a number, others with words behind the last one.
    for end in range(len(whole) - 3, len(whole) + 1):
        cut.write_text(whole[:end])
        if whole[end - 1].isdigit():
            with pytest.raises(FileProblems):
                (read_log if path in LOGS else read_output)(cut)


def problems(tmp_path: Path, path: Path, old: str, new: str) -> str:
    changed = tmp_path / path.name
    text = path.read_text()
    assert old in text
    changed.write_text(text.replace(old, new, 1))
    with pytest.raises(FileProblems) as caught:
        (read_log if path in LOGS else read_output)(changed)
    return str(caught.value).removeprefix(str(changed))


STREAM, LATENCY, LOG = SAMPLES / "stream.txt", SAMPLES / "latency.txt", LOGS[0]


@pytest.mark.parametrize(
    ("path", "old", "new", "line", "words"),
    [
        (STREAM, "Tue Jul 13", "Wed Jul 13", 1, "was a Tue, not a Wed"),
        (STREAM, "Tue Jul 13", "Tue Jul 32", 1, "not a moment"),
        (STREAM, "Fixed packet", "Random packet", 2, "expected one of"),
        (STREAM, "SNDBUF: 65535", "SNDBUF: 64k", 5, "not a number"),
        (STREAM, "type: Default", "type: Fastest", 7, "known are Default"),
        (STREAM, "repeat: 6", "repeat: 7", 23, "row 7"),
        (STREAM, "repeat: 6", "repeat: 5", 21, "Local Average"),
        (STREAM, "956.1289 ", "nan      ", 16, "throughput: 'nan' is not a number"),
        (STREAM, "409395   597715272", "409395   -97715272", 18, "is not a number of 0 or more"),
        (STREAM, "       266     0.001", "       266     0.002", 18, "266 of 409395 packets"),
        (STREAM, "Average: 955.47", "Average: 955.57", 23, "not the average"),
        (STREAM, "Minimum: 954.08", "Minimum: 954.09", 23, "not the average"),
        (STREAM, "#6          5.00", "#7          5.00", 36, "row #6"),
        (LATENCY, "5 trials", "6 trials", 10, "there are 5 trials"),
        (LATENCY, "size 1024", "size 1025", 11, "1024 bytes"),
        (LATENCY, "Time (3)", "Time (4)", 7, "3 would be next"),
        (LATENCY, "109.192", "109.182", 11, "not the minimum"),
        (LOG, "times: 7", "times: 8", 17, "row 7"),
        (LOG, "): 3 (", "): 2 (", 4, "2 network devices"),
        (LOG, "number: 4", "number: 5", 8, "Int-CPU4"),
        (LOG, "number: 4", "number: 0000000040000000000", 4, "is not a number from 1 to 65536"),
        (LOG, " 398      40", " 399      40", 20, "says of the host"),
        (LOG, "1     19.6    0.6", "1     29.6    0.6", 44, "don't go together"),
        (LOG, "12.6    1.0   11.5", "12.6    1.1   11.5", 54, "differs from that beside CPU0's"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line_and_what_was_expected(
    tmp_path, path, old, new, line, words
):
    message = problems(tmp_path, path, old, new)
    assert message.startswith(f":{line}:1: "), message
    assert words in message


def test_two_outputs_in_one_file_are_refused(tmp_path):
    path = tmp_path / "both.txt"
    path.write_text(STREAM.read_text() + STREAM.read_text())
    with pytest.raises(FileProblems, match="a file of its own"):
        read_output(path)


def test_a_screen_without_its_command_is_refused(tmp_path):
    screen = tmp_path / "screen.txt"
    screen.write_text((SAMPLES / "screen" / "stream.txt").read_text().split("\n", 1)[1])
    with pytest.raises(FileProblems, match=r"\[CLIENT DIR\]\$ udptest -h SERVER"):
        read_output(screen)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("udptest -r 6", "needs -h HOST"),
        ("udptest -h mk4 -z", "option -z"),
        ("udptest -aih mk4", "bidirectional, latency at a time"),
        ("udptest -h mk4 -l 8q", "'8q' is not a number"),
        ("udptest -h mk4 -q 7", "-q 7"),
        ("udptest -h 'mk4", "quotation"),
        ("tcptest -h mk4", "udptest -h SERVER"),
    ],
)
def test_a_command_that_udptest_does_not_know_is_refused(tmp_path, command, words):
    screen = tmp_path / "screen.txt"
    screen.write_text(f"[mk1 ~]$ {command}\n (1) Throughput: 1.0  Loss-rate: 0.0\n")
    with pytest.raises(FileProblems) as caught:
        read_output(screen)
    assert words in str(caught.value)


def test_an_average_without_the_extremes_is_understood(tmp_path):
    # As the last version of Hpcbench has it for more than three tests.
    path = tmp_path / "trimmed.txt"
    text = STREAM.read_text()
    middle = (956.1289 + 955.4086 + 955.6103 + 954.2185) / 4
    path.write_text(text.replace("Average: 955.265149", f"Average: {middle:.6f}"))
    rows = read_output(path).rows
    assert rows[0]["throughput"] == pytest.approx(956.1289e6, abs=1)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00", b"# UDP\0", b"hello\n"])
def test_what_is_no_file_of_hpcbenchs_is_refused(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    for read in (read_output, read_log):
        with pytest.raises(FileProblems):
            read(path)


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_output(tmp_path / "none")
    with pytest.raises(InputError, match="is not a file"):
        read_output(tmp_path)


@named((*OUTPUTS, *LOGS, *SCREENS))
def test_a_damaged_file_is_at_most_refused(tmp_path, path):
    read = read_log if path in LOGS else read_output
    random = Random(path.name)
    original = path.read_bytes()
    damaged = tmp_path / path.name
    for _ in range(60):
        data = bytearray(original)
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(data))
            data[at : at + random.randint(0, 3)] = random.choice(
                [b"", b"9", b"-", b" ", b"\n", b"%"]
            )
        damaged.write_bytes(data)
        try:
            read(damaged)
        except RailgaugeError as error:
            assert str(damaged) in str(error)
