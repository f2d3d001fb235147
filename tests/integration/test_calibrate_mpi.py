"""MPI held against the segments of its connection, on hosts in namespaces: real Open MPI."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from railgauge.calibrate.broken_instruments import BROKEN_INSTRUMENTS, broken_check
from railgauge.calibrate.calibration import chosen_truths


@pytest.fixture(autouse=True)
def cluster(namespaces: None, require: Callable[[object, str], None]) -> None:
    require(shutil.which("mpicc"), "Open MPI (libopenmpi-dev)")


def test_messages_are_counted_exactly_on_any_machine() -> None:
    (truth,) = chosen_truths(["mpi messages"])
    check = truth.hold()
    assert (check.value, check.truth, check.conclusion) == (400, 400, "certified")


def test_a_message_too_many_shows_on_any_machine() -> None:
    (broken,) = (broken for broken in BROKEN_INSTRUMENTS if broken.check == "mpi messages")
    check = broken_check(broken)
    assert (check.error, check.conclusion) == (1, "wrong")


@pytest.mark.long  # Ranks that wait take both CPUs.
@pytest.mark.parametrize("word", ["mpi throughput", "mpi round trip"])
def test_a_right_instrument_is_never_shown_to_be_wrong(word: str) -> None:
    (truth,) = chosen_truths([word])
    check = truth.hold()
    assert check.conclusion != "wrong"
    if check.conclusion == "not certifiable here":
        # Only a machine that had something else to do, or an error within the limit, unexplained.
        assert check.reason or abs(check.error or 0.0) <= check.limit
