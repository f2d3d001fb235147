"""Counts that a relay made, held against an instrument's where the machine drops packets itself."""

from __future__ import annotations

import math

import pytest

from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.network import exactly_counted, trip_budget, untimed_bytes
from railgauge.calibrate.packets import PacketRecord
from railgauge.calibrate.rig import RigResult
from railgauge.calibrate.uncertainty import compared

CHECK = CertificateCheck("udp lost datagrams", "udp", "", 0.0, relative=False)
SAME_CLOCKS = PacketRecord(clocks_apart=0.0)
NO_DROPS = {"overflowed": 0, "unread": 0, "at the receiver": 0, "not counted by the relay": 0}


def _measured(*lost: float, suspicions: tuple[str, ...] = ()) -> RigResult:
    return RigResult({"lost_packets": list(lost)}, suspicions)


def test_counts_that_agree_are_certified() -> None:
    check = exactly_counted(CHECK, _measured(3, 2, 3, 2), "lost_packets", 10, NO_DROPS)
    assert (check.value, check.truth, check.conclusion) == (10, 10, "certified")


def test_an_instrument_that_miscounts_is_wrong_whatever_the_machine_does() -> None:
    busy = _measured(3, 2, 3, 3, suspicions=("other programs were busy",))
    assert exactly_counted(CHECK, busy, "lost_packets", 10, NO_DROPS).conclusion == "wrong"


@pytest.mark.parametrize("where", NO_DROPS)
def test_what_the_machine_itself_drops_makes_no_instrument_wrong(where: str) -> None:
    """It rightly counts a datagram as lost that the relay didn't lose on purpose."""
    drops = {**NO_DROPS, where: 1}
    check = exactly_counted(CHECK, _measured(3, 2, 3, 3), "lost_packets", 10, drops)
    assert (check.value, check.conclusion) == (None, "not certifiable here")
    assert check.reason == f"the machine itself dropped packets: 1 {where}"


def test_a_replication_that_failed_makes_no_instrument_wrong() -> None:
    """The relay lost some of its packets, too."""
    failed = _measured(3, 2, 3, suspicions=("no datagram came",))
    check = exactly_counted(CHECK, failed, "lost_packets", 10, NO_DROPS)
    assert check.conclusion == "not certifiable here"
    assert check.reason == "3 of 4 replications were measured; no datagram came"


def test_time_that_a_polling_client_had_no_cpu_is_uncertain() -> None:
    times = {"client_elapsed": [1.0], "client_user_time": [0.5], "client_system_time": [0.3]}
    measured = RigResult(times | {"round_trips": [100.0]}, ())
    budget = trip_budget(measured, 1e-4, SAME_CLOCKS, [1e-3])
    assert budget["the time in which the client had no CPU"] == pytest.approx(
        0.2 / 100 / math.sqrt(3)
    )
    assert budget["how late an idle CPU comes back"] == pytest.approx(1e-4 / math.sqrt(3))


def test_a_budget_without_a_measurement_of_its_parts_is_infinite() -> None:
    """Of neither the client's CPU time, nor what wasn't timed, nor the clocks."""
    budget = trip_budget(RigResult({}, ()), 0.0, SAME_CLOCKS, [1e-3])
    assert budget["the time in which the client had no CPU"] == math.inf
    assert untimed_bytes(RigResult({}, ()), 1460) == math.inf
    assert PacketRecord().clock_budget["the clocks' rates"] == math.inf


def test_stamps_of_a_clock_that_daemons_slew_are_uncertain() -> None:
    slewed = PacketRecord(clocks_apart=5e-4)
    budget = trip_budget(RigResult({}, ()), 0.0, slewed, [0.02, 0.021])
    assert budget["the clocks' rates"] == pytest.approx(5e-4 * 0.021 / math.sqrt(3))


def test_a_client_that_had_no_cpu_is_the_reason_why_round_trips_are_not_certified() -> None:
    """Replications of 30 ms are too short for the kernel's ticks to show other programs."""
    trips = {"round_trips": [50.0] * 4, "client_elapsed": [0.0294] * 4}
    times = {"client_user_time": [0.001] * 4, "client_system_time": [0.001] * 4}
    measured = RigResult(trips | times, ())
    trip = CertificateCheck("udp round trip", "udp", "s", 1e-5, relative=False)
    check = compared(
        trip, [5.88e-4] * 4, [2.48e-4] * 4, trip_budget(measured, 0.0, SAME_CLOCKS, [2.48e-4])
    )
    assert (check.conclusion, check.reason) == (
        "not certifiable here",
        "mostly the time in which the client had no CPU",
    )
