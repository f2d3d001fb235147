"""What hosts of very different kinds answer, kept in tests/fixtures/facts, and what that says."""

from __future__ import annotations

from tests.support.facts_samples import facts_of


def facts_with_prefix(facts: dict[str, str], before: str) -> dict[str, str]:
    """Return the facts whose names begin with `before`, by the rest of their names."""
    return {
        name.removeprefix(before): text for name, text in facts.items() if name.startswith(before)
    }


def test_a_virtual_machine_says_what_it_is():
    facts = facts_of("virtio_vm")
    assert facts["cpu_id"] == "cpu family 6, model 167, stepping 1"
    assert facts["virtual_machine"] == "unknown kind"
    assert facts["boot_id"] == "801c4d63-955f-4cc9-92ab-4222acdff722"
    assert facts_with_prefix(facts, "mitigation_") == {
        "old_microcode": "Not affected",
        "retbleed": "Mitigation: Enhanced IBRS",
    }
    assert facts["swap"] == "0 kB"
    assert "swap_devices" not in facts
    assert facts_with_prefix(facts, "cpu.") == {
        "sockets": "1",
        "cores": "2",
        "threads_per_core": "1",
        "online": "0-1",
    }


def test_ways_to_peers_have_the_interfaces_mtu_where_they_name_none():
    facts = facts_of("virtio_vm")
    assert facts_with_prefix(facts, "route.") == {
        "10.0.0.1": "eth0, via 192.0.2.1, source 192.0.2.2, mtu 1400",
        "node2": "lo, source 127.0.0.1, mtu 65536",
    }
    assert facts["peer_interfaces"] == "eth0 lo"


def test_an_mtu_that_was_learned_and_expires_is_no_fact():
    assert facts_of("epyc_mlx5")["route.node2"] == "ib0, source 10.1.0.1, mtu 4092"


def test_a_virtio_card_says_what_ethtool_and_lspci_know_of_it():
    nic = facts_with_prefix(facts_of("virtio_vm"), "nic.eth0.")
    assert nic["model"] == "Red Hat, Inc. Virtio 1.0 network device (rev 01)"
    assert nic["device"] == "1af4:1041"
    assert nic["rings"] == "rx 256 of 256, tx 256 of 256"
    assert nic["channels"] == "combined 1 of 1"
    assert nic["irq_cpus"] == "0-1 0 1"
    assert facts_with_prefix(nic, "coalescing.") == {
        "adaptive": "rx off tx n/a",
        "rx-frames": "1",
        "tx-frames": "1",
    }
    assert nic["offload.tcp-segmentation-offload"] == "on"
    assert nic["offload.tx-udp-segmentation"] == "off"
    assert "tx-tcp6-segmentation" in nic["offload.others"].split()
    assert "loopback" not in nic["offload.others"].split()
    # The driver doesn't know these.
    assert not {"speed", "numa_node", "firmware", "pause", "fec"} & nic.keys()


def test_a_server_for_computing_says_how_it_is_put_together():
    facts = facts_of("epyc_mlx5")
    assert facts["machine"] == "Dell Inc. PowerEdge R7525"
    assert facts["firmware"] == "Dell Inc. 2.9.3 08/05/2022"
    assert facts["virtual_machine"] == "none"
    assert facts_with_prefix(facts, "cpu.") == {
        "sockets": "2",
        "cores": "2",
        "threads_per_core": "2",
        "cache.L1d": "32K, CPUs 0,2",
        "cache.L1i": "32K, CPUs 0,2",
        "cache.L3": "32768K, CPUs 0-3,64-67",
        "isolated": "2-3",
        "nohz_full": "2-3",
        "vendor": "AuthenticAMD",
    }
    assert facts_with_prefix(facts, "numa.") == {
        "nodes": "2",
        "0.cpus": "0,2",
        "0.memory": "263844128 kB",
        "0.distances": "10 32",
        "1.cpus": "1,10",
        "1.memory": "264211844 kB",
        "1.distances": "32 10",
    }


def test_processors_that_differ_in_microcode_or_governor_show_it():
    facts = facts_of("epyc_mlx5")
    assert facts["microcode"] == "0xa0011d5, 0xa001173"
    assert facts["governor"] == "performance, schedutil"
    assert facts["frequency.maximum"] == "2800, 3737.89 MHz"


def test_frequencies_and_sleeping_states_are_facts_but_not_the_present_frequency():
    facts = facts_of("epyc_mlx5")
    assert facts_with_prefix(facts, "frequency.") == {
        "hardware_minimum": "1500 MHz",
        "hardware_maximum": "3737.89 MHz",
        "minimum": "1500 MHz",
        "maximum": "2800, 3737.89 MHz",
        "driver": "acpi-cpufreq",
        "boost": "on",
    }
    assert facts_with_prefix(facts, "idle.") == {"driver": "acpi_idle", "states": "POLL C1 C2(off)"}


def test_a_fast_card_says_how_it_is_set():
    nic = facts_with_prefix(facts_of("epyc_mlx5"), "nic.ens2f0np0.")
    assert nic == {
        "mtu": "9000",
        "speed": "100000 Mbit/s",
        "driver": "mlx5_core",
        "driver_version": "5.8-2.0.3",
        "slot": "0000:41:00.0",
        "device": "15b3:1017",
        "subsystem": "15b3:0007",
        "model": "Mellanox Technologies MT27800 Family [ConnectX-5]",
        "numa_node": "1",
        "bus": "8.0 GT/s PCIe x8 (of 8.0 GT/s PCIe x16)",
        "firmware": "16.35.2000 (MT_0000000012)",
        "offload.rx-checksumming": "on",
        "offload.tcp-segmentation-offload": "off",
        "offload.large-receive-offload": "on",
        "offload.others": "highdma rx-vlan-filter",
        "rings": "rx 1024 of 8192, tx 1024 of 8192",
        "coalescing.adaptive": "rx on tx on",
        "coalescing.rx-usecs": "8",
        "coalescing.rx-frames": "128",
        "coalescing.tx-usecs": "16",
        "channels": "combined 32 of 63",
        "pause": "rx on, tx on",
        "fec": "RS",
    }


def test_interrupts_that_irqbalance_moves_are_no_fact():
    facts = facts_of("epyc_mlx5")
    assert facts["irqbalance"] == "running"
    assert facts["tuned_profile"] == "hpc-compute"
    assert not [name for name in facts if name.endswith("irq_cpus")]


def test_an_infiniband_adapter_says_its_firmware_and_rate():
    assert facts_with_prefix(facts_of("epyc_mlx5"), "fabric.mlx5_0.") == {
        "firmware": "20.35.1012",
        "model": "MT4123",
        "board": "MT_0000000224",
        "revision": "0",
        "port1.link_layer": "InfiniBand",
        "port1.rate": "200 Gb/sec (4X HDR)",
        "port1.state": "ACTIVE",
        "port1.phys_state": "LinkUp",
        "interfaces": "ib0",
    }


def test_limits_of_resources_are_those_in_force():
    assert facts_with_prefix(facts_of("epyc_mlx5"), "limit.") == {
        "stack": "unlimited",
        "open_files": "51200",
        "locked_memory": "unlimited",
    }


def test_a_container_on_arm_says_what_it_may_use():
    facts = facts_of("altra_container")
    assert facts["cpu"] == "0xd0c"
    assert facts["cpu_id"] == (
        "CPU implementer 0x41, CPU part 0xd0c, CPU variant 0x3, CPU revision 1"
    )
    assert facts["machine"] == "Example Altra board"
    assert facts["container"] == "docker"
    assert "virtual_machine" not in facts
    assert facts["cpu.allowed"] == "0-7"
    assert facts["capabilities"] == "00000000a80425fb"


def test_the_tightest_limit_of_the_groups_above_is_the_fact():
    assert facts_with_prefix(facts_of("altra_container"), "cgroup.") == {
        "versions": "2",
        "cpu_limit": "2.5 CPUs",
        "memory_limit": "8589934592",
        "swap_limit": "0",
        "cpuset": "0-7",
    }


def test_limits_of_the_first_kind_of_control_groups_are_read():
    assert facts_with_prefix(facts_of("xeon_v1"), "cgroup.") == {
        "versions": "1",
        "cpu_limit": "none",
        "memory_limit": "none",
        "cpuset": "0-15",
    }


def test_without_ethtool_it_is_said_what_is_unknown_and_why():
    nic = facts_with_prefix(facts_of("xeon_v1"), "nic.bond0.")
    assert nic["firmware"] == nic["rings"] == nic["offload"] == "unknown: no ethtool"
    assert nic["qdisc"] == "noqueue"
    assert facts_with_prefix(nic, "bond.") == {
        "mode": "802.3ad 4",
        "members": "em1 em2",
        "hash": "layer3+4 1",
    }
    assert nic["kind"] == "bond"


def test_queues_and_what_steers_them_are_facts_of_each_interface():
    nic = facts_with_prefix(facts_of("xeon_v1"), "nic.em1.")
    assert nic["queues"] == "2 rx, 1 tx"
    assert nic["rps"] == "0000,000000ff"
    assert nic["xps"] == "0000,00000001"


def test_an_older_kernels_files_say_the_same():
    facts = facts_of("xeon_v1")
    assert facts["frequency.base"] == "2600 MHz"
    assert facts["frequency.boost"] == "off"
    assert facts["swap_devices"] == "/dev/dm-1 partition"
    assert facts["transparent_hugepages"] == "always"
    assert facts["route.10.3.0.2"] == "bond0, source 10.3.0.1, mtu 9000"
