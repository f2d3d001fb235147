"""What a port counted between two readings, and the keys that its device is asked with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from railgauge.base.errors import InputError
from railgauge.hosts.equipment.credentials import read_credentials
from railgauge.hosts.equipment.interfaces import Counter, DeviceReading, PortReading
from railgauge.hosts.equipment.path_counters import count_changes, restarted
from railgauge.plan.equipment import Snmp

_GIGABIT = 1e9
_VARIABLE = "RAILGAUGE_TEST_COMMUNITY"


def port(
    bits: int = 64, *, name: str = "eth1", speed: float = _GIGABIT, reset: int = 0, **values: int
) -> PortReading:
    return PortReading(
        name,
        speed,
        reset,
        {counter_name: Counter(value, bits) for counter_name, value in values.items()},
    )


def reading(at: float, uptime: float) -> DeviceReading:
    return DeviceReading(at, uptime, {}, {})


def test_counts_are_what_counters_moved_by_nothing_included() -> None:
    before = port(ifHCInOctets=2**40, ifOutDiscards=7)
    after = port(ifHCInOctets=2**40 + 1500, ifOutDiscards=7)
    assert count_changes(before, after, 1.0) == {"ifHCInOctets": 1500, "ifOutDiscards": 0}


def test_a_counter_of_32_bits_goes_on_after_its_last_value() -> None:
    before, after = port(32, ifHCInOctets=2**32 - 1000), port(32, ifHCInOctets=500)
    assert count_changes(before, after, 5.0) == {"ifHCInOctets": 1500}


def test_a_counter_of_32_bits_that_may_have_passed_all_its_values_gives_none() -> None:
    before = port(32, ifHCInOctets=0, ifHCInUcastPkts=0)
    after = port(32, ifHCInOctets=1500, ifHCInUcastPkts=1)
    assert count_changes(before, after, 34.0) == {"ifHCInOctets": 1500, "ifHCInUcastPkts": 1}
    assert count_changes(before, after, 35.0) == {"ifHCInUcastPkts": 1}  # 4.4 GB at 1 Gbit/s


def test_a_port_whose_speed_is_unknown_may_be_the_fastest() -> None:
    before = port(32, speed=0, ifHCInOctets=0, ifInErrors=0)  # 100 Gbit/s, say
    after = port(32, speed=0, ifHCInOctets=1500, ifInErrors=3)
    assert count_changes(before, after, 1.0) == {"ifInErrors": 3}


def test_a_counter_of_32_bits_that_fell_back_was_reset() -> None:
    assert count_changes(port(32, ifHCInOctets=10**9), port(32, ifHCInOctets=5), 1.0) == {}


def test_a_port_whose_counters_were_reset_has_no_counts() -> None:
    before = port(ifHCInOctets=10**9, ifHCInUcastPkts=7)
    assert count_changes(before, port(ifHCInOctets=5, ifHCInUcastPkts=9), 1.0) is None
    assert (
        count_changes(before, port(reset=123, ifHCInOctets=2 * 10**9, ifHCInUcastPkts=9), 1.0)
        is None
    )


def test_a_number_that_has_become_another_ports_has_no_counts() -> None:
    assert count_changes(port(ifInErrors=0), port(name="eth2", ifInErrors=9), 1.0) is None


def test_a_counter_that_one_reading_lacks_is_left_out() -> None:
    assert count_changes(port(ifInErrors=0), port(ifInErrors=1, ifOutErrors=1), 1.0) == {
        "ifInErrors": 1
    }


@pytest.mark.parametrize(
    ("uptimes", "began_anew"),
    [
        ((1000.0, 1010.0), False),
        ((1000.0, 1012.5), False),  # a slow agent
        ((1000.0, 4.0), True),
        ((5.0, 4.0), True),
        ((1000.0, 1060.0), True),
        ((2**32 / 100 - 4, 6.0), False),  # sysUpTime has 32 bits of centiseconds
    ],
)
def test_a_device_that_began_anew_is_known_by_its_clock(
    uptimes: tuple[float, float], began_anew: bool
) -> None:
    before, after = (reading(at, uptime) for at, uptime in zip((50.0, 60.0), uptimes, strict=True))
    assert restarted(before, after) is began_anew


def community(place: dict[str, str]) -> Snmp:
    return Snmp.model_validate({"version": "2c", "community": place})


@pytest.fixture
def variable() -> Iterator[str]:
    os.environ[_VARIABLE] = "from-the-environment"
    yield _VARIABLE
    os.environ.pop(_VARIABLE, None)


def test_credentials_come_from_where_they_stand_and_do_not_show(
    tmp_path: Path, variable: str
) -> None:
    key = tmp_path / "key"
    key.write_text("from-the-file\nnot this\n")
    key.chmod(0o600)
    credentials = read_credentials("s", community({"file": str(key)}))
    assert credentials.community == "from-the-file"
    assert read_credentials("s", community({"env": variable})).community == "from-the-environment"
    assert "from-the-file" not in repr(credentials)


def test_a_key_that_is_not_there_or_open_to_all_is_refused(tmp_path: Path, variable: str) -> None:
    subject = "with the community of equipment 's'"
    del os.environ[variable]
    with pytest.raises(InputError, match=rf"{variable}, {subject}, is not set: export it"):
        read_credentials("s", community({"env": variable}))
    key = tmp_path / "key"
    with pytest.raises(InputError, match=f"key, {subject}, does not exist"):
        read_credentials("s", community({"file": str(key)}))
    key.write_text("x\n")
    key.chmod(0o640)
    with pytest.raises(InputError, match=r"can be read by others: chmod 600 .*key"):
        read_credentials("s", community({"file": str(key)}))
    key.write_bytes(b"\xff\n")
    key.chmod(0o600)
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_credentials("s", community({"file": str(key)}))


def test_a_key_that_is_too_short_is_refused_and_not_shown(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("hunter2\n")
    key.chmod(0o600)
    place = {"file": str(key)}
    snmp = {"version": 3, "user": "u", "authentication": "SHA", "authentication_key": place}
    with pytest.raises(InputError, match="has 7 characters, but SNMP wants at least 8") as caught:
        read_credentials("s", Snmp.model_validate(snmp))
    assert "hunter2" not in str(caught.value)
