"""Tables of parameters: all of a test's, what varied, and what was in effect of it."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.pages.case_settings import case_settings, settings_tables
from railgauge.report.pages.contents import Details
from railgauge.store.counts import LaunchSettings
from railgauge.store.records import NewRun, PlannedCase, StoredRun

_Sides = tuple[Mapping[str, Value], Mapping[str, Value]]
_DEFAULTS = {
    name: info.default
    for name, info in load_catalogue().engine("tcp").parameters.items()
    if info.default is not None
}


def _case(link: str = "a", **parameters: Value) -> Case:
    own = _DEFAULTS | {"mode": "stream"} | parameters
    return Case(case_key("tcp", link, "gw1", "gw2", own), "tcp", link, "gw1", "gw2", own)


def _run(cases: list[Case], number: int = 1) -> StoredRun:
    new = NewRun("fabric", "", "", "", False, 0, "", "", "", {})
    planned = tuple(PlannedCase("bulk", case, 3) for case in cases)
    return StoredRun(new, "complete", {}, number, "", "", planned)


def _launched(launches: list[tuple[Case, _Sides]]) -> Mapping[str, LaunchSettings]:
    settings = LaunchSettings()
    for case, sides in launches:
        for side, values in zip((settings.client, settings.server), sides, strict=True):
            for name, value in values.items():
                side.setdefault(name, {}).setdefault(value, {})[case.key] = None
    return {"bulk": settings}


def _rows(table: Details) -> dict[str, str]:
    return {heading: text for heading, (text,) in table.rows}


def _table(cases: list[Case], launches: list[tuple[Case, _Sides]] | None = None) -> dict[str, str]:
    (table,) = settings_tables([(_run(cases), _launched(launches or []))], load_catalogue())
    return _rows(table)


def test_every_parameter_stands_in_a_row_defaults_apart_and_those_without_effect() -> None:
    rows = _table([_case(message=size, duration=0.2) for size in (65536, 1024)])
    assert list(rows) == [
        "Varied: message",
        "Fixed",
        "Fixed at the default",
        "Without effect in mode stream",
    ]
    assert rows["Varied: message"] == "1KiB, 64KiB"
    assert rows["Fixed"] == "duration 200ms, mode stream"
    assert "congestion cubic" in rows["Fixed at the default"]
    assert "interval 0s" in rows["Without effect in mode stream"]
    listed = [part.partition(" ")[0] for row in list(rows)[1:] for part in rows[row].split(", ")]
    assert sorted([*listed, "message"]) == sorted(_DEFAULTS)


def test_a_duration_has_no_effect_where_a_count_ends_replications() -> None:
    rows = _table([_case(count=count) for count in (7813, 250000)])
    assert rows["Without effect, as count ends replications"] == "duration 5s"
    assert "duration" not in rows["Fixed at the default"]
    mixed = _table([_case(count=count) for count in (0, 7813)])
    assert "duration 5s" in mixed["Fixed at the default"]


def test_links_are_an_axis_and_combinations_that_are_left_out_are_counted() -> None:
    cases = [_case(link, message=size) for link in ("a", "b") for size in (64, 1024)]
    assert _table(cases)["Varied: link"] == "a, b"
    assert "Combinations" not in _table(cases)
    assert _table(cases[:3])["Combinations"] == "3 of 4"


def test_of_many_values_the_first_ones_the_last_and_their_number_are_given() -> None:
    rows = _table([_case(message=size) for size in range(1, 101)])
    assert rows["Varied: message"].endswith("14, 15 … 100 (100 in all)")


def test_a_granted_value_stands_beside_the_parameter_that_it_goes_with() -> None:
    cases = [_case(sockbuf=size, message=64 * size) for size in (1024, 2048, 4096)]
    launches = [
        (case, ({"sndbuf": granted, "mss": 1448}, {"mss": 1440}))
        for case, granted in zip(cases, (4096, 4096, 8192), strict=True)
    ]
    rows = _table(cases, launches)
    assert rows["In effect in all cases"] == "client mss 1448; server mss 1440"
    assert rows["In effect: sndbuf"] in (
        "client 4KiB with sockbuf 1KiB or 2KiB, 8KiB with sockbuf 4KiB",
        "client 4KiB with message 64KiB or 128KiB, 8KiB with message 256KiB",
    )


def test_where_one_parameter_does_not_tell_a_value_two_do() -> None:
    cases = [_case(sockbuf=size, message=other) for size in (1, 2) for other in (64, 128)]
    granted = (10, 20, 20, 10)
    launches = [
        (case, ({"window": value}, {"window": value}))
        for case, value in zip(cases, granted, strict=True)
    ]
    (text,) = (_table(cases, launches)[name] for name in ("In effect: window",))
    assert text.count(" with ") == 4
    assert text.startswith("both ends 10 with ")


def test_a_value_that_differs_between_replications_of_a_case_is_tied_to_no_parameter() -> None:
    case, other = _case(message=64), _case(message=128)
    launches: list[tuple[Case, _Sides]] = [
        (case, ({"mss": 1448}, {})),
        (case, ({"mss": 1400}, {})),
        (other, ({"mss": 1448}, {})),
    ]
    text = _table([case, other], launches)["In effect: mss"]
    # What both had and what only one had: the parameter still says which case had which.
    assert text == "client 1448 or 1400 with message 64, 1448 with message 128"
    alone = _table([case], launches[:2])["In effect: mss"]
    assert alone == "client 1448 or 1400 (not tied to a parameter)"


def test_a_setting_that_only_some_cases_told_is_not_claimed_of_all() -> None:
    cases = [_case(mode=mode) for mode in ("stream", "latency")]
    launches: list[tuple[Case, _Sides]] = [
        (cases[0], ({"tos": 0}, {"tos": 0})),
        (cases[1], ({"tos": 0, "busy_poll": 0}, {"tos": 0})),
    ]
    rows = _table(cases, launches)
    assert rows["In effect in all cases"] == "both ends tos 0"
    assert rows["In effect: busy_poll"] == "client 0 with mode latency"


def test_runs_with_the_same_settings_share_a_table() -> None:
    cases = [_case(message=64)]
    runs = [(_run(cases, number), _launched([])) for number in (1, 2)]
    other = (_run([_case(message=128)], 3), _launched([]))
    tables = settings_tables([*runs, other], load_catalogue())
    assert [table.title for table in tables] == [
        "Parameters of test bulk (engine tcp), runs 1 and 2",
        "Parameters of test bulk (engine tcp), run 3",
    ]


def test_of_an_engine_that_nobody_describes_all_parameters_are_fixed() -> None:
    case = Case("k", "other", "a", "gw1", "gw2", {"size": 4})
    (table,) = settings_tables([(_run([case]), {})], load_catalogue())
    assert _rows(table) == {"Fixed": "size 4"}


def test_a_cases_own_settings_are_told_by_end() -> None:
    case, other = _case(message=64), _case(message=128)
    launches = _launched(
        [
            (case, ({"congestion": "reno", "port": 4000}, {"congestion": "reno", "mss": 1440})),
            (other, ({"congestion": "bbr"}, {"congestion": "bbr"})),
        ]
    )
    assert case_settings(launches["bulk"], case, _run([case])) == [
        ("In effect, both ends", "congestion reno"),
        ("In effect, server", "mss 1440"),
        ("Not as asked", "congestion at both ends: asked cubic, got reno"),
    ]


def test_what_was_not_granted_as_asked_has_a_row_and_a_doubled_buffer_has_none() -> None:
    cases = [_case(sockbuf=size) for size in (102400, 512000)]
    sides = [{"rcvbuf": min(2 * size, 425984), "sndbuf": 2 * size} for size in (102400, 512000)]
    rows = _table(cases, [(case, (side, side)) for case, side in zip(cases, sides, strict=True)])
    assert rows["Not as asked"] == (
        "rcvbuf at both ends: asked 500KiB, got 208KiB; in effect is twice that, as Linux counts"
        " its own share, too (1 of 2 cases)"
    )
    assert "Not as asked" not in _table(cases[:1], [(cases[0], (sides[0], sides[0]))])
