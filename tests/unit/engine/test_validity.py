"""When a replication is marked suspect, and when chance or the test itself explains it."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from tests.support.watch_samples import log

from railgauge.base.derived import cpu_load, derive, derived_metrics
from railgauge.base.errors import EngineError
from railgauge.base.systemlog import SoakLoad, Suspicion
from railgauge.engine.validity import (
    AGREEMENTS,
    Agreement,
    HostActivity,
    judge,
    most_bytes,
    require_agreement,
    under_rate,
    untimed,
)
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.system_log import Suspect

NOTHING = HostActivity(None, None, None)


def codes(suspicions: list[Suspicion]) -> list[str]:
    return [suspicion.code for suspicion in suspicions]


def test_an_idle_machine_is_not_suspect() -> None:
    assert judge(log(), HostActivity(0.02, "eth0", 1e6), Suspect()) == []


def test_a_suspicion_names_the_host_the_reason_and_how_long_it_was_watched() -> None:
    (suspicion,) = judge(log({"vm/pswpin": 3, "vm/pswpout": 4}), NOTHING, Suspect())
    assert suspicion == Suspicion("swapped", "gw1", "gw1: 7 pages were swapped in these 1 s")


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({"cpu/all/steal": 20}, "steal"),
        ({"cpu/all/user": 60}, "foreign-cpu"),
        ({"cpu/all/nice": 60}, "foreign-cpu"),
        ({"interface/eth0/rx_bytes": 2_000_000}, "foreign-traffic"),
        ({"interface/eth0/tx_bytes": 2_000_000}, "foreign-traffic"),
        ({"vm/pswpin": 1}, "swapped"),
        ({"throttle/1/core_count": 1}, "throttled"),
        ({"throttle/0/package_count": 1}, "throttled"),
        ({"cgroup/nr_throttled": 1}, "throttled"),
        ({"protocol/Udp/RcvbufErrors": 1}, "receive-drops"),
        ({"protocol/Udp6/RcvbufErrors": 1}, "receive-drops"),
        ({"protocol/TcpExt/TCPRcvQDrop": 1}, "receive-drops"),
        ({"softnet/1/dropped": 1}, "receive-drops"),
    ],
)
def test_each_reason_alone_makes_it_suspect(counts: dict[str, int], code: str) -> None:
    assert codes(judge(log(counts), HostActivity(0.02, "eth0", 1e6), Suspect())) == [code]


@pytest.mark.parametrize(
    ("counts", "limits"),
    [
        ({"cpu/all/steal": 20}, {"steal": "off"}),
        ({"cpu/all/steal": 20}, {"steal": "20 %"}),
        ({"cpu/all/user": 60}, {"foreign_cpu": "off"}),
        ({"cpu/all/user": 60}, {"foreign_cpu": 1}),
        ({"interface/eth0/rx_bytes": 2_000_000}, {"foreign_traffic": "off"}),
        ({"vm/pswpin": 1}, {"swap": "off"}),
        ({"throttle/1/core_count": 1}, {"throttle": "off"}),
        ({"protocol/TcpExt/TCPRcvQDrop": 1}, {"receive_drops": "off"}),
    ],
)
def test_a_plan_may_allow_more(counts: dict[str, int], limits: dict[str, object]) -> None:
    suspicions = judge(log(counts), HostActivity(0.02, "eth0", 1e6), Suspect.model_validate(limits))
    assert suspicions == []


@pytest.mark.parametrize("counts", [{"protocol/Udp/RcvbufErrors": 17}, {"softnet/1/dropped": 17}])
def test_drops_are_the_result_of_a_test_that_measures_losses_unless_the_plan_says_else(
    counts: dict[str, int],
) -> None:
    part = HostActivity(0.02, "eth0", 1e6, measures_loss=True)
    assert judge(log(counts), part, Suspect()) == []
    (suspicion,) = judge(log(counts), part, Suspect.model_validate({"receive_drops": "on"}))
    assert suspicion.message.startswith("gw1: at least 17 packets were dropped")


@pytest.mark.parametrize(
    "counts",
    [
        {"cpu/all/steal": 4},  # 2 % of 200 ticks
        {"cpu/all/steal": 9},  # and what chance may add
        {"cpu/all/user": 12},  # 0.02 s of the engine's and 10 % of a CPU
        {"interface/eth0/rx_bytes": 1_000_000},
        {"interface/eth1/rx_bytes": 9_000_000},  # another interface than the test's
        {"throttle/0/core_time_ms": 3, "cgroup/nr_periods": 3},
        {"protocol/Udp/InErrors": 1},
    ],
)
def test_what_is_allowed_or_chance_is_not_suspect(counts: dict[str, int]) -> None:
    assert judge(log(counts), HostActivity(0.02, "eth0", 1e6), Suspect()) == []


def test_the_engines_own_time_is_not_foreign() -> None:
    busy = log({"cpu/all/user": 98})
    assert judge(busy, HostActivity(0.97, None, None), Suspect()) == []
    assert codes(judge(busy, HostActivity(0.30, None, None), Suspect())) == ["foreign-cpu"]
    assert judge(busy, NOTHING, Suspect()) == []  # nobody knows what the engine took


def test_the_most_that_datagrams_can_be_on_the_wire_is_near_what_they_are() -> None:
    metrics = {"sent_packets": 1000.0, "sent_bytes": 1_460_000.0}
    most = most_bytes(metrics, 0, packets=True)
    assert most is not None
    wire = 1000 * (1460 + 8 + 40 + 14)  # over IPv6
    assert wire <= most <= 1.15 * wire


def test_the_most_that_a_stream_can_be_covers_small_segments_and_acknowledgements() -> None:
    metrics = {"sent_messages": 10.0, "sent_bytes": 1_448_000.0, "retransmits": 1.0}
    most = most_bytes(metrics, 1448, packets=False)
    wire = 1001 * (1448 + 20 + 32 + 14) + 1001 * 66
    assert most is not None
    assert wire <= most <= 1.15 * wire


def test_what_was_omitted_was_on_the_wire_too() -> None:
    metrics = {"sent_messages": 10.0, "sent_bytes": 1_448_000.0, "sent_segments": 1000.0}
    totals = metrics | {"omitted_sent_bytes": 1_448_000.0, "omitted_sent_segments": 1000.0}
    once, twice = (most_bytes(values, 1448, packets=False) for values in (metrics, totals))
    assert once is not None
    assert twice == 2 * once
    packets = {"sent_packets": 10.0, "sent_bytes": 1000.0}
    totals = packets | {"omitted_sent_packets": 10.0, "omitted_sent_bytes": 1000.0}
    once, twice = (most_bytes(values, 0, packets=True) for values in (packets, totals))
    assert once is not None
    assert twice == 2 * once


def test_ends_of_a_connection_that_begin_to_count_by_their_own_clocks_agree() -> None:
    metrics = {"sent_bytes": 1e6, "received_bytes": 1.1e6, "omitted_sent_bytes": 2e5}
    require_agreement("tcp", metrics | {"omitted_received_bytes": 1e5}, {"omit": 1.0})
    with pytest.raises(EngineError, match="omitted"):
        require_agreement("tcp", metrics | {"omitted_received_bytes": 1.1e5}, {"omit": 1.0})


def test_small_writes_are_segments_of_their_own() -> None:
    metrics = {"sent_messages": 10.0, "sent_bytes": 640_000.0}
    wire = 6400 * (100 + 66) + 6400 * 66
    most = most_bytes(metrics, 1448, packets=False, write=100)
    assert most is not None
    assert wire <= most
    reverse = {f"reverse_{name}": value for name, value in metrics.items()}
    assert most_bytes(metrics | reverse, 1448, packets=False, write=100) == 2 * most


def test_segments_that_were_counted_need_no_guess() -> None:
    metrics = {"sent_messages": 1.0, "sent_bytes": 640_000.0, "sent_segments": 20_000.0}
    most = most_bytes(metrics, 1448, packets=False)
    assert most is not None
    assert 640_000 + 20_000 * 2 * 66 <= most <= 640_000 + 20_000 * 2 * 120


@pytest.mark.parametrize("packets", [True, False])
def test_of_a_test_that_tells_no_bytes_nothing_is_known(packets: bool) -> None:
    assert most_bytes({"rtt_p50": 1e-5}, 1448, packets=packets) is None


SOAK = (SoakLoad(0, 0.5, 0.4, 1 / 6), SoakLoad(1, 0.1, 0.1, 0.0))


def test_loads_are_derived_for_each_side_that_has_a_log() -> None:
    busy = log({"cpu/all/user": 50, "cpu/all/idle": 149})
    loads = derive({"received_bytes": 2e9}, {"client": log(), "server": busy})
    assert loads == {"client_cpu_load": pytest.approx(3 / 200), "server_cpu_load": 0.255}
    assert derive({}, {"server": busy}) == {"server_cpu_load": 0.255}


def test_soakers_give_the_load_and_what_a_gigabyte_cost() -> None:
    metrics = derive(
        {"received_bytes": 1e9, "reverse_received_bytes": 1e9},
        {"client": log({"cpu/all/nice": 150}, elapsed=4.0, soak=SOAK)},
    )
    assert metrics["client_cpu_load_soak"] == pytest.approx(0.3)
    assert metrics["client_cpu_per_gigabyte"] == pytest.approx(0.6 * 4.0 / 2)


def test_what_a_gigabyte_cost_has_nothing_of_what_the_hypervisor_took() -> None:
    # Loads are shares of what that left: rail-soak's own "seconds" are 0.6 × 3 s here.
    stolen = {"cpu/all/idle": 0, "cpu/all/nice": 147, "cpu/all/steal": 50}
    logs = {"client": log(stolen, elapsed=4.0, soak=SOAK)}
    metrics = derive({"received_bytes": 1e9}, logs)
    assert metrics["client_cpu_per_gigabyte"] == pytest.approx(0.6 * 3.0)


def test_the_kernels_load_leaves_the_soakers_out() -> None:
    assert cpu_load(log({"cpu/all/nice": 197, "cpu/all/idle": 0}, soak=SOAK)) == pytest.approx(
        3 / 200
    )


def test_what_is_derived_is_announced() -> None:
    logs = {side: log(soak=SOAK) for side in ("client", "server")}
    announced = derived_metrics(two_sided=True, soak=True)
    assert set(derive({"received_bytes": 1.0}, logs)) == set(announced)
    assert set(derived_metrics(two_sided=False, soak=False)) == {"client_cpu_load"}
    kinds = {name.partition("_")[2]: info.kind for name, info in announced.items()}
    assert kinds == {"cpu_load": "share", "cpu_load_soak": "share", "cpu_per_gigabyte": "cost"}


def test_nothing_costs_cpu_time_for_bytes_received_on_a_host_that_receives_none() -> None:
    busy = log(soak=SOAK)
    announced = derived_metrics(two_sided=False, soak=True, receives=False)
    assert set(announced) == {"client_cpu_load", "client_cpu_load_soak"}
    assert set(derive({"throughput": 1e9}, {"client": busy})) == set(announced)


def test_a_log_without_ticks_has_no_load() -> None:
    empty = log({"cpu/all/user": 0, "cpu/all/system": 0, "cpu/all/idle": 0})
    assert cpu_load(empty) is None
    assert judge(empty, NOTHING, Suspect()) == []


def _suspicions(rate: float, sent: int, elapsed: float, **parameters: float) -> list[Suspicion]:
    """Return what is said of a sender of `sent` datagrams of 1,000 bytes in `elapsed` s."""
    metrics = {"sent_packets": float(sent), "local_throughput": sent * 8000 / elapsed}
    return list(under_rate({"rate": rate, **parameters}, metrics, ("a", "b"), 0.01))


def test_a_sender_that_falls_short_of_its_rate_says_how_far_and_what_to_do() -> None:
    (suspicion,) = _suspicions(40e9, 350_000, 1.0)
    assert suspicion == Suspicion(
        "under-rate",
        "a",
        "a: sent 2.8Gbit/s of the 40Gbit/s that were asked for: ask for less, or send larger "
        "datagrams, more of them in a call (batch, gso) or more threads",
    )


def test_a_stream_that_falls_short_of_its_rate_is_allowed_no_call() -> None:
    metrics = {"sent_bytes": 1e7, "local_throughput": 9.899e7}
    back = {"reverse_sent_bytes": 1e7, "reverse_local_throughput": 9.901e7}
    (suspicion,) = under_rate({"rate": 1e8, "threads": 8}, metrics | back, ("a", "b"), 0.01)
    assert (suspicion.code, suspicion.host) == ("under-rate", "a")
    assert suspicion.message.endswith("ask for less, or use more threads, or larger socket buffers")


def test_each_direction_has_a_sender_of_its_own() -> None:
    metrics = {"sent_packets": 1e4, "local_throughput": 8e7}
    slow = {"reverse_sent_packets": 5e3, "reverse_local_throughput": 4e7}
    suspicions = under_rate({"rate": 8e7}, metrics | slow, ("a", "b"), 0.01)
    assert [suspicion.host for suspicion in suspicions] == ["b"]


@pytest.mark.parametrize(
    ("sent", "parameters", "suspect"),
    [
        (10_000, {}, False),
        (9_901, {}, False),
        (9_898, {}, True),  # one more datagram would not have been enough
        (9_898, {"threads": 2}, False),
        (9_893, {"gso": 7}, False),
        (9_886, {"batch": 7, "threads": 2}, False),
        (9_885, {"batch": 7, "threads": 2}, True),
        (1, {}, True),
    ],
)
def test_the_last_call_of_each_thread_may_have_been_due_as_time_was_up(
    sent: int, parameters: dict[str, float], suspect: bool
) -> None:
    assert bool(_suspicions(8e7, sent, 1.0, **parameters)) == suspect


def test_without_a_rate_or_a_limit_no_pace_is_judged() -> None:
    assert _suspicions(0, 10, 1.0) == []
    metrics = {"sent_packets": 1.0, "local_throughput": 1.0}
    assert list(under_rate({"rate": 1e9}, metrics, ("a", None), None)) == []


def _received(parameters: dict[str, float], **metrics: float) -> list[Suspicion]:
    return list(untimed({"datagram": 1000, **parameters}, metrics, ("a", "b"), 0.1))


def test_a_receiver_that_timed_too_little_says_how_much_and_what_to_do() -> None:
    (suspicion,) = _received({}, received_bytes=1e6, untimed_bytes=2.5e5)
    assert suspicion == Suspicion(
        "untimed",
        "b",
        "b: 25.0% of what it received lay there when it got its CPU late, so that its rate is of "
        "the rest alone: measure for longer, or keep others off its CPUs",
    )


def test_each_direction_has_a_receiver_of_its_own() -> None:
    back = {"reverse_received_bytes": 1e6, "reverse_untimed_bytes": 2.5e5}
    (suspicion,) = _received({}, received_bytes=1e6, untimed_bytes=1e5, **back)
    assert suspicion.host == "a"


@pytest.mark.parametrize(
    ("parameters", "missed", "suspect"),
    [
        ({}, 2000, False),  # the first datagram, and a tenth
        ({}, 3000, True),
        ({"threads": 2}, 3000, False),
        ({"gro": True}, 9000, False),
    ],
)
def test_what_the_first_read_takes_cannot_be_timed(
    parameters: dict[str, float], missed: float, suspect: bool
) -> None:
    assert bool(_received(parameters, received_bytes=1e4, untimed_bytes=missed)) == suspect


@pytest.mark.parametrize(
    ("parameters", "missed", "suspect"),
    [
        ({"read": 0}, (1 << 20) + 1e6, False),  # what the engine reads at a time by itself
        ({"read": 0}, (1 << 20) + 2e6, True),
        ({"read": 1000}, 1.1e6, True),
        ({"read": 1000, "threads": 4}, 1.003e6, False),
    ],
)
def test_a_streams_receiver_may_be_late_by_a_read_and_a_share(
    parameters: dict[str, float], missed: float, suspect: bool
) -> None:
    metrics = {"received_bytes": 1e7, "untimed_bytes": missed}
    assert bool([*untimed(parameters, metrics, ("a", "b"), 0.1)]) == suspect


def test_without_a_limit_or_what_was_untimed_none_of_it_is_judged() -> None:
    late = {"received_bytes": 1e6, "untimed_bytes": 5e5}
    assert list(untimed({}, late, ("a", "b"), None)) == []
    assert list(untimed({}, {"received_bytes": 1e6}, ("a", "b"), 0.1)) == []


# Of each engine a replication as it is, with the parameters that matter.
_ONE_WAY = {
    "throughput": 8 * 99_000 / 0.5,
    "local_throughput": 8 * 110_000 / 0.55,
    "sent_packets": 110.0,
    "sent_bytes": 110e3,
    "received_packets": 100.0,
    "received_bytes": 100e3,
    "untimed_bytes": 1e3,
    "lost_packets": 10.0,
    "loss_rate": 10 / 110,
    "duplicate_packets": 3.0,
    "client_elapsed": 0.55,
    "server_elapsed": 0.5,
}
_BOTH_WAYS = {
    **_ONE_WAY,
    "reverse_throughput": 1e6,
    "total_throughput": _ONE_WAY["throughput"] + 1e6,
    "reverse_sent_packets": 50.0,
    "reverse_sent_bytes": 50e3,
    "reverse_received_packets": 49.0,
    "reverse_received_bytes": 49e3,
    "reverse_untimed_bytes": 1e3,
    "reverse_lost_packets": 1.0,
    "reverse_loss_rate": 1 / 50,
}
_STREAMS = {
    "throughput": 8 * 90_000 / 0.5,
    "received_bytes": 100e3,
    "untimed_bytes": 10e3,
    "server_elapsed": 0.5,
}
_CONNECTIONS = {"connections": 900.0, "connection_rate": 300.0, "client_elapsed": 3.0}
_ROUND_TRIPS = {"round_trips": 199.0, "lost_packets": 1.0, "loss_rate": 1 / 200}
_DISK = {"throughput": 4096e3, "bytes": 8192e3, "operations": 2000.0, "iops": 1000.0}
_MPI = {"throughput": 8e9, "message_rate": 1e6, "sent_messages": 500.0, "sent_bytes": 500e3}
_CPU = {
    "operation_rate": 8e9,
    "operation_rate_per_thread": 2e9,
    "slowest_thread": 1.9e9,
    "slowest_share": 0.95,
}
_MEMORY = {"throughput": 4e9, "slowest_thread": 1e9}
_REPLICATIONS: dict[str, tuple[dict[str, float], dict[str, object]]] = {
    "udp": (_BOTH_WAYS, {"datagram": 1000, "threads": 2, "gro": False}),
    "udp latency": (_ROUND_TRIPS, {"datagram": 1000}),
    "tcp": (_STREAMS | _CONNECTIONS, {"threads": 2}),
    "disk": (_DISK, {"block": 4096, "threads": 1}),
    "mpi": (_MPI, {"size": 1000}),
    "cpu": (_CPU, {"threads": 4}),
    "mem": (_MEMORY, {"threads": 4}),
}


@pytest.mark.parametrize("engine", _REPLICATIONS)
def test_figures_that_agree_are_a_measurement(engine: str) -> None:
    require_agreement(engine, *_REPLICATIONS[engine])


@pytest.mark.parametrize(
    ("engine", "metric", "factor"),
    [
        ("udp", "local_throughput", 1.006),
        ("udp", "sent_bytes", 0.89),
        ("udp", "throughput", 1.02),
        ("udp", "throughput", 0.99),
        ("udp", "received_packets", 1.2),
        ("udp", "received_bytes", 1.2),
        ("udp", "lost_packets", 1.1),
        ("udp", "loss_rate", 1.1),
        ("udp", "untimed_bytes", 2.0),
        ("udp", "server_elapsed", 0.0),
        ("udp", "reverse_untimed_bytes", 48.1),
        ("udp", "total_throughput", 1.01),
        ("udp", "reverse_received_packets", 1.1),
        ("udp", "reverse_received_bytes", 1.1),
        ("udp", "reverse_loss_rate", 0.0),
        ("udp latency", "loss_rate", 0.0),
        ("udp latency", "lost_packets", 1.1),
        ("tcp", "connection_rate", 0.9),
        ("tcp", "throughput", 1.01),
        ("tcp", "untimed_bytes", 10.0),
        ("disk", "iops", 1.01),
        ("mpi", "message_rate", 0.99),
        ("cpu", "operation_rate", 0.99),
        ("cpu", "slowest_thread", 1.1),
        ("cpu", "slowest_share", 0.98),
        ("mem", "slowest_thread", 1.01),
    ],
)
def test_a_figure_that_contradicts_others_is_refused_with_both_sides(
    engine: str, metric: str, factor: float
) -> None:
    metrics, parameters = _REPLICATIONS[engine]
    with pytest.raises(
        EngineError, match=f"engine {engine} contradicts itself: .*{metric}"
    ) as caught:
        require_agreement(engine, metrics | {metric: metrics[metric] * factor}, parameters)
    assert caught.value.code == "inconsistent"


@pytest.mark.parametrize(
    "metrics",
    [
        {"throughput": 1e300, "server_elapsed": 1e300, "received_bytes": 1e300},
        {"local_throughput": 1e300, "client_elapsed": 1e300, "sent_bytes": 1e308},
        {"received_bytes": 1e308, "sent_bytes": 1e308, "omitted_sent_bytes": 1e308},
    ],
)
def test_figures_whose_sums_are_infinite_agree_with_nothing(metrics: dict[str, float]) -> None:
    with pytest.raises(EngineError, match=r"engine tcp contradicts itself: .*inf") as caught:
        require_agreement("tcp", metrics, {})
    assert caught.value.code == "inconsistent"


@pytest.mark.parametrize(
    "agreement", AGREEMENTS, ids=lambda agreement: f"{agreement.left} {agreement.right}"
)
def test_each_agreement_is_one_of_metrics_that_an_engine_has(agreement: Agreement) -> None:
    words = {*agreement.left.split(), *agreement.right.split()}
    names = words - {"8", "*", "+", "threads", "least"}
    assert any(names <= set(engine.metrics) for engine in load_catalogue().engines.values())


@pytest.mark.parametrize(
    ("parameters", "extra_metrics", "at_first", "agree"),
    [
        ({"datagram": 1000, "threads": 8}, {"untimed_bytes": 1000.0}, 1000, True),
        ({"datagram": 1000, "threads": 8}, {"untimed_bytes": 1000.0}, 8000, False),
        ({"datagram": 1000, "gro": True}, {"untimed_bytes": 65_000.0}, 65_000, True),
        ({"threads": 4, "read": 0}, {"untimed_bytes": 3e6}, 3_000_000, True),  # TCP
        ({"threads": 4, "read": 0}, {"untimed_bytes": 1e6}, 3_000_000, False),
    ],
)
def test_time_begins_with_what_arrives_first(
    parameters: dict[str, object], extra_metrics: dict[str, float], at_first: int, agree: bool
) -> None:
    received = 10 * at_first
    metrics = extra_metrics | {
        "throughput": 8.0 * (received - at_first),
        "received_bytes": float(received),
        "server_elapsed": 1.0,
    }
    with nullcontext() if agree else pytest.raises(EngineError, match="untimed_bytes"):
        require_agreement("tcp", metrics, parameters)
