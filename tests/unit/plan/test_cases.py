"""From tests to cases: defaults, crossing, zipping, exclusions, and keys that stay the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from railgauge.plan.case_names import CaseNames, NamedCase, parameter_texts
from railgauge.plan.cases import Case, case_key, expand, non_default, parameter_value, varying
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.load import load_plan_text

HEAD = """\
railgauge: 1
name: p
hosts: {a: {address: 10.0.0.1, ssh: a}, b: {address: 10.0.0.2, ssh: b}}
links: {ab: {from: a, to: b}, ba: {from: b, to: a}}
tests:
"""


def cases(test: str) -> tuple[Case, ...]:
    text = f"{HEAD}  - {{name: t, engine: udp, {test}}}\n"
    return expand(load_plan_text(text, "p.yaml", Path("nowhere")))[0].cases


def points(test: str, *names: str) -> list[tuple[object, ...]]:
    return [
        tuple(case.parameters[name] for name in names) for case in cases(f"links: [ab], {test}")
    ]


def test_axes_are_crossed_the_last_varying_fastest() -> None:
    assert points("grid: {datagram: [64, 1KiB], tos: [0, 8]}", "datagram", "tos") == [
        (64, 0),
        (64, 8),
        (1024, 0),
        (1024, 8),
    ]


def test_zipped_axes_go_together_and_are_crossed_with_the_rest() -> None:
    test = "grid: {tos: [0, 8]}, zip: [{datagram: [64, 1KiB], sockbuf: [1MiB, 2MiB]}]"
    assert points(test, "tos", "datagram", "sockbuf") == [
        (0, 64, 2**20),
        (0, 1024, 2**21),
        (8, 64, 2**20),
        (8, 1024, 2**21),
    ]


def test_excluded_cases_are_left_out_by_any_subset_of_parameters() -> None:
    test = "grid: {datagram: [64, 128, 256], tos: [0, 8]}, exclude: "
    assert points(f"{test}[{{datagram: 64, tos: 8}}]", "datagram", "tos") == [
        (64, 0),
        (128, 0),
        (128, 8),
        (256, 0),
        (256, 8),
    ]
    assert points(f"{test}[{{datagram: [64, 256]}}]", "datagram", "tos") == [(128, 0), (128, 8)]
    assert points(f"{test}[{{tos: 0}}, {{datagram: 64}}, {{datagram: 128}}]", "datagram") == [
        (256,)
    ]


def test_a_fixed_parameter_or_a_default_may_take_part_in_an_exclusion() -> None:
    test = "set: {tos: 8}, grid: {datagram: [64, 128]}"
    exclude = "exclude: [{tos: 8, mode: stream, datagram: 64}]"
    assert points(f"{test}, {exclude}", "datagram") == [(128,)]


def test_a_link_may_take_part_in_an_exclusion() -> None:
    left = cases("grid: {datagram: [64, 128]}, exclude: [{link: ba, datagram: 64}]")
    assert [(case.link, case.parameters["datagram"]) for case in left] == [
        ("ab", 64),
        ("ab", 128),
        ("ba", 128),
    ]


def test_a_case_has_every_parameter_in_base_units() -> None:
    (case,) = cases("links: [ba], set: {duration: 500ms, datagram: 1KiB}")
    assert (case.engine, case.link, case.client, case.server) == ("udp", "ba", "b", "a")
    assert case.parameters["duration"] == 0.5
    assert case.parameters["datagram"] == 1024
    assert case.parameters["mode"] == "stream"
    assert type(case.parameters["warmup"]) is float


def test_a_key_is_the_same_however_the_plan_spells_the_case() -> None:
    key = cases("links: [ab], set: {duration: 5s, datagram: 1KiB}, replications: 3")[0].key
    other_key = cases("links: [ab], grid: {datagram: [1024], mode: [stream]}, order: random")[0].key
    assert key == other_key
    assert key != cases("links: [ba], set: {datagram: 1KiB}")[0].key
    assert key != cases("links: [ab], set: {datagram: 1025}")[0].key


def test_keys_of_expanded_cases_are_those_of_what_they_stand_for() -> None:
    for case in cases("grid: {datagram: [64, 128]}, zip: [{tos: [0, 8], sockbuf: [1MiB, 2MiB]}]"):
        link, engine = case.link, case.engine
        assert case.key == case_key(engine, link, case.client, case.server, case.parameters)


def test_a_key_is_this_hash_for_ever() -> None:
    parameters = {"b": 1, "a": 0.5, "c": "é", "d": True}
    text = json.dumps(["udp", "ab", "a", None, sorted(parameters.items())], separators=(",", ":"))
    assert text == '["udp","ab","a",null,[["a",0.5],["b",1],["c","\\u00e9"],["d",true]]]'
    expected = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert case_key("udp", "ab", "a", None, parameters) == expected == "673d7b11b0919886"


def test_two_tests_may_share_a_case() -> None:
    text = f"{HEAD}  - {{name: t, engine: udp}}\n  - {{name: u, engine: udp, links: [ab]}}\n"
    first, second = expand(load_plan_text(text, "p.yaml", Path("nowhere")))
    assert second.cases[0] in first.cases


@given(st.data())
def test_exclusions_leave_out_exactly_what_they_match(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(24, 40), min_size=1, max_size=4, unique=True))
    classes = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True))
    entries = data.draw(
        st.lists(
            st.fixed_dictionaries(
                {"datagram": st.lists(st.sampled_from(sizes), min_size=1)},
                optional={"tos": st.lists(st.sampled_from(classes), min_size=1)},
            ),
            max_size=3,
        )
    )
    expected = [
        (size, tos)
        for size in sizes
        for tos in classes
        if not any(
            size in entry["datagram"] and tos in entry.get("tos", classes) for entry in entries
        )
    ]
    if expected:
        test = f"grid: {{datagram: {sizes}, tos: {classes}}}, exclude: {json.dumps(entries)}"
        assert points(test, "datagram", "tos") == expected


def test_a_parameter_that_came_later_changes_no_key_at_its_default() -> None:
    # As this case had it before sndbuf, rcvbuf, receive and blocking were there.
    (udp,) = cases("links: [ab], set: {receive: adaptive}")
    assert udp.key == "bfb7f0b3392a6fd5"
    for written in ("blocking: true", "sndbuf: 0", "server_rcvbuf: 0, blocking: true"):
        (same,) = cases(f"links: [ab], set: {{receive: adaptive, {written}}}")
        assert (same.key, same.parameters) == (udp.key, udp.parameters)
    assert "blocking" not in udp.parameters
    (other,) = cases("links: [ab], set: {receive: adaptive, blocking: false}")
    assert other.key == case_key("udp", "ab", "a", "b", {**udp.parameters, "blocking": False})
    assert other.key != udp.key


def test_a_default_that_changed_makes_another_case_where_it_has_an_effect() -> None:
    (now,) = cases("links: [ab]")
    (before,) = cases("links: [ab], set: {receive: adaptive}")
    assert now.key == case_key("udp", "ab", "a", "b", {**before.parameters, "receive": "block"})
    assert [parameter_value(case, "receive") for case in (now, before)] == ["block", "adaptive"]
    assert varying([now, before]) == ("receive",)
    catalogue = load_catalogue()
    assert ("receive", "adaptive") in parameter_texts(before, catalogue)
    assert [name for name in non_default(before, catalogue) if name == "receive"]
    assert "receive" not in non_default(now, catalogue)
    # No receiver waits like this in mode latency, of which cases are the same as ever.
    modes = cases("links: [ab], grid: {mode: [stream, latency]}")
    assert [case.parameters.get("receive") for case in modes] == ["block", None]
    assert modes[1].key == "2c133072e50a106e"
    assert [parameter_value(case, "receive") for case in modes] == ["block", "block"]
    assert varying(modes) == ("mode",)


def test_a_case_from_before_a_default_changed_is_measured_as_it_was() -> None:
    engine = load_catalogue().engine("udp")
    (now,) = cases("links: [ab]")
    (before,) = cases("links: [ab], set: {receive: adaptive}")
    for case, expected in ((now, "block"), (before, "adaptive")):
        options = [text for text in engine.options(case.parameters) if "--receive" in text]
        assert options == [f"--receive={expected}"]
    (latency,) = cases("links: [ab], set: {mode: latency}")
    assert not [text for text in engine.options(latency.parameters) if "--receive" in text]


def test_a_parameter_that_came_later_varies_and_is_excluded_like_any_other() -> None:
    varied = cases("links: [ab], grid: {blocking: [true, false], tos: [0, 8]}")
    assert [case.parameters.get("blocking") for case in varied] == [None, None, False, False]
    assert len({case.key for case in varied}) == 4
    assert varying(varied) == ("tos", "blocking")
    sources = [NamedCase("t", case) for case in varied]
    names = CaseNames(sources, load_catalogue())
    assert list(map(names.case, sources[1:3])) == [
        "ab · blocking true · tos 8",
        "ab · blocking false · tos 0",
    ]
    left = cases("links: [ab], grid: {blocking: [true, false]}, exclude: [{blocking: true}]")
    assert [case.parameters["blocking"] for case in left] == [False]


def test_cases_of_other_engines_do_not_make_a_parameter_vary() -> None:
    own = Case("k", "cpu", "a", "a", None, {"threads": 1})
    assert varying([*cases("links: [ab]"), own]) == ()
