"""A run of some of a plan's cases only: which they are is kept with it."""

from __future__ import annotations

from pathlib import Path

from railgauge.plan.cases import expand, restricted
from railgauge.plan.load import load_plan
from railgauge.plan.partial import ONLY, only_cases, only_texts

PLAN = """\
railgauge: 1
name: some
hosts: {here: {address: 127.0.0.1, transport: local}}
links: {loopback: {from: here, to: here}}
tests:
  - {name: one, engine: udp, grid: {datagram: [1KiB, 2KiB]}}
  - {name: other, engine: udp, grid: {datagram: [1KiB, 2KiB]}}
"""


def test_which_cases_it_measures_survives_any_name_of_a_test():
    cases = {("a b", "0" * 16), ("a\x85b\u2028c", "f" * 16), (" ", "1" * 16)}
    assert only_cases(only_texts(cases)) == cases


def test_a_run_of_all_cases_keeps_nothing_and_one_of_none_says_so():
    assert only_texts(None) == {}
    assert only_cases({}) is None
    assert only_cases(only_texts([])) == frozenset()
    assert only_texts([]).keys() == {ONLY}


def test_only_the_cases_asked_for_are_left_test_by_test(tmp_path: Path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    tests = expand(load_plan(plan))
    # The same case is in both tests.
    key = tests[0].cases[1].key
    assert key == tests[1].cases[1].key
    (left,) = restricted(tests, {("other", key)})
    assert (left.test.name, [case.key for case in left.cases]) == ("other", [key])
