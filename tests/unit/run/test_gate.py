"""The first gate of a plan: which run becomes the baseline."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, measured, planned

from railgauge.base.errors import InputError
from railgauge.plan.catalogue import load_catalogue
from railgauge.run.gate import _first, _select
from railgauge.run.job import Finished, Request
from railgauge.store import Store

REASON = "iperf3 is not on gw1"


def test_a_run_of_which_all_was_skipped_is_no_baseline(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "railgauge.db")) as store:
        cases = planned(case(1460), case(64), replications=1)
        skipped = [replace(entry, skipped=REASON) for entry in cases]
        run = store.begin_run(RUN, skipped, METRICS)
        reasons = (REASON, REASON)
        empty = Finished(run, load_catalogue(), 0, 0, 0, 0, 0, {}, False, reasons)
        verdict = _first(store, "nightly", empty, RUN.plan)
        assert not verdict.passed
        assert verdict.problems == (
            f"run {run} did not become baseline nightly",
            f"all cases were skipped: {REASON}",
        )
        assert store.baselines() == []

        run = store.begin_run(RUN, [cases[0], skipped[1]], METRICS)
        store.add(run, "stream", case(1460).key, measured(1), LAUNCH)
        partial = replace(empty, run=run, planned=1, measured=1, skipped=(REASON,))
        assert _first(store, "nightly", partial, RUN.plan).passed
        assert store.baseline("nightly").runs == (run,)


def test_a_run_that_becomes_the_baseline_is_named_with_the_reason(tmp_path: Path) -> None:
    where = str(tmp_path / "railgauge.db")
    with Store.open(where) as store:
        for name, before in (
            (
                "nightly",
                "no other run: if there was a baseline before, --db names another database",
            ),
            ("weekly", "1 other run"),
        ):
            run = store.begin_run(RUN, planned(case(), replications=1), METRICS)
            store.add(run, "stream", case().key, measured(1), LAUNCH)
            finished = Finished(run, load_catalogue(), 1, 1, 0, 0, 0, {}, False, ())
            (note, *_) = _first(store, name, finished, RUN.plan).notes
            assert note.startswith(
                f"run {run} is baseline {name} now and was compared with nothing, as {where} had no"
                f" baseline of that name, and {before}"
            )


def test_a_baseline_that_is_missing_is_told_from_a_database_that_is(tmp_path: Path) -> None:
    where = str(tmp_path / "railgauge.db")
    with Request(where=where) as request:
        missing = f"no baseline 'nightly', as there is no database {where}: check --db; "
        with pytest.raises(InputError, match=re.escape(missing)):
            _select(request, "nightly", RUN.plan, set_missing=False, required=False)
    assert list(tmp_path.iterdir()) == []
    with Store.open(where) as store:
        store.begin_run(RUN, planned(case(), replications=1), METRICS)
    with Request(where=where) as request:
        missing = f"no baseline 'nightly' in {where}, which holds 1 run: check --db; "
        with pytest.raises(InputError, match=re.escape(missing)):
            _select(request, "nightly", RUN.plan, set_missing=False, required=False)
