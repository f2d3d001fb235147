"""The first gate of a plan: which run becomes the baseline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.store_samples import LAUNCH, METRICS, RUN, case, measured, planned

from railgauge.plan.catalogue import load_catalogue
from railgauge.run.gate import _first
from railgauge.run.job import Finished
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
