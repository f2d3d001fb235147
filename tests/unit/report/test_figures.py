"""Figures: what is drawn, what stands beside it, real gnuplot, real pdflatex, the same bytes."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.support.figure_reports import report_sentences, svg_texts, write_figure
from tests.support.latex_lab import pages_of, typeset
from tests.support.report_data import series, store_traces, trace
from tests.support.results import csv_rows

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.base.trace import encode
from railgauge.plan.cases import Case, case_key
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.figures.figures import tell_apart
from railgauge.report.figures.gnuplot import find_gnuplot, run_gnuplot
from railgauge.report.figures.scripts import quoted
from railgauge.report.figures.thin import visible_points
from railgauge.report.tables.selection import make_axes
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, NewRun, Outcome, PlannedCase

# What UDPmon saw on the way from gwgsara2 to prusin.
_LOSSES = {616: 172, 1143: 209, 1782: 227, 2479: 187, 3051: 179, 3604: 186, 4180: 172, 4700: 217}
_LINK = "gwgsara2→prusin"
_SVG = "{http://www.w3.org/2000/svg}"
_NASTY = """<script>alert(1)</script> % _ \\ & # $x^2$ {b} 'q' "d" `date` @x"""


pytestmark = pytest.mark.usefixtures("gnuplot")


def _write(store: Store, run: int, out: Path, figure: str, title: str = "Arrivals") -> list[str]:
    files = write_figure(store, [run], out, figure, title=title)
    assert sorted(out.iterdir()) == sorted(files)
    return [file.name for file in files]


def _columns(path: Path) -> np.ndarray:
    return np.loadtxt(path)


def _pixels(path: Path) -> list[tuple[float, float]]:
    """Return where the SVG has its small points."""
    root = ElementTree.parse(path).getroot()
    places = []
    for use in root.iter(f"{_SVG}use"):
        match = re.fullmatch(r"translate\((.+),(.+)\) scale\((.+)\)", use.get("transform", ""))
        if match is not None and float(match[3]) < 1.5:
            places.append((float(match[1]), float(match[2])))
    return places


def test_an_arrival_figure_is_a_script_its_data_two_pictures_and_its_losses(
    store: Store, tmp_path: Path
) -> None:
    run = store_traces(store, {(_LINK, 0.0): [trace(_LOSSES)]})
    names = _write(store, run, tmp_path / "out", "kind: arrival")
    assert names == [
        *("index.html", "night.txt", "night.tex", "fig.tex", "fig.csv", "fig-losses.tex"),
        *("fig.plot", "fig.dat", "fig.svg", "fig-picture.tex"),
    ]


def test_losses_are_gaps_in_the_points_with_exact_edges(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {(_LINK, 0.0): [trace(_LOSSES)]})
    _write(store, run, tmp_path / "out", "kind: arrival")
    sequence, time = _columns(tmp_path / "out" / "fig.dat").T
    edges = np.flatnonzero(np.diff(sequence) > 100)
    assert sequence[edges].tolist() == list(_LOSSES)
    lost = [after + 1 + count for after, count in _LOSSES.items()]
    assert sequence[edges + 1].tolist() == lost
    assert time == pytest.approx(13.5 * sequence)  # µs
    assert (sequence[0], sequence[-1]) == (0, 4999)


def test_every_point_of_the_data_is_a_point_of_the_svg_and_gaps_show(
    store: Store, tmp_path: Path
) -> None:
    run = store_traces(store, {(_LINK, 0.0): [trace(_LOSSES)]})
    _write(store, run, tmp_path / "out", "kind: arrival")
    data = _columns(tmp_path / "out" / "fig.dat")
    points = _pixels(tmp_path / "out" / "fig.svg")
    assert len(points) == len(data)
    x = np.array(points)[:, 0]
    # The axis ends at 5000, a rounded end just after the last number.
    per_number = (x.max() - x.min()) / 4999
    assert 600 < x.max() - x.min() < 800
    wide = np.flatnonzero(np.diff(x) > 50 * per_number)
    assert np.diff(x)[wide] / per_number == pytest.approx(
        [lost + 1 for lost in _LOSSES.values()], abs=1
    )


def test_the_losses_stand_in_text_csv_page_and_latex(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {(_LINK, 0.0): [trace(_LOSSES)]})
    out = tmp_path / "out"
    _write(store, run, out, "kind: arrival")
    text = (out / "night.txt").read_text(encoding="utf-8")
    rows = [line.split()[-2:] for line in text.splitlines() if line.split()[-1:] == ["172"]]
    assert rows == [["616", "172"], ["4180", "172"]]
    summary = f"{_LINK}: 3,451 arrivals of 5,000 datagrams sent, the last after 67.486 ms"
    assert f"{summary}; 1,549 lost in 8 loss runs." in report_sentences(out)
    losses = {int(row["after_sequence"]): int(row["lost"]) for row in csv_rows(out / "fig.csv")}
    assert losses == _LOSSES
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "<td>1143</td>" in page
    assert "var(--curve)" in page, "brighter on a dark page"
    assert "1143 & 209" in (out / "fig-losses.tex").read_text(encoding="utf-8")


def test_sentences_of_a_figure_in_text_are_as_wide_as_a_terminal(
    store: Store, tmp_path: Path
) -> None:
    run = store_traces(store, {("a→b", 0.0): [trace(recorded=100)]})
    words = "A caption of more words than a line of any terminal has room for, which goes on."
    _write(store, run, tmp_path / "out", f"kind: arrival, caption: '{words * 2}'")
    lines = (tmp_path / "out" / "night.txt").read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 80
    (first,) = (place for place, line in enumerate(lines) if line.startswith("  a→b: "))
    assert lines[first + 1].startswith("    ")


def test_thinned_points_are_told_and_unthinned_ones_are_not(store: Store, tmp_path: Path) -> None:
    traces = {("a→b", 0.0): [trace()], ("b→a", 0.0): [trace(sent=50)]}
    run = store_traces(store, traces)
    _write(store, run, tmp_path / "out", "kind: arrival, each: [link]")
    text = (tmp_path / "out" / "night.txt").read_text(encoding="utf-8")
    drawn = len(_columns(tmp_path / "out" / "fig-1.dat"))
    assert drawn < 2100
    assert f"{drawn:,} of 5,000 arrivals are drawn: the others fall on the same spots." in text
    assert len(_columns(tmp_path / "out" / "fig-2.dat")) == 50
    assert "of 50 arrivals are drawn" not in text


def test_points_kept_are_close_to_each_one_left_out() -> None:
    rng = np.random.default_rng(3)
    x = rng.permutation(20_000).astype(np.int64)
    y = np.cumsum(rng.integers(0, 1000, 20_000)).astype(np.int64)
    indices = visible_points(x, y)
    spans = float(np.ptp(x)), float(np.ptp(y))
    grid = {
        (int(a * 1000 / spans[0]), int((b - int(y.min())) * 1000 / spans[1]))
        for a, b in zip(x[indices].tolist(), y[indices].tolist(), strict=True)
    }
    assert all(
        (int(a * 1000 / spans[0]), int((b - int(y.min())) * 1000 / spans[1])) in grid
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    )


def test_a_stream_of_which_nothing_arrived_is_told(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {("a→b", 0.0): [trace({-1: 20}, sent=20)]})
    for kind in ("arrival", "gaps"):
        _write(store, run, tmp_path / kind, f"kind: {kind}")
    text = (tmp_path / "arrival" / "night.txt").read_text(encoding="utf-8")
    assert "a→b: 0 arrivals of 20 datagrams sent." in text
    assert "After -1: from the very first datagram" in text
    assert "fewer than two arrivals" in (tmp_path / "gaps" / "night.txt").read_text()


def test_a_case_whose_traced_replications_failed_is_named(store: Store, tmp_path: Path) -> None:
    run = _half_failed(store)
    _write(store, run, tmp_path / "one", "kind: gaps")
    text = (tmp_path / "one" / "night.txt").read_text(encoding="utf-8")
    assert "a→b: 8 inter-arrival times" in text
    assert "Without a trace, failed or not measured: b→a." in text
    for kind in ("arrival", "gaps"):
        _write(store, run, tmp_path / kind, f"kind: {kind}, each: [link]")
        text = (tmp_path / kind / "night.txt").read_text(encoding="utf-8")
        assert text.count("Without a trace, failed or not measured: b→a.") == 1
        assert text.count("Trace of replication 1.") == 1
        assert not (tmp_path / kind / "fig-2.svg").exists(), "of what has no trace"
    with pytest.raises(InputError, match="no trace of replication 2: name another, or set"):
        _write(store, run, tmp_path / "none", "kind: arrival, replication: 2")


def _half_failed(store: Store) -> int:
    """Store a run of two links, a replication each; the second one's failed."""
    parameters = {"mode": "stream", "trace": 9}
    cases = [
        Case(case_key("udp", link, *link.split("→"), parameters), "udp", link, *ends, parameters)
        for link, ends in (("a→b", ("a", "b")), ("b→a", ("b", "a")))
    ]
    new = NewRun("udpmon", "text", "/home/me/plans", "", False, 7, "ctl", "0.1.0", "ab12", {})
    metrics = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
    run = store.begin_run(new, [PlannedCase("t", case, 1) for case in cases], metrics)
    traced = Outcome(1, 1.0, {"throughput": 1.0}, trace=encode(trace(sent=9)))
    failed = Outcome(1, 1.0, {}, status="failed", error_code="refused", error_message="refused")
    for case, outcome in zip(cases, (traced, failed), strict=True):
        store.add(run, "t", case.key, outcome, Launch(1.0))
    return run


def test_a_trace_cut_short_says_so(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {("a→b", 0.0): [trace(recorded=100)]})
    _write(store, run, tmp_path / "out", "kind: arrival")
    text = (tmp_path / "out" / "night.txt").read_text(encoding="utf-8")
    assert "5,000 arrivals of 5,000 datagrams sent, the first 100 traced" in text
    # Of the 4,900 that came later nobody knows.
    assert "none lost up to number 99." in text


def test_a_replication_may_be_chosen_and_the_first_is_the_default(
    store: Store, tmp_path: Path
) -> None:
    run = store_traces(store, {("a→b", 0.0): [trace(sent=10), trace(sent=20), trace(sent=30)]})
    _write(store, run, tmp_path / "first", "kind: arrival")
    _write(store, run, tmp_path / "second", "kind: arrival, replication: 2")
    assert len(_columns(tmp_path / "first" / "fig.dat")) == 10
    assert len(_columns(tmp_path / "second" / "fig.dat")) == 20
    assert "Trace of replication 2." in (tmp_path / "second" / "night.txt").read_text()
    with pytest.raises(InputError, match="no trace of replication 4: name another, or set"):
        _write(store, run, tmp_path / "none", "kind: arrival, replication: 4")


def test_gaps_counts_every_inter_arrival_time_once(store: Store, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    times = np.concatenate(([0], np.cumsum(rng.integers(900, 30_000_000, 4998)))).astype(np.int64)
    times = np.append(times, times[-1])  # one pair of equal stamps
    run = store_traces(store, {("a→b", 0.0): [replace(trace(), received=times)]})
    for log, total in (("true", 4998), ("false", 4999)):
        out = tmp_path / log
        _write(store, run, out, f"kind: gaps, x: {{log: {log}}}")
        records = csv_rows(out / "fig.csv")
        assert sum(int(row["arrivals"]) for row in records) == total
        lows = [float(row["from_seconds"]) for row in records]
        assert lows == sorted(lows)
        in_bin = np.diff(times)[np.diff(times) > 0] * 1e-9
        third = records[len(records) // 3]
        inside = (in_bin >= float(third["from_seconds"])) & (in_bin < float(third["to_seconds"]))
        assert int(third["arrivals"]) == np.count_nonzero(inside)
        note = "Times of 0 or less, which have no place on a logarithmic axis: 1."
        assert (note in (out / "night.txt").read_text()) == (log == "true")


def test_lines_show_a_metric_against_a_parameter(store: Store, tmp_path: Path) -> None:
    waits = (2e-5, 1e-5, 4e-5)
    run = store_traces(
        store, {("a→b", wait): [trace(gap=round(wait * k * 1e9)) for k in (1, 2)] for wait in waits}
    )
    _write(
        store,
        run,
        tmp_path / "out",
        "kind: lines, x: {axis: wait}, y: {metric: throughput, statistic: mean, unit: Mbit/s}",
    )
    data = _columns(tmp_path / "out" / "fig.dat")
    assert data[:, 0].tolist() == [1e-5, 2e-5, 4e-5]
    rate = 8000 / (data[:, 0] * 1e6) * 5000 / 4999  # Mbit/s, without the doubled wait
    # Of rates the mean is the harmonic one.
    assert data[:, 1] == pytest.approx(2 / (1 / rate + 2 / rate))
    assert data[:, 2] == pytest.approx(0.5 * rate)
    assert data[:, 3] == pytest.approx(rate)
    text = (tmp_path / "out" / "night.txt").read_text(encoding="utf-8")
    assert "Points: the harmonic mean of 2 replications; bars: the least and the greatest." in text
    y = "{metric: throughput, statistic: mean, unit: bit/s}"
    _write(store, run, tmp_path / "base", f"kind: lines, x: {{axis: wait}}, y: {y}")
    assert "greatest 533440021 bit/s at 0.00001 s" in report_sentences(tmp_path / "base")


def test_the_legend_names_only_what_differs(store: Store) -> None:
    run = store_traces(
        store, {("a→b", 0.0): [trace()], ("b→a", 0.0): [trace()], ("a→b", 0.5): [trace()]}
    )
    traces = store.traces([run])
    names = ["run", "plan", "test", "engine", "link", "client_host", "server_host", "mode"]
    axes = make_axes([*names, "datagram", "wait"], {}, ["udp"], None)
    assert [line.label for line in tell_apart(traces, axes.__getitem__)] == [
        "a→b, wait 0.0",
        "a→b, wait 0.5",
        "b→a, wait 0.0",
    ]
    assert [line.label for line in tell_apart(traces[:1], axes.__getitem__)] == ["a→b"]


def test_several_engines_go_by_their_names_not_by_what_only_one_of_them_has() -> None:
    tcp = [
        series([1.0], {"message": size, "blocking": True, "threads": 1}, engine="tcp")
        for size in (1024, 2048)
    ]
    iperf3 = [series([1.0], {"message": 1024, "threads": 1}, engine="iperf3")]
    names = ["link", "engine", "message", "blocking", "threads"]
    axes = make_axes(names, {}, ["tcp", "iperf3"], load_catalogue())
    labels = [line.label for line in tell_apart([*tcp, *iperf3], axes.__getitem__, "threads")]
    assert labels == ["tcp, message 1KiB", "tcp, message 2KiB", "iperf3, message 1KiB"]


def test_more_series_than_can_be_told_apart_are_refused(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {("a→b", wait * 1e-6): [trace(sent=5)] for wait in range(8)})
    with pytest.raises(InputError, match=r"8 series, more than the 7 .* each: \[link\]"):
        _write(store, run, tmp_path / "out", "kind: arrival")
    _write(store, run, tmp_path / "out", "kind: arrival, each: [wait]")
    assert (tmp_path / "out" / "fig-8.svg").exists()


def test_the_same_database_gives_the_same_bytes_and_so_does_gnuplot_by_hand(
    store: Store, tmp_path: Path
) -> None:
    run = store_traces(store, {(_LINK, 0.0): [trace(_LOSSES)]})
    first, second, hand = tmp_path / "a", tmp_path / "b", tmp_path / "hand"
    names = _write(store, run, first, "kind: arrival")
    assert names == _write(store, run, second, "kind: arrival")
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    hand.mkdir()
    for name in ("fig.plot", "fig.dat"):
        shutil.copy(first / name, hand)
    subprocess.run([find_gnuplot(), "fig.plot"], cwd=hand, check=True, timeout=60)
    for name in ("fig.svg", "fig-picture.tex"):
        assert (hand / name).read_bytes() == (first / name).read_bytes()


@pytest.mark.usefixtures("latex")
def test_whatever_a_name_holds_shows_as_text_everywhere(store: Store, tmp_path: Path) -> None:
    names = (f"{_NASTY}→b", "a→b")
    run = store_traces(store, {(name, 0.0): [trace({10: 5}, sent=50)] for name in names})
    out = tmp_path / "out"
    _write(store, run, out, "kind: arrival", title=_NASTY)
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1, "the page's own"
    assert any(_NASTY in text for text in svg_texts(out / "fig.svg"))
    text = pages_of(out, "night")
    assert "<script>alert(1)</script>" in text
    assert "Relative receive time (µs)" in text.replace("μ", "µ")


def test_figures_on_a_page_share_no_ids_and_have_names(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {("a→b", 0.0): [trace()], ("b→a", 0.0): [trace()]})
    _write(store, run, tmp_path / "out", "kind: arrival, each: [link]")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    ids = [part.split('"', 1)[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    assert {"fig-1-title", "fig-2-desc"} <= set(ids)
    assert page.count('role="img"') == 2
    # Each point is drawn by its own figure's shape.
    references = {part.split('"', 1)[0] for part in page.split('xlink:href="#')[1:]}
    assert references and references <= set(ids)
    assert not re.search("https?:", page.replace("http://www.w3.org/", ""))


@pytest.mark.parametrize(
    "text",
    [
        _NASTY,
        "'begins and ends'",
        "''; print 'acts' #",
        # What is left of a line that is too long for it gnuplot takes for a command.
        *("é" * long + "; print 'acts' #" for long in range(480, 520)),
        "print 'acts' # " * 300,
        "",
    ],
)
def test_texts_in_a_script_are_inert(text: str) -> None:
    outputs = run_gnuplot(
        find_gnuplot(),
        {"x.plot": f"set print 'out'\nprint {quoted(text)}.'.'\nset print\n"},
        {"out": "."},
    )
    assert outputs == [text + ".\n"]


def test_titles_of_any_length_and_of_what_xml_lacks_are_drawn(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {("a→b", 0.0): [trace(sent=9)]})
    for name, title in (("long", "; print 'acts' # " * 200), ("none", "a\uffffb\ufffe")):
        _write(store, run, tmp_path / name, "kind: arrival, y: {title: Time}", title=title)
    page = (tmp_path / "none" / "index.html").read_text(encoding="utf-8")
    assert r"a\uffffb\ufffe" in page


def test_a_gnuplot_that_fails_is_said_with_its_words() -> None:
    with pytest.raises(EnvironmentFailedError, match=r"failed on x\.plot: .*5\.4 or later"):
        run_gnuplot(find_gnuplot(), {"x.plot": "nonsense here\n"}, {"out": ""})
    with pytest.raises(EnvironmentFailedError, match=r"can't be run: .*gnuplot-nox"):
        run_gnuplot("/nowhere/gnuplot", {"x.plot": ""}, {"out": ""})


def test_a_picture_that_is_cut_off_is_refused() -> None:
    script = "set print 'out'\nprint 'half'\nset print\n"
    with pytest.raises(EnvironmentFailedError, match="cut off: make room there"):
        run_gnuplot(find_gnuplot(), {"x.plot": script}, {"out": "whole"})


def test_gnuplot_is_found_by_a_relative_path_and_needs_a_folder_for_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gnuplot").symlink_to(find_gnuplot())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "bin:/usr/bin:/bin")
    script = {"x.plot": "set print 'out'\nprint 1\nset print\n"}
    assert run_gnuplot(find_gnuplot(), script, {"out": "1"}) == ["1\n"]
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(EnvironmentFailedError, match=r"missing: No such file.*TMPDIR"):
        run_gnuplot(find_gnuplot(), script, {"out": "1"})


@pytest.mark.usefixtures("latex")
def test_a_document_of_many_figures_compiles(store: Store, tmp_path: Path) -> None:
    run = store_traces(store, {("a→b", wait * 1e-6): [trace({3: 2}, sent=9)] for wait in range(55)})
    _write(store, run, tmp_path / "out", "kind: arrival, each: [wait]")
    typeset(tmp_path / "out", "night")
