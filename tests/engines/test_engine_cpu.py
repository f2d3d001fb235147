"""rail-cpu: what it reports, where its threads run, what it refuses."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

PRECISIONS = ("int8", "int16", "single", "double", "integer")
# What some CPUs compute with only, and the flag of those.
SHORT_REALS = {
    "fp16": {"x86_64": "avx512_fp16", "aarch64": "asimdhp"},
    "bf16": {"x86_64": "avx512_bf16", "aarch64": "bf16"},
}
CPUS = sorted(os.sched_getaffinity(0))


def _run(engines, *options: str, count: int = 1):
    """Measure; longer if the machine left a thread no time in which to compute."""
    for duration in ("20ms", "1s", "10s"):
        flags = ("--json", f"--replications={count}", f"--duration={duration}")
        outcome = engines.run("cpu", "client", *flags, *options)
        if "too-short" not in [event["code"] for event in outcome.of("error")]:
            break
    return outcome


def _warnings(outcome) -> dict[str, str]:
    return {warning["code"]: warning["message"] for warning in outcome.of("warning")}


def _flags() -> set[str]:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("flags", "Features")):
            return set(line.split(":")[1].split())
    return set()


@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_precision_has_its_rate_and_the_clock_it_ran_at(engines, precision: str) -> None:
    outcome = _run(engines, f"--precision={precision}", "--threads=2", count=2)
    assert len(outcome.metrics) == 2
    for m in outcome.metrics:
        assert 1e8 < m["clock"] < 1e10
        assert m["operation_rate"] == pytest.approx(2 * m["operation_rate_per_thread"])
        # 0: a thread that got no CPU in these 20 ms.
        assert 0 <= m["slowest_thread"] <= m["operation_rate_per_thread"] * (1 + 1e-9)
        assert m["slowest_share"] * m["operation_rate_per_thread"] == pytest.approx(
            m["slowest_thread"]
        )
        assert m["operations_per_cycle"] == pytest.approx(
            m["operation_rate_per_thread"] / m["clock"]
        )
        assert m["client_elapsed"] >= 0.02


def test_the_widest_unit_of_this_cpu_computes_unless_told(engines) -> None:
    flags, units = _flags(), ["scalar"]
    if platform.machine() == "x86_64":
        units = ["sse2"]
        units += ["avx"] if "avx" in flags else []
        units += ["avx2"] if {"avx2", "fma"} <= flags else []
        units += ["avx512"] if {"avx512f", "avx512bw"} <= flags else []
    elif platform.machine() == "aarch64":
        units = ["neon"]
    assert _run(engines).settings["client"]["vector"] == units[-1]
    assert _run(engines, f"--vector={units[0]}").settings["client"]["vector"] == units[0]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_unit_that_is_not_there_is_refused_and_those_there_are_named(
    engines, precision: str
) -> None:
    absent = "neon" if platform.machine() != "aarch64" else "avx512"
    error = _run(engines, f"--precision={precision}", f"--vector={absent}").error
    assert error["code"] == "bad-parameter"
    assert absent in error["message"]
    assert "scalar" in error["message"]


@pytest.mark.parametrize("precision", SHORT_REALS)
def test_short_floating_point_is_measured_only_where_the_cpu_has_it(
    engines, precision: str
) -> None:
    outcome = _run(engines, f"--precision={precision}")
    if SHORT_REALS[precision].get(platform.machine()) in _flags():
        (m,) = outcome.metrics
        assert m["operations_per_cycle"] > 0
        settings = outcome.settings["client"]
        assert settings["register_bits"] >= 128
        assert "2 for each" in settings["operation"]
    else:
        assert outcome.error["code"] == "bad-parameter"
        assert outcome.error["message"].endswith(f"this CPU has no instructions for {precision}")


@pytest.mark.parametrize(
    ("precision", "words"),
    [("int8", "add: 1 for each element"), ("int16", "multiply, then add: 2 for each element")],
)
def test_the_settings_say_what_one_operation_is(engines, precision: str, words: str) -> None:
    settings = _run(engines, f"--precision={precision}").settings["client"]
    assert settings["operation"] == words
    assert settings["chains"] >= 6


def test_a_name_that_a_precision_had_before_is_told_the_new_one(engines) -> None:
    error = _run(engines, "--precision=half").error
    assert error["code"] == "bad-parameter"
    assert error["message"].endswith("'half' has another name: write 'int16'")


def test_each_thread_has_the_cpu_that_was_asked_for(engines) -> None:
    first, last = CPUS[0], CPUS[-1]
    outcome = _run(engines, f"--cpus={last},{first}", "--threads=2")
    assert outcome.settings["client"]["cpu"] == (
        f"{last},{first}" if first != last else f"{first},{first}"
    )


def test_threads_take_all_cpus_of_the_process_unless_told(engines) -> None:
    settings = _run(engines, f"--threads={len(CPUS)}").settings["client"]
    listed = {
        cpu
        for part in str(settings["cpu"]).split(",")
        for cpu in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)
    }
    assert listed == set(CPUS)


def test_threads_run_where_the_settings_say(engines) -> None:
    running = engines.start(
        "cpu", "client", "--json", "--duration=60s", "--replications=1", "--threads=2",
        f"--cpus={CPUS[-1]}",
    )  # fmt: skip
    assert running.event()["event"] == "settings"
    assert running.event()["event"] == "warning"
    tasks = Path(f"/proc/{running.pid}/task")
    for _ in range(100_000):
        placed = [os.sched_getaffinity(int(task.name)) for task in tasks.iterdir()]
        if placed.count({CPUS[-1]}) == 3:  # both threads, and the one that waits for them
            return
        os.sched_yield()
    raise AssertionError(placed)


@pytest.mark.parametrize(("threads", "duration"), [(4, "300ms"), (200, "10ms")])
def test_threads_that_share_a_cpu_are_told_and_do_not_add_up_to_more(
    engines, paced, threads: int, duration: str
) -> None:
    options = (f"--cpus={CPUS[0]}", f"--threads={threads}", "--vector=scalar")
    # A thread whose every share of the CPU others cut short has nothing to tell, and says so.
    outcome = paced(
        lambda: _run(engines, *options, f"--duration={duration}"), lambda result: result.status == 0
    )
    assert _warnings(outcome)["shared-cpus"] == f"{threads} threads take turns on 1 CPU"
    if outcome.status:
        assert outcome.error["code"] == "too-short"
        return
    (m,) = outcome.metrics
    assert 1e8 < m["clock"] < 1e10
    assert m["operations_per_cycle"] * threads < 6  # a core does less than six scalar ones a cycle


def test_a_cpu_that_is_named_twice_is_one(engines) -> None:
    outcome = _run(engines, f"--cpus={CPUS[0]},{CPUS[0]},{CPUS[-1]}", "--threads=2")
    assert _warnings(outcome)["shared-cpus"] == "2 threads take turns on 1 CPU"


def test_others_that_use_its_cpu_are_told(engines) -> None:
    other = engines.start(
        "cpu", "client", "--json", "--duration=60s", "--replications=1", f"--cpus={CPUS[-1]}"
    )
    assert other.event()["event"] == "settings"
    outcome = _run(engines, f"--cpus={CPUS[-1]}", "--duration=500ms")
    assert len(outcome.metrics) == 1
    assert "others used them" in _warnings(outcome)["busy-cpus"]


@pytest.mark.parametrize("cpus", ["a", "4000", "1000", "0,"])
def test_cpus_that_a_host_has_not_are_refused(engines, cpus: str) -> None:
    error = _run(engines, f"--cpus={cpus}").error
    assert error["code"] == "bad-parameter"
    assert error["message"].startswith("cpus: ")


def test_it_ends_at_its_deadline(engines) -> None:
    outcome = _run(engines, "--duration=60s", "--deadline=1s")
    assert outcome.error["code"] == "deadline"


def test_it_ends_when_its_input_does(engines, process_ends) -> None:
    running = engines.start("cpu", "client", "--json", "--duration=60s", "--replications=1")
    assert running.event()["event"] == "settings"
    running.close_input()
    assert process_ends(running.pid)


def test_by_hand_it_prints_a_table(engines) -> None:
    for duration in ("200ms", "2s", "10s"):  # until the machine leaves it time to compute
        outcome = engines.run("cpu", "client", "--replications=3", f"--duration={duration}")
        if "too-short" not in outcome.errors:
            break
    assert outcome.status == 0, outcome.errors
    headings = next(x for x in outcome.output.splitlines() if "Gop/s" in x)
    assert headings.split()[1:6] == ["Gop/s", "Gop/s/thread", "slowest", "GHz", "op/cycle"]
    rows = [x for x in outcome.output.splitlines() if not x.startswith("#")]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
