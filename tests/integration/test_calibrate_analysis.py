"""Truths of reports, verdicts and gates, through a real store; the gate's noise is measured."""

from __future__ import annotations

import pytest

from railgauge.calibrate.broken_instruments import (
    BROKEN_INSTRUMENTS,
    BrokenInstrument,
    broken_check,
)
from railgauge.calibrate.calibration import chosen_truths

ANALYSIS = [b for b in BROKEN_INSTRUMENTS if b.check.startswith(("report", "compare"))]


@pytest.mark.parametrize("word", ["report", "compare"])
def test_reports_and_verdicts_are_exact_on_any_machine(word: str) -> None:
    checks = [truth.hold() for truth in chosen_truths([word])]
    assert [(check.engine, check.conclusion) for check in checks] == [(word, "certified")] * len(
        checks
    )
    # Each number in three formats: nothing was left out.
    assert [check.truth for check in checks] == ([15, 15, 30] if word == "report" else [5])


@pytest.mark.parametrize("broken", ANALYSIS, ids=lambda broken: broken.name)
def test_broken_reports_and_verdicts_are_wrong_on_any_machine(broken: BrokenInstrument) -> None:
    assert broken_check(broken).conclusion == "wrong"


def test_a_right_gate_is_never_wrong_and_one_with_more_alarms_is() -> None:
    for truth in chosen_truths(["gate"]):
        check = truth.hold()
        assert check.conclusion == "certified" or check.reason
        assert check.conclusion != "wrong"
    (broken,) = (b for b in BROKEN_INSTRUMENTS if b.check == "gate false alarms")
    assert broken_check(broken).conclusion == "wrong"
