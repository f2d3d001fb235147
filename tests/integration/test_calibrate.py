"""Calibrations for real: hosts in namespaces, traffic on a link, and truths beside railgauge's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.build_progress import progress_of_builds

from railgauge.base.certificate import CertificateCheck
from railgauge.calibrate.broken_instruments import BROKEN_INSTRUMENTS, broken_check
from railgauge.calibrate.calibration import calibrate as calibrate_against
from railgauge.calibrate.calibration import chosen_truths
from railgauge.engine.deploy import bundle
from railgauge.store import Store

pytestmark = pytest.mark.usefixtures("namespaces")


def calibrate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command_line.railgauge("calibrate", "--db", "c.db", *arguments, cwd=folder, timeout=None)


def test_what_is_counted_is_exact_on_any_machine(tmp_path: Path) -> None:
    # A machine that drops packets itself can't make these truths, and says so.
    for _ in range(5):
        completed = calibrate(tmp_path, "--only", "lost", "--only", "retransmits", "--json")
        certificate = json.loads(completed.stdout)
        conclusions = {check["conclusion"] for check in certificate["checks"]}
        assert conclusions <= {"certified", "not certifiable here"}, completed.stdout
        if conclusions == {"certified"}:
            break
        assert all(
            check["reason"] for check in certificate["checks"] if "not" in check["conclusion"]
        )
        (tmp_path / "c.db").unlink()
    assert (completed.returncode, completed.stderr) == (0, ""), completed.stdout
    lost, resent = certificate["checks"]
    assert (lost["value"], lost["error"], lost["conclusion"]) == (lost["truth"], 0, "certified")
    # Every 97th of four times 2,500 datagrams.
    assert lost["truth"] == 4 * 2500 // 97
    assert resent["truth"] > 0
    assert (resent["error"], resent["conclusion"]) == (0, "certified")
    # No engine of which only some checks were made is certified.
    assert certificate["certified"] == []
    assert "tcp throughput at 50 Mbit/s" in certificate["left_out"]
    with Store.open(str(tmp_path / "c.db"), create=False) as store:
        (stored,) = store.certificates()
    assert stored.uid == certificate["uid"]
    assert stored.certified() == ()


@pytest.mark.parametrize("check", ["udp lost datagrams", "tcp retransmits"])
def test_a_count_that_is_off_by_one_is_shown_on_any_machine(check: str) -> None:
    (broken,) = (broken for broken in BROKEN_INSTRUMENTS if broken.check == check)
    # What the machine itself loses, or a stream's last segment, leaves no truth to compare with.
    for _ in range(5):
        result = broken_check(broken)
        if result.conclusion != "not certifiable here":
            break
        assert result.reason
    assert (abs(result.error or 0), result.conclusion) == (1, "wrong")


@pytest.mark.parametrize(
    "word",
    [
        "udp throughput at 50",
        "tcp throughput at 50",
        "udp round trip over 0",
        "udp round trip over 20",
    ],
)
def test_a_right_instrument_is_never_shown_to_be_wrong(word: str) -> None:
    (truth,) = chosen_truths([word])
    check = truth.hold()
    assert check.conclusion != "wrong"
    if check.conclusion == "not certifiable here":
        # Only a machine that had something else to do, or an error within the limit, unexplained.
        assert check.reason or abs(check.error or 0.0) <= check.limit


def test_a_machine_where_no_truth_can_be_made_certifies_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (truth,) = chosen_truths(["lost"])
    monkeypatch.setenv("PATH", str(tmp_path))
    check = truth.hold()
    assert (check.value, check.conclusion) == (None, "not certifiable here")
    assert check.reason


def test_an_unknown_check_is_answered_with_those_there_are(tmp_path: Path) -> None:
    proc = calibrate(tmp_path, "--only", "lots")
    assert proc.returncode == 2
    assert "no check has 'lots' in its name; there are: udp throughput at 50 Mbit/s" in proc.stderr


def test_a_certificate_says_what_it_holds_for(tmp_path: Path) -> None:
    truths = chosen_truths(["retransmits"])
    announced: list[CertificateCheck] = []
    certificate = calibrate_against(truths, announced.append)
    assert certificate.results == tuple(announced)
    assert {check.engine for check in certificate.checks} == {"tcp"}
    assert certificate.certified() == ()
    assert certificate.kernel == Path("/proc/sys/kernel/osrelease").read_text().strip()
    assert certificate.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert certificate.engines_hash == bundle().digest
    with Store.open(str(tmp_path / "c.db")) as store:
        store.add_certificate(certificate)
        assert store.certificates() == [certificate]


def test_the_command_says_where_engines_are_built(tmp_path: Path) -> None:
    lines = progress_of_builds(tmp_path, "calibrate", "--db", "c.db", "--only", "mpi messages")
    assert lines == [
        "building the engines on this machine: about half a minute\n",
        "building rail-mpi on this machine: about half a minute\n",
    ]
