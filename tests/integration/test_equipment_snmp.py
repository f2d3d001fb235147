"""A switch's counters around a stream, asked of a real snmpd."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.support import command_line, snmplab

from railgauge.base.errors import InputError
from railgauge.base.systemlog import PortLog
from railgauge.hosts.equipment.path_counters import PathCounters
from railgauge.plan.equipment import DevicePort, Equipment
from railgauge.report.pages.path_losses import path_losses
from railgauge.store import Store

_COUNT = 5000
# Its agent looks at the interfaces every three seconds, or later.
_SETTLE = "6s"
_V2C = {"version": "2c", "community": snmplab.COMMUNITY}
_V3 = {
    "version": 3,
    "user": snmplab.USER,
    "authentication": "SHA-256",
    "authentication_key": {"env": "RAILGAUGE_TEST_AUTHENTICATION"},
    "privacy": "AES",
    "privacy_key": {"env": "RAILGAUGE_TEST_PRIVACY"},
}
_PLAN = """\
railgauge: 1
name: p
hosts:
  gw: {{address: 10.78.0.1, netns: {client}}}
  hh: {{address: 10.78.0.2, netns: {server}}}
equipment:
  switch: {{address: {switch}, settle: {settle}, snmp: {{version: 2c, community: public}}}}
links:
  gw→hh: {{from: gw, to: hh, path: [gw, "switch:port1", "switch:port2", hh]}}
tests:
  - name: t
    engine: udp
    replications: 1
    set: {{mode: stream, count: 5000, datagram: 1000, rate: 400Mbit/s, sockbuf: 8MiB}}
"""
_PATH = (DevicePort("switch", "port1"), DevicePort("switch", "port2"))
_LONG_AGO = 1000.0  # seconds


@pytest.fixture(scope="module")
def lab(
    tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]
) -> Iterator[snmplab.Lab]:
    lacking = snmplab.missing()
    require(not lacking, lacking)
    keys = {
        "RAILGAUGE_TEST_AUTHENTICATION": snmplab.AUTHENTICATION_KEY,
        "RAILGAUGE_TEST_PRIVACY": snmplab.PRIVACY_KEY,
        "RAILGAUGE_TEST_WRONG": "something-else-than-the-key",
    }
    os.environ.update(keys)
    try:
        with snmplab.lab(tmp_path_factory.mktemp("snmp")) as snmp_lab:
            yield snmp_lab
    finally:
        for name in keys:
            del os.environ[name]


def counters(
    lab: snmplab.Lab, snmp: Mapping[str, object], *path: DevicePort, **more: object
) -> PathCounters:
    device = {"address": lab.address, "settle": _SETTLE, "snmp": snmp, **more}
    return PathCounters(path or _PATH, {"switch": Equipment.model_validate(device)})


def idle(
    lab: snmplab.Lab, snmp: Mapping[str, object], *path: DevicePort, **more: object
) -> list[str]:
    """Return the warnings where nothing is measured, and nothing may be counted."""
    asking = counters(lab, snmp, *path, settle="0s", **more)
    asking.before()
    ports, warnings = asking.after()
    assert [port.counts for port in ports] == [{}] * len(ports)
    return list(warnings)


def test_a_runs_report_places_a_loss_in_the_switch_between_its_ports(
    lab: snmplab.Lab, tmp_path: Path
) -> None:
    (tmp_path / "p.yaml").write_text(
        _PLAN.format(client=lab.client, server=lab.server, switch=lab.address, settle=_SETTLE)
    )
    database = tmp_path / "r.db"
    lab.narrow("100mbit")
    try:
        completed = command_line.railgauge("run", "--db", database, tmp_path / "p.yaml")
    finally:
        lab.widen()
    assert completed.returncode == 0, completed.stderr
    with Store.open(str(database)) as store:
        (run,) = store.runs()
        stored = store.ports(run.id)
        logs = [entry.log for entry in store.logs(run.id)]
    with contextlib.closing(sqlite3.connect(database)) as connection:
        metrics = dict(connection.execute("SELECT metric, value FROM measurement"))
    lost = round(metrics["lost_packets"])
    assert 100 < lost < _COUNT
    (loss,) = path_losses(stored[0].case, logs, [row.port for row in stored], metrics)
    assert loss.sentences == (
        f"{lost:,} of 5,000 packets vanished between switch:port1 (in) and switch:port2 (out).",
    ), loss
    assert [station.note for station in loss.stations] == [""] * len(loss.stations)


@pytest.mark.parametrize("snmp", [_V2C, _V3], ids=["2c", "3"])
def test_ports_count_what_passes_them(lab: snmplab.Lab, snmp: Mapping[str, object]) -> None:
    asking = counters(lab, snmp)
    asking.before()
    assert lab.stream(_COUNT) == _COUNT
    ports, warnings = asking.after()
    assert warnings == ()
    assert [(port.position, port.device, port.interface) for port in ports] == [
        (1, "switch", "port1"),
        (2, "switch", "port2"),
    ]
    come, leave = (port.counts for port in ports)
    for packets in (come["ifHCInUcastPkts"], leave["ifHCOutUcastPkts"]):
        assert _COUNT <= packets < _COUNT + 50
    # An Ethernet header of 14 bytes, 20 of IP and 8 of UDP.
    for octets in (come["ifHCInOctets"], leave["ifHCOutOctets"]):
        assert _COUNT * 1042 <= octets < _COUNT * 1042 + 10_000
    assert leave["ifHCInUcastPkts"] < 50


def test_a_device_that_can_not_be_asked_says_why(lab: snmplab.Lab) -> None:
    agent = f"equipment 'switch' ({lab.address}, UDP port 161)"
    without = "(measured without its counts)"
    (problem,) = idle(lab, {**_V2C, "community": "privy"})
    assert problem.startswith(f"{agent} doesn't answer SNMP: check the address")
    assert "community" in problem
    (problem,) = idle(lab, _V2C, port=16_199)
    assert problem.startswith(f"equipment 'switch' ({lab.address}, UDP port 16199) doesn't answer")
    (problem,) = idle(lab, {**_V3, "user": "nobody"})
    assert problem == (
        f"{agent} refuses to answer by SNMP: it knows no such user: mend 'user', or add that there "
        f"{without}"
    )
    (problem,) = idle(lab, {**_V3, "authentication_key": {"env": "RAILGAUGE_TEST_WRONG"}})
    assert problem == (
        f"{agent} refuses to answer by SNMP: the authentication key is wrong, or its kind is: mend "
        f"it {without}"
    )
    (problem,) = idle(lab, {**_V3, "privacy_key": {"env": "RAILGAUGE_TEST_WRONG"}})
    assert problem.startswith(f"{agent} doesn't answer SNMP")
    assert "the user and keys" in problem
    (problem,) = idle(lab, {"version": 3, "user": snmplab.USER})
    assert problem.startswith(f"{agent} refuses to show its interfaces")
    (problem,) = idle(lab, _V2C, address="no.such.host.invalid")
    assert "can't be found" in problem


def test_an_unknown_port_is_told_and_the_others_are_read(lab: snmplab.Lab) -> None:
    path = (
        DevicePort("switch", "prot1"),
        DevicePort("switch", "99999"),
        DevicePort("switch", "port2"),
    )
    asking = counters(lab, _V2C, *path, settle="0s")
    asking.before()
    ports, warnings = asking.after()
    assert [bool(port.counts) for port in ports] == [False, False, True]
    assert set(warnings) == {
        "switch:prot1: unknown interface 'prot1': did you mean 'port1'?",
        "switch:99999: the device has no interface with ifIndex 99999: mend the path",
    }


def test_a_device_that_falls_silent_or_begins_anew_has_no_counts(lab: snmplab.Lab) -> None:
    asking = counters(lab, _V2C, settle="0s")
    asking.before()
    lab.stop_agent()
    try:
        ports, (problem,) = asking.after()
    finally:
        lab.start_agent()
    assert [port.counts for port in ports] == [{}, {}]
    assert "doesn't answer SNMP" in problem
    asking = counters(lab, _V2C)
    asking.before(idle=_LONG_AGO)
    assert asking.after() == (
        (PortLog(1, "switch", "port1", {}), PortLog(2, "switch", "port2", {})),
        ("switch has only just begun: its counts are left out",),
    )


def test_counters_of_32_bits_are_read_where_they_can_not_have_begun_anew(lab: snmplab.Lab) -> None:
    asking = counters(lab, {"version": "2c", "community": snmplab.NARROW})
    asking.before()
    assert lab.stream(_COUNT) == _COUNT
    ports, warnings = asking.after()
    assert warnings == ()
    come, leave = (port.counts for port in ports)
    assert _COUNT <= come["ifHCInUcastPkts"] < _COUNT + 50
    assert _COUNT <= leave["ifHCOutUcastPkts"] < _COUNT + 50
    assert leave["ifOutDiscards"] == 0
    # These ports don't tell their speed, and at 100 Gbit/s 32 bits count 0.3 seconds' octets.
    assert "ifHCInOctets" not in come


def test_a_device_that_can_not_say_all_at_once_is_asked_in_parts(lab: snmplab.Lab) -> None:
    lab.stop_agent()
    lab.start_agent("[snmp] sendMessageMaxSize 484")
    try:
        asking = counters(lab, _V2C, settle="0s")
        asking.before()
        ports, warnings = asking.after()
    finally:
        lab.stop_agent()
        lab.start_agent()
    assert warnings == ()
    assert [len(port.counts) for port in ports] == [13, 13]


def test_a_key_that_can_not_be_had_ends_the_run_before_it_begins(lab: snmplab.Lab) -> None:
    with pytest.raises(InputError, match="RAILGAUGE_TEST_NONE, with the privacy key of equipment"):
        counters(lab, {**_V3, "privacy_key": {"env": "RAILGAUGE_TEST_NONE"}})
