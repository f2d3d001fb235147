"""Counts that a relay made, held against an instrument's where the machine drops packets itself."""

from __future__ import annotations

import math

import pytest

from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.network import exactly_counted, trip_budget
from railgauge.calibrate.rig import RigResult
from railgauge.calibrate.uncertainty import compared

CHECK = CertificateCheck("udp lost datagrams", "udp", "", 0.0, relative=False)
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
    budget = trip_budget(RigResult(times | {"round_trips": [100.0]}, ()), 1e-4)
    assert budget["the time in which the client had no CPU"] == pytest.approx(
        0.2 / 100 / math.sqrt(3)
    )
    assert budget["how late an idle CPU comes back"] == pytest.approx(1e-4 / math.sqrt(3))


def test_a_client_that_had_no_cpu_is_the_reason_why_round_trips_are_not_certified() -> None:
    """Replications of 30 ms are too short for the kernel's ticks to show other programs."""
    trips = {"round_trips": [50.0] * 4, "client_elapsed": [0.0294] * 4}
    times = {"client_user_time": [0.001] * 4, "client_system_time": [0.001] * 4}
    measured = RigResult(trips | times, ())
    trip = CertificateCheck("udp round trip", "udp", "s", 1e-5, relative=False)
    check = compared(trip, [5.88e-4] * 4, [2.48e-4] * 4, trip_budget(measured, 0.0))
    assert (check.conclusion, check.reason) == (
        "not certifiable here",
        "mostly the time in which the client had no CPU",
    )
