"""Hpcbench's own samples, and made-up outputs and logs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import strategies as st

from railgauge.exchange.hpcbench.file_layout import LAYOUTS, TOS_NAMES
from railgauge.exchange.hpcbench.hpcbench_records import (
    CpuShares,
    HpcbenchOutput,
    InterfaceCounts,
    LogFile,
    LogRow,
)

SAMPLES = Path(__file__).parents[1] / "fixtures" / "hpcbench"
OUTPUTS = (*sorted(SAMPLES.glob("*.txt")), SAMPLES / "system_log" / "output")
LOGS = tuple(SAMPLES / "system_log" / f"output.{side}_log" for side in "cs")
SCREENS = tuple(sorted((SAMPLES / "screen").glob("*.txt")))

_MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)
_HOSTS = st.text("abcxyz019-._", min_size=1, max_size=12).filter(lambda name: name != "-")
_COUNTS = st.integers(0, 10**12)
_RATES = st.floats(0, 2e12)


@st.composite
def _stream_rows(draw: st.DrawFn, bidirectional: bool) -> dict[str, float]:
    sent = draw(st.integers(1, 10**9))
    lost = draw(st.integers(0, sent))
    metrics: dict[str, float] = {
        "throughput": draw(_RATES),
        "local_throughput": draw(_RATES),
        "sent_packets": sent,
        "sent_bytes": draw(_COUNTS),
        "received_packets": sent - lost,
        "received_bytes": draw(_COUNTS),
        "lost_packets": lost,
        "loss_rate": lost / sent,
    }
    if bidirectional:
        for name in ("throughput", "local_throughput"):
            metrics[f"total_{name}"] = metrics.pop(name)
        for name in ("sent_packets", "sent_bytes", "received_packets", "received_bytes"):
            metrics[f"reverse_{name}"] = draw(_COUNTS)
    for side in ("client", "server"):
        for name in ("elapsed", "user_time", "system_time"):
            metrics[f"{side}_{name}"] = draw(st.floats(0, 1e5))
    missing = draw(st.sets(st.sampled_from(sorted(metrics)), max_size=2))
    return {name: value for name, value in metrics.items() if name not in missing}


@st.composite
def tables(draw: st.DrawFn) -> HpcbenchOutput:
    """Make an output with tables: of any mode, with failed rows and lines that nobody knows."""
    mode = draw(st.sampled_from([how.mode for how in LAYOUTS]))
    row = _stream_rows(mode == "bidirectional")
    rows = draw(st.lists(st.one_of(row, row, st.just({})), min_size=1, max_size=12))
    if mode == "exponential":
        rows = [metrics | {"datagram": float(2**number)} for number, metrics in enumerate(rows)]
    settings: dict[str, int | float] = {
        f"{side}_{name}": draw(st.integers(0, 2**40))
        for side in ("client", "server")
        for name in ("sndbuf", "rcvbuf", "packet", "data")
    }
    settings["client_tos"] = draw(st.sampled_from(sorted(TOS_NAMES)))
    settings["server_tos"] = draw(st.integers(0, 255))
    settings["message"] = draw(_COUNTS)
    settings["duration"] = draw(st.integers(1, 10**9)) / 1e6
    missing = draw(st.sets(st.sampled_from(sorted(settings)), max_size=4))
    return HpcbenchOutput(
        mode=mode,
        client=draw(_HOSTS),
        server=draw(_HOSTS),
        moment=draw(st.none() | _MOMENTS),
        settings={name: value for name, value in settings.items() if name not in missing},
        rows=tuple(rows),
    )


@st.composite
def latencies(draw: st.DrawFn) -> HpcbenchOutput:
    """Make the output of a latency test, some trials failed."""
    trials = st.floats(0, 10).map(lambda rtt: {"rtt_mean": rtt}) | st.just({})
    settings = {"client_sndbuf": 65535, "client_rcvbuf": 65535}
    settings["message"] = draw(st.integers(1, 65507))
    settings["iterations"] = draw(st.integers(1, 10**9))
    rows = draw(st.lists(trials, min_size=1, max_size=20))
    return HpcbenchOutput("latency", "mk1", "mk4", draw(_MOMENTS), settings, tuple(rows))


@st.composite
def _cpu_shares(draw: st.DrawFn) -> CpuShares:
    ticks = draw(st.integers(1, 100_000))
    user = draw(st.integers(0, ticks))
    system = draw(st.integers(0, ticks - user))
    idle = ticks - user - system
    return CpuShares(100 * user / ticks, 100 * system / ticks, 100 * idle / ticks)


@st.composite
def _log_rows(draw: st.DrawFn, interfaces: tuple[str, ...], cpus: int) -> LogRow:
    counts = st.tuples(_COUNTS, _COUNTS, _COUNTS, _COUNTS)
    interrupts = st.none() | st.tuples(*[_COUNTS] * cpus)
    return LogRow(
        cpus=tuple(draw(st.none() | _cpu_shares()) for _ in range(cpus)),
        all_cpus=draw(_cpu_shares()),
        memory=draw(st.none() | st.integers(0, 100)),
        interrupts=draw(_COUNTS),
        pages=draw(_COUNTS),
        swaps=draw(_COUNTS),
        context_switches=draw(_COUNTS),
        interfaces={name: InterfaceCounts(*draw(counts), draw(interrupts)) for name in interfaces},
    )


@st.composite
def log_files(draw: st.DrawFn) -> LogFile:
    """Make a system log, some intervals not logged."""
    names = draw(
        st.lists(_HOSTS.filter(lambda name: name not in ("lo", "loop")), unique=True, max_size=3)
    )
    interfaces = ("lo", *names)
    cpus = draw(st.integers(1, 12))
    row = _log_rows(interfaces, cpus)
    rows = draw(st.lists(st.none() | row, min_size=3, max_size=5))
    return LogFile(draw(_HOSTS), draw(_MOMENTS), interfaces, cpus, tuple(rows))
