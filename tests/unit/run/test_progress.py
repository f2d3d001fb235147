"""What a person sees of a replication while a run goes on."""

from __future__ import annotations

import io
import re

import pytest

from railgauge.base.systemlog import Suspicion
from railgauge.engine.outcome import Launch, Outcome
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import MetricDescription, load_catalogue
from railgauge.plan.schedule import Dispatch
from railgauge.run.execution import Outlook
from railgauge.run.progress import LiveProgress, PlainProgress, console, headline


@pytest.mark.parametrize(
    ("metrics", "units", "text"),
    [
        ({"throughput": 9.4123e9}, {"throughput": "bit/s"}, "9.412Gbit/s"),
        ({"throughput": 9.4123e9}, {"throughput": "B/s"}, "9.412GB/s"),
        ({"operation_rate": 6.4e10}, {"operation_rate": "op/s"}, "64Gop/s"),
        ({"latency": 9.1e-8}, {"latency": "s"}, "91ns"),
        ({"wall_time": 0.0}, {"wall_time": "s"}, "0s"),
        ({"iops": 9e4, "latency_p50": 1e-5}, {"iops": "op/s", "latency_p50": "s"}, "90kop/s"),
        ({"warmth": 3.0}, {"warmth": "K"}, ""),
        ({"throughput": 1.0}, {}, ""),
    ],
)
def test_the_headline_is_in_the_unit_that_the_engine_measures_in(
    metrics: dict[str, float], units: dict[str, str], text: str
) -> None:
    infos = {
        name: MetricDescription(name, unit, "higher", headline=place if name != "warmth" else 0)
        for place, (name, unit) in enumerate(units.items(), 1)
    }
    assert headline(metrics, infos) == text


def test_the_headline_is_the_first_of_its_engine_but_no_share() -> None:
    infos = {
        "loss": MetricDescription("loss", "", "lower", kind="share", headline=1),
        "second": MetricDescription("second", "s", "lower", kind="time", headline=3),
        "first": MetricDescription("first", "s", "lower", kind="time", headline=2),
    }
    assert headline({"loss": 0.5, "second": 2.0, "first": 1.0}, infos) == "1s"
    assert headline({"loss": 0.5}, infos) == ""


def test_a_live_display_shows_the_engines_unit_and_forgets_the_last_cases_figure() -> None:
    out = io.StringIO()
    progress = LiveProgress(console(out, force_terminal=True, width=120))
    case = Case("k", "tcp", "gw→hh", "gw", "hh", {"mode": "stream"})
    dispatch = Dispatch("t", case, (1,))
    progress.begin(Outlook(1, 2, lambda _: "t gw→hh", load_catalogue(), lambda: 90.0))
    progress.dispatched(dispatch)
    progress.measured(dispatch, Outcome(1, 0.0, {"throughput": 9.4e9}), Launch(0.0))
    progress.end()
    assert "9.4Gbit/s" in out.getvalue()


@pytest.mark.parametrize(
    ("width", "hosts", "text"),
    [
        (120, "n[1] n2", r"n\[1\], n2 .*31/200.* steps"),
        (120, "n1 n2 n3 n4 n5", "n1, n2, n3 and 2 more .*31/200.* steps"),
        (
            60,
            "login-1.fabric.example.org login-2.fabric.example.org",
            "login-1.*… .*31/200.* steps",
        ),
    ],
)
def test_a_live_display_shows_which_hosts_build_and_how_far_they_are(
    width: int, hosts: str, text: str
) -> None:
    out = io.StringIO()
    progress = LiveProgress(console(out, force_terminal=True, width=width))
    progress.building(hosts.split(), 31, 200)
    progress.building([], 0, 0)
    assert re.search(text, out.getvalue())
    # The bar that follows begins anew.
    progress.begin(Outlook(1, 5, lambda _: "t gw→hh", load_catalogue(), lambda: 90.0))
    progress.end()
    assert "0/5" in out.getvalue()


def test_a_plain_log_has_no_line_of_how_far_builds_are() -> None:
    out = io.StringIO()
    progress = PlainProgress(out, all_lines=True)
    progress.building(["n1", "n2"], 31, 200)
    progress.building([], 0, 0)
    assert out.getvalue() == ""


def test_failures_are_told_in_a_plain_log() -> None:
    out = io.StringIO()
    progress = PlainProgress(out)
    case = Case("k", "tcp", "gw→hh", "gw", "hh", {})
    progress.begin(Outlook(7, 1, lambda _: "t gw→hh", load_catalogue(), lambda: 90.0))
    failed = Outcome(1, 0.0, {}, "failed", error_code="output", error_message="no\x1b[2J\nfigure\n")
    progress.measured(Dispatch("t", case, (1,)), failed, Launch(0.0))
    assert out.getvalue().splitlines() == [
        "run 7: 1 replication to measure",
        "failed: t gw→hh, replication 1: no\\x1b[2J\\nfigure [output]",
    ]


def test_a_launch_of_all_pairs_counts_as_a_replication_of_each() -> None:
    """As the run's end and `check` count them."""
    log, screen = io.StringIO(), io.StringIO()
    live = LiveProgress(console(screen, force_terminal=True, width=120))
    pairs = tuple(Case(f"k{i}", "mpi", f"pair {i}", "gw", "hh", {}) for i in range(6))
    dispatch = Dispatch("t", pairs[0], (1, 2), pairs)
    for progress in (PlainProgress(log), live):
        progress.begin(Outlook(1, 12, lambda _: "t", load_catalogue(), lambda: 90.0))
        for number in dispatch.replications:
            progress.measured(dispatch, Outcome(number, 0.0, {"latency": 1e-6}), Launch(0.0))
        progress.end()
    assert log.getvalue().splitlines() == [
        "run 1: 12 replications to measure",
        "12/12 replications in 0:00",
    ]
    assert "12/12" in screen.getvalue()


def test_what_engines_and_hosts_say_does_nothing_to_a_terminal_or_a_log() -> None:
    """Half a surrogate pair, which JSON can name, is in no encoding."""
    text = "no\x1b[2J\nfigure \ud800"
    written_out = "no\\x1b[2J\\nfigure \\ud800"
    content = io.BytesIO()
    log = io.TextIOWrapper(content, encoding="utf-8", write_through=True)
    out = io.StringIO()
    case = Case("k", "tcp", "gw→hh", "gw", "hh", {})
    suspicion = Suspicion("not-idle", "gw", text)
    suspect = Outcome(1, 0.0, {"throughput": 1.0}, "suspect", suspicions=(suspicion,))
    for progress in (PlainProgress(log), LiveProgress(console(out, width=120))):
        progress.begin(Outlook(7, 1, lambda _: "t gw→hh", load_catalogue(), lambda: 90.0))
        progress.measured(Dispatch("t", case, (1,)), suspect, Launch(0.0, warnings=(text,)))
        progress.lost("gw", text)
        progress.say(f"left out: {text}")
        progress.end()
    expected = [
        f"warning: t gw→hh: {written_out}",
        f"suspect: t gw→hh, replication 1: {written_out} [not-idle, shown once]",
        f"lost gw: {written_out}",
        *f"left out: {written_out}".split("\\n"),
    ]
    assert content.getvalue().decode().splitlines()[1:-1] == expected
    assert set(expected) <= set(out.getvalue().splitlines())


def test_how_many_cases_are_still_open_is_told() -> None:
    out = io.StringIO()
    progress = PlainProgress(out)
    progress.begin(Outlook(7, 100, lambda _: "t gw→hh", load_catalogue(), lambda: 90.0))
    progress.remaining(100, 2)
    progress.remaining(60, 1)
    progress.end()
    lines = out.getvalue().splitlines()
    assert lines[1] == "2 cases with a rule: measured until it says that is enough"
    assert lines[2].startswith("0/60 replications in ")
    assert len(lines) == 3


def test_a_live_display_shows_how_many_cases_are_still_open() -> None:
    out = io.StringIO()
    progress = LiveProgress(console(out, force_terminal=True, width=120))
    progress.begin(Outlook(1, 100, lambda _: "t gw→hh", load_catalogue(), lambda: 90.0))
    progress.remaining(60, 1)
    progress.end()
    assert "1 case open" in out.getvalue()
    assert "0/60" in out.getvalue()
