"""Peaks in hosts files: read in any unit of their kind, and every mistake told where it is."""

from __future__ import annotations

import pytest
from tests.support.problems import problems

from railgauge.plan.model import HostsFile
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads

HOSTS = """\
hosts:
  gw1:
    address: 10.1.0.1
    ssh: gw1
    peaks:
"""


def declared(*lines: str) -> dict[str, tuple[float, str | None]]:
    text = HOSTS + "".join(f"      {line}\n" for line in lines)
    peaks = validate(loads(text, "h.yaml"), HostsFile).hosts["gw1"].peaks.declared()
    return {name: (peak.value, peak.source) for name, peak in peaks.items()}


def mistakes(*lines: str) -> list[str]:
    return problems(declared, *lines)


def test_peaks_are_read_in_base_units_with_their_sources() -> None:
    assert declared(
        "cpu_double: 147.2GFLOP/s",
        "cpu_integer: 588.8Gop/s",
        "memory: {value: 68.256GB/s, source: data sheet of the module}",
        "memory_latency: 14ns",
        "disk_read: 372MB/s",
        "disk_iops: {value: 90kop/s}",
        "network: 10Gbit/s",
    ) == {
        "cpu_double": (147.2e9, None),
        "cpu_integer": (588.8e9, None),
        "memory": (68.256e9, "data sheet of the module"),
        "memory_latency": (14e-9, None),
        "disk_read": (372e6, None),
        "disk_iops": (90e3, None),
        "network": (10e9, None),
    }


def test_a_host_without_peaks_declares_none() -> None:
    text = HOSTS.replace("    peaks:\n", "")
    assert validate(loads(text, "h.yaml"), HostsFile).hosts["gw1"].peaks.declared() == {}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "cpu_dobule: 3GFLOP/s",
            "h.yaml:6:7: unknown key 'cpu_dobule': did you mean 'cpu_double'?",
        ),
        ("cpu_half: 3Gop/s", "h.yaml:6:7: 'peaks': 'cpu_half' has another name: write 'cpu_int16'"),
        (
            "disk_read: 372MB",
            "h.yaml:6:18: 'disk_read': '372MB' is in B, but this is in B/s: write for example "
            "68.256GB/s or 372MB/s",
        ),
        (
            "network: 10GB/s",
            "h.yaml:6:16: 'network': '10GB/s' is in B/s, but this is in bit/s: write for example "
            "10Gbit/s",
        ),
        (
            "disk_iops: 90000",
            "h.yaml:6:18: 'disk_iops': the number 90000 is no quantity in op/s: write for example "
            "147.2GFLOP/s or 90kop/s",
        ),
        (
            "memory: 0GB/s",
            "h.yaml:6:15: 'memory': '0GB/s' is nothing to be reached: write for example "
            "68.256GB/s or 372MB/s",
        ),
        (
            "memory: [1GB/s]",
            "h.yaml:6:15: 'memory': a list is no quantity in B/s: write for example "
            "68.256GB/s or 372MB/s",
        ),
        (
            "memory: {value: 12ns}",
            "h.yaml:6:15: 'memory': '12ns' is in s, but this is in B/s: write for example "
            "68.256GB/s or 372MB/s",
        ),
        ("memory: {source: x}", "h.yaml:6:15: the key 'value' is missing here: add it"),
        ("memory:", "h.yaml:6:14: 'memory' has no value: write one or drop it"),
    ],
)
def test_a_mistake_is_told_with_what_to_write(line: str, says: str) -> None:
    assert mistakes(line) == [says]


def test_an_unknown_key_beside_a_value_is_told() -> None:
    (problem,) = mistakes("memory: {value: 1GB/s, sauce: x}")
    assert problem.endswith("unknown key 'sauce': did you mean 'source'?")
