"""The MPI engine's kinds of sends and its persistent requests, under every mpirun that is here."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from tests.support.mpi_library import Mpi

MODES = (
    ("stream", "--blocking=true"),
    ("stream", "--blocking=false"),
    ("bidirectional", "--blocking=true"),
    ("bidirectional", "--blocking=false"),
    ("latency",),
)
# Those that are standard and not persistent have tests of their own.
WAYS = [
    *product(MODES, ("synchronous", "buffered", "ready"), ("false",)),
    (MODES[1], "standard", "true"),
    (MODES[1], "ready", "true"),
    (MODES[3], "buffered", "true"),
    (MODES[4], "standard", "true"),
    (MODES[4], "ready", "true"),
]
WATCHED = 4096  # bytes that the two ranks' counts have room in


@pytest.mark.parametrize(("mode", "kind", "persistent"), WAYS)
def test_every_kind_of_send_brings_what_was_sent(
    mpi: Mpi, mode: tuple[str, ...], kind: str, persistent: str
) -> None:
    """Above what MPI sends at once, in two replications whose data differ."""
    window = () if mode == ("latency",) else ("--window=3",)
    way = (*mode[1:], f"--send={kind}", f"--persistent={persistent}", *window)
    options = (*way, "--size=100KiB", "--count=20", "--replications=2")
    outcome = mpi.run(mode[0], *options, leaks=(kind, persistent) == ("ready", "true"))
    if mpi.is_old and (kind, persistent) == ("buffered", "true"):
        # Open MPI 4.1 sends again what it sent before; what was first in its place may be right.
        assert outcome.status == 0 or outcome.error["code"] == "wrong-data"
        return
    count = "round_trips" if mode == ("latency",) else "sent_messages"
    assert [metrics[count] for metrics in outcome.metrics] == [20, 20]


@pytest.mark.parametrize("mode", MODES, ids=" ".join)
def test_no_ready_send_comes_before_its_receive(
    mpi: Mpi, mode: tuple[str, ...], tmp_path: Path
) -> None:
    counts = tmp_path / "counts"
    counts.write_bytes(bytes(WATCHED))
    watch = mpi.library(Path(__file__).with_name("ready_watch.c"), tmp_path)
    window = () if mode == ("latency",) else ("--window=5",)
    options = (*mode[1:], "--send=ready", *window, "--size=8", "--count=1001", "--replications=2")
    outcome = mpi.run(mode[0], *options, preload=watch, READY_WATCH=str(counts))
    assert len(outcome.metrics) == 2, outcome.errors
    ready = memoryview(counts.read_bytes()).cast("l")[4]
    ways = 1 if mode[0] == "stream" else 2
    assert ready >= 2 * ways * 1001


@pytest.mark.parametrize("count", [2, 4, 64])
def test_fewer_ready_messages_than_fit_are_as_many_as_asked(mpi: Mpi, count: int) -> None:
    options = ("--blocking=false", "--send=ready", "--window=4", f"--count={count}")
    (metrics,) = mpi.run("bidirectional", *options, "--size=8").metrics
    assert metrics["sent_messages"] == count


def test_a_buffer_that_mpi_cannot_take_is_refused(mpi: Mpi) -> None:
    error = mpi.run("stream", "--send=buffered", "--size=64MiB", "--window=64").error
    assert error["code"] == "bad-parameter"
    assert "--window" in error["message"]
