"""`railgauge import`, as a user sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from railgauge.base.errors import InputError
from railgauge.cli import cli

_CSV = ["csv", "--engine=udp", "--metric=throughput=mbps:Mbit/s", "--link-name=a"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["csv"],
        _CSV,
        [*_CSV, "--hosts=nosuch.yaml"],
        [*_CSV, "--started-at=at", "--at=2025-11-21T02:00:00Z"],
        ["hpcbench"],
        ["iperf3"],
        ["fio"],
        ["netperf"],
        ["osu"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_refused_leaves_no_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    moment = "2025-11-21T02:00:00Z" if "--started-at=at" in arguments else "x"
    rate = "x" if arguments == _CSV else "10"
    Path("results").write_text(f"mbps,at\n{rate},{moment}\n", encoding="utf-8")
    with pytest.raises(InputError):
        CliRunner().invoke(
            cli, ["import", *arguments, "results", "--db=a.db"], catch_exceptions=False
        )
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
