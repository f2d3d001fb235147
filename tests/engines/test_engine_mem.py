"""rail-mem: its patterns, what their figures count, and where the memory comes from."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOVING = ("read", "write", "copy", "scale", "add", "triad", "sequential", "random")
STORING = ("write", "copy", "scale", "add", "triad")
POOL = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
TRANSPARENT = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def _run(engines, *options: str, count: int = 1):
    arguments = ("--json", f"--replications={count}", "--duration=20ms", "--block=64KiB")
    return engines.run("mem", "client", *arguments, *options)


def _codes(outcome) -> set[str]:
    """Of its warnings; those about other processes on this machine aside."""
    return {warning["code"] for warning in outcome.of("warning")} - {"busy-cpus"}


def _described(engines) -> dict[str, set[str]]:
    """Each mode's metrics."""
    described = json.loads(engines.run("mem", "--describe").output)
    return {
        mode: {m["name"] for m in described["metrics"] if mode in m.get("modes", [mode])}
        for mode in (*MOVING, "latency")
    }


@pytest.mark.parametrize("mode", [*MOVING, "latency"])
def test_each_mode_reports_the_metrics_that_it_describes(engines, mode: str) -> None:
    outcome = _run(engines, f"--mode={mode}", "--threads=2", count=3)
    assert len(outcome.metrics) == 3
    for metrics in outcome.metrics:
        assert set(metrics) == _described(engines)[mode]
        assert all(v > 0 for n, v in metrics.items() if not n.startswith("client_"))


@pytest.mark.parametrize(
    ("mode", "factor"),
    [
        ("read", 1),
        ("write", 2),
        ("copy", 3 / 2),
        ("scale", 3 / 2),
        ("add", 4 / 3),
        ("triad", 4 / 3),
        ("sequential", 1),
    ],
)
def test_traffic_counts_the_lines_that_plain_stores_read(engines, mode: str, factor) -> None:
    (metrics,) = _run(engines, f"--mode={mode}").metrics
    assert metrics["traffic"] == pytest.approx(factor * metrics["throughput"])


@pytest.mark.parametrize("mode", STORING)
def test_non_temporal_stores_read_no_lines(engines, mode: str) -> None:
    if os.uname().machine != "x86_64":
        outcome = _run(engines, f"--mode={mode}", "--nontemporal=true")
        assert "no such stores" in outcome.error["message"]
        return
    for vector in ("scalar", "sse2"):
        outcome = _run(engines, f"--mode={mode}", "--nontemporal=true", f"--vector={vector}")
        (metrics,) = outcome.metrics
        assert metrics["traffic"] == metrics["throughput"]


@pytest.mark.parametrize(
    ("access", "lines"), [(8, 1), (32, 1), (64, 1), (1024, 16), (24, 1.25), (1000, 16.5)]
)
def test_random_accesses_move_whole_lines(engines, access: int, lines: float) -> None:
    (metrics,) = _run(engines, "--mode=random", f"--access={access}").metrics
    assert metrics["throughput"] == pytest.approx(2 * access * metrics["accesses"])
    assert metrics["traffic"] == pytest.approx(2 * 64 * lines * metrics["accesses"])


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("block", ["1kB", "1MB", "10MB"])
@pytest.mark.parametrize("mode", ["sequential", "random"])
def test_the_blocks_and_threads_of_the_papers_table_are_possible(
    engines, mode: str, block: str, threads: int
) -> None:
    outcome = _run(engines, f"--mode={mode}", f"--block={block}", f"--threads={threads}")
    (metrics,) = outcome.metrics
    assert metrics["accesses"] * metrics["access_time"] <= threads * 1.01


def _vectors() -> list[str]:
    if os.uname().machine != "x86_64":
        return ["scalar", "neon"] if os.uname().machine == "aarch64" else ["scalar"]
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    assert flags
    wider = {"avx2": "avx2", "avx512": "avx512f"}
    return ["scalar", "sse2", *(v for v, flag in wider.items() if flag in flags[1].split())]


@pytest.mark.parametrize("mode", MOVING)
def test_every_vector_unit_moves_every_word(engines, mode: str) -> None:
    """The engine itself looks at each word afterwards; no size here is a vector's multiple."""
    for vector in _vectors():
        options = ("--block=100008B", "--access=1000", f"--vector={vector}")
        outcome = _run(engines, f"--mode={mode}", *options, count=2)
        assert len(outcome.metrics) == 2
        assert outcome.settings["client"]["vector"] == vector


def test_the_widest_unit_is_found(engines) -> None:
    assert _run(engines).settings["client"]["vector"] == _vectors()[-1]


def test_a_unit_that_the_cpu_lacks_is_refused_with_those_it_has(engines) -> None:
    missing = "neon" if os.uname().machine == "x86_64" else "avx512"
    error = _run(engines, f"--vector={missing}").error
    assert error["code"] == "bad-parameter"
    assert all(vector in error["message"] for vector in _vectors())


def test_kernels_call_nothing(folder: Path) -> None:
    """A compiler likes to turn a loop that copies into a call of memcpy."""
    objects = [folder / "mem" / f"{unit}.o" for unit in _vectors()]
    for built in objects:
        listing = subprocess.run(
            ["objdump", "--reloc", "--disassemble", built],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "plain_triad" in listing
        assert not re.search(r"mem(cpy|move|set)", listing)


def test_a_word_that_changed_by_itself_is_a_failure(engines) -> None:
    size = 96 << 20
    running = engines.start(
        "mem", "client", "--json", "--mode=read", f"--block={size}", "--duration=2s"
    )
    while running.event()["event"] != "settings":
        pass
    begins = [
        int(mapping[1], 16)
        for mapping in re.finditer(
            r"^(\w+)-(\w+) rw-p 00000000 00:00 0 *$",
            Path(f"/proc/{running.pid}/maps").read_text(),
            re.MULTILINE,
        )
        if size <= int(mapping[2], 16) - int(mapping[1], 16) < size + (8 << 20)
    ]
    assert begins
    with Path(f"/proc/{running.pid}/mem").open("r+b", buffering=0) as memory:
        memory.seek(begins[0] + size // 2)
        memory.write(b"\xff" * 8)
    outcome = running.finish()
    assert outcome.status == 1
    assert outcome.events[-1]["code"] == "wrong-data"


def test_small_arrays_are_labelled_as_cache(engines) -> None:
    outcome = _run(engines, "--block=4KiB", "--mode=read")
    assert "in-cache" in _codes(outcome)
    assert outcome.settings["client"]["level"] in ("L1", "unknown")
    assert outcome.settings["client"]["total"] == 4096


def test_arrays_of_four_times_the_last_cache_are_memory(engines) -> None:
    cache = _run(engines, "--mode=read").settings["client"]["last_level_cache"]
    outcome = _run(engines, "--mode=read", f"--block={4 * cache}B")
    assert outcome.settings["client"]["level"] == "memory"
    assert _codes(outcome) == set()


def test_more_threads_than_cpus_are_told(engines) -> None:
    cpu = min(os.sched_getaffinity(0))
    outcome = _run(engines, "--threads=2", f"--cpus={cpu}")
    assert outcome.settings["client"]["cpu"] == cpu
    assert "shared-cpus" in _codes(outcome)


def test_no_thread_is_slower_than_the_slowest(engines) -> None:
    cpu = min(os.sched_getaffinity(0))
    outcome = _run(engines, "--threads=50", f"--cpus={cpu}", "--duration=10ms", count=3)
    for m in outcome.metrics:
        assert m["slowest_thread"] * 50 <= m["throughput"] * (1 + 1e-9)


def test_huge_pages_are_as_asked(engines) -> None:
    none = _run(engines, "--block=32MiB", "--huge-pages=none").settings["client"]
    assert none["huge_share"] == 0
    transparent = _run(engines, "--block=32MiB", "--huge-pages=transparent")
    if "[never]" in TRANSPARENT.read_text():
        assert "few-huge-pages" in _codes(transparent)
    else:
        share = transparent.settings["client"]["huge_share"]
        assert share > 0.9 or "few-huge-pages" in _codes(transparent)
        assert share > 0


def test_reserved_pages_that_are_not_there_are_refused_with_the_file_to_write(engines) -> None:
    free = int(POOL.read_text()) if POOL.exists() else 0
    error = _run(engines, f"--block={(free + 2) * 2}MiB", "--huge-pages=2MiB").error
    assert error["code"] == "out-of-memory"
    assert "nr_hugepages" in error["message"] or "no huge pages" in error["message"]


def test_memory_is_on_the_node_asked_for(engines) -> None:
    node = int(re.split(r"[,-]", Path("/sys/devices/system/node/has_memory").read_text())[0])
    settings = _run(engines, f"--numa-node={node}").settings["client"]
    assert settings["numa_nodes"] == node


def test_a_node_that_is_not_there_is_refused(engines) -> None:
    error = _run(engines, "--numa-node=1000").error
    assert error["code"] == "bad-parameter"
    assert "nodes with memory: " in error["message"]


@pytest.mark.parametrize("threads", [1, 1024])
def test_more_memory_than_there_is_is_refused_before_it_is_taken(engines, threads: int) -> None:
    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") // threads
    error = _run(engines, "--mode=add", f"--threads={threads}", f"--block={size}B").error
    assert error["code"] == "out-of-memory"
    assert "GiB are available" in error["message"]


def test_memory_of_more_than_a_tebibyte_is_written_out(engines) -> None:
    error = _run(engines, "--mode=copy", "--block=1024GiB").error
    assert error["message"].startswith("the test needs 2048 GiB of memory")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mode=random", "--access=12"), "multiple of 8"),
        (("--mode=random", "--access=128KiB"), "more than the block"),
        (("--mode=latency", "--stride=64KiB"), "two strides"),
    ],
)
def test_parameters_that_do_not_fit_are_told(engines, options, words: str) -> None:
    error = _run(engines, *options).error
    assert error["code"] == "bad-parameter"
    assert words in error["message"]


def test_a_setting_that_does_nothing_is_told(engines) -> None:
    outcome = _run(engines, "--mode=read", "--stride=128")
    assert any("stride" in warning["message"] for warning in outcome.of("warning"))


def test_the_deadline_ends_it(engines) -> None:
    outcome = _run(engines, "--duration=60s", "--deadline=500ms")
    assert outcome.error["code"] == "deadline"


def test_a_person_gets_a_table(engines) -> None:
    outcome = engines.run("mem", "client", "--block=8KiB", "--replications=2", "--duration=20ms")
    assert "GB/s" in outcome.output
    assert "level L1" in outcome.output or "level unknown" in outcome.output
    assert "in-cache" in outcome.errors


@pytest.fixture(scope="module")
def chase(tmp_path_factory: pytest.TempPathFactory):
    program = tmp_path_factory.mktemp("mem") / "probe"
    sources = [Path(__file__).with_name("mem_probe.c"), ROOT / "engines/mem/chase.c"]
    compiler = os.environ.get("CC", "cc")
    flags = ["-std=c11", "-D_GNU_SOURCE", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run([compiler, *flags, *sources, "-o", program], check=True)

    def ask(text: str) -> list[int]:
        result = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
        return [int(word) for word in result.stdout.split()]

    return ask


@pytest.mark.parametrize("slots", [2, 3, 31, 32, 1000, 4097])
@pytest.mark.parametrize("stride", [8, 64, 4096])
def test_the_chase_is_one_cycle_through_all_slots(chase, slots: int, stride: int) -> None:
    assert chase(f"cycle {slots} {stride}\n") == [slots, slots, 1]


def test_the_random_order_has_every_slot_once_and_is_no_sequence(chase) -> None:
    order = chase("order 1000 1\n")
    assert sorted(order) == list(range(1000))
    neighbours = sum(abs(a - b) == 1 for a, b in itertools.pairwise(order))
    assert neighbours < 20
    assert chase("order 1000 2\n") != order
    assert chase("order 1 1\n") == [0]


def test_a_seeds_random_order_stays_the_same(chase) -> None:
    order = [9, 1, 13, 10, 0, 2, 15, 18, 5, 4, 8, 3, 6, 12, 19, 16, 7, 17, 14, 11]
    assert chase("order 20 1\n") == order
