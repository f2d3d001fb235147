"""What hosts could do at most: from their facts, or as their owner declares."""

from __future__ import annotations

import pytest
from tests.support.facts_samples import facts_of

from railgauge.hosts.peaks.host_peaks import host_peaks, link_peak, missing_peak_reason
from railgauge.hosts.peaks.peak import Peak
from railgauge.plan.declared_peaks import RESOURCES, ByteRate, Peaks, Time

# AMD's data sheet of the EPYC 7543: 32 cores, 3.7 GHz at most, eight channels of DDR4-3200 which
# carry 204.8 GB/s.
EPYC = {
    "virtual_machine": "none",
    "cpu": "AMD EPYC 7543 32-Core Processor",
    "cpu.vendor": "AuthenticAMD",
    "cpu_id": "cpu family 25, model 1, stepping 1",
    "cpu.vector": "avx avx2 fma sse2",
    "cpu.cores": "32",
    "frequency.driver": "acpi-cpufreq",
    "frequency.hardware_maximum": "3700 MHz",
    "frequency.steps": "1500 2100 2800 MHz",
    "frequency.boost": "on",
    "memory.modules": "8 x 32 GiB DDR4 rated 3200 MT/s",
    "memory.channels": "8 x 64 bit x 3200 MT/s",
    "peer_interfaces": "eth0 lo",
    "nic.eth0.speed": "100000 Mbit/s",
    "nic.eth0.slot": "0000:3b:00.0",
}
XEON = EPYC | {
    "cpu": "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz",
    "cpu.vendor": "GenuineIntel",
    "cpu_id": "cpu family 6, model 85, stepping 7",
    "cpu.vector": "avx avx2 avx512f fma sse2",
    "frequency.driver": "intel_pstate",
    "frequency.hardware_maximum": "3900 MHz",
}
NOTHING = Peaks()


def host_peak(facts: dict[str, str], resource: str) -> Peak | None:
    peaks = {peak.resource: peak for peak in host_peaks("gw1", NOTHING, facts)}
    return peaks.get(resource)


def test_a_server_whose_tables_are_complete_has_what_its_data_sheet_says() -> None:
    assert host_peaks("gw1", NOTHING, EPYC) == (
        Peak(
            *("gw1", "cpu_single", 32 * 8 * 2 * 2 * 3.7e9, "op/s"),
            "found: 32 cores × 8 lanes × 2 × 2 units × 3.7 GHz (cpufreq)",
        ),
        Peak(
            *("gw1", "cpu_double", 32 * 4 * 2 * 2 * 3.7e9, "op/s"),
            "found: 32 cores × 4 lanes × 2 × 2 units × 3.7 GHz (cpufreq)",
        ),
        Peak(
            *("gw1", "memory", 204.8e9, "B/s"),
            "found: 8 channels × 8 B × 3200 MT/s (SMBIOS)",
        ),
        Peak("gw1", "network", 100e9, "bit/s", "found: 100000 Mbit/s of eth0 (sysfs)"),
    )


@pytest.mark.parametrize(
    ("identity", "vector", "per_cycle"),
    [
        ("GenuineIntel: cpu family 6, model 45, stepping 7", "avx", 8),  # Sandy Bridge-EP
        ("GenuineIntel: cpu family 6, model 79, stepping 1", "avx avx2", 16),  # Broadwell-EP
        ("GenuineIntel: cpu family 6, model 106, stepping 6", "avx avx2 avx512f", 32),
        ("GenuineIntel: cpu family 6, model 106, stepping 6", "avx avx2", 16),  # AVX-512 off
        ("GenuineIntel: cpu family 6, model 140, stepping 1", "avx avx2 avx512f", 16),
        ("GenuineIntel: cpu family 6, model 143, stepping 8", "avx avx2 avx512f", 32),
        ("AuthenticAMD: cpu family 23, model 1, stepping 2", "avx avx2", 8),  # Zen
        ("AuthenticAMD: cpu family 23, model 49, stepping 0", "avx avx2", 16),  # Zen 2
        ("AuthenticAMD: cpu family 25, model 17, stepping 1", "avx avx2 avx512f", 16),  # Zen 4
        ("AuthenticAMD: cpu family 26, model 2, stepping 1", "avx avx2 avx512f", 32),  # Zen 5
        (": CPU implementer 0x41, CPU part 0xd0c, CPU variant 0x3", "asimd", 8),  # Neoverse N1
        (": CPU implementer 0x41, CPU part 0xd4f, CPU variant 0x0", "asimd sve", 16),
        (": CPU implementer 0x46, CPU part 0x001, CPU variant 0x1", "asimd sve", 32),  # A64FX
    ],
)
def test_operations_a_cycle_are_those_of_the_vendors_manuals(
    identity: str, vector: str, per_cycle: int
) -> None:
    vendor, _, numbers = identity.partition(": ")
    cpu = {"cpu.vendor": vendor, "cpu_id": numbers, "cpu.vector": vector, "cpu.cores": "1"}
    clock = {"frequency.driver": "cppc_cpufreq", "frequency.hardware_maximum": "1000 MHz"}
    double, single = (host_peak({**cpu, **clock}, f"cpu_{name}") for name in ("double", "single"))
    assert double is not None
    assert single is not None
    assert double.value == per_cycle * 1e9
    assert single.value == 2 * double.value


def test_models_with_one_and_with_two_wide_units_are_told_apart_by_their_names() -> None:
    two = host_peak(XEON, "cpu_double")
    assert two is not None
    assert two.value == 32 * 8 * 2 * 2 * 3.9e9
    silver = XEON | {"cpu": "Intel(R) Xeon(R) Silver 4214 CPU @ 2.20GHz"}
    assert host_peak(silver, "cpu_double") is None
    assert missing_peak_reason("cpu_double", silver).startswith(
        "how many units this model has is not known"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"virtual_machine": "kvm"}, "a virtual machine may report any model and clock"),
        ({"frequency.hardware_maximum": ""}, "the kernel doesn't report the clock (no cpufreq)"),
        ({"frequency.hardware_maximum": "3700, 4900 MHz"}, "the cores' clocks differ"),
        ({"frequency.hardware_maximum": "2800 MHz"}, "the frequency driver doesn't report"),
        ({"frequency.steps": ""}, "the frequency driver doesn't report the clock with boost"),
        ({"cpu.vector": "sse2"}, "the kernel doesn't show the vector instructions"),
        ({"cpu.cores": ""}, "the kernel doesn't report the cores"),
        ({"cpu_id": "cpu family 21, model 2, stepping 0"}, "how many units this model has"),
        ({"cpu_id": ""}, "how many units this model has"),
    ],
)
def test_without_a_certain_clock_or_model_there_is_no_peak(
    changes: dict[str, str], reason: str
) -> None:
    facts = EPYC | changes
    assert host_peak(facts, "cpu_double") is None
    assert missing_peak_reason("cpu_double", facts).startswith(reason)
    assert missing_peak_reason("cpu_double", facts).endswith(
        "declare it as 'peaks: {cpu_double: …}' in the hosts file"
    )


def test_with_boost_switched_off_the_clock_is_the_base() -> None:
    still = XEON | {"frequency.boost": "off", "frequency.base": "2500 MHz"}
    peak = host_peak(still, "cpu_double")
    assert peak is not None
    assert peak.value == 32 * 8 * 2 * 2 * 2.5e9
    last = host_peak(
        EPYC | {"frequency.boost": "off", "frequency.hardware_maximum": "2800 MHz"}, "cpu_double"
    )
    assert last is not None
    assert last.value == 32 * 4 * 2 * 2 * 2.8e9


def test_channels_that_differ_are_added() -> None:
    facts = EPYC | {"memory.channels": "1 x 64 bit x 2933 MT/s, 1 x 64 bit x 3200 MT/s"}
    peak = host_peak(facts, "memory")
    assert peak is not None
    assert peak.value == pytest.approx((2933 + 3200) * 8e6)
    assert "1 channel × 8 B × 2933 MT/s + 1 channel × 8 B × 3200 MT/s" in peak.source


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"virtual_machine": "kvm"}, "a virtual machine may report any memory"),
        ({"memory.channels": ""}, "the firmware's tables don't report the memory's channels"),
    ],
)
def test_memory_that_no_table_describes_has_no_peak(changes: dict[str, str], reason: str) -> None:
    assert host_peak(EPYC | changes, "memory") is None
    assert missing_peak_reason("memory", EPYC | changes).startswith(reason)
    assert "root's to read" in missing_peak_reason("memory", {})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"virtual_machine": "kvm"}, "a virtual machine may report any speed"),
        ({"peer_interfaces": "lo"}, "no interface leads to another host"),
        ({"nic.eth0.speed": ""}, "eth0 doesn't report its speed"),
        ({"peer_interfaces": "veth1", "nic.veth1.speed": "10000 Mbit/s"}, "veth1 is no hardware"),
        (
            {
                "peer_interfaces": "eth0 ib0",
                "nic.ib0.speed": "200000 Mbit/s",
                "nic.ib0.slot": "0000:5e:00.0",
            },
            "the interfaces to other hosts differ in speed (eth0, ib0)",
        ),
    ],
)
def test_a_speed_that_nothing_keeps_to_is_no_peak(changes: dict[str, str], reason: str) -> None:
    assert host_peak(EPYC | changes, "network") is None
    assert missing_peak_reason("network", EPYC | changes).startswith(reason)


def test_a_bond_of_cards_has_the_speed_that_the_kernel_gives_it() -> None:
    bond = {"peer_interfaces": "bond0", "nic.bond0.bond.members": "eth0 eth1"}
    speeds = {"nic.bond0.speed": "200000 Mbit/s", "nic.eth1.slot": "0000:3b:00.1"}
    peak = host_peak(EPYC | bond | speeds, "network")
    assert peak is not None
    assert peak.value == 200e9
    pair = EPYC | bond | speeds | {"nic.bond0.bond.members": "eth0 veth1"}
    assert host_peak(pair, "network") is None


def test_what_is_declared_goes_before_what_is_found() -> None:
    declared = Peaks(
        memory=ByteRate(value="200GB/s", source="data sheet of the board"),  # type: ignore[arg-type]
        memory_latency=Time(value="14ns"),  # type: ignore[arg-type]
    )
    peaks = {peak.resource: peak for peak in host_peaks("gw1", declared, EPYC, file="plan")}
    sheet = "declared: data sheet of the board"
    assert peaks["memory"] == Peak("gw1", "memory", 200e9, "B/s", sheet)
    latency = Peak("gw1", "memory_latency", 14e-9, "s", "declared: plan")
    assert peaks["memory_latency"] == latency
    assert peaks["network"].source.startswith("found: ")


def test_the_virtual_machine_of_the_fixtures_has_no_peak_and_every_resource_says_why() -> None:
    facts = facts_of("virtio_vm")
    assert host_peaks("gw1", NOTHING, facts) == ()
    assert all(missing_peak_reason(resource, facts) for resource in RESOURCES)
    assert host_peaks("gw1", NOTHING, {}) == ()


def test_a_links_peak_is_its_declared_rate() -> None:
    peak = Peak("gw→hh", "rate", 1e9, "bit/s", "declared: rate in the hosts file")
    assert link_peak("gw→hh", 1e9) == peak
