"""What a rail-hold says of who has a machine, also where that can't be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from railgauge.engine.measure import EquippedHost
from railgauge.hosts.transport.fake import LINE, FakeTransport, Program
from railgauge.run.holding import Claim


def claim(**figures: Any) -> Claim:
    """Return what becomes of a machine that another has, as its rail-hold says."""
    busy = {"event": "busy", "user": "an", "uid": 1000, "pid": 42, "seconds": 7.5, "text": "run 3"}

    def hold(argv: Sequence[str]) -> Program:
        yield json.dumps({**busy, **figures})
        yield LINE

    return Claim(EquippedHost(FakeTransport("n1", {"rail-hold": hold}), "/engines"), "token", "me")


@pytest.mark.parametrize("seconds", [1e300, -1.0, 10**400, float("nan"), float("inf"), None, "7"])
def test_a_time_that_cannot_be_is_not_said(seconds: object) -> None:
    holder = claim(seconds=seconds).busy
    assert holder is not None
    assert holder.seconds is None
    assert str(holder) == "by process 42 of user an there: run 3"


@pytest.mark.parametrize("process", [1e300, float("nan"), None, "42", [1]])
def test_a_process_that_cannot_be_is_not_named(process: object) -> None:
    holder = claim(pid=process, uid=1e300, user="").busy
    assert holder is not None
    assert str(holder).partition("UTC ")[2] == "by a process of user number 1e+300 there: run 3"
