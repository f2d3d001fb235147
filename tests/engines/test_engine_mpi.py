"""The MPI engine between two ranks, under every mpirun that is here."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import product
from pathlib import Path

import pytest
from tests.support import long_way, ranks
from tests.support.engine_lab import Event, Outcome, Running
from tests.support.mpi_library import Mpi

from railgauge.engine.deploy_mpi import MpiInstallation
from railgauge.engine.mpi_job import Launcher, own_job

STREAMS = [
    ("stream", "--blocking=true"),
    ("stream", "--blocking=false", "--window=1"),
    ("stream", "--blocking=false", "--window=64"),
    ("bidirectional", "--blocking=true"),
    ("bidirectional", "--blocking=false", "--window=1"),
    ("bidirectional", "--blocking=false", "--window=64"),
]
SENDING = 0.0019  # seconds of a sender for a message in late_rank.c, and what clocks differ by
FEW_LARGE = ("--size=1MiB", "--count=6")


def _only(outcome: Outcome) -> Event:
    (metrics,) = outcome.metrics
    return metrics


@pytest.mark.parametrize("mode", STREAMS, ids=" ".join)
def test_streams_end_by_time_and_tell_what_arrived(mpi: Mpi, mode: tuple[str, ...]) -> None:
    metrics = _only(mpi.run(*mode, "--size=1KiB"))
    assert metrics["sent_messages"] >= 2
    assert metrics["sent_bytes"] == metrics["sent_messages"] * 1024
    assert metrics["throughput"] == pytest.approx(metrics["message_rate"] * 1024 * 8)
    assert metrics["client_elapsed"] >= 0.05
    if mode[0] == "bidirectional":
        total = metrics["throughput"] + metrics["reverse_throughput"]
        assert metrics["total_throughput"] == pytest.approx(total)


@pytest.mark.parametrize(
    ("mode", "count"),
    [*product(STREAMS, (2, 201)), *((mode, 64) for mode in STREAMS if mode[-1] == "--window=64")],
    ids=lambda value: value if isinstance(value, int) else " ".join(value),
)
def test_exactly_as_many_messages_are_sent_as_asked(
    mpi: Mpi, mode: tuple[str, ...], count: int
) -> None:
    metrics = _only(mpi.run(*mode, "--size=3000", f"--count={count}"))
    assert metrics["sent_messages"] == count


@pytest.mark.parametrize("mode", ["stream", "bidirectional", "multi_pair"])
def test_messages_in_flight_may_share_a_receive_buffer(mpi: Mpi, mode: str) -> None:
    """4096 of their own would be 32 GiB on the receiving rank."""
    options = ("--window=4096", "--size=8MiB", "--count=3", "--buffers=reuse")
    blocking = () if mode == "multi_pair" else ("--blocking=false",)
    assert _only(mpi.run(mode, *blocking, *options))["sent_messages"] == 3


@pytest.mark.parametrize("mode", ["stream", "bidirectional"])
def test_fewer_messages_than_the_window_are_timed_from_their_beginning(mpi: Mpi, mode: str) -> None:
    """They may be there before all receives have been posted; no memory is as fast as that."""
    options = ("--window=4096", "--buffers=reuse", "--size=1MiB", "--count=3")
    outcome = mpi.run(mode, "--blocking=false", "--replications=3", *options)
    assert max(metrics["throughput"] for metrics in outcome.metrics) < 4e12


@pytest.mark.parametrize("blocking", ["true", "false"])
def test_a_stream_is_no_faster_than_its_sender_when_its_receiver_comes_late(
    mpi: Mpi, blocking: str, tmp_path: Path
) -> None:
    """All of it would be there when the receiver looks for the first time."""
    late = mpi.library(Path(__file__).with_name("late_rank.c"), tmp_path)
    options = (f"--blocking={blocking}", "--size=8", "--count=9")
    metrics = _only(mpi.run("stream", *options, preload=late))
    assert metrics["sent_messages"] / metrics["message_rate"] >= 8 * SENDING


def test_one_message_is_no_rate(mpi: Mpi) -> None:
    assert mpi.run("stream", "--count=1").error["code"] == "too-short"


@pytest.mark.parametrize("mode", ["stream", "bidirectional"])
def test_a_warmup_of_one_message_fails_no_replication(mpi: Mpi, mode: str) -> None:
    outcome = mpi.run(mode, "--warmup=1ns", "--count=9", "--blocking=true")
    warmup, _ = outcome.of("replication")
    assert warmup["metrics"]["sent_messages"] == 1
    assert "throughput" not in warmup["metrics"]
    assert _only(outcome)["throughput"] > 0


@pytest.mark.parametrize("size", ["1", "100KiB"])
def test_latency_is_half_of_the_median_round_trip_and_each_end_tells_where_it_ran(
    mpi: Mpi, size: str
) -> None:
    outcome = mpi.run("latency", f"--size={size}", "--count=103")
    metrics = _only(outcome)
    assert metrics["round_trips"] == 103
    assert metrics["latency"] == pytest.approx(metrics["rtt_p50"] / 2)
    assert metrics["rtt_min"] <= metrics["rtt_p50"] <= metrics["rtt_max"]
    settings = outcome.settings
    assert settings["client"]["trips_timed_together"] >= 1
    assert settings["client"]["ranks"] == 2
    assert settings["client"]["library"].startswith("Open MPI v")
    assert settings["client"]["ranks_here"] == settings["server"]["ranks_here"] == 2
    if len(os.sched_getaffinity(0)) > 1:
        assert settings["client"]["cpu"] != settings["server"]["cpu"]


def test_a_series_measures_each_size(mpi: Mpi) -> None:
    outcome = mpi.run("exponential", "--size=5", "--count=10", leaks=True)
    assert outcome.status == 0, outcome.errors
    assert [s["parameters"]["size"] for s in outcome.of("settings")] == [1, 2, 4, 5]
    assert [e["metrics"]["sent_bytes"] for e in outcome.of("replication")] == [10, 20, 40, 50]


def test_a_warm_up_comes_first_and_is_called_so(mpi: Mpi) -> None:
    outcome = mpi.run("latency", "--size=8", "--warmup=0.05s")
    assert [e["replication"] for e in outcome.of("replication")] == [0, 1]
    assert [e["warmup"] for e in outcome.of("replication")] == [True, False]


def test_ranks_on_one_cpu_are_warned_of(mpi: Mpi) -> None:
    cpu = min(os.sched_getaffinity(0))
    outcome = mpi.run("latency", "--size=8", "--count=10", f"--cpus={cpu}")
    assert outcome.settings["server"]["cpu"] == cpu
    assert {e["code"] for e in outcome.of("warning")} == {"oversubscribed"}


@pytest.mark.parametrize(("btl", "used"), [("tcp", "ob1 tcp"), ("sm", "ob1 sm")])
def test_the_transport_asked_for_is_the_one_used(mpi: Mpi, btl: str, used: str) -> None:
    settings = mpi.run("latency", "--size=8", "--count=10", f"--btl={btl}").settings
    assert settings["client"]["transport_used"] == (
        used.replace("sm", "vader") if mpi.is_old else used
    )


@pytest.mark.parametrize("option", ["--btl=self", "--pml=cm"])
def test_a_transport_that_cannot_be_used_is_a_failure(mpi: Mpi, option: str) -> None:
    outcome = mpi.run("latency", "--size=8", option)
    assert outcome.status != 0
    assert outcome.of("replication") == []
    # Open MPI 5's mpirun may be gone before it has passed on the last words of a rank.
    codes = [error["code"] for error in outcome.of("error")]
    assert codes == ["transport-unavailable"] or (outcome.events == [] and outcome.errors)


def test_what_the_environment_says_is_kept_and_told(mpi: Mpi) -> None:
    settings = mpi.run("latency", "--count=10", OMPI_MCA_btl="self,tcp").settings
    assert settings["client"]["environment"] == "OMPI_MCA_btl=self,tcp"
    assert settings["client"]["transport_used"] == "ob1 tcp"


def test_an_environment_that_contradicts_the_plan_is_a_failure(mpi: Mpi) -> None:
    error = mpi.run("latency", "--btl=sm", OMPI_MCA_btl="self,tcp").error
    assert error["code"] == "transport-unavailable"
    assert "OMPI_MCA_btl=self,tcp" in error["message"]


def test_the_addresses_choose_tcps_interface_whatever_the_library_says(mpi: Mpi) -> None:
    places = "--rank-addresses=127.0.0.1,127.0.0.1"
    quiet = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_base_verbose": "0"}
    settings = mpi.run("latency", "--count=10", places, **quiet).settings
    for side in ("client", "server"):
        assert settings[side]["tcp_interface"] == "lo"
        assert settings[side]["tcp_address"] == "127.0.0.1"


def test_ranks_that_connect_to_each_other_at_once_know_their_connections(
    probe: Callable[[str, str], str],
) -> None:
    lines = sorted(probe("connections_probe", "").splitlines())
    assert lines == [f"{name} 3 2 127.0.0.1 127.0.0.1" for name in ("first", "second")]


@pytest.mark.parametrize("places", ["192.0.2.77,127.0.0.1", "127.0.0.1,192.0.2.77"])
def test_a_rank_on_another_host_is_a_failure(mpi: Mpi, places: str) -> None:
    error = mpi.run("latency", f"--rank-addresses={places}").error
    assert error["code"] == "wrong-rank"
    assert "192.0.2.77" in error["message"]


def test_a_host_that_lets_sockets_have_any_address_has_only_its_own(
    mpi: Mpi, require: Callable[[object, str], None]
) -> None:
    require(os.geteuid() == 0, "root, for network namespaces")
    with long_way.namespaces() as (near, _):
        inside = ("ip", "netns", "exec", near)
        allow = "echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind"
        subprocess.run([*inside, "sh", "-c", allow], check=True)
        argv = mpi.argv("--mode=latency", "--json", "--rank-addresses=127.0.0.1,192.0.2.77")
        error = mpi.engines.start_other(*inside, *argv, **ranks.environment()).finish().error
    assert error["code"] == "wrong-rank"


@pytest.mark.parametrize(
    ("count", "options"),
    [(3, ()), (1, ()), (2, ("--rank-addresses=127.0.0.1,127.0.0.1,127.0.0.1",))],
)
def test_a_number_of_ranks_that_does_not_fit_is_refused(
    mpi: Mpi, count: int, options: tuple[str, ...]
) -> None:
    assert mpi.run("latency", *options, count=count).error["code"] == "wrong-count"


def test_a_bad_argument_is_told_once(mpi: Mpi) -> None:
    outcome = mpi.run("latency", "--sise=8")
    assert outcome.error["code"] == "bad-parameter"
    assert len(outcome.events) == 1


def test_the_deadline_ends_all_ranks(mpi: Mpi) -> None:
    error = mpi.run("stream", "--duration=60s", "--deadline=3s").error
    assert error["code"] == "deadline"


def _ranks_of(mark: str) -> list[int]:
    """Return the processes of rail-mpi that were given this argument."""
    pids = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"rail-mpi") and mark.encode() in words:
            pids.append(int(place.parent.name))
    return pids


def _measuring(mpi: Mpi) -> tuple[Running, list[int]]:
    mark = f"--duration={60 + time.time_ns() % 10**9 / 1e9:.9f}s"
    job = mpi.start("rank", "--mode=stream", mark)
    assert job.event()["event"] == "settings"
    pids = _ranks_of(mark)
    assert len(pids) == 2
    return job, pids


def test_a_killed_mpirun_leaves_no_rank_behind(
    mpi: Mpi, process_ends: Callable[[int], bool]
) -> None:
    job, pids = _measuring(mpi)
    job.process.kill()
    assert all(process_ends(pid) for pid in pids)


def test_a_killed_rank_is_a_failure_of_the_job(
    mpi: Mpi, process_ends: Callable[[int], bool]
) -> None:
    job, pids = _measuring(mpi)
    os.kill(max(pids), 9)
    assert job.finish().status != 0
    assert all(process_ends(pid) for pid in pids)


def test_the_end_of_input_ends_the_job(mpi: Mpi, process_ends: Callable[[int], bool]) -> None:
    if not mpi.is_old:
        pytest.xfail("Open MPI 5.0's mpirun does not tell its ranks of the end of its input")
    job, pids = _measuring(mpi)
    job.close_input()
    assert all(process_ends(pid) for pid in pids)


def test_by_hand_it_prints_a_table_and_needs_no_input(mpi: Mpi) -> None:
    completed = subprocess.run(
        mpi.argv("--mode=latency", "--size=8", "--count=10", "--replications=2"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=ranks.environment(),
    )
    assert completed.returncode == 0, completed.stderr
    assert "latency us" in completed.stdout
    assert "# mean" in completed.stdout
    assert "mca:" not in completed.stderr


def _on_two_hosts(
    mpi: Mpi, place: Path, between: AbstractContextManager[long_way.Way], *options: str
) -> Outcome:
    """Measure once from one end of a way to the other."""
    with between as way:
        agent = place / "agent"
        # In hosts of one name Open MPI 5's ranks wait for each other for ever.
        named = f"ip netns exec {way.far} unshare --uts sh -c 'hostname far; eval \"$0\"'"
        agent.write_text(f'#!/bin/sh\nshift\nexec {named} "$*"\n')
        agent.chmod(0o755)
        hosts = f"{long_way.NEAR},{long_way.FAR}"
        start = [*way.inside(way.near), mpi.mpirun, "--bind-to", "none", "-H", hosts, "-n", "2"]
        arguments = ["--json", "--replications=1", ranks.DEADLINE, *options]
        argv = [*start, mpi.program, *arguments, "--btl=tcp", f"--rank-addresses={hosts}"]
        more = {"OMPI_MCA_plm_rsh_agent": str(agent), "PRTE_MCA_plm_ssh_agent": str(agent)}
        return mpi.engines.start_other(*argv, **ranks.environment(**more)).finish()


@pytest.mark.parametrize("mode", [mode for mode in STREAMS if mode[-1] != "--window=1"])
def test_no_stream_is_faster_than_its_link_even_if_few_messages_are_sent(
    mpi: Mpi, tmp_path: Path, require: Callable[[object, str], None], mode: tuple[str, ...]
) -> None:
    """Large messages in flight arrive all at once, each of them bit by bit."""
    require(os.geteuid() == 0, "root, for network namespaces")
    options = (f"--mode={mode[0]}", *mode[1:], *FEW_LARGE)
    outcome = _on_two_hosts(mpi, tmp_path, long_way.limited("100mbit"), *options)
    assert _only(outcome)["sent_messages"] == 6
    assert _only(outcome)["throughput"] <= 100e6 * 1.03  # a bucket full of them goes at once


def test_hosts_that_share_a_kernel_share_its_cpus(
    mpi: Mpi, tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    require(os.geteuid() == 0, "root, for network namespaces")
    options = ("--mode=latency", "--size=8", "--count=10")
    # On so long a way each rank's first message is under way when the other begins to connect.
    outcome = _on_two_hosts(mpi, tmp_path, long_way.delayed(0.02), *options)
    assert outcome.metrics[0]["round_trips"] == 10
    client, server = outcome.settings["client"], outcome.settings["server"]
    assert (client["tcp_address"], server["tcp_address"]) == (long_way.NEAR, long_way.FAR)
    if len(os.sched_getaffinity(0)) > 1:
        assert client["cpu"] != server["cpu"]


def test_a_rank_of_which_mpirun_hears_late_that_it_is_done_has_not_failed(
    mpi: Mpi, tmp_path: Path
) -> None:
    folder = str(Path(mpi.mpirun).parent)
    source, program = Path(__file__).with_name("unheard_finalize.c"), str(tmp_path / "finalize")
    compiler = [f"{folder}/mpicc", "-rdynamic"]
    subprocess.run([*compiler, "-o", program, str(source), "-ldl"], check=True)
    job = own_job(Launcher(), MpiInstallation(program, folder), ["localhost"], 2)
    outcome = mpi.engines.start_other(*job, program, **os.environ).finish()
    assert outcome.status == 0, outcome.errors
