"""What a plan says of system logs and soakers."""

from __future__ import annotations

from pathlib import Path

import pytest

from railgauge.plan.cases import Case, expand
from railgauge.plan.load import load_plan_text
from railgauge.plan.model import Test
from railgauge.plan.system_log import Suspect, SystemLogging

PLAN = """\
railgauge: 1
name: p
hosts:
  a: {address: 10.0.0.1, ssh: a}
  b: {address: 10.0.0.2, ssh: b}
links:
  ab: {from: a, to: b}
tests:
  - name: stream
    engine: udp
"""


def read(line: str = "") -> tuple[Test, tuple[Case, ...]]:
    (expanded,) = expand(load_plan_text(f"{PLAN}    {line}\n", "p.yaml", Path("nowhere")))
    return expanded.test, expanded.cases


def test_there_is_a_sample_a_second_unless_the_plan_says_otherwise() -> None:
    assert read()[0].system_log == SystemLogging(interval="1s", suspect=Suspect())


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("off", None),
        ("false", None),
        ("on", SystemLogging()),
        ("{interval: 10ms}", SystemLogging(interval="10ms")),
        ("{suspect: off}", SystemLogging(suspect=None)),
        ("{suspect: {steal: off}}", SystemLogging(suspect=Suspect(steal="off"))),
        ("{suspect: {steal: 0.5 %}}", SystemLogging(suspect=Suspect(steal=0.005))),
        ("{suspect: {foreign_cpu: 2}}", SystemLogging(suspect=Suspect(foreign_cpu=2.0))),
        ("{suspect: {swap: off}}", SystemLogging(suspect=Suspect(swap=False))),
    ],
)
def test_what_a_plan_says_of_system_logs(written: str, expected: SystemLogging | None) -> None:
    assert read(f"system_log: {written}")[0].system_log == expected


def test_system_logs_make_no_other_case() -> None:
    (with_logs,), (without,) = read()[1], read("system_log: off")[1]
    assert with_logs.key == without.key


def test_soakers_make_another_case() -> None:
    (case,), (soaked,) = read()[1], read("soak: true")[1]
    assert soaked.key != case.key
    assert soaked.parameters == {**case.parameters, "soak": True}
    assert read("soak: false")[1] == (case,)
