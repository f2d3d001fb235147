"""What cases do by themselves, flip between two levels or differ from run to run, isn't slower."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from click.testing import CliRunner
from tests.support.store_samples import LAUNCH, RUN, measured
from tests.support.verdict_samples import add_run, lane, noisy

from railgauge.cli.diffing import diff
from railgauge.compare.reading import read
from railgauge.compare.select import Selection
from railgauge.compare.verdict import Verdict, verdict_on
from railgauge.plan.catalogue import load_catalogue
from railgauge.report.pages.run_difference import difference
from railgauge.report.verdicts.markdown import markdown
from railgauge.report.verdicts.verdict_json import verdict_data
from railgauge.report.verdicts.verdict_text import verdict_lines
from railgauge.report.verdicts.verdict_words import sentence
from railgauge.store import Store
from railgauge.store.records import MetricInfo, PlannedCase

LEVELS = {"f": 1e9, "s": 0.92e9, "S": 0.8e9}


@pytest.fixture
def verdict_after(tmp_path):
    """Return the verdict on the last of nights of lane 1 against a few; nine more are steady.

    What is measured `again` counts with that night. Called again, it adds nights. Of a night "-"
    there is next to nothing.
    """

    def judge(modes: str, baseline: tuple[int, ...], again: str = "") -> Verdict:
        with Store.open(str(tmp_path / "railgauge.db")) as store:
            for night, mode in enumerate(modes):
                if mode == "-":
                    last = add_run(store, {2: noisy(n=1)})
                    continue
                lanes = {1: noisy(LEVELS[mode], seed=night)}
                lanes |= {lane: noisy(seed=100 * night + lane) for lane in range(2, 11)}
                last = add_run(store, lanes)
            runs = [last, *(add_run(store, {1: noisy(LEVELS[mode], seed=99)}) for mode in again)]
            first, second = Selection("baseline", baseline), Selection("tonight", tuple(runs))
            return verdict_on(store, read(store, [*baseline, *runs]), first, second)

    return judge


def of_lane_one(verdict: Verdict):
    (result,) = (
        candidate
        for candidate in verdict.comparison.results
        if candidate.case.parameters["lane"] == 1
    )
    return result


def test_a_flip_to_a_level_that_the_case_had_by_itself_is_named_and_passes(verdict_after):
    verdict = verdict_after("fffsfsffsffs", (1, 2, 3))
    result = of_lane_one(verdict)
    assert result.judged.change == "not enough data"
    assert result.judged.reason == "two levels, now at the lower one"
    assert "lower one: 3 of 11 earlier runs are near 0.9201 Gbit/s and 8 near" in sentence(result)
    assert verdict.passed
    catalogue = load_catalogue()
    text = "\n".join(verdict_lines(verdict, catalogue))
    assert "two levels: stream" in text
    assert "Two levels:" in markdown(verdict, catalogue)
    (levels,) = (entry["levels"] for entry in verdict_data(verdict)["results"] if entry["levels"])
    assert (levels["low"]["runs"], levels["high"]["runs"], levels["switches"]) == (3, 8, 6)
    assert levels["low"]["median"] == pytest.approx(0.92e9, rel=0.01)


@pytest.mark.parametrize(
    ("again", "place"), [("s", "the lower one"), ("f", "the lower and the higher one")]
)
def test_each_run_of_a_night_is_at_a_level_though_the_median_of_all_is_at_neither(
    verdict_after, again: str, place: str
):
    verdict = verdict_after("fffsfsffsffs", (1, 2, 3), again)
    result = of_lane_one(verdict)
    assert result.judged.change == "not enough data"
    assert result.judged.reason.startswith(f"two levels, now at {place}")
    assert verdict.passed
    assert of_lane_one(verdict_after("s", (1, 2, 3), "S")).judged.reason.endswith("now at neither")


def test_a_difference_of_two_runs_is_judged_as_by_compare(verdict_after, tmp_path):
    compared = of_lane_one(verdict_after("fffSfSffSffS", (1,)))
    path = str(tmp_path / "railgauge.db")
    with Store.open(path) as store:
        differences = difference(store, 1, 12).compared
    (result,) = (result for result in differences.results if result.name == compared.name)
    assert result.judged == compared.judged
    assert result.judged.reason == "two levels, now at the lower one"
    assert "\ntwo levels: stream: " in CliRunner().invoke(diff, ["1", "12", "--db", path]).output


def test_what_is_below_both_levels_is_slower_all_the_same(verdict_after):
    verdict = verdict_after("fffsfsffsffS", (1, 2, 3))
    result = of_lane_one(verdict)
    assert result.judged.change == "slower"
    assert result.judged.reason.endswith("two levels, now at neither")
    # Its levels stand with its name among what is slower, and nowhere else.
    assert verdict.flipping == []
    assert "\n".join(verdict_lines(verdict, load_catalogue())).count("earlier runs are near") == 1
    assert not verdict.passed


@pytest.mark.parametrize("modes", ["ffffffs", "ffsssfffs", "ffsffs"])
def test_a_level_that_was_there_once_before_excuses_nothing(verdict_after, modes):
    first = tuple(itertools.islice((n for n, mode in enumerate(modes, 1) if mode == "f"), 3))
    result = of_lane_one(verdict_after(modes, first))
    assert (result.judged.change, result.levels) == ("slower", None)


def add_tests(store: Store, levels: dict[str, float], night: int) -> int:
    """Store a run whose tests measure the same case, at these levels."""
    case, info = lane(1), MetricInfo("bit/s", "higher")
    planned = [PlannedCase(test, case, 10) for test in levels]
    run = store.begin_run(RUN, planned, {"udp": {"throughput": info}})
    for test, level in levels.items():
        for number, value in enumerate(noisy(level, seed=night), 1):
            outcome = replace(measured(number, value), metrics={"throughput": value})
            store.add(run, test, case.key, outcome, LAUNCH)
    store.finish_run(run, "complete")
    return run


def test_a_case_that_flips_in_one_test_excuses_nothing_in_another(tmp_path):
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        nights = [
            add_tests(store, {"steady": 1e9, "flipping": LEVELS[mode]}, night)
            for night, mode in enumerate("fffsfsffsff")
        ]
        last = add_tests(store, {"steady": LEVELS["s"], "flipping": LEVELS["s"]}, 11)
        baseline = Selection("baseline", tuple(nights[:3]))
        tonight = Selection("tonight", (last,))
        verdict = verdict_on(store, read(store, [*baseline.runs, last]), baseline, tonight)
    judged = {result.test: result for result in verdict.comparison.results}
    assert judged["flipping"].judged.reason.startswith("two levels, now at the lower one")
    assert (judged["steady"].judged.change, judged["steady"].levels) == ("slower", None)


def test_only_the_last_hundred_runs_show_what_a_case_does(verdict_after):
    flips = "fffsfsffsff"
    within = of_lane_one(verdict_after(flips + "-" * 89 + "s", (1, 2, 3)))
    assert (within.judged.change, within.levels is None) == ("not enough data", False)
    # What flipped before them says nothing, though there is nothing of the case since.
    before = of_lane_one(verdict_after("-" * 100 + "s", (1, 2, 3)))
    assert (before.judged.change, before.levels) == ("slower", None)


UNSTEADY = (1, 1.05, 0.97, 1.03, 0.94, 1.02, 1.06, 0.98, 0.95, 1.04, 1.01, 0.96)


@pytest.fixture
def verdict_by_one(tmp_path):
    """Return the verdict on the last of nights at these levels against the first ones."""

    def judge(levels, baseline: int = 1) -> Verdict:
        with Store.open(str(tmp_path / f"{levels[0]}-{levels[-1]}.db")) as store:
            runs = [
                add_run(store, {1: noisy(1e9 * level, seed=night)})
                for night, level in enumerate(levels)
            ]
            first = Selection("baseline", tuple(runs[:baseline]))
            tonight = Selection("tonight", (runs[-1],))
            return verdict_on(store, read(store, [*first.runs, runs[-1]]), first, tonight)

    return judge


def test_what_earlier_runs_differ_by_is_no_change_from_a_single_one(verdict_by_one):
    (result,) = verdict_by_one([*UNSTEADY, 0.88]).comparison.results
    assert result.judged.change == "not enough data"
    assert result.judged.reason.startswith(
        "not enough baseline runs: 12 earlier runs differ so much that one or two may be off"
    )
    assert result.judged.few_runs
    assert result.judged.low < 0.8 < result.judged.ratio < 1 < result.judged.high


@pytest.mark.parametrize("level", [0.88, 0.84, 0.83, 0.82, 0.81, 0.8])
def test_what_one_run_may_be_off_by_is_no_less_than_a_change_that_may_be_none(
    verdict_by_one, level: float
):
    (result,) = verdict_by_one([*UNSTEADY, level]).comparison.results
    if result.judged.change == "not enough data":
        most = float(result.judged.reason.rpartition("up to ")[2].removesuffix(" %"))
        assert most >= 100 * (1 / result.judged.ratio - 1)
    else:
        assert result.judged.high < 1


@pytest.mark.parametrize(
    ("levels", "baseline"),
    [
        ([*UNSTEADY, 0.7], 1),
        # A change that lasts is none that comes by itself.
        ([1] * 6 + [1.2] * 6 + [1, 0.88], 1),
        # Too few show nothing of it, and three runs of the baseline show it themselves.
        ([*UNSTEADY[:8], 0.88], 1),
        ([1, 1, 1, *UNSTEADY[3:], 0.88], 3),
    ],
)
def test_what_is_beyond_how_earlier_runs_differ_is_slower(verdict_by_one, levels, baseline):
    (result,) = verdict_by_one(levels, baseline).comparison.results
    assert result.judged.change == "slower"
    low, high = (100 * (bound - 1) for bound in (result.judged.low, result.judged.high))
    assert result.judged.reason.endswith(f"between {high:.1f} and {low:.1f} %")


def test_the_interval_of_a_change_has_room_for_how_earlier_runs_differ(verdict_by_one):
    (steady,) = verdict_by_one([1] * 12 + [0.7]).comparison.results
    (unsteady,) = verdict_by_one([*UNSTEADY, 0.7]).comparison.results
    assert unsteady.judged.high - unsteady.judged.low > 1.5 * (
        steady.judged.high - steady.judged.low
    )
