"""MPI over a way whose delay is known: what collective operations take is known too."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support import ranks, wire_lab
from tests.support.engine_lab import Engines

DELAY = 0.005  # seconds, one way
AGENT = """\
#!/bin/sh
# Stands for ssh: [OPTIONS] HOST COMMAND...
while [ "$1" != {right} ]; do shift; done
shift
exec ip netns exec {namespace} sh -c "$*"
"""


@pytest.fixture
def lab(folder: Path, require: Callable[[object, str], None]) -> Iterator[wire_lab.Lab]:
    may = os.geteuid() == 0 and Path("/dev/net/tun").exists()
    require(may, "root and /dev/net/tun, to make network namespaces")
    require(ranks.launcher(), "Open MPI (mpicc and mpirun in PATH)")
    with wire_lab.lab(str(folder / "rail-wire")) as network:
        yield network


def _measure(
    engines: Engines,
    lab: wire_lab.Lab,
    place: Path,
    mode: str,
    *options: object,
    delay: float = DELAY,
) -> dict[str, float]:
    agent = place / "agent"
    agent.write_text(AGENT.format(right=wire_lab.RIGHT, namespace=lab.right))
    agent.chmod(0o755)
    hosts = f"{wire_lab.LEFT},{wire_lab.RIGHT}"
    program = engines.argv("mpi", f"--mode={mode}", "--json", "--replications=1", *options)
    job = ranks.argv(2, "--host", hosts, *program, f"--rank-addresses={hosts}", ranks.DEADLINE)
    agents = {name: str(agent) for name in ("OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent")}
    inside = ("ip", "netns", "exec", lab.left)
    with lab.joined("--delay", f"{delay}s"):
        outcome = engines.start_other(*inside, *job, **ranks.environment(**agents)).finish()
    (metrics,) = outcome.metrics
    return metrics


def test_a_long_way_is_not_tried_out_for_longer_than_it_is_measured(
    engines: Engines, lab: wire_lab.Lab, tmp_path: Path
) -> None:
    """Hundreds of round trips would take it beyond the deadline."""
    options = ("--size=8", "--count=2")
    metrics = _measure(engines, lab, tmp_path, "latency", *options, delay=0.075)
    assert metrics["rtt_min"] >= 0.150


@pytest.mark.parametrize(
    "mode",
    [
        "barrier",
        "bcast",
        "reduce",
        "allreduce",
        "reduce_scatter",
        "scatter",
        "gather",
        "allgather",
        "alltoall",
    ],
)
def test_an_operation_takes_as_long_as_its_messages_are_under_way(
    engines: Engines, lab: wire_lab.Lab, tmp_path: Path, mode: str, paced: Callable[..., object]
) -> None:
    def beyond() -> float:
        metrics = _measure(engines, lab, tmp_path, mode, "--size=8", "--count=5")
        # What an exchange of clocks took beyond the way there and back is all it can be wrong by.
        wrong = metrics["start_error"] - DELAY
        assert wrong >= 0
        assert metrics["time_min"] >= DELAY - wrong
        return metrics["time_min"] - wrong

    paced(beyond, lambda seconds: seconds <= 3 * DELAY)


def test_a_few_reductions_without_a_pause_take_no_less_than_their_messages_are_under_way(
    engines: Engines, lab: wire_lab.Lab, tmp_path: Path
) -> None:
    """After a barrier the sender would be the first to begin, and soon have done its part."""
    count, delay = 3, 0.1
    options = ("--size=8", f"--count={count}")
    metrics = _measure(engines, lab, tmp_path, "reduce", *options, delay=delay)
    wrong = metrics["start_error"] - delay
    assert metrics["back_to_back"] * count >= delay - wrong


def test_a_broadcasts_root_may_run_ahead_only_without_a_pause(
    engines: Engines, lab: wire_lab.Lab, tmp_path: Path, paced: Callable[..., object]
) -> None:
    def back_to_back() -> float:
        metrics = _measure(engines, lab, tmp_path, "bcast", "--size=8", "--count=20")
        assert metrics["time_p50"] > DELAY / 2
        return metrics["back_to_back"]

    paced(back_to_back, lambda seconds: seconds < DELAY / 2)


def test_a_message_under_way_hides_behind_a_computation(
    engines: Engines, lab: wire_lab.Lab, tmp_path: Path, paced: Callable[..., object]
) -> None:
    """It needs no CPU: the kernel has it before the receiver waits for it."""

    def overlap() -> float:
        options = ("--size=8", "--count=5", "--blocking=false")
        metrics = _measure(engines, lab, tmp_path, "bcast", *options)
        assert metrics["overlapped_time"] >= DELAY - metrics["start_error"]
        return metrics.get("overlap", 0)

    paced(overlap, lambda share: share >= 0.8)
