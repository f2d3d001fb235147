"""The tutorial's commands, as they stand there, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT

PAGE = ROOT / "docs" / "tutorial.md"


def test_the_tutorials_commands_work_in_their_order(tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) >= 7
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "railgauge").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m railgauge "$@"\n'
    )
    (tmp_path / "bin" / "railgauge").chmod(0o755)
    (tmp_path / "empty").mkdir()
    completed = subprocess.run(
        ["bash", "-eux", "-c", "".join(blocks)],
        cwd=tmp_path / "empty",
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert completed.returncode == 0, completed.stderr
    assert "run 2 in railgauge.db: 10 measured" in completed.stdout
    assert (tmp_path / "empty" / "report" / "index.html").is_file()
    assert (tmp_path / "empty" / "results.csv").read_text().count("\n") > 20
