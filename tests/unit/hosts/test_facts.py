"""Facts: parsers on kept lines as kernels write them, and one real gathering."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from railgauge.base.errors import EnvironmentFailedError
from railgauge.hosts import facts
from railgauge.hosts.facts import clock, cpu, frequency, kernel, memory, nic, sockets, system
from railgauge.hosts.facts.asking import ask, script, split
from railgauge.hosts.facts.source import FactSource
from railgauge.hosts.transport import open_transport
from railgauge.hosts.transport.fake import FakeTransport, Program
from railgauge.hosts.transport.interface import Transport
from railgauge.plan.model import Host


def test_a_line_belongs_to_the_file_it_names_and_may_hold_colons():
    assert split(["/proc/version:Linux version 6", "/etc/os-release:A=b:c", "noise"]) == {
        "/proc/version": ["Linux version 6"],
        "/etc/os-release": ["A=b:c"],
    }


def test_processors_are_counted_and_named_on_x86():
    lines = ["processor\t: 0", "model name\t: Xeon 5", "microcode\t: 0x1", "", "processor\t: 1"]
    cpu_facts = cpu.parse({"/proc/cpuinfo": [*lines, "model name\t: other"]})
    assert cpu_facts == {"cpus": "2", "cpu": "Xeon 5", "microcode": "0x1"}


def test_processors_are_named_on_arm():
    cpu_facts = cpu.parse({"/proc/cpuinfo": ["processor\t: 0", "CPU part\t: 0xd0c"]})
    assert cpu_facts == {"cpus": "1", "cpu": "0xd0c", "cpu_id": "CPU part 0xd0c"}


def test_vector_instructions_are_those_that_all_processors_have():
    lines = ["vendor_id : GenuineIntel", "flags : fpu sse2 avx avx2 avx512f", "flags : avx2 sse2"]
    cpu_facts = cpu.parse({"/proc/cpuinfo": lines})
    assert (cpu_facts["cpu.vendor"], cpu_facts["cpu.vector"]) == ("GenuineIntel", "avx2 sse2")
    arm = cpu.parse({"/proc/cpuinfo": ["Features : fp asimd evtstrm sve"]})
    assert arm["cpu.vector"] == "asimd sve"


def test_frequencies_to_choose_from_are_in_order_whatever_the_driver_lists_first():
    path = "/sys/devices/system/cpu/cpufreq/policy{}/scaling_available_frequencies"
    frequency_facts = frequency.parse(
        {path.format(0): ["2800000 1500000 "], path.format(1): ["2800000 900000 x"]}
    )
    assert frequency_facts == {"frequency.steps": "900 1500 2800 MHz"}


def test_governor_smt_and_mitigations_are_facts_where_the_kernel_tells():
    folder = "/sys/devices/system/cpu/"
    cpu_facts = cpu.parse(
        {
            folder + "cpu0/cpufreq/scaling_governor": ["performance"],
            folder + "smt/active": ["1"],
            folder + "vulnerabilities/mds": ["Mitigation: Clear CPU buffers"],
        }
    )
    assert cpu_facts == {
        "governor": "performance",
        "smt": "on",
        "mitigation_mds": "Mitigation: Clear CPU buffers",
    }


def test_the_other_sources_read_their_files():
    assert memory.parse(
        {
            "/proc/meminfo": ["MemTotal:       24576000 kB", "MemFree: 1 kB"],
            "/sys/kernel/mm/transparent_hugepage/enabled": ["always [madvise] never"],
        }
    ) == {"memory": "24576000 kB", "transparent_hugepages": "madvise"}
    assert kernel.parse({"/proc/version": ["Linux version 6.1 "]}) == {
        "kernel": "Linux version 6.1"
    }
    assert system.parse({"/etc/os-release": ['PRETTY_NAME="Debian 12"', "ID=debian"]}) == {
        "os": "Debian 12"
    }
    assert system.parse({"/sys/class/dmi/id/sys_vendor": ["HP"]}) == {"machine": "HP"}
    assert sockets.parse({"/proc/sys/net/ipv4/tcp_rmem": ["4096\t131072\t6291456"]}) == {
        "net.ipv4.tcp_rmem": "4096 131072 6291456"
    }
    path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    assert clock.parse({path: ["tsc"]}) == {"clocksource": "tsc"}


def test_a_file_that_is_missing_is_a_fact_that_is_missing():
    for source in facts.SOURCES:
        assert source.parse({}) == {}


@pytest.fixture
def local() -> Iterator[Transport]:
    transport = open_transport("here", Host(address="127.0.0.1", transport="local"))
    yield transport
    transport.close()


@pytest.fixture
def iproute(require: Callable[[object, str], None]) -> None:
    require(Path("/sbin/ip").exists() or Path("/usr/sbin/ip").exists(), "ip (iproute2)")


def test_this_machine_says_what_it_is(local: Transport):
    host_facts = facts.gather(local)
    assert host_facts["kernel"].startswith("Linux version")
    assert int(host_facts["cpus"]) >= 1
    assert {"memory", "hostname", "net.core.rmem_max", "limit.open_files"} <= host_facts.keys()
    assert host_facts["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_a_second_look_at_this_machine_finds_the_same(local: Transport):
    assert facts.gather(local, ["127.0.0.1"]) == facts.gather(local, ["127.0.0.1"])


def test_the_way_to_a_peer_is_a_fact_by_its_name(local: Transport, iproute: None):
    host_facts = facts.gather(local, ["127.0.0.1", "localhost"])
    mtu = Path("/sys/class/net/lo/mtu").read_text().strip()
    assert host_facts["route.127.0.0.1"] == f"lo, source 127.0.0.1, mtu {mtu}"
    assert host_facts["route.localhost"].startswith("lo, source ")
    assert host_facts["peer_interfaces"] == "lo"


def test_of_very_many_peers_only_the_interfaces_are_facts(local: Transport, iproute: None):
    host_facts = facts.gather(local, [f"127.0.1.{number}" for number in range(100)])
    assert host_facts["peer_interfaces"] == "lo"
    assert not [name for name in host_facts if name.startswith("route.")]


def test_a_peers_address_is_never_a_command(local: Transport, tmp_path: Path):
    trap = tmp_path / "trap"
    facts.gather(local, [f"$(touch {trap})", f"x; touch {trap}", "-x", "*"])
    assert not trap.exists()


def test_what_make_wrote_down_beside_the_engines_is_a_fact(local: Transport, tmp_path: Path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "build.txt").write_text("compiler gcc 12\ncflags -O2 -DNAME='a b'\nldflags\n")
    host_facts = facts.gather(local, engines=str(folder))
    assert host_facts["engines.compiler"] == "gcc 12"
    assert host_facts["engines.cflags"] == "-O2 -DNAME='a b'"
    assert "engines.ldflags" not in host_facts


def test_a_host_with_hardly_a_program_has_fewer_facts(tmp_path: Path):
    for name in ("grep", "cat"):
        where = next(path for path in (Path("/bin"), Path("/usr/bin")) if (path / name).exists())
        (tmp_path / name).symlink_to(where / name)
    shell_script = script(facts.SOURCES).replace("PATH=$PATH:/usr/sbin:/sbin", f"PATH={tmp_path}")
    completed = subprocess.run(
        ["/bin/sh", "-c", shell_script, "railgauge", "", "10.0.0.1"],
        env={"PATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = completed.stdout.splitlines()
    assert lines[0] == lines[-1] == "railgauge-facts:"
    files = split(lines[1:-1])
    host_facts: dict[str, str] = {}
    for source in facts.SOURCES:
        host_facts |= source.parse(files)
    assert host_facts["kernel"].startswith("Linux version")
    assert "mpi" not in host_facts
    assert "compiler" not in host_facts


def test_a_program_that_hangs_is_asked_once_and_costs_its_own_facts_only(tmp_path: Path):
    asked_of = tmp_path / "asked"
    hanging = tmp_path / "ethtool"
    hanging.write_text(f"#!/bin/sh\necho asked >>{asked_of}\nexec sleep 30\n")
    hanging.chmod(0o755)
    sources = [
        FactSource((), lambda _: {}, 'ask first ethtool eth0\nask "second one" ethtool eth1'),
        FactSource((), lambda _: {}, "ask other echo here"),
    ]
    completed = subprocess.run(
        ["/bin/sh", "-c", script(sources), "railgauge", ""],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.stdout.splitlines() == ["railgauge-facts:", "other:here", "railgauge-facts:"]
    assert asked_of.read_text() == "asked\n"


def test_a_text_of_the_device_tree_is_a_fact_without_the_nul_behind_it(
    local: Transport, tmp_path: Path
):
    model = tmp_path / "model"
    model.write_bytes(b"Some Board\0")

    files = ask(local, [FactSource((str(model),), lambda _: {})], "", [])
    assert files == {str(model): ["Some Board"]}


def test_a_shell_that_breaks_off_is_told_of():
    def shell(_: Sequence[str]) -> Program:
        yield "Welcome"
        yield "railgauge-facts:"
        yield "/proc/version:Linux"

    with pytest.raises(EnvironmentFailedError, match="gw1: the shell there"):
        facts.gather(FakeTransport("gw1", {"sh": shell}))


def test_what_a_login_shell_says_first_is_no_fact():
    def shell(_: Sequence[str]) -> Program:
        yield "/proc/version:a banner"
        yield "railgauge-facts:"
        yield "/proc/version:Linux version 6"
        yield "railgauge-facts:"

    assert facts.gather(FakeTransport("gw1", {"sh": shell}))["kernel"] == "Linux version 6"


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("/proc/self/limits:Max open files", "limits"),
        (
            "/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq:" + "9" * 400,
            "frequency",
        ),
    ],
)
def test_what_no_kernel_says_is_an_error_that_names_the_host(line: str, about: str):
    def shell(_: Sequence[str]) -> Program:
        yield from ("railgauge-facts:", line, "railgauge-facts:")

    with pytest.raises(EnvironmentFailedError, match=rf"gw1: what it says of itself \({about}\)"):
        facts.gather(FakeTransport("gw1", {"sh": shell}))


def test_ten_thousand_peers_are_not_too_many_to_ask_about(local: Transport, iproute: None):
    peers = [f"127.{number // 250}.{number % 250}.1" for number in range(10_000)]
    assert facts.gather(local, peers)["peer_interfaces"] == "lo"


def test_the_settings_of_a_queueing_discipline_are_facts_without_its_handle() -> None:
    def queueing_facts(rate: str, handle: str) -> dict[str, str]:
        return nic.parse(
            {
                "interfaces": ["eth0"],
                "queueing eth0": [
                    f"qdisc tbf {handle}: root refcnt 3 rate {rate} burst 1600b lat 50ms ",
                    f"class tbf {handle}:1 parent {handle}: ",
                ],
            }
        )

    assert queueing_facts("50Mbit", "8001")["nic.eth0.queueing"] == (
        "qdisc tbf root rate 50Mbit burst 1600b lat 50ms; class tbf"
    )
    assert queueing_facts("50Mbit", "8001") == queueing_facts("50Mbit", "8a3f")
    assert queueing_facts("50Mbit", "8001") != queueing_facts("20Mbit", "8001")
