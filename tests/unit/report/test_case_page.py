"""A page for each case with system logs: what is on it, its figures, and how many there are."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from tests.support.log_samples import system_log

from railgauge.base.systemlog import PortLog, SoakLoad, Suspicion, SystemLog, TimeSeries
from railgauge.plan.cases import Case, Value, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.report.pages.case.paged_cases import MOST_PAGES
from railgauge.report.pages.case.timelines import timelines
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

_DROPS = "hh1: 1,204 packets were dropped, the receive buffer being full"
_EVIL = """<script>alert(1)</script> " onload='x' & {{ 7*7 }}\x07"""
_METRICS = {
    "udp": {
        "throughput": MetricInfo("bit/s", "higher"),
        "loss_rate": MetricInfo("", "lower"),
        "sent_packets": MetricInfo("", ""),
        "received_packets": MetricInfo("", ""),
        "receiver_drops": MetricInfo("", ""),
    }
}


def _case(datagram: int, link: str = "gw→hh") -> Case:
    parameters: dict[str, Value] = {"mode": "stream", "datagram": datagram, "sockbuf": 10240}
    key = case_key("udp", link, "gw1", "hh1", parameters)
    return Case(key, "udp", link, "gw1", "hh1", parameters)


def _outcome(
    number: int, logs: Sequence[SystemLog] = (), suspicions: Sequence[Suspicion] = ()
) -> Outcome:
    return Outcome(
        number,
        1.0,
        {"throughput": 9e8 + number * 1e6, "loss_rate": 0.012, "sent_packets": 428_123.0},
        "suspect" if suspicions else "ok",
        logs=tuple(logs),
        suspicions=tuple(suspicions),
    )


def _hosts(**more: int) -> list[SystemLog]:
    return [system_log("gw1", samples=5), system_log("hh1", samples=5, busy=0.8, **more)]


def _store_run(
    store: Store, outcomes: dict[int, list[Outcome]], link: str = "gw→hh", test: str = "stream"
) -> int:
    """Store a run with a case for each datagram size of `outcomes`."""
    new = NewRun("fabric", "text", "/home/me", "c0ffee" * 6, False, 7, "ctl", "0.1.0", "ab", {})
    cases = {datagram: _case(datagram, link) for datagram in outcomes}
    planned = [
        PlannedCase(test, cases[size], len(case_outcomes))
        for size, case_outcomes in outcomes.items()
    ]
    number = store.begin_run(new, planned, _METRICS)
    for size, case_outcomes in outcomes.items():
        launch = Launch(1.0, warnings=("the receive buffer was clamped",))
        for outcome in case_outcomes:
            store.add(number, test, cases[size].key, outcome, launch)
    store.finish_run(number, "complete")
    return number


def _write(store: Store, run: int, out: Path, most: int | None = None) -> dict[str, str]:
    options = ReportOptions(most_cases=most)
    files = write_report(store, [run], None, out, catalogue=load_catalogue(), options=options)
    return {str(file.relative_to(out)): file.read_text(encoding="utf-8") for file in files}


def _pages(files: dict[str, str]) -> list[str]:
    return [text for name, text in files.items() if re.fullmatch(r"cases/.*\.html", name)]


def _text(page: str) -> str:
    bare = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(bare).split())


class _Balance(HTMLParser):
    """Checks that every element is closed, and collects ids and links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        attributes = dict(attrs)
        self.ids += [attributes["id"] or ""] if "id" in attributes else []
        self.hrefs += [attributes["href"] or ""] if "href" in attributes and tag == "a" else []
        assert not any(name.startswith("on") for name in attributes)
        if tag not in ("meta", "link", "br", "col"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _read(page: str) -> _Balance:
    reader = _Balance()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    return reader


def test_each_case_with_system_logs_has_a_page_that_the_report_links_to(
    store: Store, tmp_path: Path
) -> None:
    outcomes = {1024: [_outcome(1, _hosts())], 1460: [_outcome(1)], 4096: [_outcome(1, _hosts())]}
    out = tmp_path / "out"
    files = _write(store, _store_run(store, outcomes), out)
    index = files["index.html"]
    links = [href for href in _read(index).hrefs if href.startswith("cases/")]
    # From each cell of its rows, of medians and of statistics (there is no interval), and from the
    # list of cases.
    assert len(links) == 2 * (2 + 2 * 8 + 1)
    assert sorted(set(links)) == sorted(name for name in files if name.endswith(".html"))[:2]
    assert "stream: gw→hh · datagram 4KiB" in _text(index)
    assert all(_read(page).hrefs == ["../index.html"] for page in _pages(files))


def test_a_run_without_system_logs_has_no_pages_of_cases(store: Store, tmp_path: Path) -> None:
    files = _write(store, _store_run(store, {1024: [_outcome(1)]}), tmp_path / "out")
    assert not [name for name in files if name.startswith("cases/")]
    assert "Cases with system logs" not in files["index.html"]


def test_without_gnuplot_the_page_says_why_it_has_no_figures(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILGAUGE_GNUPLOT", "/nowhere/gnuplot")
    run = _store_run(store, {1024: [_outcome(1, _hosts())], 1460: [_outcome(1, [system_log("a")])]})
    drawn, timeless = map(_text, _pages(_write(store, run, tmp_path / "out")))
    assert "Without figures over time: RAILGAUGE_GNUPLOT is '/nowhere/gnuplot'" in drawn
    assert "Without figures" not in timeless


def test_the_page_tells_replications_hosts_and_why_one_is_suspect(
    store: Store, tmp_path: Path
) -> None:
    bad = _outcome(
        2, _hosts(protocol__Udp__RcvbufErrors=1204), [Suspicion("receive-drops", "hh1", _DROPS)]
    )
    lost = Outcome(3, 1.0, {}, "failed", error_code="peer-lost", error_message="gone")
    outcomes = {1460: [_outcome(1, _hosts()), bad, lost]}
    files = _write(store, _store_run(store, outcomes), tmp_path / "out")
    (page,) = _pages(files)
    text = _text(page)
    assert "Engine udp from gw1 to hh1, run 1 of plan fabric." in text
    assert "the receive buffer was clamped" in text
    assert "1 ok 901.0 1.200 50.0 80.0" in text
    assert "2 suspect: receive-drops 902.0 1.200 50.0 80.0" in text
    assert "3 failed: peer-lost – – – –" in text
    assert f"Replication 2 suspect {_DROPS} gw1 (client, 5.000 s)" in text
    assert "Udp/RcvbufErrors dropped: the socket's receive buffer was full 1,204" in text
    assert page.count("CPU by CPU") == 2 * 2 * 2  # caption and label, hosts, replications
    assert "Replication 3" not in text


def test_what_a_stream_lost_is_told_with_the_path_and_what_its_ports_counted(
    store: Store, tmp_path: Path
) -> None:
    own = {"protocol__Ip__OutRequests": 5000, "protocol__Udp__OutDatagrams": 5000}
    none = dict.fromkeys(own, 0)
    hosts = [
        system_log("gw1", interface__eth0__tx_packets=5000, **own),
        system_log("hh1", interface__eth0__rx_packets=3800, **none),
    ]
    ports = (
        PortLog(1, "switchA", "17", {"ifHCInUcastPkts": 5000, "ifInDiscards": 0}),
        PortLog(2, "switchA", "18", {"ifHCOutUcastPkts": 3800, "ifOutDiscards": 1200}),
    )
    metrics = {"sent_packets": 5000.0, "received_packets": 3796.0, "receiver_drops": 4.0}
    outcome = replace(_outcome(1, hosts), metrics=metrics, ports=ports)
    run = _store_run(store, {1460: [outcome]})
    (page,) = _pages(_write(store, run, tmp_path / "out"))
    text = _text(page)
    assert "5,000 packets vanished between switchA:17 (in) and switchA:18 (out)" in text
    assert "4 of 5,000 datagrams reached hh1 and were dropped at the socket" in text
    assert "switchA:18 (out) ifHCOutUcastPkts 1,200 ifOutDiscards 3,800" in text
    assert "Path: gw1, port 17, switchA, port 18, hh1" in page
    assert "Ports on the path Port ifHCInUcastPkts" in text


def test_suspect_replications_are_listed_and_marked_everywhere(
    store: Store, tmp_path: Path
) -> None:
    bad = _outcome(2, (), [Suspicion("receive-drops", "hh1", _DROPS)])
    files = _write(store, _store_run(store, {1460: [_outcome(1), bad]}), tmp_path / "out")
    text = _text(files["index.html"])
    assert "Suspect replications of run 1" in text
    assert f"stream: gw→hh 2 receive-drops {_DROPS}" in text
    listed = files["report.txt"].partition("Suspect replications of run 1\n")[2].splitlines()
    assert max(map(len, listed)) <= 80
    assert f"stream: gw→hh, replication 2: {_DROPS}." in " ".join(" ".join(listed).split())
    shared = "In all cells packets were dropped at the receiver; "
    assert shared in files["report.txt"]
    assert shared in files["stream.tex"]
    assert r"\subsection*{\raggedright Suspect replications of run 1}" in files["report.tex"]
    header, first, _ = (line.split(",") for line in files["stream.csv"].splitlines())
    assert dict(zip(header, first, strict=True))["suspect"] == "1"


def test_a_groups_page_shows_some_of_its_hosts_and_those_under_suspicion(
    store: Store, tmp_path: Path
) -> None:
    hosts = tuple(f"n{i:02}" for i in range(20))
    case = Case("0123456789abcdef", "udp", "rack", hosts[0], None, {"mode": "all"}, hosts)
    new = NewRun("fabric", "", "", "", False, 7, "ctl", "0.1.0", "", {})
    run = store.begin_run(new, [PlannedCase("all", case, 1)], _METRICS)
    suspicions = [Suspicion("steal", "n17", "n17: stolen")]
    outcome = _outcome(1, [system_log(host) for host in hosts], suspicions)
    store.add(run, "all", case.key, outcome, Launch(1.0))
    (page,) = _pages(_write(store, run, tmp_path / "out"))
    text = _text(page)
    assert "Engine udp on the 20 hosts of group rack, run 1 of plan fabric." in text
    headings = re.findall(r"<h3>(n\d+) ", page)
    assert headings == ["n00", "n01", "n02", "n03", "n04", "n05", "n06", "n17"]
    assert "Of 20 hosts 8 are shown, those under suspicion first." in text


def test_a_pair_of_a_group_is_told_as_client_and_server(store: Store, tmp_path: Path) -> None:
    case = Case("0123456789abcdef", "udp", "a→b", "a", "b", {"mode": "matrix"}, ("a", "b", "c"))
    new = NewRun("fabric", "", "", "", False, 7, "ctl", "0.1.0", "", {})
    run = store.begin_run(new, [PlannedCase("matrix", case, 1)], _METRICS)
    logs = [system_log(host) for host in case.members]
    store.add(run, "matrix", case.key, _outcome(1, logs), Launch(1.0))
    text = _text(_pages(_write(store, run, tmp_path / "out"))[0])
    assert "Engine udp from a to b, run 1" in text
    assert "a (client, 5.000 s)" in text
    assert "b (server, 5.000 s)" in text
    assert "c (" not in text


def test_idle_stretches_before_and_after_a_run_are_shown(store: Store, tmp_path: Path) -> None:
    run = _store_run(store, {1460: [_outcome(1)]})
    before = replace(system_log("gw1", elapsed=0.5, busy=0.02), phase="before")
    store.add_logs(run, [before, replace(before, phase="after")])
    text = _text(_write(store, run, tmp_path / "out")["index.html"])
    assert "Hosts before and after run 1 Host CPUs busy (%)" in text
    assert "gw1, before 2.0 40,000 62,000 2,408 856,246 gw1, after 2.0" in text


def test_of_many_cases_those_with_suspect_replications_have_a_page_unless_more_are_wanted(
    store: Store, tmp_path: Path
) -> None:
    outcomes = {size: [_outcome(1, _hosts())] for size in range(1000, 1000 + MOST_PAGES + 1)}
    out = tmp_path / "out"
    index = _write(store, _store_run(store, outcomes), out)["index.html"]
    assert not [*out.glob("cases/*")]
    rule = "more than 200 cases with system logs only those with suspect replications have a page"
    assert f"Cases with system logs Of {rule}: --cases N makes N pages." in _text(index)
    outcomes[1100] = [_outcome(1, _hosts(), [Suspicion("steal", "gw1", "gw1: stolen")])]
    run = _store_run(store, outcomes)
    (page,) = _pages(_write(store, run, tmp_path / "suspect"))
    assert "1 suspect: steal" in _text(page)
    assert len(_pages(_write(store, run, tmp_path / "three", most=3))) == 3


def test_of_many_suspect_replications_the_first_hundred_are_listed(
    store: Store, tmp_path: Path
) -> None:
    bad = [_outcome(i, (), [Suspicion("steal", "gw1", "gw1: stolen")]) for i in range(1, 124)]
    files = _write(store, _store_run(store, {1460: bad}), tmp_path / "out")
    assert "Suspect replications of run 1 (the first 100 of 123)" in files["index.html"]
    assert files["index.html"].count("gw1: stolen") == 100
    assert "  60 more are in index.html." in files["report.txt"].splitlines()


def test_pages_are_bounded_and_suspect_cases_come_first(store: Store, tmp_path: Path) -> None:
    outcomes = {size: [_outcome(1, _hosts())] for size in (1000, 1001, 1002)}
    outcomes[1003] = [_outcome(1, _hosts(), [Suspicion("steal", "gw1", "gw1: stolen")])]
    run = _store_run(store, outcomes)
    files = _write(store, run, tmp_path / "two", most=2)
    keys = [re.findall(r"-([0-9a-f]+)\.html", name) for name in files if "cases/" in name]
    assert sorted(key for matches in keys for key in matches) == sorted(
        _case(size).key[:16] for size in (1000, 1003)
    )
    assert "At most 2 cases have a page" in files["index.html"]
    page = _write(store, run, tmp_path / "single", most=1)["index.html"]
    assert "At most 1 case has a page" in page
    assert not _pages(_write(store, run, tmp_path / "none", most=0))


def test_of_many_replications_some_are_shown_in_full_suspect_ones_among_them(
    store: Store, tmp_path: Path
) -> None:
    outcomes = [_outcome(i, _hosts()) for i in range(1, 9)]
    outcomes.append(_outcome(9, _hosts(), [Suspicion("steal", "gw1", "gw1: stolen")]))
    (page,) = _pages(_write(store, _store_run(store, {1460: outcomes}), tmp_path / "out"))
    numbers = re.findall(r"<h2>Replication (\d+)", page)
    assert numbers == ["1", "2", "3", "4", "5", "9"]
    assert "Shown in full are 6 replications, suspect ones first; 3 more" in _text(page)


def test_the_same_database_gives_the_same_bytes_again(store: Store, tmp_path: Path) -> None:
    run = _store_run(store, {1460: [_outcome(1, _hosts()), _outcome(2, _hosts())]})
    first = _write(store, run, tmp_path / "a")
    assert first == _write(store, run, tmp_path / "b")
    assert sorted(Path(name).suffix for name in first if "cases/" in name) == [
        ".dat",
        ".html",
        ".plot",
    ]


def test_names_with_markup_show_as_text(store: Store, tmp_path: Path) -> None:
    hostile = [
        replace(
            system_log(),
            labels={"interrupt/24": _EVIL},
            counts={**system_log().counts, f"interface/{_EVIL}/rx_packets": 3},
        )
    ]
    outcomes = {1460: [_outcome(1, hostile, [Suspicion("steal", "gw1", _EVIL)])]}
    files = _write(store, _store_run(store, outcomes, link=_EVIL), tmp_path / "out")
    for page in (*_pages(files), files["index.html"]):
        assert _read(page).tags
        assert page.count("<script") == 1, "the page's own"
        assert "\x07" not in page
        assert "&lt;script&gt;" in page


def test_the_page_asks_nobody_for_anything(store: Store, tmp_path: Path) -> None:
    run = _store_run(store, {1460: [_outcome(1, _hosts())]})
    (page,) = _pages(_write(store, run, tmp_path / "out"))
    assert not _read(page).tags & {"img", "iframe", "object"}
    without_names = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not re.search(r"src=|@import|https?:", without_names)


def test_too_few_samples_make_no_figure(store: Store, tmp_path: Path) -> None:
    run = _store_run(store, {1460: [_outcome(1, [system_log(samples=2)])]})
    files = _write(store, run, tmp_path / "out")
    assert "Over time" not in _pages(files)[0]
    assert not [name for name in files if name.endswith(".plot")]


def test_soakers_are_no_load_of_a_timeline() -> None:
    names = ("cpu/all/user", "cpu/all/nice", "cpu/all/idle")
    values = np.array([[20, 70, 10], [40, 140, 20], [60, 210, 30]])
    series = TimeSeries(np.array([1.0, 2.0, 3.0]), names, values)
    log = replace(system_log(), series=series, soak=(SoakLoad(0, 0.2, 0.2, 0.0),))
    (cpu,) = timelines([(log, False)])
    assert cpu.quantities[0].sound[0][:, 1].tolist() == [20, 20, 20, 20]


def test_timelines_are_what_was_counted_in_each_stretch_over_its_length() -> None:
    times = np.array([1.0, 2.0, 4.0])
    names = ("cpu/all/user", "cpu/all/idle", "interface/eth0/rx_bytes", "interface/lo/rx_bytes")
    values = np.array([[50, 150, 10**6, 7], [100, 300, 10**6, 7], [500, 300, 3 * 10**6, 7]])
    log = replace(system_log(), series=TimeSeries(times, names, values))
    cpu, traffic = timelines([(log, False)])
    assert [quantity.label for quantity in cpu.quantities] == ["busy", "in interrupts"]
    assert cpu.quantities[0].sound[0].tolist() == [[0, 25], [1, 25], [2, 100], [4, 100]]
    assert traffic.quantities[0].sound[0].tolist() == [[0, 8], [1, 0], [2, 8], [4, 8]]
    assert cpu.alt_text == (
        "share of all CPUs' time (%). busy: least 25, greatest 100; in interrupts: least 0,"
        " greatest 0."
    )


def test_the_throughput_drawn_is_of_the_interface_that_carried_most() -> None:
    log = system_log(samples=5, interface__lo__rx_bytes=10**10, interface__veth1__tx_bytes=10)
    (traffic,) = [timeline for timeline in timelines([(log, False)]) if timeline.name == "traffic"]
    assert traffic.title == "Throughput of lo"
    assert [quantity.label for quantity in traffic.quantities] == ["received"]


def test_a_sample_at_the_begin_and_one_just_before_the_end_make_no_stretch_of_their_own() -> None:
    times = np.array([0.0, 1.0, 2.0, 3.0, 3.001])
    values = np.array([[0], [10], [20], [30], [70]])
    log = replace(system_log(), series=TimeSeries(times, ("stat/interrupts",), values))
    ((interrupts,),) = [timeline.quantities for timeline in timelines([(log, False)])]
    (steps,) = interrupts.sound
    assert steps[:, 0].tolist() == [0.0, 1.0, 2.0, 3.001]
    assert np.allclose(steps[:, 1], [10, 10, 50 / 1.001, 50 / 1.001])


def test_where_no_tick_was_counted_the_load_is_unknown() -> None:
    times = np.array([1.0, 2.0, 3.0])
    values = np.array([[100], [100], [200]])
    log = replace(system_log(), series=TimeSeries(times, ("cpu/all/user",), values))
    ((busy, _),) = [timeline.quantities for timeline in timelines([(log, False)])]
    assert busy.sound[0][:3, 1].tolist()[::2] == [100, 100]
    assert np.isnan(busy.sound[0][1, 1])


def test_many_samples_are_put_together_and_lose_nothing() -> None:
    times = np.arange(1, 502) * 0.01
    values = np.arange(1, 502)[:, None] * 1250
    log = replace(system_log(), series=TimeSeries(times, ("interface/eth0/tx_bytes",), values))
    ((sent,),) = [timeline.quantities for timeline in timelines([(log, True)])]
    (steps,) = sent.suspect
    assert len(steps) <= 102
    assert steps[-1, 0] == times[-1]
    assert np.allclose(steps[:, 1], 1.0)
    assert sent.sound == ()
