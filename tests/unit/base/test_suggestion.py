"""What somebody may have meant."""

from __future__ import annotations

from railgauge.base.suggestion import suggest, suggest_or_list


def test_the_nearest_name_is_suggested_and_only_a_near_one() -> None:
    assert suggest("sokbuf", ["datagram", "sockbuf"]) == ": did you mean 'sockbuf'?"
    assert suggest("Sockbuf", ["datagram", "sockbuf"]) == ": did you mean 'sockbuf'?"
    assert suggest("x", ["datagram", "sockbuf"]) == ""


def test_without_a_near_name_the_first_ones_are_listed() -> None:
    names = ["datagram", "sockbuf", "tos"]
    assert suggest_or_list("sokbuf", names) == ": did you mean 'sockbuf'?"
    assert suggest_or_list("x", names, most=2) == ": known are datagram, sockbuf"
