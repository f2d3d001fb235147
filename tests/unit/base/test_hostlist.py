"""Hostlists: which names they stand for, in which order, and what is none."""

import pytest

from railgauge.base.hostlist import expand_hostlist, is_hostlist


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[1-3,7]", "n1 n2 n3 n7"),
        ("n[3,1]", "n3 n1"),
        ("n[08-11].site", "n08.site n09.site n10.site n11.site"),
        ("n[8-11]", "n8 n9 n10 n11"),
        ("n[099-100]", "n099 n100"),
        ("r[1-2]n[0-1]", "r1n0 r1n1 r2n0 r2n1"),
        ("10.0.[1-2].[7,9]", "10.0.1.7 10.0.1.9 10.0.2.7 10.0.2.9"),
        ("n[1-2],gw,m[5]", "n1 n2 gw m5"),
        ("[fd00::1]:22", "[fd00::1]:22"),
    ],
)
def test_a_hostlist_stands_for_its_names_in_their_order(text: str, names: str) -> None:
    assert is_hostlist(text) == (text != names)
    if is_hostlist(text):
        assert expand_hostlist(text) == names.split()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("n[1-x]", "'1-x' is no range"),
        ("n[4-1]", "'4-1' is no range"),
        ("n[]", "'' is no range"),
        ("n[1,]", "'' is no range"),
        ("n[1-007]", "'1-007' is no range"),
        ("n[1-4", "is no hostlist"),
        ("n[1-4]]", "is no hostlist"),
        ("n[[1]]", "is no hostlist"),
        ("n[1],,m", "is no hostlist"),
        ("n[1-999999999999]", "more than 100,000"),
        ("n[1-999][1-999]", "more than 100,000"),
        ("n[²]", "'²' is no range"),
    ],
)
def test_what_is_no_hostlist_or_too_long_is_refused(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        expand_hostlist(text)
