"""Whatever a log holds, the database gives it back."""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.store_samples import COUNTS, GAUGES, METRICS, RUN, assert_same_log

from railgauge.base.systemlog import SoakLoad, SystemLog, TimeSeries
from railgauge.store import Store

# Counters of all families, well and badly formed, and of none.
_WORDS = """
cpu all 0 1 01 -1 ² 99999999999 user guest_nice nice softnet dropped throttle core_time_ms frequency
interrupt softirq LOC memory MemTotal Active(anon) {cpu} interface eth0 rx_bytes tx_window_errors
protocol Udp InErrors fabric mlx5_0 port_xmit_data stat running forks vm pgpgin pressure some cgroup
usage_usec
"""
_WORD = st.sampled_from(["", *_WORDS.split()]) | st.text(string.printable + "äπ|𝄞", max_size=8)
_KNOWN = st.sampled_from([*COUNTS, *GAUGES])
_NAMES = _KNOWN | st.lists(_WORD, min_size=1, max_size=5).map("/".join)
_INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)
_COUNTERS = st.dictionaries(_NAMES, _INTEGERS, max_size=30)


@st.composite
def _time_series(draw: st.DrawFn) -> TimeSeries:
    samples = draw(st.integers(0, 5))
    names = tuple(draw(st.lists(_NAMES, max_size=4)))
    size = samples * len(names)
    numbers = draw(st.lists(_INTEGERS, min_size=size, max_size=size))
    values = np.array(numbers, np.int64).reshape(samples, len(names))
    times = draw(st.lists(st.floats(), min_size=samples, max_size=samples))
    return TimeSeries(np.array(times, np.float64), names, values)


_LOGS = st.builds(
    SystemLog,
    host=st.just("gw1"),
    phase=st.just("after"),
    # To the microsecond, as all stored times.
    started_at=st.integers(0, 2**32 * 10**6).map(lambda microseconds: microseconds / 10**6),
    elapsed=st.floats(0, 1e9),
    ticks_per_second=st.sampled_from([100, 250, 1000, 1024, 1, 2**31 - 1]),
    counts=_COUNTERS,
    gauges=_COUNTERS,
    labels=st.dictionaries(_NAMES, st.text(string.printable, max_size=5), max_size=3),
    series=st.none() | _time_series(),
    soak=st.dictionaries(
        st.integers(0, 500), st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1))
    ).map(lambda loads: tuple(SoakLoad(cpu, *loads[cpu]) for cpu in sorted(loads))),
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("logs") / "railgauge.db"
    with Store.open(str(path)) as store:
        yield store


@given(log=_LOGS)
def test_any_log_comes_back_as_it_was(filled: Store, log: SystemLog) -> None:
    run = filled.begin_run(RUN, [], METRICS)
    filled.add_logs(run, [log])
    assert filled.warnings(run) == []
    (run_log,) = filled.run_logs(run)
    assert_same_log(run_log.log, log)
