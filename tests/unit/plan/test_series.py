"""Modes that stand for a row of cases, and what a mode can't do without, in plans of an engine
that describes such things."""

from __future__ import annotations

from pathlib import Path

import pytest

from railgauge.base.errors import FileProblems
from railgauge.plan.cases import case_key, expand
from railgauge.plan.catalogue import Catalogue, EngineInfo, ParameterInfo, SeriesMode
from railgauge.plan.load import LoadedPlan
from railgauge.plan.model import Plan
from railgauge.plan.space import Place, Space, SpaceReader
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import loads

MODES = ("stream", "exponential", "ladder", "latency", "generator", "file")
ENGINE = EngineInfo(
    name="net",
    version="1",
    summary="",
    roles=("server", "client"),
    parameters={
        parameter.name: parameter
        for parameter in (
            ParameterInfo("mode", "choice", default="stream", choices=MODES),
            ParameterInfo("datagram", "size", "B", default=10, min=1, max=65507),
            ParameterInfo("read", "size", "B", default=4),
            ParameterInfo("tos", "int", default=0),
            ParameterInfo("batch", "int", default=1, modes=("stream",)),
            ParameterInfo("wait", "time", "s", default=0.0, modes=("latency",)),
            ParameterInfo("rate", "rate", "bit/s", default=0.0, required_in=("generator",)),
            ParameterInfo("duration", "time", "s", default=5.0),
            ParameterInfo("path", "text", default="", required_in=("file",)),
        )
    },
    metrics={},
    solo_modes=("generator",),
    series=(
        SeriesMode("exponential", "stream", "datagram", 1),
        SeriesMode("ladder", "latency", "read", 2),
    ),
)
HEAD = """\
railgauge: 1
name: p
tests:
  - name: t
    engine: net
"""
LINK = Place("ab", "a", "b")


def read(test: str, engine: EngineInfo = ENGINE) -> tuple[LoadedPlan | None, list[str]]:
    """Return the plan whose line 6 is `test`, indented by 4, or what is wrong with it."""
    document = loads(f"{HEAD}    {test}\n", "p.yaml")
    plan = validate(document, Plan)
    reader = SpaceReader(document, 0, plan.tests[0], engine)
    reader.read_parameters()
    space: Space | None = reader.read([LINK])
    if space is None:
        return None, [str(problem) for problem in reader.problems]
    catalogue = Catalogue({engine.name: engine}, engine)
    loaded = LoadedPlan(
        plan, document.text, "p.yaml", Path("nowhere"), catalogue, document, (space,)
    )
    return loaded, []


def points(test: str, *names: str) -> list[tuple[object, ...]]:
    loaded, problems = read(test)
    assert loaded is not None, problems
    (expanded,) = expand(loaded)
    for case in expanded.cases:
        assert set(case.parameters) == set(ENGINE.parameters)
        assert case.key == case_key("net", "ab", "a", "b", case.parameters)
    return [tuple(case.parameters[name] for name in names) for case in expanded.cases]


def mistakes(test: str) -> list[str]:
    loaded, problems = read(test)
    assert loaded is None
    return problems


def test_a_series_has_a_case_for_each_power_of_two_and_its_limit_last() -> None:
    assert points("set: {mode: exponential}", "mode", "datagram") == [
        ("stream", 1),
        ("stream", 2),
        ("stream", 4),
        ("stream", 8),
        ("stream", 10),
    ]
    assert points("set: {mode: exponential, datagram: 4}", "datagram") == [(1,), (2,), (4,)]
    assert points("set: {mode: exponential, datagram: 1}", "datagram") == [(1,)]
    assert points("set: {mode: ladder}", "mode", "read", "datagram") == [
        ("latency", 2, 10),
        ("latency", 4, 10),
    ]


def test_a_series_varies_faster_than_the_grid_around_it() -> None:
    test = "{mode: exponential, datagram: 2}\n    grid: {tos: [0, 8]}"
    assert points(f"set: {test}", "tos", "datagram") == [(0, 1), (0, 2), (8, 1), (8, 2)]


def test_each_of_several_values_in_a_grid_is_a_limit_and_no_case_comes_twice() -> None:
    test = "set: {mode: exponential}\n    grid: {datagram: [3, 5], tos: [0, 8]}"
    assert points(test, "datagram", "tos") == [
        (size, tos) for size in (1, 2, 3, 4, 5) for tos in (0, 8)
    ]


def test_a_series_may_stand_among_other_modes() -> None:
    test = "grid: {tos: [0, 8], mode: [latency, exponential, stream]}\n    set: {datagram: 2}"
    assert points(test, "tos", "mode", "datagram") == [
        (tos, mode, size)
        for tos in (0, 8)
        for mode, size in (("latency", 2), ("stream", 1), ("stream", 2))
    ]


def test_two_series_in_one_grid_run_through_a_parameter_each() -> None:
    test = "grid: {mode: [exponential, ladder]}\n    set: {datagram: 2}"
    assert points(test, "mode", "datagram", "read") == [
        ("stream", 1, 4),
        ("stream", 2, 4),
        ("latency", 2, 2),
        ("latency", 2, 4),
    ]


def test_a_series_keeps_what_its_mode_and_its_limit_are_zipped_with() -> None:
    test = "zip: [{mode: [exponential, latency], tos: [8, 16]}]\n    set: {datagram: 2}"
    assert points(test, "mode", "tos", "datagram") == [
        ("stream", 8, 1),
        ("stream", 8, 2),
        ("latency", 16, 2),
    ]
    test = "set: {mode: exponential}\n    zip: [{datagram: [2, 3], tos: [8, 16]}]"
    assert points(test, "datagram", "tos") == [(1, 8), (2, 8), (1, 16), (2, 16), (3, 16)]


def test_cases_of_a_series_are_those_of_a_list_that_says_the_same() -> None:
    def keys(test: str) -> list[str]:
        loaded, _ = read(test)
        assert loaded is not None
        return [case.key for case in expand(loaded)[0].cases]

    listed = keys("grid: {datagram: [1, 2, 4, 5]}")
    assert keys("set: {mode: exponential, datagram: 5}") == listed
    assert keys("set: {mode: exponential, datagram: 5}\n    order: random") == listed


def test_exclusions_are_about_what_a_series_becomes() -> None:
    test = "set: {mode: exponential}\n    exclude: [{datagram: [2, 4], mode: stream}]"
    assert points(test, "datagram") == [(1,), (8,), (10,)]
    (message,) = mistakes("set: {mode: exponential}\n    exclude: [{mode: exponential}]")
    assert message.startswith("p.yaml:7:22: mode is never exponential in this test, but stream (")


def test_a_parameter_has_effect_where_it_has_in_what_the_series_becomes() -> None:
    assert points("set: {mode: exponential, datagram: 1, batch: 8}", "batch") == [(8,)]
    assert mistakes("set: {mode: ladder, batch: 8}") == [
        "p.yaml:6:25: parameter 'batch' has no effect in mode latency: leave it out"
    ]
    assert points("set: {mode: ladder, read: 2, wait: 1s}", "wait") == [(1.0,)]


def test_a_series_of_too_many_combinations_is_refused() -> None:
    test = "grid: {mode: [exponential, latency, stream], datagram: {from: 1, to: 50000, step: 1}}"
    assert mistakes(test) == [
        "p.yaml:6:12: a series each for 150,000 combinations is too much: take values away"
    ]


def test_what_a_mode_needs_has_to_be_set() -> None:
    assert mistakes("set: {mode: generator, duration: 1s}") == [
        "p.yaml:6:11: mode generator of engine net needs 'rate': set it under 'set' or 'grid'"
    ]
    assert mistakes("grid: {mode: [stream, generator]}") == [
        "p.yaml:6:12: mode generator of engine net needs 'rate': set it under 'set' or 'grid'"
    ]
    assert mistakes("set: {mode: file, path: ''}") == [
        "p.yaml:6:23: mode file of engine net needs 'path', and '' is none: write another"
    ]
    assert points("set: {mode: generator, rate: 1Mbit/s}", "rate") == [(1e6,)]
    assert points("set: {mode: stream}", "rate") == [(0.0,)]


def test_what_a_mode_needs_may_not_be_zero_where_that_mode_is() -> None:
    says = "mode generator of engine net needs 'rate', and 0bit/s is none: write another"
    assert mistakes("set: {mode: generator, rate: 0bit/s}") == [f"p.yaml:6:28: {says}"]
    assert mistakes("set: {mode: generator}\n    grid: {rate: [1Mbit/s, 0bit/s]}") == [
        f"p.yaml:7:12: {says}"
    ]
    zipped = "zip: [{mode: [generator, stream], rate: [%s, %s]}]"
    assert points(zipped % ("1Mbit/s", "0bit/s"), "mode", "rate") == [
        ("generator", 1e6),
        ("stream", 0.0),
    ]
    assert mistakes(zipped % ("0bit/s", "1Mbit/s")) == [f"p.yaml:6:39: {says}"]


def test_a_mode_without_a_server_needs_a_duration() -> None:
    assert mistakes("set: {mode: generator, rate: 1Mbit/s, duration: 0s}") == [
        "p.yaml:6:43: mode generator of engine net needs 'duration', and 0s is none: write another"
    ]
    assert points("set: {duration: 0s}", "duration") == [(0.0,)]


def test_all_that_is_missing_is_told_at_once_and_nothing_else() -> None:
    assert mistakes("grid: {mode: [generator, exponential, file]}") == [
        "p.yaml:6:12: mode generator of engine net needs 'rate': set it under 'set' or 'grid'",
        "p.yaml:6:12: mode file of engine net needs 'path': set it under 'set' or 'grid'",
    ]


def test_a_series_that_grows_a_plan_too_large_is_refused_as_any_grid() -> None:
    test = "set: {mode: exponential}\n    grid: {tos: {from: 1, to: 25000, step: 1}}"
    loaded, _ = read(test)
    assert loaded is not None
    with pytest.raises(FileProblems, match="up to here the plan has 125,000 cases"):
        expand(loaded)
