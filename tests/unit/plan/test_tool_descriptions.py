"""Kept outputs of other people's programs come to the right figures in the right units."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.support import FIXTURES

from railgauge.base.errors import EngineError
from railgauge.plan.catalogue import load_catalogue

TOOLS = FIXTURES / "tools"
CATALOGUE = load_catalogue()
# By rail-exec, beside the output.
REPORTED = {"wall_time": 1.0, "user_time": 0.5, "system_time": 0.1, "max_rss": 2.0**20}


def read(engine: str, file: str, mode: str | None = None) -> dict[str, float]:
    text = (TOOLS / file).read_text()
    return CATALOGUE.engines[engine].read_metrics(REPORTED, text, mode)


@pytest.mark.parametrize(
    ("engine", "file", "mode", "expected"),
    [
        # bytes * 8 / seconds of the same JSON
        (
            "iperf3",
            "iperf3-3.12-tcp.json",
            "tcp",
            {"throughput": 6321602560 * 8 / 1.000149, "retransmits": 1},
        ),
        # what arrived, not what was sent: 137114 of 154080 datagrams of 60000 bytes
        (
            "iperf3",
            "iperf3-3.12-udp.json",
            "udp",
            {
                "throughput": 137114 * 60000 * 8 / 1.000306,
                "local_throughput": 154080 * 60000 * 8 / 1.000075,
                "loss_rate": 16966 / 154080,
                "lost_packets": 16966,
                "jitter": 5.971877563152187e-6,
            },
        ),
        ("iperf3", "iperf3-3.12-reverse.json", "tcp", {"received_bytes": 6243483648}),
        (
            "netperf",
            "netperf-2.7.0-k-udp_stream.txt",
            "udp_stream",
            {"throughput": 1516021760 * 8, "local_throughput": 11135880000 * 8},
        ),
        ("netperf", "netperf-2.7.0-k-tcp_stream.txt", "tcp_stream", {"throughput": 5549916160 * 8}),
        (
            "netperf_rr",
            "netperf-2.7.0-k-tcp_rr.txt",
            "tcp_rr",
            {"transaction_rate": 222174, "rtt_mean": 1 / 222174, "rtt_p99": 13e-6},
        ),
        (
            "sockperf",
            "sockperf-3.7-under-load.txt",
            "under_load",
            {"rtt_mean": 20.94e-6, "rtt_p50": 14.532e-6, "rtt_p999": 266.071e-6, "round_trips": 53},
        ),
        # 1400 bytes 706794 times a second: MBps are 2^20 bytes
        (
            "sockperf",
            "sockperf-3.7-throughput.txt",
            "throughput",
            {"local_throughput": 706794 * 1400 * 8, "message_rate": 706794},
        ),
        (
            "qperf",
            "qperf-0.4.11-udp_bw.txt",
            "udp_bw",
            {"throughput": 7010058240 * 8, "local_throughput": 7470415872 * 8},
        ),
        (
            "qperf",
            "qperf-0.4.11-tcp_lat.txt",
            "tcp_lat",
            {"latency": 4.377e-6, "rtt_mean": 1 / 114221, "round_trips": 114221},
        ),
        # 65536 bytes in 13.40 us: Mbps are 2^20 bits
        ("netpipe", "netpipe-3.7.txt", None, {"throughput": 65536 * 8 / 13.4e-6}),
        ("netpipe", "netpipe-3.7.txt", None, {"latency": 13.4e-6, "rtt_mean": 26.8e-6}),
        (
            "fio",
            "fio-3.33-randread.json",
            "random_read",
            {"throughput": 28095 * 64000 / 1.001, "iops": 28095 / 1.001, "operations": 28095},
        ),
        ("iozone", "iozone-3.489.txt", "read", {"throughput": 1339331 * 1024}),
        ("iozone", "iozone-3.489.txt", "random_write", {"throughput": 1935497 * 1024}),
        ("osu", "osu-7.2-latency.txt", "latency", {"latency": 1.52e-6, "rtt_mean": 3.04e-6}),
        ("osu", "osu-5.6.3-bibw.txt", "bibw", {"total_throughput": 21530.90e6 * 8}),
        (
            "osu_collective",
            "osu-5.6.3-allreduce.txt",
            "allreduce",
            {"time_mean": 3.44e-6, "time_min": 3.20e-6, "time_max": 3.71e-6},
        ),
        ("stream", "stream-5.10.txt", "copy", {"throughput": 16 * 80e6 / 0.025537}),
        ("stream", "stream-5.10.txt", "triad", {"throughput": 36999.5e6}),
        (
            "pmbw",
            "pmbw-0.6.2.txt",
            None,
            {"throughput": 536870912 / 5.90558, "access_time": 5.90558 / 67108864},
        ),
        # 64 MiB in 12.56 ms, read and written
        ("mbw", "mbw-1.2.2.txt", "copy", {"throughput": 2 * 64 * 2**20 / 0.01256}),
        ("sysbench_cpu", "sysbench-1.0.20-cpu.txt", None, {"event_rate": 6609 / 1.0004}),
        (
            "sysbench_memory",
            "sysbench-1.0.20-memory.txt",
            "read",
            {"throughput": 79917 * 2**20 / 1.0001},
        ),
        ("hpl", "hpl-2.3.txt", None, {"operation_rate": 35.6e9, "solve_time": 0.15}),
        # two thirds of N to the third and three halves of its square, by the time
        (
            "hpcc",
            "hpcc-1.5.0f-summary.txt",
            None,
            {
                "operation_rate": (2 / 3 * 500**3 + 3 / 2 * 500**2) / 0.0105721,
                "ring_throughput": 4.63514e9 * 8,
                "ring_latency": 3.0145e-6,
                "triad": 53.9278e9,
                "dgemm": 5.60611e9,
            },
        ),
    ],
)
def test_a_kept_output_comes_to_these_figures(
    engine: str, file: str, mode: str | None, expected: dict[str, float]
) -> None:
    values = read(engine, file, mode)
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("engine", "file", "mode", "words"),
    [
        ("iperf3", "iperf3-3.12-refused.json", "tcp", "Connection refused"),
        ("sockperf", "sockperf-3.7-no-server.txt", "ping_pong", "Is the server down"),
        ("qperf", "qperf-0.4.11-udp_bw.txt", "tcp_bw", "throughput is not where it should stand"),
        # a second of waiting for the only answer is no latency
        ("qperf", "qperf-0.4.11-udp_lat-no-answer.txt", "udp_lat", "round_trips is not where"),
        # megabytes where megabits are expected
        ("netperf", "netperf-2.7.0-tcp_stream-megabytes.txt", "tcp_stream", "throughput is not"),
    ],
)
def test_an_output_without_figures_is_a_failure_with_its_cause(
    engine: str, file: str, mode: str, words: str
) -> None:
    with pytest.raises(EngineError, match=words):
        read(engine, file, mode)


@pytest.mark.parametrize(
    ("engine", "file", "took", "settings"),
    [
        ("hpcc", "hpcc-1.5.0f-summary.txt", {"n": 500, "nb": 80, "p": 1, "q": 2}, {"q": 3}),
        ("hpl", "hpl-2.3.txt", {"n": 2000, "nb": 192, "p": 1, "q": 2}, {"n": 200}),
        ("netpipe", "netpipe-3.7.txt", {"message": 65536}, {"message": 65535}),
    ],
)
def test_figures_of_other_settings_than_asked_for_are_refused(
    engine: str, file: str, took: dict[str, int], settings: dict[str, int]
) -> None:
    text = (TOOLS / file).read_text()
    CATALOGUE.engines[engine].check_confirmed(took, text)
    ((name, value),) = settings.items()
    with pytest.raises(EngineError, match=f"took {took[name]} for {name}, not {value} as it was"):
        CATALOGUE.engines[engine].check_confirmed({**took, **settings}, text)
    with pytest.raises(EngineError, match=r"what it took for \w+ is not where it should stand"):
        CATALOGUE.engines[engine].check_confirmed(took, "")


@pytest.mark.parametrize(
    ("first_line", "method", "test"),
    [
        # Its source: worker() copies by memcpy where type is 1, and printout() says DUMB of it.
        ("Usage: mbw [options] array_size_in_MiB", "memcpy", "1"),
        ("Usage: mbw [options] array_size_in_MiB", "dumb", "0"),
        ("Usage: mbw [options] array_size_in_MiB", "mcblock", ""),
        ("mbw memory benchmark v2.0, https://github.com/raas/mbw", "memcpy", "0"),
        ("mbw memory benchmark v2.0, https://github.com/raas/mbw", "dumb", "1"),
        ("mbw memory benchmark v2.0, https://github.com/raas/mbw", "mcblock", "2"),
    ],
)
def test_mbw_is_given_the_test_that_its_version_means(
    tmp_path: Path, first_line: str, method: str, test: str
) -> None:
    stub = tmp_path / "mbw"
    stub.write_text(f"#!/bin/sh\n[ $1 = -h ] && echo '{first_line}' || echo given: $*\n")
    stub.chmod(0o755)
    argv = CATALOGUE.engines["mbw"].argv({"method": method, "block": 2**24, "count": 3})
    path = f"{tmp_path}:{os.environ['PATH']}"
    ended = subprocess.run(argv, env={"PATH": path}, capture_output=True, text=True, check=False)
    assert ended.stdout == (f"given: -n 3 -t {test} 16\n" if test else "")
    assert ("needs mbw 1.4" in ended.stderr) == (ended.returncode != 0) == (not test)


def test_an_access_of_pmbw_is_a_threads_own() -> None:
    """Its rate is the time over the accesses of all threads."""
    engine = CATALOGUE.engines["pmbw"]
    single = (TOOLS / "pmbw-0.6.2.txt").read_text()
    text = single + single.replace("nthreads=1\t", "nthreads=4\t")
    access_time = engine.read_metrics(REPORTED, text)["access_time"]
    assert access_time == pytest.approx(4 * 5.90558 / 67108864)


def test_hpl_fails_where_its_residual_does() -> None:
    engine = CATALOGUE.engines["hpl"]
    text = (TOOLS / "hpl-2.3.txt").read_text()
    assert engine.read_metrics(REPORTED, text)["operation_rate"] == 35.6e9
    with pytest.raises(EngineError, match="FAILED"):
        engine.read_metrics(REPORTED, text.replace("PASSED", "FAILED"))


@pytest.mark.parametrize("mode", ["ping_pong", "under_load"])
def test_what_sockperf_drops_is_judged_as_our_losses_are(mode: str) -> None:
    engine = CATALOGUE.engines["sockperf"]
    text = (TOOLS / "sockperf-3.7-under-load.txt").read_text()
    assert engine.read_metrics(REPORTED, text, mode)["loss_rate"] == 0
    lossy = engine.read_metrics(
        REPORTED, text.replace("dropped messages = 0", "dropped messages = 3"), mode
    )
    assert (lossy["dropped_messages"], lossy["loss_rate"]) == (3, 3 / 56)
    metric = engine.metrics["loss_rate"]
    assert (metric.judged, metric.kind) == (True, "share")


def test_what_hpcc_could_not_do_is_no_measurement() -> None:
    text = (TOOLS / "hpcc-1.5.0f-summary.txt").read_text()
    for name in ("PTRANS_GBs=4.14656", "MPIFFT_Gflops="):
        begin = text.index(name)
        line = text[begin : text.index("\n", begin)]
        for none in ("-1", "0"):
            with pytest.raises(EngineError, match="is not where it should stand"):
                CATALOGUE.engines["hpcc"].read_metrics(
                    REPORTED, text.replace(line, f"{line.partition('=')[0]}={none}")
                )


def test_every_metric_and_parameter_of_every_tool_says_what_it_is() -> None:
    for engine in CATALOGUE.engines.values():
        if engine.program is not None:
            assert all(metric.help for metric in engine.metrics.values()), engine.name
            assert all(parameter.help for parameter in engine.parameters.values()), engine.name


def test_each_mode_of_a_metric_is_named_with_where_it_stands() -> None:
    for engine in CATALOGUE.engines.values():
        for metric in engine.metrics.values() if engine.program is not None else ():
            for mode in metric.modes:
                assert re.search(rf"(^|[ ,]){mode}[,:]", metric.source), (engine.name, metric.name)
