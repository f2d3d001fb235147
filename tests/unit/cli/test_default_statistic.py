"""What is shown where nobody asked for a statistic: the median, on the terminal and on pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.plan_data import store_plan

from railgauge.base.assets import folder
from railgauge.cli import cli
from railgauge.report.definition.definition_model import CellSpec
from railgauge.report.definition.figure_model import YSpec
from railgauge.store import Store

# A test's columns on the terminal -> the table of reports/quickstart.yaml and its columns there.
_SAME = [
    ("udp-rate", [2], "UDP by the rate offered", [1]),
    ("udp-latency", [0, 1], "UDP round-trip time", [0, 1]),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with a run of plans/quickstart.yaml whose means aren't its medians."""
    path = tmp_path_factory.mktemp("quickstart") / "railgauge.db"
    with Store.open(str(path)) as store:
        store_plan(store, "quickstart")
    return str(path)


def _say(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.output


def _on_the_terminal(text: str, test: str, columns: Sequence[int]) -> list[float]:
    """Return the numbers in these columns of the test's table, row by row."""
    _, _, rows, *_ = re.split(r"^─+$", text[text.index(f"\n{test}\n") :], flags=re.MULTILINE)
    numbers = [re.findall(r"(?<= )\d+\.\d+", row) for row in rows.splitlines() if row]
    return [float(row[column]) for row in numbers for column in columns]


def _on_the_page(html: str, title: str, columns: Sequence[int]) -> list[float]:
    (table,) = re.findall(
        rf"<caption><h2>{re.escape(title)}</h2>.*?</table>", html, flags=re.DOTALL
    )
    rows = re.findall(r"<tr>(?:(?!</tr>).)*<td.*?</tr>", table, flags=re.DOTALL)
    numbers = [re.findall(r"<td[^>]*>([\d.]+)", row) for row in rows]
    return [float(row[column]) for row in numbers for column in columns]


@pytest.mark.parametrize(("test", "positions", "title", "columns"), _SAME)
def test_terminal_and_page_show_the_same_numbers(
    database: str, tmp_path: Path, test: str, positions: list[int], title: str, columns: list[int]
) -> None:
    terminal = _on_the_terminal(_say("show", "1", "--db", database), test, positions)
    spec = str(folder("reports") / "quickstart.yaml")
    for words, table, column_numbers in (((), test, positions), (("--spec", spec), title, columns)):
        out = tmp_path / table[:3].lower()
        _say("report", "--db", database, "--cases", "0", "--out", str(out), *words)
        page = _on_the_page((out / "index.html").read_text(encoding="utf-8"), table, column_numbers)
        assert len(page) == len(terminal) > 1
        # As far as the digits of both go.
        assert page == pytest.approx(terminal, abs=0.055)


def test_tables_and_figures_have_one_default() -> None:
    assert CellSpec().statistic == YSpec().statistic == "median"
