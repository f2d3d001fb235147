"""rail-disk: what it measures, in which order, and what it says of the page cache."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MODES = ["read", "write", "random_read", "random_write"]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder on a disk: other tests' folders may stand in memory."""
    with tempfile.TemporaryDirectory(prefix="railgauge-test-") as folder:
        yield Path(folder)


@pytest.fixture
def disk(engines, tmp_path: Path):
    """Run rail-disk in the test's own folder, briefly."""

    def run(*options: str, count: int = 1, folder: Path = tmp_path):
        flags = ("--json", f"--replications={count}", f"--folder={folder}", "--size=2MiB")
        return engines.run("disk", "client", *flags, "--duration=0.05s", *options)

    return run


@pytest.mark.parametrize("io", ["psync", "io_uring"])
@pytest.mark.parametrize("direct", ["true", "false"])
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_measures(disk, mode: str, direct: str, io: str) -> None:
    options = (f"--mode={mode}", f"--direct={direct}", f"--io={io}", "--block=4KiB")
    outcome = disk(*options, count=2)
    assert len(outcome.metrics) == 2
    assert outcome.settings["client"]["io"] == io
    for m in outcome.metrics:
        assert m["operations"] > 0
        assert m["bytes"] == m["operations"] * 4096
        assert m["throughput"] == pytest.approx(m["iops"] * 4096)
        assert m["bytes"] / m["throughput"] >= 0.05
        times = [m[f"latency_{x}"] for x in ("min", "p50", "p90", "p99", "p999", "p9999", "max")]
        assert times == sorted(times)
        assert times[0] > 0
        cpu = m["client_user_time"] + m["client_system_time"]
        assert m["cpu_per_io"] == pytest.approx(cpu / m["operations"])
        assert "fsync_time" not in m
        assert ("cached_share" in m) == ("read" in mode)


@pytest.mark.parametrize("depth", [1, 7, 32])
@pytest.mark.parametrize("mode", MODES)
def test_without_a_duration_every_block_is_touched_once(disk, mode: str, depth: int) -> None:
    options = (f"--mode={mode}", "--duration=0", "--block=8KiB", "--threads=3", f"--depth={depth}")
    for metrics in disk(*options, count=3).metrics:
        assert metrics["bytes"] == 3 * 2 * 1024 * 1024


def test_operations_under_way_wait_for_one_another(disk, paced) -> None:
    """Little's law: as many as the depth says are under way at any time."""

    def under_way() -> float:
        options = ("--mode=random_read", "--block=4KiB", "--depth=16", "--duration=0.3s")
        (m,) = disk(*options).metrics
        return m["iops"] * m["latency_mean"]

    # Less where the CPU was taken in between.
    assert 1 < paced(under_way, lambda operations: operations > 11) < 16.2


def test_operations_may_be_handed_over_several_at_a_time(disk) -> None:
    (m,) = disk("--block=4KiB", "--depth=16", "--batch=16", "--duration=0").metrics
    assert m["bytes"] == 2 * 1024 * 1024


@pytest.mark.parametrize("blocks", [1, 2, 3, 1000, 1024, 4097])
def test_a_random_order_has_every_block_once_a_pass(probe, blocks: int) -> None:
    turns = [int(x) for x in probe("order_probe", f"{blocks} 1 {3 * blocks}").split()]
    passes = [turns[i : i + blocks] for i in range(0, 3 * blocks, blocks)]
    assert all(sorted(order) == list(range(blocks)) for order in passes)
    if blocks >= 1000:
        assert passes[0] != passes[1] != passes[2] != passes[0]


def test_a_random_order_looks_like_one(probe) -> None:
    """Steps between neighbours are long, both ways, and hardly ever repeat."""
    blocks = 10_000
    turns = [int(x) for x in probe("order_probe", f"{blocks} 1 {blocks}").split()]
    steps = [b - a for a, b in itertools.pairwise(turns)]
    assert sum(abs(step) for step in steps) / len(steps) == pytest.approx(blocks / 3, rel=0.05)
    assert sum(step > 0 for step in steps) / len(steps) == pytest.approx(0.5, abs=0.03)
    # Of so many independent steps, about 63 % would be the only ones of their length.
    assert len(set(steps)) > 0.5 * len(steps)


def test_a_random_order_is_the_same_in_every_launch(probe) -> None:
    turns = [int(x) for x in probe("order_probe", "7 1 21").split()]
    assert turns == [1, 3, 5, 4, 6, 0, 2, 0, 6, 3, 5, 1, 2, 4, 4, 2, 1, 3, 5, 0, 6]


def test_in_order_comes_block_after_block_and_begins_again(probe) -> None:
    turns = [int(x) for x in probe("order_probe", "5 0 12").split()]
    assert turns == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]


def test_a_file_is_rounded_down_to_whole_blocks(disk) -> None:
    outcome = disk("--size=10000", "--block=4KiB", "--duration=0")
    assert outcome.metrics[0]["operations"] == 2
    assert outcome.settings["client"]["file_bytes"] == 8192


@pytest.mark.parametrize("io", ["psync", "io_uring"])
def test_bringing_data_to_the_device_counts_as_time(disk, io: str) -> None:
    options = ("--mode=write", "--direct=false", "--fsync=end", f"--io={io}", "--duration=0")
    (m,) = disk(*options).metrics
    assert 0 < m["fsync_time"] < m["bytes"] / m["throughput"]


def _writes(folder: Path) -> int:
    """The writes that the folder's disk has done."""
    number = folder.stat().st_dev
    text = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat").read_text()
    return int(text.split()[4])


@pytest.mark.parametrize("io", ["psync", "io_uring"])
@pytest.mark.parametrize("direct", ["true", "false"])
def test_fsync_of_each_write_reaches_the_device_each_time(
    disk, tmp_path: Path, require, direct: str, io: str
) -> None:
    number = tmp_path.stat().st_dev
    place = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    require(place.exists(), "a temporary folder on a disk")
    before = _writes(tmp_path)
    options = ("--mode=write", "--fsync=each", "--block=4KiB", "--duration=0", f"--io={io}")
    (m,) = disk(*options, f"--direct={direct}").metrics
    assert m["operations"] == 512
    assert _writes(tmp_path) - before >= 512


def test_buffered_runs_say_how_much_the_files_are_against_the_memory(disk) -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    outcome = disk("--mode=write", "--direct=false", "--threads=2")
    (warning,) = outcome.of("warning")
    assert warning["code"] == "page-cache"
    assert "without fsync the figure is mostly the memory's" in warning["message"]
    assert outcome.settings["client"]["file_bytes"] == 4 * 1024 * 1024
    assert outcome.settings["client"]["memory_bytes"] == memory
    (warning,) = disk("--mode=write", "--direct=false", "--fsync=end").of("warning")
    assert "without fsync" not in warning["message"]
    assert "what is written again before never gets there" in warning["message"]
    options = ("--mode=write", "--direct=false", "--fsync=end", "--duration=0")
    (warning,) = disk(*options).of("warning")
    assert "the time until all is on the device counts too" in warning["message"]


@pytest.mark.parametrize(
    ("block", "shares_pages"), [(512, True), (4096 * 16, False), (4096 * 3 + 512, True)]
)
def test_blocks_that_share_a_page_are_told(disk, block: int, shares_pages: bool) -> None:
    (warning,) = disk("--mode=random_read", "--direct=false", f"--block={block}").of("warning")
    assert ("pages hold several blocks" in warning["message"]) == shares_pages


@pytest.mark.parametrize("io", ["--io=psync", "--depth=2"])
def test_buffered_reads_never_find_what_they_read_before(
    disk, tmp_path: Path, require, io: str
) -> None:
    number = tmp_path.stat().st_dev
    require(os.major(number) != 0, "a temporary folder on a disk")
    for metrics in disk("--direct=false", "--duration=0", io, count=3).metrics:
        assert metrics["cached_share"] == pytest.approx(0, abs=0.05)
    for duration in ("0.3s", "3s", "30s"):
        (m,) = disk("--direct=false", f"--duration={duration}", io).metrics
        if m["operations"] > 2:
            break
    assert m["operations"] > 2, "so it was read more than once"
    assert m["cached_share"] == pytest.approx(0, abs=0.05)


def test_a_file_system_that_is_memory_is_told_of(disk, require) -> None:
    shm = Path("/dev/shm")
    require(os.access(shm, os.W_OK), "/dev/shm")
    outcome = disk("--direct=true", "--duration=0", count=2, folder=shm)
    if outcome.of("error"):  # Linux before 6.6
        assert "set direct to false" in outcome.error["message"]
        return
    assert [m["cached_share"] for m in outcome.metrics] == [1, 1]
    (warning,) = outcome.of("warning")
    assert warning["code"] == "page-cache"
    assert "100 %" in warning["message"]


def test_fsync_does_nothing_for_reads_and_says_so(disk) -> None:
    (warning,) = disk("--mode=read", "--fsync=end").of("warning")
    assert (warning["code"], "fsync" in warning["message"]) == ("no-effect", True)


def test_the_settings_say_what_the_folder_stands_on(disk, tmp_path: Path) -> None:
    settings = disk("--cpus=0").settings["client"]
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    points = {line.split()[4]: line.split(" - ")[1].split()[0] for line in lines}
    own = next(
        str(p) for p in [tmp_path.resolve(), *tmp_path.resolve().parents] if str(p) in points
    )
    assert settings["file_system"] == points[own]
    assert settings["cpu"] == 0
    assert settings["free_bytes"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--io=psync", "--depth=2"), "one operation at a time"),
        (("--depth=4", "--batch=5"), "batch: 5 operations"),
        (("--duration=1ms",), "at least 10 ms"),
        (("--block=4MiB",), "no room for a block of 4194304"),
        (("--folder=",), "name a folder"),
        (("--block=100",), "block"),
        (("--fsync=always",), "fsync"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    disk, options: tuple[str, ...], message: str
) -> None:
    outcome = disk(*options)
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")
    assert message in outcome.error["message"]


def test_buffers_of_whole_pages_are_what_has_to_fit_into_memory(disk) -> None:
    block = 2**20 + 512
    outcome = disk(f"--block={block}", f"--size={block}", "--depth=4096", "--threads=1024")
    assert outcome.error["code"] == "out-of-memory"
    assert f"{1024 * 4096} times {2**20 + 4096} bytes" in outcome.error["message"]


def test_a_block_that_the_device_cannot_take_is_refused(disk, tmp_path: Path, require) -> None:
    require(os.major(tmp_path.stat().st_dev) != 0, "a temporary folder on a disk")
    outcome = disk("--block=1000", "--direct=true")
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")
    assert "direct to false" in outcome.error["message"]
    assert disk("--block=1000", "--direct=false").metrics


def test_the_folder_has_to_be_named(engines) -> None:
    outcome = engines.run("disk", "client", "--json", "--mode=write")
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")
    assert "--folder" in outcome.error["message"]


def test_by_hand_it_prints_a_table(engines, tmp_path: Path) -> None:
    options = (f"--folder={tmp_path}", "--size=2MiB", "--duration=0.05s", "--replications=2")
    outcome = engines.run("disk", "client", *options)
    assert outcome.status == 0, outcome.errors
    heading = next(x for x in outcome.output.splitlines() if "IOPS" in x)
    assert all(word in heading for word in ("MB/s", "p50 us", "p99 us", "CPU us/IO"))
    assert len([x for x in outcome.output.splitlines() if x[0].isdigit()]) == 2
