"""Facts: parsers on kept lines as kernels write them, and one real gathering."""

from __future__ import annotations

from railgauge import facts
from railgauge.facts import clock, cpu, kernel, memory, sockets, system
from railgauge.plan.model import Host
from railgauge.transport import open_transport


def test_a_line_of_grep_belongs_to_the_file_it_names():
    text = "/proc/version:Linux version 6\n/etc/os-release:A=b:c\nnoise\n/other:x\n"
    assert facts.split(text, ["/proc/version", "/etc/os-release"]) == {
        "/proc/version": ["Linux version 6"],
        "/etc/os-release": ["A=b:c"],
    }


def test_processors_are_counted_and_named_on_x86():
    lines = ["processor\t: 0", "model name\t: Xeon 5", "microcode\t: 0x1", "", "processor\t: 1"]
    found = cpu.parse({"/proc/cpuinfo": [*lines, "model name\t: other"]})
    assert found == {"cpus": "2", "cpu": "Xeon 5", "microcode": "0x1"}


def test_processors_are_named_on_arm():
    found = cpu.parse({"/proc/cpuinfo": ["processor\t: 0", "CPU part\t: 0xd0c"]})
    assert found == {"cpus": "1", "cpu": "0xd0c"}


def test_governor_smt_and_mitigations_are_facts_where_the_kernel_tells():
    folder = "/sys/devices/system/cpu/"
    found = cpu.parse(
        {
            folder + "cpu0/cpufreq/scaling_governor": ["performance"],
            folder + "smt/active": ["1"],
            folder + "vulnerabilities/mds": ["Mitigation: Clear CPU buffers"],
        }
    )
    assert found == {
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


def test_this_machine_says_what_it_is():
    transport = open_transport("here", Host(address="127.0.0.1", transport="local"))
    found = facts.gather(transport)
    transport.close()
    assert found["kernel"].startswith("Linux version")
    assert int(found["cpus"]) >= 1
    assert {"memory", "hostname", "net.core.rmem_max"} <= found.keys()
