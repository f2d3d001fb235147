"""Plans that require a certificate: what refuses, when it doesn't, and what a gate tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.copy_samples import CERTIFICATE

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import RailgaugeError
from railgauge.cli import cli
from railgauge.engine.deploy import bundle
from railgauge.store import Store

CPU = CertificateCheck("rate", "cpu", "op/s", 0.003, True, 1e9, 1e9, 0.0, 0.001)
PLAN = """railgauge: 1
name: careful
hosts: {here: {address: 127.0.0.1, transport: local}}
require: certificate
tests:
  - {name: burn, engine: cpu, replications: 3, set: {duration: 20ms}, system_log: off}
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    plan = tmp_path / "careful.yaml"
    plan.write_text(PLAN)
    return plan


def railgauge(*arguments: str | Path) -> tuple[int, str]:
    """Return the exit code and what is said, as the command would."""
    result = CliRunner().invoke(cli, [*map(str, arguments)], standalone_mode=False)
    if isinstance(result.exception, RailgaugeError):
        return result.exception.exit_code, str(result.exception)
    assert result.exception is None, result.output
    return result.return_value or 0, result.output


def certify(**changes: str) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    head = replace(
        CERTIFICATE,
        uid=str(changes),
        boot_id=boot,
        engines_hash=bundle().digest,
        kernel=Path("/proc/sys/kernel/osrelease").read_text().strip(),
        host=Path("/proc/sys/kernel/hostname").read_text().strip(),
        checks=(CPU,),
    )
    with Store.open("railgauge.db") as store:
        store.add_certificate(replace(head, **changes))  # type: ignore[arg-type]


def test_nothing_is_measured_or_stored_without_the_certificate(plan: Path) -> None:
    code, text = railgauge("run", plan)
    assert code == 3
    assert "plan careful requires a certificate of its engines" in text
    assert "here: no certificate" in text
    assert not Path("railgauge.db").exists()
    certify(boot_id="before")
    code, text = railgauge("gate", plan, "--set-missing")
    assert code == 3
    assert "until the machine was booted since" in text
    with Store.open("railgauge.db") as store:
        assert store.run_ids() == []


def test_with_the_certificate_it_runs_and_a_gate_says_since_when(plan: Path) -> None:
    certify()
    code, text = railgauge("gate", plan, "--set-missing")
    assert code == 0
    day = CERTIFICATE.made_at[:10]
    assert f"here: cpu certified on {day} (railgauge calibrate)" in text


def test_check_says_what_is_required(plan: Path) -> None:
    assert "requires a certificate of cpu on all its hosts" in railgauge("check", plan)[1]
    plan.write_text(PLAN.replace("certificate", "luck"))
    code, text = railgauge("check", plan)
    assert code == 2
    assert "'require'" in text


def test_engines_that_can_not_be_certified_are_a_mistake(plan: Path) -> None:
    plan.write_text(
        PLAN.replace("engine: cpu", "engine: hpl").replace(", set: {duration: 20ms}", "")
    )
    code, text = railgauge("check", plan)
    assert code == 2
    assert "hpl can't be certified" in text
