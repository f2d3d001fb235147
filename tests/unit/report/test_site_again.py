"""A site that is built again: which pages are made again, which go, what is left alone."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support import command_line
from tests.support.site_samples import PLAN, build, build_pages, change, files, nights
from tests.support.store_samples import (
    LAUNCH,
    PEAK,
    RUN,
    failed,
    logged,
    measured,
    suspect,
    system_log,
)
from tests.support.verdict_samples import add_run, lane, noisy

from railgauge.base.errors import InputError
from railgauge.cli import cli
from railgauge.plan.partial import only_texts
from railgauge.report.site.made_by import made_by
from railgauge.report.site.mark import FileMark, marked, read_mark
from railgauge.report.site.site_pages import MOST_UNDIVIDED, case_file, plan_site
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome, PlannedCase
from railgauge.store.thinning import thin

OTHER = case_file(lane(3).key)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three nights of two cases, and a run of another plan, of one; and the site that is built."""
    folder = tmp_path_factory.mktemp("first")
    path = folder / "railgauge.db"
    nights(path)
    add_run(path, {3: noisy()}, new=replace(RUN, plan="other"))
    assert len(build_pages(path, folder / "site")) == 8
    assert build_pages(path, folder / "site") == set()
    return folder


@pytest.fixture
def database(first: Path, tmp_path: Path) -> Path:
    return shutil.copy(first / "railgauge.db", tmp_path)


@pytest.fixture
def out(database: Path, first: Path, tmp_path: Path) -> Path:
    """The site of the database, as it was built of another copy of it."""
    shutil.copytree(first / "site", tmp_path / "site")
    return tmp_path / "site"


def runs(*numbers: int) -> set[str]:
    return {f"runs/{number}.html" for number in numbers}


def test_another_replication_makes_what_shows_its_case_or_counts_it(database: Path, out: Path):
    with Store.open(str(database)) as store:
        more = replace(measured(11), metrics={"throughput": 1e9})
        store.add(2, "stream", lane(1).key, more, LAUNCH)
    # Run 3 is held against run 2.
    assert build_pages(database, out) == {*runs(2, 3), "index.html"}
    assert build_pages(database, out) == set()


def test_a_site_of_many_cases_grows_night_by_night(tmp_path: Path):
    cases, path, out = MOST_UNDIVIDED + 50, tmp_path / "many.db", tmp_path / "many"
    for night in range(1, 4):
        add_run(path, {case: noisy(1e9, 2, seed=night) for case in range(cases)})
        new_pages = {case_file(lane(case).key) for case in range(cases)} if night == 1 else set()
        assert build_pages(path, out) == {*runs(night), "index.html", *new_pages}
        assert build_pages(path, out) == set()
    assert {file.name for file in (out / "data").iterdir()} == {
        "nights.js",
        *(f"{night}{part}.js" for night in (1, 2, 3) for part in ("", "-0", "-1")),
    }


@pytest.fixture
def uncounted(database: Path, out: Path) -> Path:
    """The database, to whose first run something may be added, and whose site is built."""
    change(database, "UPDATE run SET case_count = NULL WHERE id = 1")
    build_pages(database, out)
    assert build_pages(database, out) == set()
    return database


def test_another_value_makes_the_runs_that_show_it_and_no_page_of_a_case(
    uncounted: Path, out: Path
):
    change(uncounted, "UPDATE value SET value = value + 1 WHERE run_case_id = 1 AND number = 3")
    assert build_pages(uncounted, out) == {*runs(1, 2), "index.html"}


def test_two_values_that_change_places_are_seen(uncounted: Path, out: Path):
    for number, other in ((3, 4), (4, 5)):
        assert other
        change(
            uncounted,
            "UPDATE value SET value = (SELECT old.value FROM value old WHERE old.run_case_id = 1"
            " AND old.number = ?) WHERE run_case_id = 1 AND number = ?",
            other,
            number,
        )
    assert runs(1) <= build_pages(uncounted, out)


def test_a_new_night_makes_its_page_and_the_first_one_alone(database: Path, out: Path):
    nights(database, 1)
    assert build_pages(database, out) == {*runs(5), "index.html"}


def test_a_baseline_that_moves_makes_the_runs_held_against_it(database: Path, out: Path):
    with Store.open(str(database)) as store:
        store.set_baseline(PLAN, [1])
    assert build_pages(database, out) == {*runs(2, 3), "index.html"}
    with Store.open(str(database)) as store:
        store.set_baseline(PLAN, [2], replace=True)
    assert build_pages(database, out) == {*runs(1, 2, 3), "index.html"}
    with Store.open(str(database)) as store:
        store.set_baseline("unrelated", [1])
    assert build_pages(database, out) == set()


def test_a_resumed_run_makes_what_tells_of_its_plan(database: Path, out: Path):
    with Store.open(str(database)) as store:
        store.reopen_run(3)
    assert build_pages(database, out) == {*runs(3), "index.html"}
    with Store.open(str(database)) as store:
        store.add_facts(4, "gw1", {"kernel": "6.3"})
    assert build_pages(database, out) == {*runs(4), "index.html"}


def _idle_log(store: Store) -> None:
    store.add_logs(2, [system_log(phase="before")])


def _peak(store: Store) -> None:
    store.add_peaks(2, [PEAK])


def _skipped(store: Store) -> None:
    store.skip_cases(3, {("stream", lane(1).key): "no such device"})


def _ended(store: Store) -> None:
    store.end_cases(3, {("stream", lane(1).key): "narrow"})


def _failed(store: Store) -> None:
    store.add(1, "stream", lane(2).key, failed(11), LAUNCH)


def _suspect(store: Store) -> None:
    only = {"throughput": 1e9}
    store.add(3, "stream", lane(2).key, replace(suspect(11), metrics=only), LAUNCH)


def _logged(store: Store) -> None:
    more = replace(logged(11, system_log()), metrics={"throughput": 1e9})
    store.add(3, "stream", lane(2).key, more, LAUNCH)


def _imported(store: Store) -> None:
    planned = [PlannedCase("stream", lane(1), 2)]
    values = [("stream", lane(1).key, replace(measured(1), metrics={"throughput": 1e9}))]
    infos = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
    store.import_run(replace(RUN, origin="imported"), planned, infos, values)


def _begun(store: Store) -> None:
    store.begin_run(RUN, [PlannedCase("stream", lane(9), 2)], {})


def _interrupted(store: Store) -> None:
    store.finish_run(3, "interrupted")


def _confirming(store: Store) -> None:
    only = only_texts({("stream", lane(1).key)})
    planned = [PlannedCase("stream", lane(1), 2)]
    infos = {"udp": {"throughput": MetricInfo("bit/s", "higher", smallest=0.2)}}
    run = store.begin_run(replace(RUN, files=only), planned, infos)
    store.add(
        run,
        "stream",
        lane(1).key,
        replace(measured(1), metrics={"throughput": 1e9}),
        LAUNCH,
    )


@pytest.mark.parametrize(
    "add",
    [
        *(_idle_log, _peak, _skipped, _ended, _failed, _suspect, _logged, _imported, _begun),
        *(_interrupted, _confirming),
    ],
)
def test_what_is_added_to_a_database_leaves_no_page_as_it_was_that_would_be_another(
    database: Path, out: Path, add: Callable[[Store], None]
):
    with Store.open(str(database)) as store:
        add(store)
    before = files(out)
    build(database, out)
    fresh = out.with_name("fresh")
    build(database, fresh)
    assert files(fresh) != before
    assert files(out) == files(fresh)


def test_another_gnuplot_makes_all_pages_again(
    database: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    other = tmp_path / "gnuplot"
    other.write_text("#!/bin/sh\necho gnuplot 7.0 patchlevel 0\n")
    other.chmod(0o755)
    before = made_by()
    monkeypatch.setenv("RAILGAUGE_GNUPLOT", str(other))
    assert made_by() != before
    # It draws nothing, which the pages say.
    assert len(build_pages(database, out)) == 8


def test_another_railgauge_makes_all_pages_again(database: Path):
    with Store.open(str(database)) as store:
        old_plan, new_plan = (plan_site(store, maker, None, 1) for maker in ("0.1", "0.2"))
    assert [job.name for job in old_plan.jobs] == [job.name for job in new_plan.jobs]
    assert not {job.fingerprint for job in old_plan.jobs} & {
        job.fingerprint for job in new_plan.jobs
    }
    assert old_plan.fingerprint != new_plan.fingerprint


def test_pages_of_dropped_runs_go_and_what_is_not_the_sites_stays(database: Path, out: Path):
    foreign = {
        "notes.html": "mine",
        "runs/notes.txt": "mine",
        "runs/77.html": "a page of mine, called like one of the site's",
        "cases/0123456789abcdef.html": "mine",
        ".htaccess": "Deny from all",
    }
    for name, text in foreign.items():
        (out / name).write_text(text)
    # Begun by a build that was killed.
    (out / "runs/.4.html.123.part").write_text("<!DOCTYPE")
    (out / "runs/.mine.123.part").write_text("mine")
    for table in ("value", "replication"):
        change(
            database,
            f"DELETE FROM {table} WHERE run_case_id IN (SELECT id FROM run_case WHERE run_id = 4)",
        )
    for table in ("run_metric", "run_file", "run_case"):
        change(database, f"DELETE FROM {table} WHERE run_id = 4")
    change(database, "DELETE FROM run WHERE id = 4")
    built = build(database, out)
    assert set(built.pages) == {"index.html"}
    assert built.removed == 3
    left = files(out)
    assert not {"runs/4.html", OTHER, "data/4.js", "runs/.4.html.123.part"} & left.keys()
    assert left["runs/.mine.123.part"] == b"mine"
    assert {name: left[name].decode() for name in foreign} == foreign


def test_a_page_that_is_somebody_elses_is_not_overwritten(database: Path, tmp_path: Path):
    out = tmp_path / "www"
    out.mkdir()
    (out / "index.html").write_text("<p>mine</p>\n")
    with pytest.raises(InputError, match=r"www/index\.html is there and is none of this site's"):
        build(database, out)
    assert files(out) == {"index.html": b"<p>mine</p>\n"}


def test_a_damaged_page_is_told_and_not_taken_for_a_whole_one(database: Path, out: Path):
    page = out / "runs/1.html"
    page.write_bytes(page.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"runs/1\.html is there"):
        build(database, out)
    page.unlink()
    assert build_pages(database, out) == runs(1)


def test_a_missing_baseline_or_database_is_told_before_a_folder_is_made(
    database: Path, tmp_path: Path
):
    out = tmp_path / "www"
    with pytest.raises(InputError, match="there is no baseline 'none'"):
        build(database, out, baseline="none")
    result = CliRunner().invoke(cli, ["site", "--db", str(tmp_path / "no.db"), "--out", str(out)])
    assert isinstance(result.exception, InputError)
    assert not out.exists()


def test_a_mark_is_read_as_it_was_written(tmp_path: Path):
    mark = FileMark("0f" * 32, {"slower": 3, "not_enough_data": 0})
    for name, text in (("x.html", "<p>x</p>"), ("x.dat", "1 2\n"), ("empty.dat", "")):
        file = tmp_path / name
        file.write_text(marked(name, text, mark))
        assert read_mark(file) == mark
        assert file.read_text().startswith(text)
        file.write_text(file.read_text() + "more\n")
        assert read_mark(file) is None
    assert read_mark(tmp_path / "nothing") is None


def command(database: Path, out: Path) -> subprocess.Popen[str]:
    words = [*command_line.COMMAND, "site", "--db", str(database), "--out", str(out)]
    return command_line.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough pages for several processes."""
    path = tmp_path_factory.mktemp("many") / "many.db"
    for night in range(2):
        add_run(path, {number: noisy(n=6, seed=night * 100 + number) for number in range(70)})
    return path


@pytest.fixture(scope="module")
def undisturbed(many: Path) -> dict[str, bytes]:
    """What a site of these is that one build made."""
    out = many.with_name("undisturbed")
    build(many, out)
    return files(out)


def test_a_killed_build_leaves_whole_pages_and_the_next_one_ends_it(
    many: Path, undisturbed: dict[str, bytes], tmp_path: Path
):
    # On a busy machine one may be done before it is killed.
    for attempt in range(5):
        out = tmp_path / f"site-{attempt}"
        killed = command(many, out)
        give_up = time.monotonic() + 120
        while len(list(out.glob("cases/[0-9a-f]*.html"))) < 3 and killed.poll() is None:
            assert time.monotonic() < give_up
            time.sleep(0.01)
        killed.kill()
        killed.communicate()
        if killed.returncode:
            break
    assert killed.returncode < 0, "each was done before it was killed"
    left = {name for name in files(out) if name.endswith(".html")}
    assert 3 <= len(left) < 74
    assert all(read_mark(out / name) is not None for name in left)
    # Its processes end with it; what they had made until then is whole, too.
    again = build_pages(many, out)
    assert not again & left
    assert build_pages(many, out) == set()
    whole = {name: text for name, text in files(out).items() if ".part" not in name}
    assert whole == undisturbed


def test_two_builds_at_once_make_one_site(
    many: Path, undisturbed: dict[str, bytes], tmp_path: Path
):
    out = tmp_path / "site"
    builds = [command(many, out) for _ in range(2)]
    outputs = [process.communicate(timeout=300) for process in builds]
    assert [process.returncode for process in builds] == [0, 0], outputs
    counts = sorted(stdout.splitlines()[-1] for stdout, _ in outputs)
    assert counts == ["0 pages made, 73 kept, 0 removed", "73 pages made, 0 kept, 0 removed"]
    assert files(out) == undisturbed


def test_tests_that_turn_out_to_be_two_make_what_joined_them_again(database: Path, tmp_path: Path):
    out = tmp_path / "renamed"
    for test in ("a", "b", "b"):
        add_run(database, {4: noisy()}, new=replace(RUN, plan="renamed"), test=test)
    build_pages(database, out)
    assert "test b was called a until run 5" in (out / "runs/6.html").read_text()
    with Store.open(str(database)) as store:
        cases = [PlannedCase(test, lane(4), 1) for test in "ab"]
        info = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
        run = store.begin_run(replace(RUN, plan="renamed"), cases, info)
        for test in "ab":
            store.add(run, test, lane(4).key, Outcome(1, 1.0, {"throughput": 1e9}), LAUNCH)
        store.finish_run(run, "complete")
    again = build_pages(database, out)
    assert runs(6) <= again
    assert not runs(5, 7) & again
    assert "was called" not in (out / "runs/6.html").read_text()


def test_a_file_of_data_that_is_gone_is_made_again(database: Path, out: Path):
    before = files(out)
    (out / "data/2.js").unlink()
    assert build_pages(database, out) == runs(2)
    (out / "data/nights.js").unlink()
    assert build_pages(database, out) == {"index.html"}
    assert files(out) == before


def test_thinned_logs_make_the_verdicts_again_that_named_what_they_counted(tmp_path: Path):
    database, out, fresh = (tmp_path / name for name in ("railgauge.db", "out", "fresh"))
    for level, sent_again in ((1e9, 0), (0.8e9, 50)):
        counts = {"protocol/Tcp/RetransSegs": sent_again, "protocol/Tcp/OutSegs": 10_000}
        log = system_log("hh1", counts=counts)
        rates = enumerate(noisy(level), 1)
        outcomes = [
            replace(logged(number, log), metrics={"throughput": rate}) for number, rate in rates
        ]
        add_run(database, {1: outcomes})
    # No page of theirs has these logs.
    build(database, out, logs=0)
    assert "TCP retransmits" in (out / "runs/2.html").read_text()
    with Store.open(str(database)) as store:
        thin(store, [1])
    build(database, out, logs=0)
    build(database, fresh, logs=0)
    assert "TCP retransmits" not in (fresh / "runs/2.html").read_text()
    assert files(out) == files(fresh)


def test_another_earlier_run_makes_verdicts_that_rest_on_levels_again(
    database: Path, tmp_path: Path
):
    flipping = replace(RUN, plan="flipping")
    ids = [
        add_run(database, {4: noisy(1e9 if number // 3 % 2 else 0.8e9, seed=number)}, new=flipping)
        for number in range(14)
    ]
    with Store.open(str(database)) as store:
        store.set_baseline("flipping", ids[3:6])
    # Something may be added to them all.
    change(database, "UPDATE run SET case_count = NULL")
    out = tmp_path / "levels"
    build(database, out)
    assert "two levels, now at the lower one" in (out / f"runs/{ids[-1]}.html").read_text()
    # None of what the last run is compared with.
    change(
        database,
        "UPDATE value SET value = 1e9 WHERE run_case_id IN"
        " (SELECT id FROM run_case WHERE run_id NOT IN (?, ?, ?, ?) AND run_id >= ?)",
        *(*ids[3:6], ids[-1], ids[0]),
    )
    build(database, out)
    fresh = tmp_path / "fresh"
    build(database, fresh)
    assert "two levels" not in (fresh / f"runs/{ids[-1]}.html").read_text()
    assert files(out) == files(fresh)


def test_a_build_that_takes_long_says_how_much_it_makes(tmp_path: Path) -> None:
    path = tmp_path / "railgauge.db"
    add_run(path, {number: noisy(seed=number) for number in range(1, 26)})
    command = ["site", "--db", str(path), "--out", str(tmp_path / "site")]
    result = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert result.stderr == "making 26 pages\n"
    assert "27 pages made" in result.stdout
    assert CliRunner().invoke(cli, command, catch_exceptions=False).stderr == ""
