"""`compare --metric` and `gate --metric`: what is named is judged, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.store_samples import LAUNCH, MOMENT, RUN, case, planned
from tests.support.verdict_samples import noisy

from railgauge.base.errors import InputError
from railgauge.cli import cli
from railgauge.store import Store
from railgauge.store.records import MetricInfo, Outcome

_METRICS = {
    "udp": {
        "throughput": MetricInfo("bit/s", "higher"),
        "min_rtt": MetricInfo("s", "lower"),
        "elapsed": MetricInfo("s", "neither"),
        "jitter": MetricInfo("s", "lower"),
        "goodput": MetricInfo("bit/s", "higher"),
    }
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give two runs of four cases: throughput stayed, and the second one's round trips doubled.

    Of jitter none has a value, of goodput the second alone. A third run is of other cases.
    """
    path = str(tmp_path_factory.mktemp("db") / "r.db")
    with Store.open(path) as store:
        for night in (1, 2, 3):
            cases = [case(size if night < 3 else 10 * size) for size in (1, 2, 3, 4)]
            run = store.begin_run(RUN, planned(*cases, replications=10), _METRICS)
            for datagram_case in cases:
                seed = 10 * datagram_case.parameters["datagram"] + night  # type: ignore[operator]
                rates = noisy(seed=seed)
                trips = noisy(1e-4 * night, seed=seed)
                for number, (rate, trip) in enumerate(zip(rates, trips, strict=True), 1):
                    values = {"throughput": rate, "min_rtt": trip, "elapsed": 5.0}
                    values |= {"goodput": rate} if night == 2 else {}
                    store.add(
                        run, "stream", datagram_case.key, Outcome(number, MOMENT, values), LAUNCH
                    )
            store.finish_run(run, "complete")
    return path


def _ended(database: str, *arguments: str) -> tuple[int, str]:
    """Return the exit code of a comparison, and its output."""
    result = CliRunner().invoke(
        cli, ["compare", *arguments, "--db", database], standalone_mode=False
    )
    return result.return_value, result.output


def _compared(database: str, *options: str) -> dict[str, list[dict[str, object]]]:
    arguments = ["compare", "1", "2", "--json", "--db", database, *options]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    return json.loads(result.output)


def test_only_the_metrics_that_are_named_are_judged(database: str) -> None:
    named = _compared(database, "--metric", "throughput")
    assert {result["metric"] for result in named["results"]} == {"throughput"}
    assert len(named["results"]) == 4
    assert "judged by throughput alone" in named["notes"]
    two_metrics = _compared(database, "--metric", "min_rtt", "--metric", "throughput")
    assert len(two_metrics["results"]) == 8
    assert "judged by min_rtt, throughput alone" in two_metrics["notes"]
    assert not any("alone" in str(note) for note in _compared(database)["notes"])


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("thruput", r"nothing that is compared here has a metric 'thruput': did you mean 'through"),
        ("elapsed", r"of 'elapsed' neither more nor less is better"),
    ],
)
def test_a_metric_that_cannot_be_judged_is_refused(
    database: str, metric: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        _compared(database, "--metric", metric)


@pytest.mark.parametrize("metric", ["jitter", "goodput"])
def test_a_metric_of_which_no_case_has_a_value_on_both_sides_is_no_verdict(
    database: str, metric: str
) -> None:
    sentence = (
        f"nothing could be compared by {metric}: no case has a value of it in both run 1 and run 2:"
        " name a metric that both have: "
    )
    code, output = _ended(database, "1", "2", "--metric", metric)
    assert (code, output.splitlines()[1]) == (1, f"not measured: {sentence}min_rtt, throughput")
    code, output = _ended(database, "1", "2", "--metric", metric, "--metric", "min_rtt", "--json")
    verdict = json.loads(output)
    assert (code, verdict["passed"]) == (1, False)
    assert verdict["problems"] == [f"{sentence}throughput"]
    assert {result["metric"] for result in verdict["results"]} - {metric} == {"min_rtt"}


@pytest.mark.parametrize("options", [[], ["--metric", "throughput"]])
def test_runs_that_have_no_case_in_common_are_no_verdict(database: str, options: list[str]) -> None:
    code, output = _ended(database, "1", "3", *options)
    sentence = "nothing could be compared: no case has a value to judge in both run 1 and run 3"
    assert (code, output.splitlines()[1]) == (1, f"not measured: {sentence}")
    assert _ended(database, "1", "2", *options)[0] == 0


@pytest.mark.parametrize("metric", ["throughputt", "rtt_p99"])
def test_a_gate_refuses_it_before_anything_is_measured(tmp_path: Path, metric: str) -> None:
    plan = tmp_path / "plan.yaml"
    # Round trips are of another mode.
    plan.write_text(
        "railgauge: 1\nname: p\nhosts: {here: {address: 127.0.0.1, transport: local}}\n"
        "links: {loop: {from: here, to: here}}\n"
        "tests: [{name: t, engine: udp, set: {mode: stream, duration: 1s}}]\n",
        encoding="utf-8",
    )
    where = str(tmp_path / "r.db")
    arguments = ["gate", str(plan), "--db", where, "--set-missing", "--metric", metric]
    with pytest.raises(InputError, match=f"has a metric '{metric}'"):
        CliRunner().invoke(cli, arguments, catch_exceptions=False)
    with Store.open(where) as store:
        assert store.runs() == []
