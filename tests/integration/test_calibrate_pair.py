"""A pair of hosts behind real sshds held against the counters of their interfaces."""

from __future__ import annotations

import json
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.sshlab import Lab

from railgauge.calibrate.broken_instruments import BROKEN_PAIR_INSTRUMENTS
from railgauge.calibrate.calibration import calibrate_pair
from railgauge.calibrate.host_pair import choose_link
from railgauge.engine.deploy import bundle
from railgauge.run.execution import Observer
from railgauge.store import Store

BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
RELEASE = Path("/proc/sys/kernel/osrelease").read_text().strip()


@pytest.fixture
def hosts(lab: Lab, tmp_path: Path) -> Path:
    file = tmp_path / "hosts.yaml"
    file.write_text(
        f"hosts:\n  a: {{address: {lab.a.address}, ssh: host-a}}\n"
        f"  b: {{address: {lab.b.address}, ssh: host-b}}\n"
        "links: {ab: {from: a, to: b}, ba: {from: b, to: a}}\n"
    )
    return file


def test_counts_are_exact_and_rates_never_wrong_and_the_certificate_says_between_whom(
    hosts: Path, tmp_path: Path
) -> None:
    completed = command_line.run(
        [*command_line.COMMAND, "calibrate", str(hosts), "--db", "c.db", "--only", "udp", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert completed.stderr == ""
    certificate = json.loads(completed.stdout)
    checks = {check["name"]: check for check in certificate["checks"]}
    assert list(checks) == [
        "udp throughput",
        "udp datagrams sent",
        "udp datagrams received",
        "udp round trip",
    ]
    assert certificate["left_out"] == ["tcp throughput"]
    assert all(check["conclusion"] != "wrong" for check in checks.values())
    # On a machine that stalls looks at counters can come too late, and a stream can fail.
    unmeasured = [check for check in checks.values() if check["error"] is None]
    assert all(check["conclusion"] == "not certifiable here" for check in unmeasured)
    assert all(check["reason"] for check in unmeasured)
    sent, rate = checks["udp datagrams sent"], checks["udp throughput"]
    if sent not in unmeasured:
        assert (sent["error"], sent["conclusion"]) == (0, "certified")
    if rate not in unmeasured:
        assert abs(rate["error"]) <= max(rate["uncertainty"], rate["limit"])
    assert (certificate["host"], certificate["peer"]) == ("a", "b")
    assert certificate["boot_id"] == certificate["peer_boot_id"] == BOOT
    assert certificate["kernel"] == certificate["peer_kernel"] == RELEASE
    assert certificate["engines_hash"] == bundle().digest
    with Store.open(str(tmp_path / "c.db"), create=False) as store:
        (stored,) = store.certificates()
    assert (stored.uid, stored.peer) == (certificate["uid"], "b")


def test_no_broken_instrument_is_certified_on_a_pair(hosts: Path, tmp_path: Path) -> None:
    # Only a machine that had something else to do can't show rates, times and counts.
    for _ in range(5):
        completed = command_line.run(
            [*command_line.COMMAND, "calibrate", str(hosts), "--link", "ba", "--self-test"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert completed.stderr == ""
        names, checks = [], {}
        for line in completed.stdout.splitlines():
            if line.endswith(":") and not line.startswith(" "):
                names.append(line.removesuffix(":"))
            elif names and line.startswith(("udp ", "tcp ")):
                checks[names[-1]] = line
        assert names == [broken.name for broken in BROKEN_PAIR_INSTRUMENTS]
        assert all(line.endswith((" wrong", "not certifiable here")) for line in checks.values())
        assert "certified in spite of the fault" not in completed.stdout
        if checks["datagrams sent × 0.97"].endswith(" wrong"):
            break
    assert checks["datagrams sent × 0.97"].endswith(" wrong"), completed.stdout


@contextmanager
def cross_traffic(lab: Lab) -> Iterator[None]:
    """Have other datagrams pass from a to b: a thousand a second, at most five minutes long."""
    send = (
        "import socket, time\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "end = time.monotonic() + 300\n"
        "while time.monotonic() < end:\n"
        f"    s.sendto(bytes(300), ('{lab.b.address}', 9)); time.sleep(0.001)\n"
    )
    sender = subprocess.Popen(["ip", "netns", "exec", lab.a.namespace, "python3", "-c", send])
    stopper = threading.Timer(300, sender.kill)
    stopper.start()
    try:
        yield
    finally:
        stopper.cancel()
        sender.kill()
        sender.wait()


def test_where_other_traffic_passes_nothing_is_wrong_and_what_it_changed_not_certifiable(
    hosts: Path, lab: Lab
) -> None:
    with cross_traffic(lab):
        certificate = calibrate_pair(
            choose_link(hosts, None), ["throughput", "datagrams"], lambda _: None, Observer()
        )
    by_conclusion = defaultdict(list)
    for check in certificate.results:
        by_conclusion[check.conclusion].append(check)
    # A count that agrees in spite of the others is right, as is TCP, of which they are a trifle.
    assert by_conclusion.keys() <= {"not certifiable here", "certified"}, certificate.results
    assert by_conclusion["not certifiable here"]
    assert all(check.reason for check in by_conclusion["not certifiable here"])


def test_a_link_that_is_not_there_is_a_mistake(hosts: Path, tmp_path: Path) -> None:
    for arguments, sentence in (
        ([str(hosts), "--link", "ac"], "has no link 'ac'; there are: ab, ba"),
        (["--link", "ab"], "--link names a link of a hosts file"),
        ([str(hosts), "--only", "lots"], "no check has 'lots' in its name"),
    ):
        completed = command_line.run(
            [*command_line.COMMAND, "calibrate", "--db", "c.db", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert (completed.returncode, sentence in completed.stderr) == (2, True), completed.stderr
