"""A run keeps what its hosts could do at most, and says so wherever the hosts are described."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.support import command_line

from railgauge.hosts.peaks.peak import Peak
from railgauge.store import Store

PLAN = """\
railgauge: 1
name: peaks
hosts:
  here:
    address: 127.0.0.1
    transport: local
    peaks: {memory: {value: 68.256GB/s, source: data sheet}, memory_latency: 14ns}
links:
  here: {from: here, to: here, rate: 10Gbit/s}
  idle: {from: here, to: here, rate: 1Gbit/s}
tests:
  - name: stream
    engine: udp
    links: [here]
    set: {mode: stream, count: 100}
    replications: 1
"""


def railgauge(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command_line.railgauge(*arguments, cwd=folder)


def test_declared_peaks_and_rates_are_stored_with_the_run(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PLAN)
    completed = railgauge(tmp_path, "run", "p.yaml")
    assert completed.returncode == 0, completed.stderr
    memory = Peak("here", "memory", 68.256e9, "B/s", "declared: data sheet")
    latency = Peak("here", "memory_latency", 14e-9, "s", "declared: plan")
    # The link has the host's name, and yet they have nothing to do with one another.
    rate = Peak("here", "rate", 10e9, "bit/s", "declared: rate in the plan")
    with Store.open(str(tmp_path / "railgauge.db"), create=False) as store:
        stored = {(peak.host, peak.resource): peak for peak in store.peaks(1)}
        of_hosts = store.run(1).peaks
    assert stored["here", "memory"] == memory
    assert stored["here", "memory_latency"] == latency
    assert stored["here", "rate"] == rate
    assert not any(host == "idle" for host, _ in stored)
    assert {peak.host for peak in of_hosts} == {"here"}
    assert rate not in of_hosts
    document = json.loads(railgauge(tmp_path, "show", "1", "--json").stdout)
    assert document["peaks"][: len(of_hosts)] == [
        {
            "host": peak.host,
            "resource": peak.resource,
            "value": peak.value,
            "unit": peak.unit,
            "source": peak.source,
        }
        for peak in of_hosts
    ]


def test_check_tells_a_declared_mistake_and_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(PLAN.replace("14ns", "14GB/s"))
    completed = railgauge(tmp_path, "check", "p.yaml")
    assert completed.returncode == 2
    assert "p.yaml:7:" in completed.stderr
    assert "'memory_latency': '14GB/s' is in B/s, but this is in s" in completed.stderr
