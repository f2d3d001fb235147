"""What the terminal shows of a run that is too large for it, and what it never shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from tests.support.matrix_data import rates, store_matrix
from tests.support.postgres_lab import make_database

from railgauge.cli import cli
from railgauge.cli.running import print_outcome
from railgauge.plan.catalogue import load_catalogue
from railgauge.run.job import Finished, Request
from railgauge.store import Store


def show(tmp_path: Path, values: NDArray[np.float64]) -> list[str]:
    where = str(tmp_path / "r.db")
    with Store.open(where) as store:
        store_matrix(store, values, engine="mpi", replications=2)
    result = CliRunner().invoke(cli, ["show", "1", "--db", where], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output.splitlines()


def test_of_a_long_table_the_ends_are_shown_and_how_to_get_the_rest(tmp_path: Path) -> None:
    values = rates(16, noise=0.0)
    values[2, 5], values[7, 1], values[9, 9 - 1] = 2e9, 2e10, np.nan
    lines = show(tmp_path, values)
    (title,) = [number for number, line in enumerate(lines) if line == "all-pairs: 240 rows"]
    assert lines[title + 1] == (
        "  Throughput (Gbit/s): median 10.00, from 2.00 (n03→n06) to 20.00 (n08→n02); "
        "1 without a value"
    )
    footer = ["Rows with footnotes: 1.", "All rows: railgauge report 1 --out DIR"]
    assert [line for line in lines if line][-2:] == footer
    assert len(lines) < 25


def test_a_table_that_fits_is_shown_whole(tmp_path: Path) -> None:
    lines = show(tmp_path, rates(14))
    # In the table of the test, and in those of its two metrics.
    assert sum("→" in line for line in lines) == 3 * 14 * 13


@pytest.mark.parametrize("hosts", [3, 16])
def test_a_launch_that_failed_for_all_pairs_is_told_once(tmp_path: Path, hosts: int) -> None:
    lines = show(tmp_path, np.full((hosts, hosts), np.nan))
    pairs = hosts * (hosts - 1)
    assert [line for line in lines if line.startswith("failed: ")] == [
        f"failed: all-pairs: n01→n02 and {pairs - 1} more pairs, replication {number}: "
        "no answer [timeout]"
        for number in (1, 2)
    ]


def test_a_databases_password_is_never_printed(
    postgres: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = make_database(postgres, "passwords").replace("railgauge@", "railgauge:hush@")
    assert "hush" in where
    Store.open(where).close()
    output = CliRunner().invoke(cli, ["list", "--db", where], catch_exceptions=False).output
    assert "holds no run yet" in output
    with Request(where, run=1) as request:
        print_outcome(request, Finished(1, load_catalogue(), 0, 0, 0, 0, 0, {}, False))
    output += capsys.readouterr().out
    assert "run 1 in postgresql" in output
    assert "hush" not in output
