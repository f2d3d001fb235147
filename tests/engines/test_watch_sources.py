"""What rail-watch reads out of kept trees of /proc and /sys, out of changing ones, and nonsense."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import FIXTURES
from tests.support.watcher import Watcher, differences


@pytest.fixture
def program(folder: Path) -> Path:
    return folder / "rail-watch"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the larger tree, to be changed."""
    return Path(shutil.copytree(FIXTURES / "proc-cluster", tmp_path / "root"))


@pytest.fixture
def changing(program: Path, tree: Path) -> Iterator[Watcher]:
    """A watcher of that copy, that reads it when asked."""
    with Watcher(program, "--interval=1h", f"--root={tree}") as watcher:
        watcher.next("sample")
        yield watcher


def _values(program: Path, root: Path) -> tuple[dict[str, int], Watcher]:
    with Watcher(program, "--interval=1h", f"--root={root}") as watcher:
        watcher.next("sample")
        return watcher.values, watcher


def _part(values: dict[str, int], prefix: str) -> dict[str, int]:
    return {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}


# Each source.


def test_every_source_of_a_cluster_node_is_there(program: Path) -> None:
    _, watcher = _values(program, FIXTURES / "proc-cluster")
    assert watcher.ready["missing"] == []
    assert {"fabric", "throttling", "frequencies", "cgroup"} <= set(watcher.ready["sources"])


def test_cpu_time_by_kind(program: Path) -> None:
    values, _ = _values(program, FIXTURES / "proc-cluster")
    kinds = [
        "user",
        "nice",
        "system",
        "idle",
        "iowait",
        "irq",
        "softirq",
        "steal",
        "guest",
        "guest_nice",
    ]
    ticks = [4000, 30, 2000, 90000, 120, 0, 60, 7, 5, 1]
    assert _part(values, "cpu/all/") == dict(zip(kinds, ticks, strict=True))
    assert _part(values, "cpu/1/")["guest_nice"] == 1
    assert _part(values, "stat/") == {
        "interrupts": 987654,
        "context_switches": 123456789,
        "forks": 4321,
        "running": 3,
        "blocked": 1,
        "softirqs": 5555,
    }


def test_interrupts_by_cpu_with_their_devices(program: Path) -> None:
    values, watcher = _values(program, FIXTURES / "proc-cluster")
    assert _part(values, "interrupt/24/") == {"0": 0, "1": 1200, "2": 0, "3": 4}
    assert values["interrupt/25/2"] == 2**32 - 1
    assert values["interrupt/LOC/3"] == 500003
    assert values["interrupt_errors/ERR"] == 6
    assert watcher.labels == {
        "interrupt/0": "timer",
        "interrupt/9": "acpi",
        "interrupt/24": "eth0-TxRx-0",
        "interrupt/25": "mlx5_comp0@pci:0000:3b:00.0, eth1",
        "interrupt/26": "arch timer",
        "interrupt/NMI": "Non-maskable interrupts",
        "interrupt/LOC": "Local timer interrupts",
    }


def test_softirqs_by_cpu(program: Path) -> None:
    values, _ = _values(program, FIXTURES / "proc-cluster")
    assert _part(values, "softirq/NET_RX/") == {"0": 100, "1": 101, "2": 102, "3": 103}


def test_memory_in_bytes_where_the_kernel_gives_a_unit(program: Path) -> None:
    values, watcher = _values(program, FIXTURES / "proc-cluster")
    memory = _part(values, "memory/")
    assert memory["MemTotal"] == 65536000 * 1024
    assert memory["Active(anon)"] == 128 * 1024
    assert memory["HugePages_Total"] == 4
    assert watcher.names.index("memory/MemTotal") in watcher.gauges


def test_events_of_virtual_memory_without_its_states(program: Path) -> None:
    values, watcher = _values(program, FIXTURES / "proc-cluster")
    vm = _part(values, "vm/")
    assert vm["pswpin"] == 3
    assert vm["oom_kill"] == 0
    assert not [name for name in vm if name.startswith("nr_")]
    assert watcher.names.index("vm/workingset_nodes") in watcher.gauges
    assert watcher.names.index("vm/pgfault") not in watcher.gauges


def test_interfaces_with_their_errors_told_apart(program: Path) -> None:
    values, _ = _values(program, FIXTURES / "proc-cluster")
    assert _part(values, "interface/eth0/") == {
        "rx_bytes": 1000001,
        "rx_packets": 1002,
        "rx_errors": 3,
        "rx_dropped": 4,
        "rx_fifo": 5,
        "rx_frame": 6,
        "rx_compressed": 7,
        "rx_multicast": 8,
        "tx_bytes": 2000001,
        "tx_packets": 2002,
        "tx_errors": 13,
        "tx_dropped": 14,
        "tx_fifo": 15,
        "tx_collisions": 16,
        "tx_carrier": 17,
        "tx_compressed": 18,
        "rx_missed_errors": 1,
        "rx_crc_errors": 2,
        "rx_length_errors": 3,
        "rx_over_errors": 4,
        "rx_nohandler": 5,
        "tx_aborted_errors": 6,
        "tx_heartbeat_errors": 7,
        "tx_window_errors": 8,
    }
    assert values["interface/ib0/rx_packets"] == 90123  # no blank between name and number


def test_protocols_of_both_families(program: Path) -> None:
    values, watcher = _values(program, FIXTURES / "proc-cluster")
    expected = {
        "Ip/InReceives": 777,
        "Tcp/MaxConn": -1,
        "Tcp/CurrEstab": 12,
        "Udp/RcvbufErrors": 6,
        "TcpExt/TCPTimeouts": 2,
        "IpExt/InOctets": 9999999999,
        "Ip6/InReceives": 31,
        "Udp6/RcvbufErrors": 5,
        "Icmp6/OutType133": 4,
        "UdpLite6/InDatagrams": 0,
    }
    protocols = _part(values, "protocol/")
    assert {name: protocols[name] for name in expected} == expected
    gauges = {watcher.names[i] for i in watcher.gauges if watcher.names[i].startswith("protocol/")}
    assert {g.split("/")[2] for g in gauges} == {
        "Forwarding",
        "DefaultTTL",
        "RtoAlgorithm",
        "RtoMin",
        "RtoMax",
        "MaxConn",
        "CurrEstab",
    }


def test_softnet_by_the_cpu_that_the_line_names(program: Path) -> None:
    values, _ = _values(program, FIXTURES / "proc-cluster")
    names = ("processed", "dropped", "time_squeeze", "received_rps", "flow_limit")
    assert [values[f"softnet/0/{name}"] for name in names] == [1000, 1, 2, 0, 0]
    assert [values[f"softnet/2/{name}"] for name in names] == [2**32 - 1, 0, 3, 10, 11]


def test_frequencies_in_hertz_and_throttling(program: Path) -> None:
    values, watcher = _values(program, FIXTURES / "proc-cluster")
    frequencies = {"0": 2400000000, "1": 2400001000, "2": 2400002000, "3": 2400003000}
    assert _part(values, "frequency/") == frequencies
    assert watcher.names.index("frequency/3") in watcher.gauges
    assert _part(values, "throttle/3/") == {
        "core_count": 3,
        "package_count": 7,
        "core_time_ms": 30,
        "package_time_ms": 70,
    }


def test_fabric_counters_without_settings_and_what_is_no_number(program: Path) -> None:
    values, _ = _values(program, FIXTURES / "proc-cluster")
    assert _part(values, "fabric/") == {
        "mlx5_0/1/port_rcv_data": 3086419,
        "mlx5_0/1/port_xmit_data": -1,  # all bits: as int64
        "mlx5_0/1/symbol_error": 2,
        "mlx5_0/1/out_of_sequence": 11,
        "mlx5_0/2/symbol_error": 0,
    }


def test_pressure(program: Path) -> None:
    values, _ = _values(program, FIXTURES / "proc-cluster")
    assert _part(values, "pressure/") == {
        "cpu/some": 1234567,
        "cpu/full": 0,
        "memory/some": 8,
        "memory/full": 7,
        "io/some": 99,
        "io/full": 98,
        "irq/full": 42,
    }


def test_the_own_control_group_of_version_2(program: Path) -> None:
    values, watcher = _values(program, FIXTURES / "proc-cluster")
    assert _part(values, "cgroup/") == {
        "usage_usec": 5000000,
        "nr_throttled": 3,
        "throttled_usec": 250000,
        "cpu_max_quota": -1,
        "cpu_max_period": 100000,  # no quota
        "memory_current": 1048576,
        "memory_max": 4294967296,
    }
    assert watcher.names.index("cgroup/memory_current") in watcher.gauges
    assert watcher.names.index("cgroup/nr_throttled") not in watcher.gauges


def test_the_own_control_group_of_version_1(program: Path) -> None:
    values, _ = _values(program, FIXTURES / "proc-old")
    assert _part(values, "cgroup/") == {
        "usage_usec": 7000,
        "nr_throttled": 2,
        "throttled_usec": 3000,
        "cpu_max_quota": 50000,
        "cpu_max_period": 100000,
        "memory_current": 2048,
        "memory_max": -1,  # no limit
    }


def test_in_a_container_the_control_group_at_the_top_is_our_own(program: Path, tree: Path) -> None:
    (tree / "proc/self/cgroup").write_text("0::/somewhere/on/the/host\n")
    (tree / "sys/fs/cgroup/memory.current").write_text("77\n")
    values, _ = _values(program, tree)
    assert _part(values, "cgroup/") == {"memory_current": 77}


def test_an_old_kernel_lacks_things_and_says_less_of_others(program: Path) -> None:
    values, watcher = _values(program, FIXTURES / "proc-old")
    missing = {"softirqs", "pressure/cpu", "protocols/extended", "protocols/6", "frequencies"}
    assert missing <= set(watcher.ready["missing"])
    assert "steal" not in _part(values, "cpu/all/")
    assert values["cpu/2/user"] == 200  # CPU 1 is offline
    assert values["interrupt/16/2"] == 20
    assert watcher.labels["interrupt/0"] == "timer"
    assert watcher.labels["interrupt/16"] == "uhci_hcd:usb1, eth0"
    assert "interrupt/NMI" not in watcher.labels
    assert values["softnet/1/dropped"] == 2


def test_nothing_at_all_is_said_to_be_missing(program: Path, tmp_path: Path) -> None:
    values, watcher = _values(program, tmp_path)
    assert values == {}
    assert watcher.ready["sources"] == []
    assert len(watcher.ready["missing"]) == 20


# Change.


def test_an_interrupt_that_goes_takes_none_of_the_others_with_it(
    changing: Watcher, tree: Path
) -> None:
    interrupts = tree / "proc/interrupts"
    lines = interrupts.read_text().splitlines(keepends=True)
    before = changing.values
    interrupts.write_text("".join(line for line in lines if not line.startswith("   9:")))
    after = changing.snapshot()
    assert set(before) - set(after) == {f"interrupt/9/{cpu}" for cpu in range(4)}
    interrupts.write_text("".join(lines))
    assert changing.snapshot() == before
    assert changing.names.count("interrupt/9/0") == 2
    assert changing.names.count("interrupt/24/0") == 1


def test_an_interrupt_that_changes_hands_gets_its_new_label(changing: Watcher, tree: Path) -> None:
    interrupts = tree / "proc/interrupts"
    interrupts.write_text(interrupts.read_text().replace("eth0-TxRx-0", "nvme0q1"))
    changing.snapshot()
    assert changing.labels["interrupt/24"] == "nvme0q1"


def test_a_cpu_that_goes_offline_is_gone(changing: Watcher, tree: Path) -> None:
    stat = tree / "proc/stat"
    lines = stat.read_text().splitlines(keepends=True)
    stat.write_text("".join(line for line in lines if not line.startswith("cpu2")))
    assert _part(changing.snapshot(), "cpu/2/") == {}
    assert _part(changing.values, "cpu/3/")["user"] == 1000


def test_counters_of_32_bits_go_on_when_they_wrap_around(changing: Watcher, tree: Path) -> None:
    before = changing.values
    for path, old, new in (
        ("proc/interrupts", "4294967295", "         4"),
        ("proc/net/softnet_stat", "ffffffff", "00000009"),
    ):
        (tree / path).write_text((tree / path).read_text().replace(old, new))
    moved = differences(before, changing.snapshot())
    assert moved == {"interrupt/25/2": 5, "softnet/2/processed": 10}


def test_a_counter_of_32_bits_that_was_reset_did_not_wrap_around(
    changing: Watcher, tree: Path
) -> None:
    """A driver that lets go of its interrupt and asks for it again has it counted from 0."""
    before = changing.values
    interrupts = tree / "proc/interrupts"
    interrupts.write_text(interrupts.read_text().replace("1200", "   5", 1))
    assert differences(before, changing.snapshot()) == {"interrupt/24/1": -1195}


def test_a_counter_that_was_reset_goes_down(changing: Watcher, tree: Path) -> None:
    dev = tree / "proc/net/dev"
    before = changing.values
    dev.write_text(dev.read_text().replace("1000001 1002", "1 2"))
    moved = differences(before, changing.snapshot())
    assert moved == {"interface/eth0/rx_bytes": -1000000, "interface/eth0/rx_packets": -1000}


def test_errors_are_told_apart_once_there_are_some(changing: Watcher, tree: Path) -> None:
    before = changing.values
    (tree / "sys/class/net/eth0/statistics/rx_crc_errors").write_text("12\n")
    dev = tree / "proc/net/dev"
    dev.write_text(dev.read_text().replace("2 3 4 5 6 7", "2 13 4 5 16 7"))
    moved = differences(before, changing.snapshot())
    eth0 = "interface/eth0"
    assert moved == {f"{eth0}/rx_errors": 10, f"{eth0}/rx_frame": 10, f"{eth0}/rx_crc_errors": 10}


def test_a_file_that_grows_past_its_buffer_is_read_whole(changing: Watcher, tree: Path) -> None:
    with (tree / "proc/vmstat").open("a") as vmstat:
        vmstat.writelines(f"event_{number} {number}\n" for number in range(20_000))
    values = changing.snapshot()
    assert values["vm/event_19999"] == 19_999
    assert values["vm/pgfault"] == 555555


def test_a_machine_of_256_cpus_is_read_whole(program: Path, tree: Path) -> None:
    cpus = range(256)
    heading = " ".join(f"CPU{cpu}" for cpu in cpus)
    lines = [
        f"{irq}: {' '.join(str(irq * 256 + cpu) for cpu in cpus)} PCI-MSI {irq}-edge nic-{irq}"
        for irq in range(400)
    ]
    (tree / "proc/interrupts").write_text("\n".join([heading, *lines]) + "\n")
    with Watcher(program, "--interval=1h", f"--root={tree}") as watcher:
        watcher.write("mark whole\n")
        lines = [watcher.event()]
        while lines[-1]["event"] != "mark":
            lines.append(watcher.event())
        values = watcher.values
    assert max(len(line.get("changed", [])) for line in lines) == 2 * 32768
    assert max(len(line.get("names", [])) for line in lines) == 512
    assert all(values[f"interrupt/{i}/{c}"] == i * 256 + c for i in range(400) for c in cpus)
    assert watcher.labels["interrupt/399"] == "nic-399"


# Nonsense.

NONSENSE = {
    "empty": b"",
    "no-newline": b"cpu 1 2 3",
    "only-newlines": b"\n" * 5000,
    "zeros": b"\0" * 5000,
    "enormous-numbers": b"cpu " + b"9" * 4000 + b"\neth0: " + b"8" * 500 + b" 1\nUdp: A\nUdp: 1\n",
    "minus": b"MemTotal: -\nMemFree: --5 kB\nMemAvailable: -5 kB\n",
    "endless-name": b"x" * 9000 + b": 1\n" + b"y" * 9000 + b" 1\n",
    "slashes": b"  a/b/../c: 1 2 3\n/ 5\n//: 6\n",
    "binary": bytes(random.Random(1).randbytes(20_000)),
    "colons": b":::::\n: 1\n:1 2\nCPU0 CPU0\n:1 2 x\n",
    "half-a-pair": b"Udp: A B C\nUdp: 1\nTcp: A",
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_in_every_file_does_no_harm(program: Path, tree: Path, kind: str) -> None:
    """Also between two good readings of the same files."""
    files = [path for path in tree.rglob("*") if path.is_file() and path.name != "cgroup"]
    good = {path: path.read_bytes() for path in files}
    with Watcher(program, "--interval=1h", f"--root={tree}") as watcher:
        watcher.next("sample")
        before = watcher.values
        for path in files:
            path.write_bytes(NONSENSE[kind])
        watcher.snapshot()
        for path in files:
            path.write_bytes(good[path])
        watcher.snapshot()
        after = watcher.snapshot()
        watcher.close_input()
        assert watcher.rest()[-1]["event"] == "done"
    same = ("cpu/", "interrupt/24/", "vm/", "memory/", "interface/eth0/tx_bytes")
    for prefix in same:
        assert _part(after, prefix) == _part(before, prefix)


def test_a_name_with_a_slash_stays_one_name(program: Path, tree: Path) -> None:
    (tree / "proc/vmstat").write_text("a/b 5\n")
    values, _ = _values(program, tree)
    assert _part(values, "vm/") == {"a|b": 5}


def test_a_name_that_is_no_text_is_still_json(program: Path, tree: Path) -> None:
    (tree / "proc/vmstat").write_bytes(b'\xff\xfe"\\\x01 5\n')
    values, _ = _values(program, tree)
    assert list(_part(values, "vm/").values()) == [5]


def test_a_name_longer_than_any_is_cut_off(program: Path, tree: Path) -> None:
    (tree / "proc/vmstat").write_text("z" * 1000 + " 5\n")
    values, _ = _values(program, tree)
    (name,) = _part(values, "vm/")
    assert set(name) == {"z"}
    assert len("vm/" + name) == 199
