"""Ranges in grids: exact values, ends included, and every mistake with its place."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import ROOT
from tests.support.problems import problems

from railgauge.plan.cases import expand
from railgauge.plan.catalogue import ParameterInfo
from railgauge.plan.load import load_plan_text
from railgauge.plan.ranges import read_range

HEAD = """\
railgauge: 1
name: p
hosts: {a: {address: 10.0.0.1, ssh: a}, b: {address: 10.0.0.2, ssh: b}}
links: {ab: {from: a, to: b}}
tests:
  - name: t
    engine: udp
"""


def values(test: str, *names: str) -> list[tuple[object, ...]]:
    (expanded,) = expand(load_plan_text(f"{HEAD}    {test}\n", "p.yaml", Path("nowhere")))
    return [tuple(case.parameters[name] for name in names) for case in expanded.cases]


def mistakes(test: str) -> list[str]:
    """Return what is wrong with a plan whose line 8 is `test`, indented by 4."""
    return problems(values, test)


def test_steps_are_added_from_the_first_value_to_the_last() -> None:
    assert values("grid: {datagram: {from: 64, to: 1KiB, step: 320}}", "datagram") == [
        (64,),
        (384,),
        (704,),
        (1024,),
    ]
    assert values("grid: {tos: {from: 3, to: 3, step: 1}}", "tos") == [(3,)]


def test_a_factor_multiplies_from_the_first_value_to_the_last() -> None:
    assert values("grid: {datagram: {from: 64, to: 1KiB, factor: 4}}", "datagram") == [
        (64,),
        (256,),
        (1024,),
    ]
    assert len(values("grid: {sockbuf: {from: 1, to: 64KiB, factor: 2}}", "sockbuf")) == 17


def test_a_sweep_of_the_wait_has_the_values_that_a_list_would_have() -> None:
    info = ParameterInfo("wait", "time", "s", default=0.0, min=0.0, max=1.0)
    written = {"from": "0us", "to": "20us", "step": "0.1us"}
    waits = read_range(info, written, never)
    assert waits == [info.parse(f"{index // 10}.{index % 10}us") for index in range(201)]
    assert repr(waits[3]) == "3e-07"
    assert {type(value) for value in waits} == {float}


def never(message: str, *loc: str | int, key: bool = False) -> None:
    pytest.fail(message)


@given(st.integers(0, 10**6), st.integers(1, 10**4), st.integers(0, 300))
def test_every_step_of_a_time_is_the_decimal_as_written(first: int, step: int, steps: int) -> None:
    info = ParameterInfo("wait", "time")
    last = first + step * steps
    written = {"from": f"{first}ns", "to": f"{last}ns", "step": f"{step}ns"}
    assert read_range(info, written, never) == [
        float(Fraction(number, 10**9)) for number in range(first, last + 1, step)
    ]


def test_a_step_may_be_smaller_than_the_least_value_of_its_parameter() -> None:
    test = "grid: {duration: {from: 100ms, to: 103ms, step: 1ms}}"
    assert values(test, "duration") == [(0.1,), (0.101,), (0.102,), (0.103,)]


def test_ranges_are_zipped_and_excluded_as_lists_are() -> None:
    zipped = "zip: [{datagram: {from: 64, to: 256, factor: 2}, tos: [0, 8, 16]}]"
    assert values(f"{zipped}\n    exclude: [{{datagram: 128}}]", "datagram", "tos") == [
        (64, 0),
        (256, 16),
    ]


def test_the_case_of_a_range_is_that_of_a_list() -> None:
    def keys(test: str) -> list[str]:
        (expanded,) = expand(load_plan_text(f"{HEAD}    {test}\n", "p.yaml", Path("nowhere")))
        return [case.key for case in expanded.cases]

    written = "grid: {duration: [300ms, 400ms], datagram: [64, 128]}"
    ranges = (
        "grid: {duration: {from: 300ms, to: 0.4s, step: 100ms}, "
        "datagram: {from: 64, to: 128, factor: 2}}"
    )
    assert keys(ranges) == keys(written)


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ("datagram: {from: 64, to: 128, stp: 1}", "8:42: unknown key 'stp': did you mean 'step'?"),
        ("datagram: {from: 64, to: 128, by: 64}", "8:42: unknown key 'by': known here are from"),
        ("datagram: {to: 128, step: 64}", "8:22: the key 'from' is missing here: add it"),
        ("datagram: {from: 128, step: 64}", "8:22: the key 'to' is missing here: add it"),
        ("datagram: {from: 64, to: 128}", "8:22: a range has either a 'step' to add or a 'factor'"),
        (
            "datagram: {from: 64, to: 128, step: 64, factor: 2}",
            "8:22: a range has either a 'step' to add or a 'factor'",
        ),
        ("datagram: {from: 64, to: 70000, step: 1}", "8:37: 'to': 70000 is out of range: write"),
        ("datagram: {from: 64, to: 1MB, step: 64}", "8:37: 'to': 1000000 is out of range: write"),
        ("datagram: {from: 1.5, to: 64, step: 64}", "8:29: 'from': 1.5 is not a whole number of"),
        ("datagram: {from: [64], to: 64, step: 1}", "8:29: 'from': a list is not a size"),
        ("datagram: {from: 64, to: , step: 64}", "8:37: 'to' has no value: write one or drop it"),
        ("duration: {from: 1s, to: 2, step: 1s}", "8:37: 'to': 2 has no unit: write a time"),
        ("datagram: {from: 64, to: 128, step: 0}", "8:48: 'step' has to be more than 0"),
        ("tos: {from: 0, to: 8, step: -1}", "8:40: 'step' has to be more than 0"),
        ("datagram: {from: 64, to: 128, factor: 1}", "8:50: 'factor': 1 is out of range: write"),
        ("datagram: {from: 64, to: 96, factor: 1.5}", "8:49: 'factor': 1.5 is not a whole number"),
        ("tos: {from: 0, to: 8, factor: 2}", "8:24: 'from' has to be more than 0, or no 'factor'"),
        ("tos: {from: 8, to: 0, step: 8}", "8:31: 'to': 0 is less than 'from', 8: swap the two"),
        (
            "datagram: {from: 64, to: 100, step: 8}",
            "8:37: 'to': 100 is never reached, the value before it is 96: write that",
        ),
        (
            "datagram: {from: 64, to: 1460, factor: 2}",
            "8:37: 'to': 1460 is never reached, the value before it is 1KiB: write that",
        ),
        (
            "duration: {from: 1s, to: 2s, step: 1us}",
            "8:47: the range has 1,000,001 values, more than 100,000: take larger steps",
        ),
        ("mode: {from: 1, to: 2, step: 1}", "8:18: 'mode' takes no numbers, so there is no range"),
        ("datagrm: {from: 1, to: 2, step: 1}", "8:12: unknown parameter 'datagrm' of engine udp"),
    ],
)
def test_a_mistake_in_a_range_is_told_with_its_place(test: str, says: str) -> None:
    (message,) = mistakes(f"grid: {{{test}}}")
    assert message.startswith(f"p.yaml:{says}")


def test_all_mistakes_of_a_range_are_told_at_once() -> None:
    messages = mistakes("grid: {duration: {from: 1, to: 2s, step: 3, stop: 4}}")
    assert [line.split(" ")[0] for line in messages] == [
        "p.yaml:8:29:",
        "p.yaml:8:46:",
        "p.yaml:8:49:",
    ]


def test_a_range_and_a_list_that_are_zipped_have_to_be_equally_long() -> None:
    (message,) = mistakes("zip: [{datagram: {from: 64, to: 256, factor: 2}, tos: [0, 8]}]")
    assert message.startswith("p.yaml:8:11: zipped lists must be equally long, but datagram has 3")


def test_the_mistakes_around_a_range_are_told_with_its_own() -> None:
    messages = mistakes("grid: {datagram: {from: 64, to: 100, step: 8}}\n    order: randomly")
    assert [line.split(" ")[0] for line in messages] == ["p.yaml:8:37:", "p.yaml:9:12:"]


@pytest.mark.parametrize(
    ("axis", "valid"),
    [
        ([64, "1KiB"], True),
        ({"from": "0us", "to": "20us", "step": "0.1us"}, True),
        ({"from": 64, "to": "64KiB", "factor": 2}, True),
        ([], False),
        ({"from": 64, "to": 128}, False),
        ({"from": 64, "to": 128, "step": 64, "factor": 2}, False),
        ({"from": 64, "step": 64}, False),
        ({"from": 64, "to": 128, "stp": 64}, False),
    ],
)
def test_the_schema_for_editors_knows_ranges(axis: object, valid: bool) -> None:
    schema = json.loads((ROOT / "schema" / "plan.schema.json").read_text(encoding="utf-8"))
    plan = {
        "railgauge": 1,
        "name": "p",
        "tests": [{"name": "t", "engine": "udp", "grid": {"datagram": axis}}],
    }
    assert jsonschema.Draft202012Validator(schema).is_valid(plan) is valid
